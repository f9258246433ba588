"""The tables of one machine: every journal of a folder, followed without writing there."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from models.errors import PitwatchError, TechnicianError
from models.judgements import AnyEvent
from server.readmodel.ending import Ending
from server.readmodel.file_index import FileIndex
from server.readmodel.floor import Floor, made_by
from server.readmodel.session import Session
from server.readmodel.session_journal import FileJournal
from stream.clock import elapsed_ns
from stream.files import JournalFiles
from stream.journal import AnotherJournal, Place
from stream.reading import UnknownEvent, journal_id, read_on

AT_ONCE: Final = 200
"""Entries of a journal that are read before others get their turn."""
_AT_ONCE_BEHIND: Final = 1000
"""The same for a journal that nobody writes: its readers wait for all of it."""
_WHOLE_EVERY: Final = 20
"""Looks. Every twentieth covers all journals, the others only those being written."""
_SIDE_BY_SIDE: Final = 16
"""Journals that are read before those being written get their turn."""
_TRIES: Final = 3
"""Failures in a row that count: the writer may be opening or closing the journal."""

_Stamp: TypeAlias = tuple[int, int, int, int]
_NO_FILE: Final = (0, 0)
_Found: TypeAlias = tuple[tuple[AnyEvent | UnknownEvent, ...], Place] | PitwatchError
log: Final = logging.getLogger("pitwatch.service")


@dataclass(slots=True)
class _Followed:
    path: Path
    session: Session
    stamp: _Stamp | None = None
    is_settled: bool = False
    failed: int = 0
    journal: str | None = None
    """The id of the journal that was read, where a process writes it."""
    left: float = 1.0
    """The share of it that this run has not read yet."""
    last_seq: int | None = None
    """The number of its last entry, where it is too long for one read."""
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
    def size(self) -> int:
        """Return the bytes of its files."""
        return 0 if self.stamp is None else self.stamp[1] + self.stamp[3]

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


class FolderFloor(Floor):
    """The journals of ``folder``. Other threads read the files."""

    def __init__(
        self,
        folder: Path,
        on_read: Callable[[str, int], None] = lambda *_: None,
        index: FileIndex | None = None,
        ending: Ending | None = None,
        now_ns: Callable[[], int] | None = None,
    ) -> None:
        self._file_index = index or FileIndex()
        super().__init__(self._file_index, on_read, ending, now_ns)
        self.folder = folder
        self._polls = 0
        self._followed: dict[str, _Followed] = {}

    def open(self) -> None:
        """Open the index, or create it.

        Raises:
            TechnicianError: the disk refuses it.
        """
        self._file_index.open(made_by())

    async def poll(self) -> None:
        """Look at the journals once and process the news.

        A journal that nobody writes is only looked at occasionally: an archive has thousands. They
        are read newest first, each to its end, with those being written in between.
        """
        is_whole = self._polls % _WHOLE_EVERY == 0
        self._polls += 1
        busy = [one.path for one in self._followed.values() if one.is_busy]
        behind = deque(await self._changed(None if is_whole else busy))
        while behind:
            some = [behind.popleft() for _ in range(min(_SIDE_BY_SIDE, len(behind)))]
            behind.extendleft(reversed(await self._read(some)))
            if behind:
                await self._keep_up()
                await self._file_index.settle()
        self.is_ready = True
        self.looked_ns = elapsed_ns()

    def read_percent(self) -> int:
        """Return how much of the journals was read, by their sizes; at most 99."""
        followed = self._followed.values()
        whole = sum(one.size for one in followed)
        left = sum(one.size * one.left for one in followed)
        return min(99, int(100 * (whole - left) / whole)) if whole else 0

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
            self._followed[name] = _Followed(path, session, is_known=session.place.seq > 0)
        return self._followed[name]

    def _session_of(self, path: Path) -> Session:
        with self.index.writing():
            session = Session(FileJournal(path), self.index, self.is_worked_on, self._ending)
        self._sessions[session.name] = session
        return session

    def is_written(self, session: Session) -> bool:
        """Return whether a session continues: a process has its journal open for writing."""
        return self._followed[session.name].is_written

    async def _read(self, looked_at: Sequence[_Followed]) -> list[_Followed]:
        """Read new entries of some journals; return those that have more."""
        more = []
        for at in range(0, len(looked_at), _SIDE_BY_SIDE):
            some = looked_at[at : at + _SIDE_BY_SIDE]
            places = [(one.path, one.session.place, one.at_once) for one in some]
            each = await asyncio.to_thread(_read_each, places)
            for followed, found, (*_, at_most) in zip(some, each, places, strict=True):
                if self._take(followed, found, at_most):
                    more.append(followed)
                    await self._count_left(followed)
                else:
                    followed.left = 0.0
                await asyncio.sleep(0)
        return more

    async def _count_left(self, followed: _Followed) -> None:
        if self.is_ready:
            return
        if followed.last_seq is None:
            with suppress(PitwatchError):
                followed.last_seq = await asyncio.to_thread(followed.session.journal.last_seq)
        seq, last_seq = followed.session.place.seq, followed.last_seq
        followed.left = 1.0 if last_seq is None else max(0.0, 1 - seq / max(last_seq, 1))

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
            followed.session = self._session_of(followed.path)
            followed.stamp = None
            what = fault.what if isinstance(fault, PitwatchError) else "see the log"
            followed.session.fault = f"an entry cannot be read: {what}"
            return False
        followed.failed, followed.session.fault, followed.is_known = 0, None, False
        if not followed.is_written:
            followed.session.recent.clear()
        elif followed.journal is None:
            followed.journal = journal_id(followed.path)
        return True

    def _anew(self, followed: _Followed, other: AnotherJournal) -> None:
        """Read a journal anew that replaced the earlier one of its name.

        The earlier one was archived, or an earlier run had read it. The same journal without an
        entry that was read is no replacement: it lost that entry.
        """
        now = journal_id(followed.path)
        took_its_place = None not in (now, followed.journal) and now != followed.journal
        if not (followed.is_known or took_its_place):
            self._failed(followed, other)
            return
        log.warning(
            "the journal is not the one that was read before: it is read again from the start",
            extra={"fields": {"session": followed.session.name, "fault": other.what}},
        )
        followed.session.forget()
        followed.session = self._session_of(followed.path)
        followed.is_known, followed.stamp, followed.journal = False, None, None

    def _failed(self, followed: _Followed, fault: PitwatchError) -> None:
        followed.failed += 1
        followed.stamp = None
        if followed.failed >= _TRIES:
            followed.session.fault = f"{followed.path.name}: {fault.what}"

    def _fold(
        self, session: Session, events: Sequence[AnyEvent | UnknownEvent], place: Place
    ) -> None:
        with self.index.writing():
            for event in events:
                session.fold(event)
            session.place = place
            changed = session.keep()
        self._moved_on(session, changed, len(events))


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
