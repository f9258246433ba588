"""What a journal comes to over time: rounds, money, mistakes, readings and faults, by the minute.

Read when a chart is first asked for, then only what is new; no journal is read twice.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from models.events import (
    CameraFault,
    CardSighted,
    Observation,
    PlateRead,
    ReaderFault,
    RulesStated,
    ShoeCardRead,
)
from models.judgements import AnyEvent, RoundResult, RoundSettled
from server.service.session import Session
from stream.journal import Place, UnknownEvent, read_on

MINUTE_NS: Final = 60_000_000_000
_AT_ONCE: Final = 5000


@dataclass(frozen=True, slots=True)
class Played:
    """One round as it settled last."""

    at: int
    staked: int
    """Cents on all its hands and insurances."""
    net: int | None
    """The house's gain in cents; ``None`` while something is open."""
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InForce:
    """Rules as a journal states them, or the id that its first settlement names."""

    seq: int
    at: int
    rulebook: str
    stated: RulesStated | None


@dataclass(slots=True)
class Tally:
    """One journal's figures so far."""

    place: Place = field(default_factory=Place)
    rounds: dict[int, Played] = field(default_factory=dict)
    readings: Counter[tuple[int, str]] = field(default_factory=Counter)
    """What a source read, by minute and source."""
    errors: Counter[tuple[int, str]] = field(default_factory=Counter)
    """What it could not read, and its faults."""
    rules: list[InForce] = field(default_factory=list)
    last_at: int = 0

    def take(self, events: Iterable[AnyEvent | UnknownEvent]) -> None:
        """Take in the next entries."""
        for event in events:
            if isinstance(event, UnknownEvent):
                continue
            self.last_at = max(self.last_at, event.at or 0)
            if isinstance(event, RoundSettled):
                self._settled(event)
            elif isinstance(event, RulesStated):
                self._state(event.seq or 0, event.at or 0, event.rulebook, event)
            elif isinstance(event, Observation):
                self._observed(event)

    def _settled(self, event: RoundSettled) -> None:
        result, at = event.result, event.at or self.last_at
        before = self.rounds.get(result.round)
        self.rounds[result.round] = Played(
            at if before is None else before.at,
            _staked(result),
            result.net,
            tuple(one.code for one in result.violations),
        )
        self._state(event.seq or 0, at, result.rulebook, None)

    def _state(self, seq: int, at: int, rulebook: str, stated: RulesStated | None) -> None:
        known = self.rules[-1] if self.rules else None
        if known is None or known.rulebook != rulebook or (stated and _differ(stated, known)):
            self.rules.append(InForce(seq, at, rulebook, stated))

    def _observed(self, event: Observation) -> None:
        key = ((event.at or self.last_at) // MINUTE_NS * MINUTE_NS, event.source)
        match event:
            case ShoeCardRead():
                self.readings[key] += 1
                self.errors[key] += event.card is None
            case CardSighted(face="up", change="new"):
                self.readings[key] += 1
                self.errors[key] += event.card is None
            case PlateRead():
                self.readings[key] += 1
            case ReaderFault() | CameraFault():
                self.errors[key] += 1


def _differ(stated: RulesStated, known: InForce) -> bool:
    return known.stated is None or known.stated.rules != stated.rules


def _staked(result: RoundResult) -> int:
    hands = sum(hand.stake for spot in result.spots for hand in spot.hands)
    return hands + sum(spot.insurance.stake for spot in result.spots if spot.insurance)


class Tallies:
    """The figures of every journal, each read on when it is asked for."""

    def __init__(self) -> None:
        self._kept: dict[str, Tally] = {}
        self._turn = asyncio.Lock()

    async def of(self, session: Session) -> Tally:
        """Return a journal's figures up to now.

        Raises:
            TechnicianError: it cannot be read.
        """
        async with self._turn:
            tally = self._kept.setdefault(session.name, Tally())
            while tally.place.seq < session.place.seq:
                events, place = await asyncio.to_thread(
                    read_on, session.path, tally.place, _AT_ONCE
                )
                tally.take(events)
                tally.place = place
            return tally
