"""All tables: find, follow and fold every journal of a folder, without writing there."""

import asyncio
import hashlib
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from models.errors import PitwatchError, TechnicianError
from models.judgements import AnyEvent
from server.readmodel.ending import Ending
from server.readmodel.entries import Entry
from server.readmodel.index import Index
from server.readmodel.session import Session
from server.readmodel.views import Presence, RoundRow, SessionView, TableView
from stream.clock import HostClock, elapsed_ns
from stream.files import JournalFiles
from stream.journal import (
    AnotherJournal,
    Place,
    UnknownEvent,
    journal_id,
    read_between,
    read_on,
)

POLL_NS: Final = 50_000_000
"""Nanoseconds between two looks at the journals."""
AT_ONCE: Final = 200
"""Entries of a journal that are read before others get their turn."""
_AT_ONCE_BEHIND: Final = 1000
"""The same for a journal that nobody writes: its readers wait for all of it."""
_WHOLE_EVERY: Final = 20
"""Looks. Every twentieth covers all journals, the others only those being written."""
_SIDE_BY_SIDE: Final = 16
"""Journals that are read before those being written get their turn."""
_AFTER_FAULT_S: Final = 1.0
LIVE_WITHIN_NS: Final = 600_000_000_000
"""Nanoseconds since the last card within which a table is live; a shuffle takes a few minutes."""
_TRIES: Final = 3
"""Failures in a row that count: the writer may be opening or closing the journal."""

_SOURCES: Final = (
    "models/cards.py",
    "models/events.py",
    "models/judgements.py",
    "server/readmodel/clock_standing.py",
    "server/readmodel/device_standing.py",
    "server/readmodel/index.py",
    "server/readmodel/round_book.py",
    "server/readmodel/session.py",
    "server/readmodel/shoe_end.py",
    "server/readmodel/views.py",
    "settlement/facts.py",
    "settlement/phases.py",
)
"""The sources that determine the rows of a journal."""

_Stamp: TypeAlias = tuple[int, int, int, int]
_NO_FILE: Final = (0, 0)
_Found: TypeAlias = tuple[tuple[AnyEvent | UnknownEvent, ...], Place] | PitwatchError
log: Final = logging.getLogger("pitwatch.service")


@dataclass(slots=True)
class _Followed:
    session: Session
    stamp: _Stamp | None = None
    is_settled: bool = False
    failed: int = 0
    journal: str | None = None
    """The id of the journal that was read, where a process writes it."""
    is_known: bool = False
    """Whether an earlier run read it, and this one has not looked at it yet."""

    @property
    def is_busy(self) -> bool:
        """Return whether a process writes it, or another look is due."""
        return self.stamp is None or not self.is_settled or self.is_written

    @property
    def is_written(self) -> bool:
        """Return whether a process writes it: its write-ahead log is not empty.

        A reader at the moment of closing leaves an empty log behind.
        """
        return self.stamp is not None and self.stamp[3] > 0

    @property
    def at_once(self) -> int:
        """The number of entries to read at once."""
        return AT_ONCE if self.is_written else _AT_ONCE_BEHIND

    def is_changed(self, stamp: _Stamp, *, is_whole: bool) -> bool:
        """Process its files' state; return whether it must be read.

        It is read once more after a change: a change within the same tick leaves the stamp
        unchanged. A journal being written is also read at each look at all journals. Its files
        change when an entry is written, but the entry becomes readable only once the disk has made
        it durable, and nothing changes then.
        """
        if self.stamp == stamp and self.is_settled and not (is_whole and self.is_written):
            return False
        self.is_settled, self.stamp = self.stamp == stamp, stamp
        return True


