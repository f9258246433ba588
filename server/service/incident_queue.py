"""The queue of incidents as it changes, for all who work on it: looked at once, told to each."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from typing import Final

import msgspec
from starlette.requests import HTTPConnection

from server.service.cases import Cases
from server.service.floor import Floor
from server.service.incidents import (
    IncidentRow,
    found_round,
    incident_id,
    incident_row,
    is_incident,
)
from server.service.rows import before_time, newest_first
from server.service.streaming import Feed, set_within

LOOKED_AT: Final = 2000
"""How many of the newest rounds are looked at for changes; an older one shows in the list."""
KEPT: Final = 1000
_PAUSE_S: Final = 0.25


class Queue:
    """Changes of incidents, numbered. ``first`` is greater than any number of an earlier run."""

    def __init__(self, floor: Floor, cases: Cases, first: int) -> None:
        self._floor, self._cases = floor, cases
        self.number = first
        """The last change's."""
        self._known: dict[str, IncidentRow] = {}
        self._kept: deque[tuple[int, IncidentRow]] = deque(maxlen=KEPT)
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Look at the newest rounds whenever a journal has news, until cancelled."""
        while True:
            news = self._floor.news()
            self._tell(self._newest())
            await news.wait()
            await asyncio.sleep(_PAUSE_S)

    def touch(self, incident: str) -> None:
        """Tell of an incident with which somebody did something."""
        found = found_round(self._floor, incident)
        if found is not None:
            self._tell([incident_row(*found, self._cases.of(incident))])

    def news(self) -> asyncio.Event:
        """Return an event that is set with the next change; take it before looking."""
        return self._news

    def after(self, number: int) -> list[tuple[int, IncidentRow]]:
        """Return the changes after ``number`` that are still kept."""
        return [change for change in self._kept if change[0] > number]

    def _newest(self) -> Iterable[IncidentRow]:
        rounds = newest_first([one.rounds for one in self._floor.sessions()], before_time(None))
        newest = [placed.row for placed in islice(rounds, LOOKED_AT)]
        for row in reversed(newest):
            case = self._cases.of(incident_id(row.session, row.round))
            session = self._floor.session(row.session)
            if session is not None and is_incident(row, case):
                yield incident_row(session, row, case)

    def _tell(self, rows: Iterable[IncidentRow]) -> None:
        changed = [row for row in rows if self._known.get(row.id) != row]
        for row in changed:
            self._known[row.id] = row
            self.number += 1
            self._kept.append((self.number, row))
        if changed:
            self._news.set()
            self._news = asyncio.Event()


class QueueFeed(Feed):
    """What one viewer of the queue has seen, and what is next for it."""

    def __init__(self, connection: HTTPConnection, after: int | None) -> None:
        super().__init__(connection, {})
        self._queue: Queue = connection.app.state.queue
        self._after = self._queue.number if after is None else after

    async def pieces(self, idle_ns: int) -> AsyncIterator[tuple[str, int, bytes] | None]:
        """Yield each change as it comes; ``None`` where there is no news."""
        while True:
            news, changes = self._queue.news(), self._queue.after(self._after)
            for number, row in changes:
                self._after = number
                yield row.session, number, msgspec.json.encode(row)
            if not changes and not await set_within(news, idle_ns):
                yield None
            await self.check(idle_ns)
