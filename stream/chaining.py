"""Number events, encode them and link each to the one before."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from models.events import Event
from stream.reading import UnknownEvent
from stream.verifying import Place, link

E = TypeVar("E", bound=Event | UnknownEvent)


def chained(
    events: Iterable[E], place: Place
) -> tuple[tuple[E, ...], list[tuple[int, bytes, bytes]]]:
    """Number events after ``place``; return them, and number, hash and JSON of each."""
    seq, head = place.seq, place.head
    numbered, rows = [], []
    for event in events:
        seq += 1
        numbered.append(_numbered(event, seq))
        body = _body(numbered[-1])
        head = link(head, seq, body)
        rows.append((seq, head, body))
    return tuple(numbered), rows


def _numbered(event: E, seq: int) -> E:
    if not isinstance(event, UnknownEvent):
        return msgspec.structs.replace(event, seq=seq)
    tree = msgspec.json.decode(event.body) | {"seq": seq}
    return msgspec.structs.replace(event, seq=seq, body=msgspec.json.encode(tree))


def _body(event: Event | UnknownEvent) -> bytes:
    return event.body if isinstance(event, UnknownEvent) else msgspec.json.encode(event)