class Floor:
    """The journals of ``folder``. For one event loop; other threads read the files."""

    def __init__(
        self,
        folder: Path,
        on_read: Callable[[str, int], None] = lambda *_: None,
        index: Index | None = None,
        ending: Ending | None = None,
        now_ns: Callable[[], int] | None = None,
    ) -> None:
        self.folder = folder
        self._ending = ending
        self.index = index or Index()
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
        self._polls = 0
        self._followed: dict[str, _Followed] = {}
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

    def open(self) -> None:
        """Open the index, or create it.

        Raises:
            TechnicianError: the disk refuses it.
        """
        self.index.open(_made_by())

    async def poll(self) -> None:
        """Look at the journals once and process the news.

        A journal that nobody writes is only looked at occasionally: an archive has thousands. They
        are read newest first, each to its end, with those being written in between.
        """
        is_whole = self._polls % _WHOLE_EVERY == 0
        self._polls += 1
        busy = [one.session.path for one in self._followed.values() if one.is_busy]
        behind = deque(await self._changed(None if is_whole else busy))
        while behind:
            some = [behind.popleft() for _ in range(min(_SIDE_BY_SIDE, len(behind)))]
            behind.extendleft(reversed(await self._read(some)))
            if behind:
                await self._keep_up()
                await self.index.settle()
        self.is_ready = True
        self.looked_ns = elapsed_ns()

    async def _keep_up(self) -> None:
        """Read new entries of journals being written, and of new ones, while others are read."""
        paths = await asyncio.to_thread(_journals, self.folder)
        known = [self._followed.get(_name(path)) for path in paths]
        changed = await self._changed(
            [path for path, one in zip(paths, known, strict=True) if one is None or one.is_written]
        )
        while changed:
            changed = await self._read(changed)
        self.looked_ns = elapsed_ns()

    async def _changed(self, paths: Sequence[Path] | None) -> list[_Followed]:
        """Return which of those journals, or of all, must be read, the newest first.

        Those being written come before all others.
        """
        stamped = await asyncio.to_thread(_stamped, self.folder, paths)
        stamped.sort(key=lambda one: (_newness(one[1]), one[0]), reverse=True)
        return [
            followed
            for path, stamp in stamped
            if (followed := self._followed_at(path)).is_changed(stamp, is_whole=paths is None)
        ]

    def _followed_at(self, path: Path) -> _Followed:
        name = _name(path)
        if name not in self._followed:
            session = self._session_of(path)
            self._followed[name] = _Followed(session, is_known=session.place.seq > 0)
        return self._followed[name]

    def _session_of(self, path: Path) -> Session:
        with self.index.writing():
            return Session(path, self.index, self.is_worked_on, self._ending)

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

    def sessions(self) -> tuple[Session, ...]:
        """Return every session by name."""
        return tuple(followed.session for _, followed in sorted(self._followed.items()))

    def session(self, name: str) -> Session | None:
        """Return one session."""
        followed = self._followed.get(name)
        return None if followed is None else followed.session

    def is_written(self, session: Session) -> bool:
        """Return whether a session continues: a process has its journal open for writing."""
        return self._followed[session.name].is_written

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
        events = await asyncio.to_thread(read_between, session.path, after, after + at_most)
        return tuple(map(session.entry, events))

    async def _read(self, looked_at: Sequence[_Followed]) -> list[_Followed]:
        """Read new entries of some journals; return those that have more."""
        more = []
        for at in range(0, len(looked_at), _SIDE_BY_SIDE):
            some = looked_at[at : at + _SIDE_BY_SIDE]
            places = [(one.session.path, one.session.place, one.at_once) for one in some]
            each = await asyncio.to_thread(_read_each, places)
            for followed, found, (*_, at_most) in zip(some, each, places, strict=True):
                if self._take(followed, found, at_most):
                    more.append(followed)
                await asyncio.sleep(0)
        return more

    def _take(self, followed: _Followed, found: _Found, at_most: int) -> bool:
        """Process the entries found in a journal; return whether there may be more."""
        if isinstance(found, AnotherJournal):
            self._anew(followed, found)
        elif isinstance(found, PitwatchError):
            self._failed(followed, found)
        else:
            events, place = found
            return self._take_in(followed, events, place) and len(events) == at_most
        return False

    def _take_in(
        self, followed: _Followed, events: Sequence[AnyEvent | UnknownEvent], place: Place
    ) -> bool:
        """Fold the new entries and return whether that was possible.

        Where it was not, the session continues from the index, and reports it.
        """
        try:
            if events:
                self._fold(followed.session, events, place)
        except Exception as fault:  # one session's fault leaves the others as they are
            log.exception("the journal cannot be read: %s", followed.session.name)
            followed.session = self._session_of(followed.session.path)
            followed.stamp = None
            what = fault.what if isinstance(fault, PitwatchError) else "see the log"
            followed.session.fault = f"an entry cannot be read: {what}"
            return False
        followed.failed, followed.session.fault, followed.is_known = 0, None, False
        if not followed.is_written:
            followed.session.recent.clear()
        elif followed.journal is None:
            followed.journal = journal_id(followed.session.path)
        return True

    def _anew(self, followed: _Followed, other: AnotherJournal) -> None:
        """Read a journal anew that replaced the earlier one of its name.

        The earlier one was archived, or an earlier run had read it. The same journal without an
        entry that was read is no replacement: it lost that entry.
        """
        now = journal_id(followed.session.path)
        took_its_place = None not in (now, followed.journal) and now != followed.journal
        if not (followed.is_known or took_its_place):
            self._failed(followed, other)
            return
        log.warning(
            "the journal is not the one that was read before: it is read again from the start",
            extra={"fields": {"session": followed.session.name, "fault": other.what}},
        )
        followed.session.forget()
        followed.session = self._session_of(followed.session.path)
        followed.is_known, followed.stamp, followed.journal = False, None, None

    def _failed(self, followed: _Followed, fault: PitwatchError) -> None:
        followed.failed += 1
        followed.stamp = None
        if followed.failed >= _TRIES:
            followed.session.fault = f"{followed.session.path.name}: {fault.what}"

    def _fold(
        self, session: Session, events: Sequence[AnyEvent | UnknownEvent], place: Place
    ) -> None:
        with self.index.writing():
            for event in events:
                session.fold(event)
            session.place = place
            changed = session.keep()
        self.on_rounds(session, changed)
        self._on_read(session.name, len(events))
        self.tick += 1
        self._moved[session.name] = self.tick
        self._moved.move_to_end(session.name)
        self._news.set()
        self._news = asyncio.Event()


