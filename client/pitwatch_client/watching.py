"""Decoder of server-sent events."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

_DATA: Final = b"data: "


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of the stream."""

    session: str
    seq: int
    event: Mapping[str, Any]
    """As the stream's schema defines it. Fields that the token may not see are missing or null."""


class _Message(msgspec.Struct):
    session: str
    event: dict[str, Any]


def events(chunks: Iterable[bytes]) -> Iterator[StreamEvent]:
    """Yield the events of a stream until it is cut off or the service ends it.

    Raises:
        msgspec.DecodeError: this version cannot read an event.
    """
    rest = b""
    for chunk in chunks:
        # Only "\n" ends a line here: str.splitlines() would also split inside a JSON string.
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line == b"event: end":
                return
            if line.startswith(_DATA):
                message = msgspec.json.decode(line[len(_DATA) :], type=_Message)
                yield StreamEvent(message.session, message.event["seq"], message.event)
