"""All tables: every journal of a folder, found, followed and folded; nothing is written there."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from models.errors import PitwatchError
from models.judgements import AnyEvent
from server.service.session import Entry, Session
from server.service.views import TableView
from stream.journal import Place, UnknownEvent, read_between, read_on

POLL_NS: Final = 50_000_000
"""How often the journals are looked at."""
AT_ONCE: Final = 200
"""How many entries are read before others get their turn."""
_TRIES: Final = 3
"""A journal must fail this often in a row: its writer may be opening or closing it."""

_Stamp = tuple[int, int, int, int]


@dataclass(slots=True)
class _Followed:
    session: Session
    stamp: _Stamp | None = None
    is_settled: bool = False
    failed: int = 0


class Floor:
    """The journals of ``folder``. Used in one event loop; files are read in other threads."""

    def __init__(self, folder: Path, on_read: Callable[[str, int], None] = lambda *_: None) -> None:
        self.folder = folder
        self.is_ready = False
        """Whether every journal was read to its end once."""
        self._followed: dict[str, _Followed] = {}
        self._news = asyncio.Event()
        self._on_read = on_read

    async def run(self, every_ns: int = POLL_NS) -> None:
        """Follow the journals until cancelled."""
        while True:
            await self.poll()
            await asyncio.sleep(every_ns / 1e9)

    async def poll(self) -> None:
        """Look at every journal once and take in what is new."""
        for path, stamp in await asyncio.to_thread(_stamped, self.folder):
            name = path.name.removesuffix(".journal")
            followed = self._followed.setdefault(name, _Followed(Session(path)))
            await self._look(followed, stamp)
        self.is_ready = True

    def news(self) -> asyncio.Event:
        """Return an event that is set when anything new is read; take it before looking."""
        return self._news

    def sessions(self) -> tuple[Session, ...]:
        """Return every session by name."""
        return tuple(followed.session for _, followed in sorted(self._followed.items()))

    def session(self, name: str) -> Session | None:
        """Return one session."""
        followed = self._followed.get(name)
        return None if followed is None else followed.session

    def of_table(self, table: str) -> tuple[Session, ...]:
        """Return a table's sessions, oldest first."""
        own = [one for one in self.sessions() if one.table == table]
        return tuple(sorted(own, key=lambda one: (one.view().last_at or 0, one.name)))

    def tables(self) -> tuple[TableView, ...]:
        """Return every table by name."""
        names = sorted({one.table for one in self.sessions() if one.table is not None})
        return tuple(view for name in names if (view := self.table(name)) is not None)

    def table(self, name: str) -> TableView | None:
        """Return one table, as its newest session has it."""
        own = self.of_table(name)
        if not own:
            return None
        return TableView(table=name, now=own[-1].view(), sessions=tuple(one.name for one in own))

    async def entries(self, session: Session, after: int, at_most: int) -> tuple[Entry, ...]:
        """Return a session's next events after ``after``, never beyond what was folded.

        Raises:
            TechnicianError: the journal cannot be read.
        """
        kept = session.kept_after(after, at_most)
        if kept is not None:
            return kept
        at_most = min(at_most, session.place.seq - after)
        events = await asyncio.to_thread(read_between, session.path, after, after + at_most)
        return tuple(map(session.entry, events))

    async def _look(self, followed: _Followed, stamp: _Stamp) -> None:
        """Read once more after a change: one within the same tick leaves the stamp as it is."""
        if followed.stamp == stamp and followed.is_settled:
            return
        followed.is_settled, followed.stamp = followed.stamp == stamp, stamp
        try:
            while await self._read(followed.session) == AT_ONCE:
                pass
        except PitwatchError as fault:
            self._failed(followed, fault)
        else:
            followed.failed, followed.session.fault = 0, None

    def _failed(self, followed: _Followed, fault: PitwatchError) -> None:
        followed.failed += 1
        followed.stamp = None
        if followed.failed >= _TRIES:
            followed.session.fault = f"{followed.session.path.name}: {fault.what}"

    async def _read(self, session: Session) -> int:
        events, place = await asyncio.to_thread(read_on, session.path, session.place, AT_ONCE)
        self._take(session, events, place)
        return len(events)

    def _take(
        self, session: Session, events: Iterable[AnyEvent | UnknownEvent], place: Place
    ) -> None:
        taken = 0
        for event in events:
            session.fold(event)
            taken += 1
        session.place = place
        if taken:
            self._on_read(session.name, taken)
            self._news.set()
            self._news = asyncio.Event()


def _stamped(folder: Path) -> list[tuple[Path, _Stamp]]:
    found = []
    for path in sorted(folder.glob("*.journal")):
        log = path.with_name(path.name + "-wal")
        found.append((path, (*_stamp(path), *_stamp(log))))
    return found


def _stamp(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except FileNotFoundError:
        return 0, 0
    return state.st_mtime_ns, state.st_size