def _table_of(session: Session) -> str | None:
    """Return a session's table; an unreadable journal stands for itself."""
    return session.name if session.table is None and session.fault else session.table


def _read_each(places: Sequence[tuple[Path, Place, int]]) -> list[_Found]:
    return [_read_one(path, place, at_most) for path, place, at_most in places]


def _read_one(path: Path, place: Place, at_most: int) -> _Found:
    try:
        return read_on(path, place, at_most)
    except PitwatchError as fault:
        return fault
    except Exception as fault:  # one journal's fault leaves the others as they are
        log.exception("a journal cannot be read: %s", path.name)
        what = f"it cannot be read ({type(fault).__name__})"
        return TechnicianError(what, where=str(path), way_out="See the log")


def _made_by() -> str:
    """Return a hash of the sources behind the rows, so that no row outlives them."""
    home = Path(__file__).parents[2]
    return hashlib.sha256(b"".join((home / name).read_bytes() for name in _SOURCES)).hexdigest()


def _stamped(folder: Path, paths: Sequence[Path] | None) -> list[tuple[Path, _Stamp]]:
    """Return sizes and times of these journals, or of all, and of their logs."""
    return [
        (path, (*_stamp(path), *_stamp(JournalFiles(path).log)))
        for path in (_journals(folder) if paths is None else paths)
    ]


def _journals(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.journal"))


def _name(path: Path) -> str:
    return path.name.removesuffix(".journal")


def _newness(stamp: _Stamp) -> tuple[bool, int]:
    """Return whether a journal is being written, and its last change."""
    return stamp[3] > 0, max(stamp[0], stamp[2])


def _stamp(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError:
        return _NO_FILE
    return state.st_mtime_ns, state.st_size
