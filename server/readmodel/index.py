"""The index: rows from the journals in one SQLite file, so that nothing is read twice.

It is derived: every row comes from an entry that the chain proved. For each journal it stores the
last entry read and its hash. If that entry is no longer in the journal, the journal is read anew.
Everything is read anew when another version of this program made the file, or when it is damaged.
Deleting it costs only time.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec

from models.errors import TechnicianError
from server.readmodel.views import (
    HandRow,
    LedgerRow,
    PaymentRow,
    ReviewRow,
    RoundRow,
    Row,
    ViolationRow,
)

R = TypeVar("R", bound=Row)
Key: TypeAlias = tuple[int, str, int, int]
"""``at``, session, ``seq``, and a number that distinguishes rows of one event."""

ENDLESS: Final = 2**63 - 1
_READERS: Final = 3
_CHECKPOINT_EVERY: Final = 500
"""Transactions in the write-ahead log before it is copied to the file. Not measured."""
_MOST_CHANGES: Final = 20_000
"""The same, in changed rows, while an archive is read. Not measured."""


@dataclass(frozen=True, slots=True)
class _Kind(Generic[R]):
    table: str
    decoder: msgspec.json.Decoder[R]
    asked_by: tuple[str, ...] = ()
    """Fields that lists are filtered by, in addition to those of every row."""


def _kind(table: str, model: type[R], *asked_by: str) -> _Kind[R]:
    return _Kind(table, msgspec.json.Decoder(model), asked_by)


_KINDS: Final[Mapping[type[Row], _Kind[Any]]] = {
    RoundRow: _kind("rounds", RoundRow, "status"),
    HandRow: _kind("hands", HandRow, "spot"),
    ViolationRow: _kind("violations", ViolationRow, "spot", "code"),
    ReviewRow: _kind("reviews", ReviewRow),
    PaymentRow: _kind("payments", PaymentRow, "spot"),
    LedgerRow: _kind("ledger", LedgerRow, "account"),
}
_KEY: Final = "at, session, seq, n"
_SCHEMA: Final = """
CREATE TABLE made (by TEXT NOT NULL);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kept BLOB);
CREATE TABLE tables (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE notes (session INTEGER NOT NULL, kind TEXT NOT NULL, number INTEGER NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (session, kind, number)) WITHOUT ROWID;
"""
_EXTRA_INDEXES: Final = f"""
CREATE INDEX rounds_noticed ON rounds ({_KEY}) WHERE noticed;
CREATE INDEX rounds_by_status ON rounds (status, {_KEY}) WHERE status <> 'final';
CREATE INDEX violations_by_code ON violations (code, {_KEY});
"""


@dataclass(frozen=True, slots=True)
class Placed(Generic[R]):
    """A row at its key."""

    key: Key
    row: R


@dataclass(frozen=True, slots=True)
class Sought(Generic[R]):
    """A selection of rows of a kind, the newest first."""

    kind: type[R]
    before: Key = (ENDLESS, "", 0, 0)
    table: str | None = None
    tables: frozenset[str] | None = None
    """The tables that the requester may see; ``None`` for all."""
    session: str | None = None
    from_ns: int | None = None
    noticed: bool = False
    """Whether to select only rounds that need attention."""
    fields: tuple[tuple[str, object], ...] = ()
    """Further fields with their required values."""
    oldest_first: bool = False
    """Whether they come in the order of time; they then begin at ``from_ns``."""


class Index:
    """The index file. One thread writes it; others read lists meanwhile.

    Args:
        path: the file; ``None`` keeps it in memory, for the life of the process.
    """

    def __init__(self, path: Path | None = None) -> None:
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

    def session(self, name: str) -> tuple[int, bytes | None]:
        """Return the id of a session, and its last stored state."""
        query = "SELECT id, kept FROM sessions WHERE name = ?"
        row: tuple[int, bytes | None] | None = self._own.execute(query, (name,)).fetchone()
        if row is not None:
            return row
        return self._added("INSERT INTO sessions (name) VALUES (?)", name), None

    def keep(self, session: int, kept: bytes) -> None:
        """Store a session's state."""
        self._own.execute("UPDATE sessions SET kept = ? WHERE id = ?", (kept, session))

    def forget(self, session: int) -> None:
        """Drop everything of a session, to read its journal anew."""
        with self.writing():
            for table in (*(kind.table for kind in _KINDS.values()), "notes"):
                self._own.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
            self._own.execute("UPDATE sessions SET kept = NULL WHERE id = ?", (session,))

    def note(self, session: int, kind: str, number: int, body: bytes | None) -> None:
        """Store a note of a session under a kind and number, or drop it with ``None``."""
        if body is None:
            query = "DELETE FROM notes WHERE session = ? AND kind = ? AND number = ?"
            self._own.execute(query, (session, kind, number))
        else:
            query = "INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)"
            self._own.execute(query, (session, kind, number, body))

    def noted(self, session: int, kind: str, number: int) -> bytes | None:
        """Return a note."""
        query = "SELECT body FROM notes WHERE session = ? AND kind = ? AND number = ?"
        row: tuple[bytes] | None = self._own.execute(query, (session, kind, number)).fetchone()
        return None if row is None else row[0]

    def add(self, session: int, key: Key, row: Row) -> None:
        """Add a row at its key."""
        kind = _KINDS[type(row)]
        values = [key[0], session, key[2], key[3], self._table(row.table), 0]
        values += [row.round, *(getattr(row, name) for name in kind.asked_by)]
        places = ", ".join("?" * (len(values) + 1))
        self._own.execute(
            f"INSERT INTO {kind.table} VALUES ({places})", (*values, msgspec.json.encode(row))
        )

    def change(self, session: int, key: Key, row: Row, *, noticed: bool) -> None:
        """Replace the row at ``key``."""
        kind = _KINDS[type(row)]
        columns = "".join(f", {name} = ?" for name in kind.asked_by)
        self._own.execute(
            f"UPDATE {kind.table} SET body = ?, noticed = ?{columns}"
            " WHERE at = ? AND session = ? AND seq = ? AND n = ?",
            (
                msgspec.json.encode(row),
                noticed,
                *(getattr(row, name) for name in kind.asked_by),
                *(key[0], session, key[2], key[3]),
            ),
        )

    def drop_round(self, session: int, kind: type[Row], number: int) -> int:
        """Drop the rows of a round; return how many there were."""
        query = f"DELETE FROM {_KINDS[kind].table} WHERE session = ? AND round = ?"
        return self._own.execute(query, (session, number)).rowcount

    def _table(self, name: str) -> int:
        query = "SELECT id FROM tables WHERE name = ?"
        row: tuple[int] | None = self._own.execute(query, (name,)).fetchone()
        return self._added("INSERT INTO tables (name) VALUES (?)", name) if row is None else row[0]

    def _added(self, query: str, name: str) -> int:
        made = self._own.execute(query, (name,)).lastrowid
        assert made is not None
        return made

    # --- reading --------------------------------------------------------------------------

    def of_round(self, session: int, kind: type[R], number: int) -> tuple[Placed[R], ...]:
        """Return the rows of a round, in the order in which they were added."""
        found: _Kind[R] = _KINDS[kind]
        rows = self._own.execute(
            f"SELECT at, seq, n, body FROM {found.table} WHERE session = ? AND round = ?"
            " ORDER BY n",
            (session, number),
        ).fetchall()
        placed = [((at, "", seq, n), found.decoder.decode(body)) for at, seq, n, body in rows]
        return tuple(Placed((key[0], row.session, key[2], key[3]), row) for key, row in placed)

    def newest(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        """Return rows, the newest first; for the thread that writes."""
        return _found(self._own, sought, at_most)

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
            return _found(self._local.connection, sought, at_most)

    @property
    def _own(self) -> sqlite3.Connection:
        assert self._connection is not None, "it is not open"
        return self._connection


def _found(
    connection: sqlite3.Connection, sought: Sought[R], at_most: int
) -> tuple[Placed[R], ...]:
    kind: _Kind[R] = _KINDS[sought.kind]
    named = _named_by_id(connection, sought)
    if named is None:
        return ()
    conditions, values = named
    at, session, seq, n = sought.before
    conditions.append(f"({_KEY}) < (?, (SELECT id FROM sessions WHERE name = ?), ?, ?)")
    values += [at, session, seq, n]
    if not session:
        conditions[-1], values[-4:] = "at < ?", [at]
    if sought.from_ns is not None:
        conditions.append("at >= ?")
        values.append(sought.from_ns)
    if sought.noticed:
        conditions.append("noticed")
    for name, value in sought.fields:
        conditions.append(f"{name} = ?")
        values.append(value)
    way = "ASC" if sought.oldest_first else "DESC"
    order = ", ".join(f"{name} {way}" for name in _KEY.split(", "))
    rows = connection.execute(
        f"SELECT at, seq, n, body FROM {kind.table} WHERE {' AND '.join(conditions)}"
        f" ORDER BY {order} LIMIT ?",
        (*values, at_most),
    ).fetchall()
    return tuple(_placed(kind, row) for row in rows)


def _placed(kind: _Kind[R], found: tuple[int, int, int, bytes]) -> Placed[R]:
    at, seq, n, body = found
    row = kind.decoder.decode(body)
    return Placed((at, row.session, seq, n), row)


def _named_by_id(
    connection: sqlite3.Connection, sought: Sought[R]
) -> tuple[list[str], list[object]] | None:
    """Return the SQL conditions for table and session; ``None`` where there is no such name."""
    conditions: list[str] = []
    values: list[object] = []
    for table, column, name in (
        ("tables", "tab", sought.table),
        ("sessions", "session", sought.session),
    ):
        if name is None:
            continue
        row = connection.execute(f"SELECT id FROM {table} WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        conditions.append(f"{column} = ?")
        values.append(row[0])
    if sought.tables is not None:
        marks = ", ".join("?" * len(sought.tables))
        conditions.append(f"tab IN (SELECT id FROM tables WHERE name IN ({marks}))")
        values += sorted(sought.tables)
    return conditions, values


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
    for statement in (_SCHEMA + "".join(map(_table_of, _KINDS.values())) + _EXTRA_INDEXES).split(
        ";"
    ):
        connection.execute(statement)
    connection.execute("INSERT INTO made VALUES (?)", (made_by,))
    connection.execute("COMMIT")
    return connection


def _table_of(kind: _Kind[Any]) -> str:
    asked_by = "".join(f", {name}" for name in kind.asked_by)
    return f"""
CREATE TABLE {kind.table} (at INTEGER NOT NULL, session INTEGER NOT NULL, seq INTEGER NOT NULL,
    n INTEGER NOT NULL, tab INTEGER NOT NULL, noticed INTEGER NOT NULL,
    round INTEGER NOT NULL{asked_by}, body BLOB NOT NULL);
CREATE UNIQUE INDEX {kind.table}_by_time ON {kind.table} ({_KEY});
CREATE INDEX {kind.table}_by_table ON {kind.table} (tab, {_KEY});
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
