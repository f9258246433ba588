"""The opening of a session's rounds in its journal, with the state at the start of each.

It keeps as much of the past as is needed to settle a round again without the whole session.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Self

import msgspec

from models.events import AnyFact, RoundOpened, ShoeStarted
from models.judgements import TrayChange, Violation
from settlement.engine import Engine
from settlement.engine_state import EngineState, ShoeThen

_MOST: Final = 512
"""Starts in memory: all recent ones, and of older ones every nth."""
_LAST: Final = 128


@dataclass(frozen=True, slots=True)
class RoundStart:
    """The fact that opens a round, and the engine's state before it."""

    number: int
    seq: int
    engine_state: EngineState


class _KeptShoe(msgspec.Struct, frozen=True, array_like=True):
    """:class:`settlement.engine_state.ShoeThen` for a file."""

    decks: int
    started: bool
    burned: int
    burn_judged: bool
    boxed_last: int
    dealt: bool
    cut: bool
    out: int
    out_faces: tuple[int, ...]
    out_ranks: tuple[int, ...]
    boxed: tuple[tuple[int, int], ...]


class _KeptState(msgspec.Struct, frozen=True, array_like=True):
    """:class:`settlement.engine_state.EngineState` for a file: compiled, it has no field types."""

    number: int
    found: tuple[Violation, ...]
    shoe: _KeptShoe
    seats: tuple[tuple[int, str], ...]
    entered: frozenset[str]
    newcomers: frozenset[str]
    dealt: bool
    cut_now: bool
    tray: int | None
    tray_change: int
    tray_sure: bool
    tray_seq: int
    tray_changes: tuple[TrayChange, ...]


class KeptStart(msgspec.Struct, frozen=True, array_like=True):
    """A :class:`RoundStart` for a file."""

    number: int
    seq: int
    state: _KeptState

    @classmethod
    def of(cls, start: RoundStart) -> Self:
        """Return a start for a file."""
        kept = msgspec.convert(start.engine_state, _KeptState, from_attributes=True)
        return cls(start.number, start.seq, kept)

    def start(self) -> RoundStart:
        """Return the start."""
        fields = msgspec.structs.asdict(self.state)
        shoe = ShoeThen(**msgspec.structs.asdict(self.state.shoe))
        return RoundStart(self.number, self.seq, EngineState(**fields | {"shoe": shoe}))


class KeptStarts(msgspec.Struct, frozen=True):
    """The start of a round, and what is known of those before it."""

    start: KeptStart
    before: tuple[KeptStart, ...]
    shoes: tuple[tuple[int, int], ...]
    """As in :class:`RoundStarts`."""


@dataclass(slots=True)
class RoundStarts:
    """Finds where to start processing facts again. Its memory is bounded."""

    _known: list[RoundStart] = field(default_factory=list)
    """In order of number, and so of ``seq``."""
    _shoes: list[tuple[int, int]] = field(default_factory=list)
    """For each ``shoe_started``: its ``seq``, and the round before it."""
    _every: int = 1
    """Interval of the older starts that are kept."""
    _number: int = 0
    _in_order: bool = True
    """Whether round numbers only grew; if not, no start is known."""

    def note(self, fact: AnyFact, engine: Engine) -> None:
        """Note a fact just processed by an engine, where it begins a round or a shoe."""
        if isinstance(fact, ShoeStarted):
            self._shoes.append((fact.seq or 0, self._number))
        elif isinstance(fact, RoundOpened):
            self._in_order = self._in_order and fact.round > self._number
            self._number = fact.round
            engine_state = engine.engine_state()
            if engine_state is not None:
                self._known.append(RoundStart(fact.round, fact.seq or 0, engine_state))
                self._thin()

    def before(self, number: int) -> RoundStart | None:
        """Return the last known start of a round up to ``number``; ``None`` for none."""
        at = bisect_right(self._known, number, key=_number) if self._in_order else 0
        return self._known[at - 1] if at else None

    def of(self, number: int) -> RoundStart | None:
        """Return the start of a round, where it is known."""
        start = self.before(number)
        return start if start is not None and start.number == number else None

    def put_right(self, starts: Iterable[RoundStart]) -> None:
        """Replace the starts of these rounds; others do not change."""
        anew = {start.number: start for start in starts}
        self._known = [anew.get(was.number, was) for was in self._known]

    def kept(self, number: int) -> KeptStarts | None:
        """Return what is known of the rounds before one, with that one's own start.

        ``None`` where the start of that round is not known.
        """
        start = self.of(number)
        if start is None:
            return None
        return KeptStarts(
            KeptStart.of(start),
            tuple(KeptStart.of(one) for one in self._known if one.number < number),
            tuple((seq, after) for seq, after in self._shoes if seq < start.seq),
        )

    @classmethod
    def after(cls, kept: KeptStarts) -> Self:
        """Return the starts before a round, whose opening is noted next."""
        known = [one.start() for one in kept.before]
        return cls(known, list(kept.shoes), _number=kept.start.number - 1)

    def shoe_of(self, number: int) -> int:
        """Return the ``seq`` of the fact that began the shoe of a round, or 0."""
        before = [seq for seq, after in self._shoes if after < number]
        return before[-1] if before and self._in_order else 0

    def _thin(self) -> None:
        """Drop surplus starts, evenly over the past."""
        while len(self._known) > _MOST:
            older = [one for one in self._known[:-_LAST] if one.number % self._every == 0]
            if len(older) > (_MOST - _LAST) // 2:
                self._every *= 2
            self._known = older + self._known[-_LAST:]


def _number(start: RoundStart) -> int:
    return start.number
