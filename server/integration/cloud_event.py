"""CloudEvents 1.0, structured JSON: the envelope of webhook messages.

Source: https://github.com/cloudevents/spec, versions 1.0.2 of the core and its JSON format.
"""

from typing import Any, Final
from urllib.parse import quote

import msgspec

from server.integration.message import VIOLATION, Message, link_of, utc_text

MEDIA_TYPE: Final = "application/cloudevents+json; charset=utf-8"
TYPE_PREFIX: Final = "pitwatch."
_DIGITS: Final = 19
"""Digits of ``sequence``: texts of one length sort like their numbers."""


def cloud_event(message: Message, service_url: str) -> bytes:
    """Return a message as a CloudEvent.

    ``time`` is the moment at the table, ``subject`` the table and round, ``sequence`` the journal's
    ``seq``; ``table``, ``session``, ``round``, ``incident`` and ``link`` are extensions. ``source``
    with ``id`` identifies a message, even where it is sent again.
    """
    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": message.id,
        "source": f"{service_url}/api/sessions/{quote(message.session)}",
        "type": TYPE_PREFIX + message.kind,
        "subject": _subject(message),
        "datacontenttype": "application/json",
        "sequence": f"{message.seq:0{_DIGITS}d}",
        "table": message.table,
        "session": message.session,
        "link": link_of(message, service_url),
        "data": {**message.data, "text": message.text},
    }
    if message.at is not None:
        event["time"] = utc_text(message.at)
    if message.round is not None:
        event |= {"round": message.round, "incident": message.incident}
    if message.kind != VIOLATION:
        event["dataschema"] = f"{service_url}/api/schema/events"
    return msgspec.json.encode(event)


def _subject(message: Message) -> str:
    return message.table if message.round is None else f"{message.table}/round/{message.round}"
