"""The opening of a session's rounds in its journal, with the state at the start of each.

It keeps as much of the past as is needed to settle a round again without the whole session.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from models.events import AnyFact, RoundOpened, ShoeStarted
from settlement.engine import Engine
from settlement.engine_state import EngineState

_MOST: Final = 512
"""Starts in memory: all recent ones, and of older ones every nth."""
_LAST: Final = 128


class RoundStart(msgspec.Struct, frozen=True, array_like=True):
    """The fact that opens a round, and the engine's state before it."""

    number: int
    seq: int
    engine_state: EngineState


@dataclass(slots=True)
class RoundStarts:
    """Finds where to start processing facts again. Its memory is bounded."""

    known: list[RoundStart] = field(default_factory=list)
    """In order of number, and so of ``seq``."""
    shoes: list[tuple[int, int]] = field(default_factory=list)
    """For each ``shoe_started``: its ``seq``, and the round before it."""
    every: int = 1
    """Interval of the older starts that are kept."""
    number: int = 0
    in_order: bool = True
    """Whether round numbers only grew; if not, no start is known."""

    def note(self, fact: AnyFact, engine: Engine) -> None:
        """Note a fact just processed by an engine, where it begins a round or a shoe."""
        if isinstance(fact, ShoeStarted):
            self.shoes.append((fact.seq or 0, self.number))
        elif isinstance(fact, RoundOpened):
            self.in_order = self.in_order and fact.round > self.number
            self.number = fact.round
            engine_state = engine.engine_state()
            if engine_state is not None:
                self.known.append(RoundStart(fact.round, fact.seq or 0, engine_state))
                self._thin()

    def before(self, number: int) -> RoundStart | None:
        """Return the last known start of a round up to ``number``; ``None`` for none."""
        at = bisect_right(self.known, number, key=_number) if self.in_order else 0
        return self.known[at - 1] if at else None

    def of(self, number: int) -> RoundStart | None:
        """Return the start of a round, where it is known."""
        start = self.before(number)
        return start if start is not None and start.number == number else None

    def put_right(self, starts: Iterable[RoundStart]) -> None:
        """Replace the starts of these rounds; others do not change."""
        anew = {start.number: start for start in starts}
        self.known = [anew.get(was.number, was) for was in self.known]

    def until(self, start: RoundStart) -> "RoundStarts":
        """Return what is known of the rounds before this one, whose opening is noted next."""
        known = [one for one in self.known if one.number < start.number]
        shoes = [(seq, after) for seq, after in self.shoes if seq < start.seq]
        return replace(self, known=known, shoes=shoes, number=start.number - 1)

    def shoe_of(self, number: int) -> int:
        """Return the ``seq`` of the fact that began the shoe of a round, or 0."""
        before = [seq for seq, after in self.shoes if after < number]
        return before[-1] if before and self.in_order else 0

    def _thin(self) -> None:
        """Drop surplus starts, evenly over the past."""
        while len(self.known) > _MOST:
            older = [one for one in self.known[:-_LAST] if one.number % self.every == 0]
            if len(older) > (_MOST - _LAST) // 2:
                self.every *= 2
            self.known = older + self.known[-_LAST:]


def _number(start: RoundStart) -> int:
    return start.number
