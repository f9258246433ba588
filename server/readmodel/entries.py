"""Events as viewers get them, with the last ones of a session kept ready."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeAlias

from models.judgements import AnyEvent, ReviewRaised, RoundSettled
from server.readmodel.redaction import Hidden, plain, redacted
from settlement.phases import Phase
from stream.reading import UnknownEvent

KEPT: Final = 512
"""Last events of a session that are kept ready for live viewers. Not measured."""
SHOWN_ALL: Final[Hidden] = frozenset()
HiddenAt: TypeAlias = Callable[[int], Hidden]
"""The hidden places at the time of a judgement's entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event, as viewers get it."""

    seq: int
    at: int
    type: str
    plain: bytes
    redacted: bytes
    round: int | None
    """For a judgement, its round."""
    phase: Phase | None = None
    """Where the round in play stood after it; ``None`` of an event read from the journal again."""


def entry_of(
    event: AnyEvent | UnknownEvent, hidden_at: HiddenAt, phase: Phase | None = None
) -> Entry:
    """Return an event as viewers get it."""
    seq, round_ = event.seq or 0, _judged(event)
    hidden = SHOWN_ALL if round_ is None else hidden_at(seq)
    shown = plain(event), redacted(event, hidden)
    return Entry(seq, event.at or 0, _type(event), *shown, round_, phase)


def _type(event: AnyEvent | UnknownEvent) -> str:
    if isinstance(event, UnknownEvent):
        return event.type
    return str(type(event).__struct_config__.tag)


def _judged(event: AnyEvent | UnknownEvent) -> int | None:
    if isinstance(event, RoundSettled):
        return event.result.round
    return event.round if isinstance(event, ReviewRaised) else None


class Recent:
    """The last events of a session; each is encoded once, for its first viewer."""

    def __init__(self, hidden_at: HiddenAt) -> None:
        self._hidden_at = hidden_at
        self._kept: deque[list[Any]] = deque(maxlen=KEPT)

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, event: AnyEvent | UnknownEvent, phase: Phase) -> None:
        """Take in the next event, and where the round in play stands after it."""
        self._kept.append([event, phase, None])

    def clear(self) -> None:
        """Drop all events: nobody watches a session live that nobody writes."""
        self._kept.clear()

    def after(self, seq: int, last_seq: int, at_most: int) -> tuple[Entry, ...] | None:
        """Return the next events after ``seq``; ``None`` where the journal must be read."""
        if seq >= last_seq:
            return ()
        kept_from = last_seq + 1 - len(self._kept)
        if kept_from > seq + 1:
            return None
        first = seq + 1 - kept_from
        return tuple(map(self._written, islice(self._kept, first, first + at_most)))

    def _written(self, kept: list[Any]) -> Entry:
        if kept[2] is None:
            kept[2] = entry_of(kept[0], self._hidden_at, kept[1])
        found: Entry = kept[2]
        return found
