"""The last rest of a table, so that a start need not process its whole history.

Between two shoes, with the last round settled and no card on the felt, later events depend only on
the chips on the felt and on observations since the round's end.

Another release of the program may infer other facts from the same observations. A start under it
goes on from the end of the last round, between two shoes or not: what was concluded before stands.
"""

from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

from models.events import (
    AnyObservation,
    CardGone,
    CardSighted,
    ConsoleEntry,
    Observation,
    PlateRead,
    ProgramStated,
    ReaderFault,
    ReviewResolved,
    RoundClosed,
    RoundOpened,
    ShoeCardRead,
    ShoeCutCard,
    ShoeLoaded,
    ShoeStarted,
)
from models.judgements import AnyEvent, LedgerPosted, RoundSettled
from settlement.phases import RoundPhases
from settlement.reconcile.blindness import Blindness

Track: TypeAlias = tuple[str, int]
"""A camera, and its number for a card."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A moment of a journal without a round in play or waiting for settlement.

    None is while a camera is at fault: what is asked of a later round may rest on since when.
    """

    seq: int
    """The last entry of the earlier rounds."""
    played: int
    """The number of the last of them."""
    over: frozenset[Track]
    """Cards of earlier rounds that cameras reported afterwards."""
    chips: tuple[PlateRead, ...]
    """The last two changes of each circle."""
    recent: tuple[AnyObservation, ...]
    """Observations since the last round's end, in order."""
    phases: tuple[int, ...]
    """The last round's, as :meth:`settlement.phases.RoundPhases.kept` returns them."""
    deaf: frozenset[str]
    """Shoes without a link, or back without a report of missed cards."""
    shoes: frozenset[str]
    """The readers of a shoe that have reported so far."""
    end_ns: int
    """The time of the last observation."""
    tracks: dict[str, int]
    """The highest track that each camera has used."""
    program: str = ""
    """The hash of the program that stated itself last."""

    @property
    def owed(self) -> tuple[AnyObservation, ...]:
        """Earlier observations that later events may rest on, in order."""
        late = (one for one in self.recent if not isinstance(one, ReviewResolved))
        owed = {one.seq or 0: one for one in (*self.chips, *late)}
        return tuple(owed[at] for at in sorted(owed))


@dataclass(slots=True)
class RestReading:
    """The state of a table while its journal is read."""

    rest: Rest | None = None
    ended: Rest | None = None
    """The end of the last round; ``None`` while one is in play."""
    last_seq: int = 0
    """The number of the last entry."""
    end_ns: int = 0
    """The time of the last observation."""
    tracks: dict[str, int] = field(default_factory=dict)
    """The highest track that each camera has used."""
    _number: int = 0
    _phases: RoundPhases = field(default_factory=RoundPhases)
    _lying: set[Track] = field(default_factory=set)
    _deaf: set[str] = field(default_factory=set)
    _blindness: Blindness = field(default_factory=Blindness)
    _shoes: set[str] = field(default_factory=set)
    _program: str = ""
    _chips: dict[tuple[int, str], tuple[PlateRead, ...]] = field(default_factory=dict)
    _recent: list[AnyObservation] = field(default_factory=list)
    """Observations after the last round's end, or in the round in play."""

    @classmethod
    def after(cls, rest: Rest) -> Self:
        """Return the state at a rest: reading continues with the entry after it."""
        reading = cls(
            ended=rest,
            last_seq=rest.seq,
            end_ns=rest.end_ns,
            tracks=dict(rest.tracks),
            _number=rest.played,
        )
        reading._phases.go_on(rest.phases)
        reading._lying, reading._deaf = set(rest.over), set(rest.deaf)
        reading._shoes, reading._recent = set(rest.shoes), list(rest.recent)
        reading._program = rest.program
        for read in rest.chips:
            circle = (read.spot, read.circle)
            reading._chips[circle] = (*reading._chips.get(circle, ()), read)
        return reading

    def follow(self, event: AnyEvent) -> None:
        """Process the next entry."""
        self.last_seq = event.seq or self.last_seq
        if isinstance(event, Observation):
            self.end_ns = max(self.end_ns, event.at or 0)
        self._phases.follow_event(event)
        match event:
            case RoundOpened():
                self._number, self.ended = event.round, None
            case RoundClosed():
                closed_ns = event.at or 0
                self._blindness.round_over(closed_ns)
                self._recent = [one for one in self._recent if (one.at or 0) > closed_ns]
            case RoundSettled(result=result):
                if self._phases.closed and result.round == self._number:
                    self.ended = self.ended or self._end(event.seq or 0)
            case LedgerPosted():
                if self.ended is not None and self.ended.seq + 1 == event.seq:
                    self.ended = replace(self.ended, seq=event.seq)
            case ProgramStated(program_hash=program):
                self.rest, self._program = self.rest_under(program), program
                self._blindness.take(event)
            case Observation():
                self._observed(event)
            case _:
                pass

    def rest_under(self, program: str) -> Rest | None:
        """Return the rest from which a start under the program of this hash goes on."""
        if program == self._program or self._has_fault:
            return self.rest
        return self.ended or self.rest

    @property
    def _has_fault(self) -> bool:
        return bool(self._deaf) or self._blindness.lasts

    def _observed(self, seen: AnyObservation) -> None:
        self._blindness.take(seen)
        match seen:
            case CardSighted():
                self._lying.add((seen.source, seen.track))
                self.tracks[seen.source] = max(self.tracks.get(seen.source, 0), seen.track)
                return
            case CardGone():
                self._lying.discard((seen.source, seen.track))
                return
            case PlateRead():
                self._laid(seen)
            case ShoeCardRead() | ShoeCutCard():
                self._shoes.add(seen.source)
            case ReaderFault(kind="link_lost") if not seen.source.startswith("plate"):
                self._deaf.add(seen.source)
            case ReaderFault(kind="uncounted"):
                self._deaf.discard(seen.source)
            case ShoeLoaded() | ConsoleEntry(fact=ShoeStarted()):
                if isinstance(seen, ShoeLoaded):
                    self._shoes.add(seen.source)
                if not (self._lying or self._has_fault):
                    self.rest = self.ended or self.rest
            case _:
                pass
        self._recent.append(seen)

    def _laid(self, read: PlateRead) -> None:
        before = self._chips.get((read.spot, read.circle), ())
        if not before or before[-1].amount != read.amount:
            self._chips[read.spot, read.circle] = (*before[-1:], read)

    def _end(self, seq: int) -> Rest:
        return Rest(
            seq,
            self._number,
            over=frozenset(self._lying),
            chips=tuple(read for changes in self._chips.values() for read in changes),
            recent=tuple(self._recent),
            phases=self._phases.kept(),
            deaf=frozenset(self._deaf),
            shoes=frozenset(self._shoes),
            end_ns=self.end_ns,
            tracks=dict(self.tracks),
            program=self._program,
        )
