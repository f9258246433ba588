"""All tables: what viewers see of every session, and what is new.

:class:`server.readmodel.folder_floor.FolderFloor` has the journals of one machine, the floor record
those of many.
"""

import asyncio
import hashlib
import logging
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from server.readmodel.ending import Ending
from server.readmodel.entries import Entry
from server.readmodel.session import Session
from server.readmodel.views import Presence, RoundRow, SessionView, TableView
from stream.clock import HostClock

if TYPE_CHECKING:
    from server.readmodel.index import Index

POLL_NS: Final = 50_000_000
"""Nanoseconds between two looks at the journals."""
LIVE_WITHIN_NS: Final = 600_000_000_000
"""Nanoseconds since the last card within which a table is live; a shuffle takes a few minutes."""
_AFTER_FAULT_S: Final = 1.0

_SOURCES: Final = (
    "models/cards.py",
    "models/events.py",
    "models/judgements.py",
    "server/readmodel/clock_standing.py",
    "server/readmodel/databases.py",
    "server/readmodel/device_standing.py",
    "server/readmodel/file_index.py",
    "server/readmodel/index.py",
    "server/readmodel/round_book.py",
    "server/readmodel/session.py",
    "server/readmodel/shoe_end.py",
    "server/readmodel/views.py",
    "settlement/facts.py",
    "settlement/phases.py",
)
"""The sources that determine the rows of a journal."""

log: Final = logging.getLogger("pitwatch.service")


class Floor(ABC):
    """Every session of every table. For one event loop."""

    def __init__(
        self,
        index: "Index",
        on_read: Callable[[str, int], None] = lambda *_: None,
        ending: Ending | None = None,
        now_ns: Callable[[], int] | None = None,
    ) -> None:
        self._ending = ending
        self.index = index
        self._sessions: dict[str, Session] = {}
        self.is_worked_on: Callable[[str, int], bool] = lambda _session, _round: False
        """Returns whether people work on a round: it then needs attention like one with a
        mistake."""
        self.on_rounds: Callable[[Session, Iterable[RoundRow]], None] = lambda *_: None
        """Receives the changed rounds."""
        self.is_ready = False
        """Whether every journal was read to its end once."""
        self.looked_ns: int | None = None
        """Time of the last look, as :func:`elapsed_ns` counts."""
        self.tick = 0
        """Counts the reads; see :meth:`moved_since`."""
        self._moved: OrderedDict[str, int] = OrderedDict()
        self._news = asyncio.Event()
        self._on_read = on_read
        self._now_ns = now_ns or HostClock().now_ns

    async def run(self, every_ns: int = POLL_NS) -> None:
        """Follow the journals until cancelled."""
        self.open()
        while True:
            try:
                await self.poll()
            except Exception:  # the service goes on; the log has the traceback
                log.exception("the journals cannot be read; retrying")
                await asyncio.sleep(_AFTER_FAULT_S)
            await asyncio.sleep(every_ns / 1e9)

    @abstractmethod
    def open(self) -> None:
        """Open the index, or create it.

        Raises:
            TechnicianError: it cannot be used.
        """

    def read_percent(self) -> int | None:
        """Return how much was read while it is not ready; ``None`` where nobody knows."""
        return None

    @abstractmethod
    async def poll(self) -> None:
        """Look at the journals once and process the news."""

    def close(self) -> None:
        """Close its files and connections."""
        self.index.close()

    def sessions(self) -> tuple[Session, ...]:
        """Return every session by name."""
        return tuple(session for _, session in sorted(self._sessions.items()))

    def session(self, name: str) -> Session | None:
        """Return one session."""
        return self._sessions.get(name)

    @abstractmethod
    def is_written(self, session: Session) -> bool:
        """Return whether a session continues: a process has its journal open for writing."""

    def look_again(self, session: Session, number: int) -> None:
        """Determine again whether a round needs attention."""
        with self.index.writing():
            session.rounds.look_again(number)

    def news(self) -> asyncio.Event:
        """Return an event that the next news sets; take it before looking."""
        return self._news

    def moved_since(self, tick: int) -> Iterator[str]:
        """Yield the names of the sessions that have news since ``tick``."""
        for name in reversed(self._moved):
            if self._moved[name] <= tick:
                return
            yield name

    def of_table(self, table: str) -> tuple[Session, ...]:
        """Return a table's sessions, oldest first."""
        own = [one for one in self.sessions() if _table_of(one) == table]
        return tuple(sorted(own, key=lambda one: (one.last_at or 0, one.name)))

    def tables(self) -> tuple[TableView, ...]:
        """Return every table by name."""
        own: dict[str, list[Session]] = {}
        for one in sorted(self.sessions(), key=lambda one: one.last_at or 0):
            table = _table_of(one)
            if table is not None:
                own.setdefault(table, []).append(one)
        return tuple(self._table_view(name, sessions) for name, sessions in sorted(own.items()))

    def table(self, name: str) -> TableView | None:
        """Return one table, as its newest session has it."""
        own = self.of_table(name)
        return self._table_view(name, own) if own else None

    def view(self, session: Session) -> SessionView:
        """Return a session's present state, with whether it is live."""
        return session.view(self._presence(session))

    def _table_view(self, table: str, own: Sequence[Session]) -> TableView:
        now = self.view(own[-1])
        return TableView(table=table, now=now, sessions=tuple(one.name for one in own))

    def _presence(self, session: Session) -> Presence:
        if not self.is_written(session):
            return "recorded"
        away_ns = self._now_ns() - (session.last_at or 0)
        return "live" if away_ns <= LIVE_WITHIN_NS else "quiet"

    async def entries(self, session: Session, after: int, at_most: int) -> tuple[Entry, ...]:
        """Return a session's next events after ``after``, at most those already folded.

        Raises:
            TechnicianError: the journal cannot be read.
        """
        kept = session.kept_after(after, at_most)
        if kept is not None:
            return kept
        at_most = min(at_most, session.place.seq - after)
        events = await asyncio.to_thread(session.journal.read_between, after, after + at_most)
        return tuple(map(session.entry, events))

    def _moved_on(self, session: Session, changed: Iterable[RoundRow], read: int) -> None:
        """Notify all viewers that a session has news."""
        self.on_rounds(session, changed)
        self._on_read(session.name, read)
        self.tick += 1
        self._moved[session.name] = self.tick
        self._moved.move_to_end(session.name)
        self._news.set()
        self._news = asyncio.Event()


def _table_of(session: Session) -> str | None:
    """Return a session's table; an unreadable journal stands for itself."""
    return session.name if session.table is None and session.fault else session.table


def made_by() -> str:
    """Return a hash of the sources behind the rows, so that no row outlives them."""
    home = Path(__file__).parents[2]
    return hashlib.sha256(b"".join((home / name).read_bytes() for name in _SOURCES)).hexdigest()
