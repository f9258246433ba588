"""Events to an MQTT 5 broker, as JSON in the form of ONVIF's event broker.

The topic is ``PREFIX/onvif-ej/pitwatch:Table/KIND/&TABLE/SESSION``, the payload
``{"UtcTime", "Source", "Data"}`` of simple items. The topics themselves are ours: ONVIF has
none for a gaming table. Source: ONVIF Core Specification, "Event Broker"; OASIS MQTT 5.0.
"""

import threading
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from models.errors import InstallerError
from server.integration.config import Settings, Site
from server.integration.delivery import Fate, NotDelivered
from server.integration.message import Message, link_of, utc_text
from server.integration.outgoing import trusted
from server.integration.registry import Registration
from server.integration.secret import Secret

if TYPE_CHECKING:
    from paho.mqtt.client import Client

_NEVER: Final = frozenset({0x90, 0x95, 0x99})
"""Reason codes of a permanent refusal: topic name, packet too large, payload format."""
_SETTING_UP: Final = frozenset({0x87, 0x97})
"""Reason codes of the set-up, not of the message: not authorised, quota exceeded."""
_FAILED: Final = 0x80
_PAYLOAD: Final = "onvif-ej"
_KEEP_ALIVE_S: Final = 30


class MqttSettings(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one broker."""

    host: Annotated[str, Meta(min_length=1, max_length=253)]
    """The broker's name or address."""
    port: Annotated[int, Meta(ge=1, le=65535)] = 8883
    """Its port."""
    tls: bool = True
    """Whether to connect over TLS."""
    ca_file: str | None = None
    """Certificates (PEM) that verify the broker's; by default, those of this machine."""
    user: str | None = None
    """The user to sign in as; by default none."""
    password: Secret | None = None
    """That user's password."""
    client_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = "pitwatch"
    """The client's id; it must be unique at the broker."""
    prefix: Annotated[str, Meta(pattern=r"^[^#+\s$][^#+\s]*$", max_length=200)] = "pitwatch"
    """Prefix of every topic."""
    qos: Literal[1, 2] = 1
    """1: at least once, 2: exactly once between here and the broker."""
    is_retained: bool = False
    """Whether the broker keeps the last message of a topic for later subscribers."""


class Mqtt:
    """One broker. After any failure it reconnects, so that no message waits in the connection."""

    def __init__(self, settings: MqttSettings, site: Site) -> None:
        _new_client(settings.client_id)
        self._settings, self._site = settings, site
        self._password = None if settings.password is None else settings.password.read(site.folder)
        self._context = trusted(settings.ca_file, site.folder) if settings.tls else None
        self._link: _Link | None = None

    def deliver(self, message: Message) -> None:
        """Publish a message and wait for the broker's acknowledgement; raises ``NotDelivered``."""
        try:
            link = self._link or self._linked()
            link.publish(topic_of(message, self._settings.prefix), payload_of(message, self._site))
        except NotDelivered as failed:
            if failed.fate is Fate.WAIT:
                self.close()
            raise
        except (OSError, ValueError) as fault:
            self.close()
            why = getattr(fault, "strerror", None) or type(fault).__name__
            raise NotDelivered(f"the broker cannot be reached ({why})", Fate.WAIT) from fault

    def close(self) -> None:
        """Disconnect from the broker."""
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def _linked(self) -> "_Link":
        settings = self._settings
        client = _new_client(settings.client_id)
        if self._context is not None:
            client.tls_set_context(self._context)
        if settings.user is not None:
            word = None if self._password is None else self._password.plain
            client.username_pw_set(settings.user, word)
        self._link = _Link(client, settings)
        self._link.open()
        return self._link


class _Link:
    """One connection, up to its first failure."""

    def __init__(self, client: "Client", settings: MqttSettings) -> None:
        self._client, self._settings = client, settings
        self._timeout_s = settings.timeout_ms / 1000
        self._changed = threading.Condition()
        self._answer: Any = None
        self._taken: dict[int, Any] = {}
        client.connect_timeout = self._timeout_s
        client.on_connect = self._on_connect
        client.on_publish = self._on_publish

    def open(self) -> None:
        self._client.connect(self._settings.host, self._settings.port, _KEEP_ALIVE_S)
        self._client.loop_start()
        with self._changed:
            if not self._changed.wait_for(lambda: self._answer is not None, self._timeout_s):
                raise NotDelivered("the broker does not answer", Fate.WAIT)
            if self._answer.is_failure:
                raise NotDelivered(f"the broker answered {self._answer}", Fate.WAIT)

    def publish(self, topic: str, payload: bytes) -> None:
        settings = self._settings
        sent = self._client.publish(
            topic, payload, settings.qos, settings.is_retained, properties=_properties()
        )
        with self._changed:
            if not self._changed.wait_for(lambda: sent.mid in self._taken, self._timeout_s):
                raise NotDelivered("the broker does not answer", Fate.WAIT)
            answer = self._taken.pop(sent.mid)
        if answer.value >= _FAILED:
            raise NotDelivered(f"the broker answered {answer}", _fate(answer.value))

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _on_connect(self, *arguments: Any) -> None:
        with self._changed:
            self._answer = arguments[3]
            self._changed.notify_all()

    def _on_publish(self, *arguments: Any) -> None:
        with self._changed:
            self._taken[arguments[2]] = arguments[3]
            self._changed.notify_all()


def topic_of(message: Message, prefix: str) -> str:
    """Return the topic of a message."""
    place = f"{_PAYLOAD}/pitwatch:Table/{_camel(message.kind)}"
    return f"{prefix}/{place}/&{_clean(message.table)}/{_clean(message.session)}"


def payload_of(message: Message, site: Site) -> bytes:
    """Return a message as ONVIF's JSON: simple items only; ``Link`` leads to nested data."""
    data: dict[str, Any] = {_camel(k): v for k, v in message.data.items() if _is_simple(v)}
    data |= {
        "Id": message.id,
        "Seq": message.seq,
        "Text": message.text,
        "Link": link_of(message, site.service_url),
    }
    if message.round is not None:
        data |= {"Round": message.round, "Incident": message.incident}
    payload: dict[str, Any] = {
        "UtcTime": utc_text(message.at or 0, 3),
        "Source": {"Table": message.table, "Session": message.session},
        "Data": data,
    }
    return msgspec.json.encode(payload)


def _is_simple(value: object) -> bool:
    return isinstance(value, str | int | float)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _clean(text: str) -> str:
    return text.translate({ord(sign): None for sign in "#+/\0"})


def _fate(code: int) -> Fate:
    if code in _NEVER:
        return Fate.REFUSED
    return Fate.WAIT if code in _SETTING_UP else Fate.COUNT


def _new_client(client_id: str) -> "Client":
    try:
        from paho.mqtt.client import Client, MQTTv5  # noqa: PLC0415  # an optional extra
        from paho.mqtt.enums import CallbackAPIVersion  # noqa: PLC0415
    except ImportError as fault:
        raise InstallerError(
            "MQTT needs paho-mqtt, which is not installed",
            where="kind mqtt",
            way_out="Install it: pip install 'pitwatch[mqtt]'",
        ) from fault
    return Client(CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5)


def _properties() -> Any:
    from paho.mqtt.packettypes import PacketTypes  # noqa: PLC0415  # an optional extra
    from paho.mqtt.properties import Properties  # noqa: PLC0415

    found = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    found.ContentType = "application/json"
    found.PayloadFormatIndicator = 1
    return found


MQTT: Final = Registration(MqttSettings, Mqtt)
