"""A journal's sensor counts by the minute, and its rules in force.

A journal is read on the first request, in portions, and later only from there on; none is read
twice. The results of rounds come from the index.
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
from models.judgements import AnyEvent
from server.readmodel.session import Session
from stream.journal import Place
from stream.reading import UnknownEvent

MINUTE_NS: Final = 60_000_000_000
AT_ONCE: Final = 20_000
"""Entries read for one request, about a second's work; the next request continues."""
_PIECE: Final = 2000
_RULES_WITHIN: Final = 200
"""Entries. A table states its rules at its start, among the first of its journal."""


@dataclass(slots=True)
class Tally:
    """One journal's figures so far."""

    place: Place = field(default_factory=Place)
    readings: Counter[tuple[int, str]] = field(default_factory=Counter)
    """Readings, by minute and source."""
    errors: Counter[tuple[int, str]] = field(default_factory=Counter)
    """Unreadable data and faults, by minute and source."""
    last_at: int = 0

    def take(self, events: Iterable[AnyEvent | UnknownEvent]) -> None:
        """Process the next entries."""
        for event in events:
            if not isinstance(event, UnknownEvent):
                self.last_at = max(self.last_at, event.at or 0)
                if isinstance(event, Observation):
                    self._observed(event)

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
                self.errors[key] += event.count


class Tallies:
    """The counts of every journal, updated on request."""

    def __init__(self) -> None:
        self._kept: dict[str, Tally] = {}
        self._stated: dict[str, RulesStated] = {}
        self._turn = asyncio.Lock()

    async def of(self, session: Session, at_most: int) -> tuple[Tally, int]:
        """Return a journal's counts, and the number of entries read for them.

        It reads about ``at_most`` entries; the next request reads the rest.

        Raises:
            TechnicianError: it cannot be read.
        """
        async with self._turn:
            tally = self._kept.setdefault(session.name, Tally())
            begun = tally.place.seq
            while tally.place.seq < session.place.seq and tally.place.seq - begun < at_most:
                events, place = await asyncio.to_thread(
                    session.journal.read_on, tally.place, _PIECE
                )
                tally.take(events)
                tally.place = place
            return tally, tally.place.seq - begun

    async def stated(self, session: Session) -> RulesStated | None:
        """Return the rules that a journal states; ``None`` where it states none.

        Raises:
            TechnicianError: it cannot be read.
        """
        if session.name not in self._stated:
            events = await asyncio.to_thread(session.journal.read_between, 0, _RULES_WITHIN)
            found = next((event for event in events if isinstance(event, RulesStated)), None)
            if found is None:
                return None
            self._stated[session.name] = found
        return self._stated[session.name]
