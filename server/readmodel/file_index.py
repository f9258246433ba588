"""The index of one machine: one SQLite file beside the service's state.

Everything is read anew when another version of this program made the file, when it is damaged, or
when the last entry read is no longer in its journal. Deleting it costs only time.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from models.errors import TechnicianError
from server.readmodel.index import KEY, KINDS, Index, Placed, RowKind, Sought, found_rows
from server.readmodel.views import Row

R = TypeVar("R", bound=Row)

_READERS: Final = 3
_CHECKPOINT_EVERY: Final = 500
"""Transactions in the write-ahead log before it is copied to the file. Not measured."""
_MOST_CHANGES: Final = 20_000
"""The same, in changed rows, while an archive is read. Not measured."""
_SCHEMA: Final = """
CREATE TABLE made (by TEXT NOT NULL);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kept BLOB);
CREATE TABLE tables (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE notes (session INTEGER NOT NULL, kind TEXT NOT NULL, number INTEGER NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (session, kind, number)) WITHOUT ROWID;
"""
_EXTRA_INDEXES: Final = f"""
CREATE INDEX rounds_noticed ON rounds ({KEY}) WHERE noticed;
CREATE INDEX rounds_by_status ON rounds (status, {KEY}) WHERE status <> 'final';
CREATE INDEX violations_by_code ON violations (code, {KEY});
"""


class FileIndex(Index):
    """The index file. One thread writes it; others read lists meanwhile.

    Args:
        path: the file; ``None`` keeps it in memory, for the life of the process.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._readers = ThreadPoolExecutor(_READERS, "index")
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._written = 0
        self._settled_at = 0

    def open(self, made_by: str) -> None:
        """Open the file, or create it.

        ``made_by`` identifies the sources behind the rows: a file with another value is created
        anew.

        Raises:
            TechnicianError: the disk refuses it.
        """
        with _named(self._path):
            self._connection = _connected(self._path, made_by)

    def close(self) -> None:
        """Close the file in order."""
        self._readers.shutdown()
        for connection in self._opened:
            connection.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # --- writing --------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep everything written within, or nothing of it."""
        with _named(self._path):
            self._own.execute("BEGIN")
            try:
                yield
            except BaseException:  # Ctrl-C too keeps nothing of it
                self._own.execute("ROLLBACK")
                self._tables.clear()
                raise
            self._own.execute("COMMIT")
        self._written += 1
        if self._path is not None and self._written % _CHECKPOINT_EVERY == 0:
            self._readers.submit(_checkpoint, self._path)

    async def settle(self) -> None:
        """Copy a long write-ahead log to the file while nothing is written.

        Beside a busy writer it is never copied completely, and continues to grow.
        """
        changes = self._own.total_changes
        if self._path is not None and changes - self._settled_at >= _MOST_CHANGES:
            self._settled_at = changes
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._readers, _checkpoint, self._path)

    # --- reading --------------------------------------------------------------------------

    async def look_up(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        """Return rows, the newest first, without blocking other requests.

        Raises:
            TechnicianError: the file is damaged, or the disk refuses it.
        """
        if self._path is None:
            return self.newest(sought, at_most)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, sought, at_most)

    def _read(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        assert self._path is not None
        with _named(self._path):
            if not hasattr(self._local, "connection"):
                self._local.connection = _reading(self._path)
                self._opened.append(self._local.connection)
            return found_rows(self._local.connection, sought, at_most)

    @property
    def _own(self) -> sqlite3.Connection:
        assert self._connection is not None, "it is not open"
        return self._connection


def _connected(path: Path | None, made_by: str) -> sqlite3.Connection:
    """Open the file; create it anew where it is another version's or no database."""
    if path is None:
        return _founded(sqlite3.connect(":memory:", isolation_level=None), made_by)
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as connection:
        if connection.execute("SELECT by FROM made").fetchone() == (made_by,):
            return _set_up(sqlite3.connect(path, isolation_level=None))
    for name in (path.name, path.name + "-wal", path.name + "-shm"):
        path.with_name(name).unlink(missing_ok=True)
    path.touch(mode=0o600)
    return _founded(sqlite3.connect(path, isolation_level=None), made_by)


def _reading(path: Path) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?mode=ro"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


def _set_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Never wait for the disk: entries lost in a power cut are read again."""
    for setting in ("journal_mode=WAL", "synchronous=NORMAL", "wal_autocheckpoint=0"):
        connection.execute(f"PRAGMA {setting}")
    return connection


def _founded(connection: sqlite3.Connection, made_by: str) -> sqlite3.Connection:
    _set_up(connection)
    connection.execute("BEGIN")
    for statement in (_SCHEMA + "".join(map(_table_of, KINDS.values())) + _EXTRA_INDEXES).split(
        ";"
    ):
        connection.execute(statement)
    connection.execute("INSERT INTO made VALUES (?)", (made_by,))
    connection.execute("COMMIT")
    return connection


def _table_of(kind: RowKind[Any]) -> str:
    asked_by = "".join(f", {name}" for name in kind.asked_by)
    return f"""
CREATE TABLE {kind.table} (at INTEGER NOT NULL, session INTEGER NOT NULL, seq INTEGER NOT NULL,
    n INTEGER NOT NULL, tab INTEGER NOT NULL, noticed INTEGER NOT NULL,
    round INTEGER NOT NULL{asked_by}, body BLOB NOT NULL);
CREATE UNIQUE INDEX {kind.table}_by_time ON {kind.table} ({KEY});
CREATE INDEX {kind.table}_by_table ON {kind.table} (tab, {KEY});
CREATE INDEX {kind.table}_by_round ON {kind.table} (session, round);
"""


def _checkpoint(path: Path) -> None:
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


@contextmanager
def _named(path: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as fault:
        raise TechnicianError(
            f"the index of the journals cannot be written: {fault}",
            where="memory" if path is None else str(path),
            way_out="Make room on the disk; if that does not help, delete this file and restart",
        ) from fault
