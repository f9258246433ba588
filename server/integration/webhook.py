"""Signed webhooks: a CloudEvent a request, signed according to the Standard Webhooks specification.

The signature is HMAC-SHA256 over ``ID.TIMESTAMP.BODY``. So nobody can change the body or the time,
or send an old request again as a new one.
Source: https://github.com/standard-webhooks/standard-webhooks, version 1.
"""

import hmac
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from hashlib import sha256
from typing import Annotated, Final

from msgspec import Meta

from models.errors import InstallerError
from server.integration.cloud_event import MEDIA_TYPE, cloud_event
from server.integration.config import HttpSettings, Site
from server.integration.message import SECOND_NS, Message
from server.integration.outgoing import Poster
from server.integration.registry import Registration
from server.integration.secret import Secret, SecretText
from stream.clock import Clock, HostClock

SHORTEST_KEY: Final = 24
_PREFIX: Final = "whsec_"


class WebhookSettings(HttpSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one webhook."""

    secrets: Annotated[tuple[Secret, ...], Meta(min_length=1, max_length=4)]
    """The signing secrets; more than one while a new secret replaces an old one."""


class Webhook:
    """One receiver of signed webhooks; raises ``InstallerError`` for an unusable secret."""

    def __init__(self, settings: WebhookSettings, site: Site, clock: Clock | None = None) -> None:
        self._site, self._clock = site, clock or HostClock()
        self._poster = Poster(settings, site.folder)
        self._keys = [_key(one.read(site.folder)) for one in settings.secrets]

    def deliver(self, message: Message) -> None:
        """Send a message; raises ``NotDelivered``."""
        body = cloud_event(message, self._site.service_url)
        at_s = str(self._clock.now_ns() // SECOND_NS)
        headers = {
            "Content-Type": MEDIA_TYPE,
            "User-Agent": "Pitwatch",
            "webhook-id": message.id,
            "webhook-timestamp": at_s,
            "webhook-signature": " ".join(
                signature(key, message.id, at_s, body) for key in self._keys
            ),
        }
        self._poster.post(self._poster.path, body, headers)

    def close(self) -> None:
        """Close the connection."""
        self._poster.close()


def signature(key: bytes, message_id: str, at_s: str, body: bytes) -> str:
    """Return the signature of a request, for ``webhook-signature``."""
    signed = f"{message_id}.{at_s}.".encode() + body
    return "v1," + b64encode(hmac.digest(key, signed, sha256)).decode()


def _key(secret: SecretText) -> bytes:
    key = _decoded(secret.plain)
    if len(key) < SHORTEST_KEY:
        raise InstallerError(
            f"a webhook's secret must have {SHORTEST_KEY} bytes or more",
            where="secrets",
            way_out="Create one with openssl rand -base64 32 and write it after whsec_",
        )
    return key


def _decoded(text: str) -> bytes:
    if not text.startswith(_PREFIX):
        return text.encode()
    try:
        return b64decode(text.removeprefix(_PREFIX), validate=True)
    except NotBase64:
        return b""


WEBHOOK: Final = Registration(WebhookSettings, Webhook)
