"""Fold the floor's entries into the rows that services show: one process for all of them.

Whoever holds the lock folds; when its connection ends, another process takes over. The rows are
derived, and every row's transaction also stores the last entry folded: a killed process loses
nothing, and none is folded twice.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from models.errors import PitwatchError
from server.floor_record.chains import (
    ChainKey,
    ChainState,
    RecordJournal,
    entries_of,
    followed,
)
from server.floor_record.database import FloorDown
from server.floor_record.engine import floor_engine, record_index
from server.readmodel.ending import Ending
from server.readmodel.floor import made_by
from server.readmodel.session import Session
from stream.clock import elapsed_ns
from stream.reading import Entry

LOCK: Final = 0x7069_7466_6F6C_6421
"""The number of the lock, PostgreSQL's way to name one."""
_AT_ONCE: Final = 500
"""Entries of a session that are folded in a transaction."""
_SIDE_BY_SIDE: Final = 256
"""Sessions that share a transaction."""
_LATE: Final = 100
"""Entries from which a session is behind: it waits for the others, and has a transaction alone."""
_KEPT: Final = 4_000
"""Sessions whose state is kept in memory."""
_IDLE_S: Final = 0.05
"""Seconds between two looks while no session is behind: fewer, larger transactions."""
_WAIT_S: Final = 1.0
"""Seconds between two tries for the lock, and after a fault."""
_REFUSED_S: Final = 30.0
"""Seconds after which a service of an older version looks for the lock again."""
_AGAIN_NS: Final = 60_000_000_000
"""Nanoseconds after which a session with a fault is tried again."""
_BEHIND: Final = """
    SELECT c.session, c.table_id, c.epoch, c.day, c.seq - coalesce(s.seq, 0) FROM pitwatch.chains c
    LEFT JOIN pitwatch_read.sessions s ON s.name = c.session
    WHERE c.seq > coalesce(s.seq, 0) AND c.state <> 'retired'
    ORDER BY c.seq - coalesce(s.seq, 0)
"""
_RETIRED: Final = """
    SELECT s.id FROM pitwatch_read.sessions s JOIN pitwatch.chains c ON c.session = s.name
    WHERE c.state = 'retired' AND s.seq > 0
"""
log: Final = logging.getLogger("pitwatch.service")


@dataclass(slots=True)
class _Fault:
    what: str
    since_ns: int


