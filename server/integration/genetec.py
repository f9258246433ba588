"""Bookmarks on a Genetec Security Center camera, through its Web SDK.

``POST /action?q=AddCameraBookmark(CAMERA,TIME,TEXT)``, signed in by HTTP Basic as
``USER;APPLICATION``; the answer's ``Rsp.Status`` is ``Ok`` where it was done. Source: Genetec
Web SDK developer guide. It was tried on a recording server, not on Security Center.
"""

from base64 import b64encode
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Meta

from server.integration.config import HttpSettings, Site
from server.integration.delivery import Fate, NotDelivered
from server.integration.message import Message, link_of, utc_text
from server.integration.outgoing import Poster
from server.integration.registry import Registration
from server.integration.secret import Secret

Guid = Annotated[str, Meta(pattern=r"^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$")]
LONGEST_TEXT: Final = 500
_APART: Final = str.maketrans({",": ";", "(": "[", ")": "]", "\\": "/"})
"""Characters that separate a query's arguments, with their replacements."""


class GenetecSettings(HttpSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one Web SDK. Its ``url`` ends with the base, ``http://host:4590/WebSdk``."""

    user: Annotated[str, Meta(pattern=r"^[^;:]+$")]
    """The Security Center user that may add bookmarks."""
    password: Secret
    """That user's password."""
    application: Secret
    """The application id of the Web SDK's licence."""
    cameras: Annotated[dict[str, Guid], Meta(min_length=1)]
    """The camera's id in Security Center for each table."""


class Genetec:
    """One Web SDK."""

    def __init__(self, settings: GenetecSettings, site: Site) -> None:
        self._settings, self._site = settings, site
        self._poster = Poster(settings, site.folder)
        name = f"{settings.user};{settings.application.read(site.folder).plain}"
        word = f"{name}:{settings.password.read(site.folder).plain}"
        self._basic = "Basic " + b64encode(word.encode()).decode()

    def deliver(self, message: Message) -> None:
        """Add a bookmark; raises ``NotDelivered``."""
        camera = self._settings.cameras.get(message.table)
        if camera is None:
            raise NotDelivered(f"no camera is configured for table {message.table}", Fate.REFUSED)
        query = bookmark(camera, message, self._site)
        target = f"{self._poster.path.rstrip('/')}/action?q={quote(query, safe='(),:')}"
        headers = {"Authorization": self._basic, "Accept": "text/json", "User-Agent": "Pitwatch"}
        answer = self._poster.post(target, b"", headers)
        if not _is_ok(answer):
            raise NotDelivered("answered that the bookmark was not added", Fate.COUNT)

    def close(self) -> None:
        """Close the connection."""
        self._poster.close()


def bookmark(camera: str, message: Message, site: Site) -> str:
    """Return the action that adds a message's bookmark at its time."""
    link = link_of(message, site.service_url)
    text = f"{message.text[:LONGEST_TEXT]} {link}".translate(_APART)
    return f"AddCameraBookmark({camera.replace('-', '')},{utc_text(message.at or 0, 3)},{text})"


def _is_ok(answer: bytes) -> bool:
    try:
        found: Any = msgspec.json.decode(answer)
    except msgspec.DecodeError:
        return False
    return isinstance(found, dict) and (found.get("Rsp") or {}).get("Status") == "Ok"


GENETEC: Final = Registration(GenetecSettings, Genetec)
