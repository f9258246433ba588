"""Where a table last stood at rest, so that a start need not hear all that it ever observed.

Between two shoes, with the last round settled and no card on the felt, nothing that was observed
is still to come to anything but the chips that lie there and what came after the round's end.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from models.events import (
    AnyObservation,
    CardGone,
    CardSighted,
    ConsoleEntry,
    Observation,
    PlateRead,
    ReaderFault,
    ReviewResolved,
    RoundClosed,
    RoundOpened,
    ShoeLoaded,
    ShoeStarted,
)
from models.judgements import AnyEvent, LedgerPosted, RoundSettled
from settlement.phases import RoundPhases

Track: TypeAlias = tuple[str, int]
"""A camera, and its number for a card."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A moment in a journal at which no round was in play and none still to be settled."""

    seq: int
    """The last entry of the rounds before it."""
    played: int
    """The number of the last of them."""
    owed: tuple[AnyObservation, ...]
    """What was observed up to then that something later may rest on, in order."""
    over: frozenset[Track]
    """Cards of those rounds that cameras told of after it."""


def last_rest(events: Iterable[AnyEvent]) -> Rest | None:
    """Return the last rest in a journal before which a shoe ended; ``None`` where there is none."""
    reading = _Reading()
    for event in events:
        reading.follow(event)
    return reading.rest


@dataclass(slots=True)
class _Reading:
    """How a table stands as its journal is read."""

    rest: Rest | None = None
    _ended: Rest | None = None
    """Where the last round ended; ``None`` while one is in play."""
    _number: int = 0
    _phases: RoundPhases = field(default_factory=RoundPhases)
    _lying: set[Track] = field(default_factory=set)
    _deaf: set[str] = field(default_factory=set)
    """Shoes that cannot be heard, or were lost and have not said what they missed."""
    _chips: dict[tuple[int, str], tuple[PlateRead, ...]] = field(default_factory=dict)
    """The last two changes of each circle."""
    _recent: list[AnyObservation] = field(default_factory=list)
    """What was observed after the last round's end, or in the round in play."""

    def follow(self, event: AnyEvent) -> None:
        """Take the next entry into account."""
        self._phases.follow_event(event)
        match event:
            case RoundOpened():
                self._number, self._ended = event.round, None
            case RoundClosed():
                closed_ns = event.at or 0
                self._recent = [one for one in self._recent if (one.at or 0) > closed_ns]
            case RoundSettled(result=result):
                if self._phases.closed and result.round == self._number:
                    self._ended = self._ended or self._end(event.seq or 0)
            case LedgerPosted():
                if self._ended is not None and self._ended.seq + 1 == event.seq:
                    self._ended = replace(self._ended, seq=event.seq)
            case Observation():
                self._observed(event)
            case _:
                pass

    def _observed(self, seen: AnyObservation) -> None:
        match seen:
            case CardSighted():
                self._lying.add((seen.source, seen.track))
                return
            case CardGone():
                self._lying.discard((seen.source, seen.track))
                return
            case PlateRead():
                self._laid(seen)
            case ReaderFault(kind="link_lost") if not seen.source.startswith("plate"):
                self._deaf.add(seen.source)
            case ReaderFault(kind="uncounted"):
                self._deaf.discard(seen.source)
            case ShoeLoaded() | ConsoleEntry(fact=ShoeStarted()):
                if not self._lying and not self._deaf:
                    self.rest = self._ended or self.rest
            case _:
                pass
        self._recent.append(seen)

    def _laid(self, read: PlateRead) -> None:
        before = self._chips.get((read.spot, read.circle), ())
        if not before or before[-1].amount != read.amount:
            self._chips[read.spot, read.circle] = (*before[-1:], read)

    def _end(self, seq: int) -> Rest:
        chips = [read for changes in self._chips.values() for read in changes]
        late = [one for one in self._recent if not isinstance(one, ReviewResolved)]
        owed = {one.seq or 0: one for one in [*chips, *late]}
        in_order = tuple(owed[at] for at in sorted(owed))
        return Rest(seq, self._number, in_order, frozenset(self._lying))