class Folding:
    """Folds entries in a thread of its own, while this process holds the lock.

    Args:
        url: the database's address.
        is_worked_on: whether people work on a round of a session.
        ending: decides when a session has ended.
    """

    def __init__(
        self, url: str, is_worked_on: Callable[[str, int], bool], ending: Ending | None
    ) -> None:
        self._index, self._engine = record_index(url), floor_engine(url)
        self._is_worked_on, self._ending = is_worked_on, ending
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._faults: dict[str, _Fault] = {}
        self._made_at_start: str | None = None
        """Whose rows there were when this process started, or its own since it made them."""
        self.has_begun = threading.Event()
        """Set once the rows are this version's, or another process folds."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="folding", daemon=True)

    def start(self) -> None:
        """Begin.

        Raises:
            FloorDown: the database does not answer.
        """
        self._made_at_start = self._made_by()
        self._thread.start()

    def _made_by(self) -> str | None:
        with self._engine.connect() as on:
            by: str | None = on.exec_driver_sql("SELECT by FROM pitwatch_read.made").scalar()
            return by

    def close(self) -> None:
        """End, after the transaction at work."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        self._index.close()
        self._engine.dispose()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                with self._index.held() as on:  # whose end lets go of the lock
                    self._fold_while_locked(on)
            except FloorDown as fault:
                log.warning("nothing is folded: %s", fault)
            except Exception:  # the service goes on; the log has the traceback
                log.exception("entries cannot be folded; retrying")
            self._sessions.clear()
            self._over.wait(_WAIT_S)

    def _fold_while_locked(self, on: sa.Connection) -> None:
        while not _is_locked(on):
            self.has_begun.set()
            if self._over.wait(_WAIT_S):
                return
        if not self._are_rows_ours():
            return
        self.has_begun.set()
        log.info("this service folds the floor's entries")
        while not self._over.is_set():
            began_ns = elapsed_ns()
            is_behind = self.fold_once()
            left_s = _IDLE_S - (elapsed_ns() - began_ns) / 1e9
            if left_s > 0 and not is_behind:
                self._over.wait(left_s)

    def _are_rows_ours(self) -> bool:
        """Return whether the rows are this version's; at its start it makes them so.

        Two versions beside each other do not take turns: the one started last has made the rows.
        """
        own, found = made_by(), self._made_by()
        if found == own:
            return True
        if found != self._made_at_start:
            log.error("another version of Pitwatch folds the floor's entries; restart this service")
            self._over.wait(_REFUSED_S)
            return False
        self._made_at_start = own
        if found is not None:
            log.warning("the rows are of another version: the floor's entries are folded again")
        self._index.begin_anew(own)
        return True

    def fold_once(self) -> bool:
        """Fold what there is now, some of each session; return whether one is still behind.

        Of the sessions that are far behind, the nearest comes last, and the next one after another
        look: live tables have news in between.
        """
        with self._engine.connect() as on:
            retired = on.exec_driver_sql(_RETIRED).scalars().all()
            behind = [(ChainKey(*key), size) for *key, size in on.exec_driver_sql(_BEHIND)]
        for number in retired:
            self._index.forget(number)
        behind = [(key, size) for key, size in behind if self._is_due(key.session)]
        near = [key for key, size in behind if size < _LATE]
        far = [key for key, size in behind if size >= _LATE][:1]
        for at in range(0, len(near), _SIDE_BY_SIDE):
            self._fold_some(near[at : at + _SIDE_BY_SIDE])
            if self._over.is_set():
                return False
        if far:
            self._fold_some(far)
        return bool(far)

    def _is_due(self, session: str) -> bool:
        fault = self._faults.get(session)
        return fault is None or elapsed_ns() - fault.since_ns >= _AGAIN_NS

    def _fold_some(self, keys: Sequence[ChainKey]) -> None:
        """Fold some sessions in one transaction; where one cannot be, each in its own."""
        sessions = list(self._opened(keys))
        wanted = [(key, one.place.seq, 2**62) for key, one in zip(keys, sessions, strict=True)]
        with self._engine.connect() as on:
            found = entries_of(on, wanted, _AT_ONCE)
        try:
            with self._engine.connect() as on, self._index.writing():
                for key, session, entries in zip(keys, sessions, found, strict=True):
                    self._fold(on, key, session, entries)
        except FloorDown:
            raise
        except Exception as fault:  # one session's fault leaves the others as they are
            for key in keys:
                self._sessions.pop(key.session, None)
            if len(keys) == 1:
                self._refuse(keys[0], fault)
                return
            for key in keys:
                self._fold_some([key])

    def _fold(
        self, on: sa.Connection, key: ChainKey, session: Session, entries: Sequence[Entry]
    ) -> None:
        events, place = followed(on, key, entries, session.place)
        for event in events:
            session.fold(event)
        session.place = place
        session.keep()
        session.recent.clear()
        self._faults.pop(key.session, None)

    def _refuse(self, key: ChainKey, fault: Exception) -> None:
        log.exception("the journal cannot be read: %s", key.session)
        what = fault.what if isinstance(fault, PitwatchError) else "see the log"
        self._faults[key.session] = _Fault(what, elapsed_ns())
        self._index.refuse(key.session, f"an entry cannot be read: {what}")

    def _opened(self, keys: Sequence[ChainKey]) -> Iterator[Session]:
        for key in keys:
            if key.session not in self._sessions:
                journal = RecordJournal(key, ChainState("sound", False, False), self._engine)
                self._sessions[key.session] = Session(
                    journal, self._index, self._is_worked_on, self._ending
                )
            self._sessions.move_to_end(key.session)
            yield self._sessions[key.session]
        while len(self._sessions) > max(_KEPT, len(keys)):
            self._sessions.popitem(last=False)


def _is_locked(on: sa.Connection) -> bool:
    """Return whether this connection holds the lock, as long as it lasts."""
    with on.begin():
        query = "SELECT pg_try_advisory_lock(%s)"
        return bool(on.exec_driver_sql(query, (LOCK,)).scalar_one())
