"""The changing queue of incidents, shared by all viewers."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import Final

from server.readmodel.cases import Cases
from server.readmodel.floor import Floor
from server.readmodel.incidents import (
    IncidentRow,
    found_round,
    incident_id,
    incident_row,
    is_incident,
)
from server.readmodel.selection import Sought
from server.readmodel.session import Session
from server.readmodel.views import RoundRow

KEPT: Final = 1000
"""Changes kept for returning viewers; the list shows older ones."""
_PAUSE_S: Final = 0.25


class Queue:
    """Changes of incidents, numbered. ``first`` is greater than any number of an earlier run."""

    def __init__(self, floor: Floor, cases: Cases, first: int) -> None:
        self._floor, self._cases = floor, cases
        self.number = first
        """The number of the last change."""
        self._changed: dict[str, tuple[Session, RoundRow]] = {}
        self._known: OrderedDict[str, IncidentRow] = OrderedDict()
        self._kept: deque[tuple[int, IncidentRow]] = deque(maxlen=KEPT)
        self._news = asyncio.Event()
        floor.on_rounds, floor.is_worked_on = self.take, self.is_worked_on

    async def run(self) -> None:
        """Publish the newest incidents, then every change, until cancelled."""
        while not self._floor.is_ready:
            await asyncio.sleep(_PAUSE_S)
        await self._publish_newest()
        while True:
            news = self._floor.news()
            changed, self._changed = self._changed, {}
            self._publish(self._incidents(changed.values()))
            await news.wait()
            await asyncio.sleep(_PAUSE_S)

    def take(self, session: Session, rows: Iterable[RoundRow]) -> None:
        """Process changed rounds."""
        for row in rows:
            incident = incident_id(session.name, row.round)
            if incident in self._known or is_incident(row, self._cases.of(incident)):
                self._changed[incident] = (session, row)
        while len(self._changed) > KEPT:
            del self._changed[next(iter(self._changed))]

    def is_worked_on(self, session: str, number: int) -> bool:
        """Return whether people worked on the incident of a round."""
        return bool(self._cases.of(incident_id(session, number)).history)

    def touch(self, incident: str) -> None:
        """Publish an incident that a person changed."""
        found = found_round(self._floor, incident)
        if found is not None:
            self._floor.look_again(found[0], found[1].round)
            self._publish([incident_row(*found, self._cases.of(incident))])

    def news(self) -> asyncio.Event:
        """Return an event that the next change sets; take it before looking."""
        return self._news

    def after(self, number: int) -> list[tuple[int, IncidentRow]]:
        """Return the changes after ``number`` that are still kept."""
        return [change for change in self._kept if change[0] > number]

    async def _publish_newest(self) -> None:
        sought = Sought(RoundRow, noticed=True)
        newest = await self._floor.index.look_up(sought, KEPT)
        placed = ((self._floor.session(one.row.session), one.row) for one in reversed(newest))
        self._publish(self._incidents((at, row) for at, row in placed if at is not None))

    def _incidents(self, rounds: Iterable[tuple[Session, RoundRow]]) -> Iterator[IncidentRow]:
        for session, row in rounds:
            yield incident_row(session, row, self._cases.of(incident_id(session.name, row.round)))

    def _publish(self, rows: Iterable[IncidentRow]) -> None:
        changed = [row for row in rows if self._known.get(row.id) != row]
        for row in changed:
            self._known[row.id] = row
            self._known.move_to_end(row.id)
            self.number += 1
            self._kept.append((self.number, row))
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        if changed:
            self._news.set()
            self._news = asyncio.Event()
