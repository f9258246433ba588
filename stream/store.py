"""The file under a journal: its tables in every version, its upgrades, and its errors.

Version 1 had the entries alone. Version 2 adds signed checkpoints, and records which entries an
older version wrote. Version 3 adds the journal's identity, which checkpoints then sign. Each
upgrade by one version is a step of its own in ``_UPGRADES``. Upgrades never rewrite entries;
reading converts them (:mod:`stream.upcasting`).
"""

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final
from urllib.parse import quote

from models.errors import TechnicianError
from stream.files import JournalFiles
from stream.identity import Identity
from stream.scratch import scratch_folder
from stream.seal import PAGE_BYTES

APPLICATION_ID: Final = 0x50495457
SCHEMA_VERSION: Final = 3

_IDENTIFIED: Final = 3
"""The first version of journals with an identity."""

_RESTORE: Final = "Keep this file as it is and restore the journal from its last good copy"
_CHECK: Final = "Check the disk, and that no other program writes this journal"
_FULL: Final = ("the disk is full", "Make room; nothing of this was written")
_READ_ONLY: Final = (
    "the disk or the file may only be read",
    "Mount the disk for writing, or give this user the right to write",
)
_BY_ERRNO: Final = {errno.ENOSPC: _FULL, errno.EROFS: _READ_ONLY, errno.EACCES: _READ_ONLY}
_BY_CODE: Final[Mapping[int, tuple[str, str]]] = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: (
        "the file or its folder cannot be opened",
        "Check that the folder exists and that this user may write there",
    ),
    sqlite3.SQLITE_BUSY: ("another program is writing it", "Leave this journal to one writer"),
}
_VERSION_1: Final = (
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, body BLOB NOT NULL)",
    "CREATE TRIGGER entries_follow_on BEFORE INSERT ON entries"
    " WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)"
    " BEGIN SELECT raise(ABORT, 'an entry follows the last one'); END",
    "CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries"
    " BEGIN SELECT raise(ABORT, 'an entry never changes'); END",
    "CREATE TRIGGER entries_never_go BEFORE DELETE ON entries"
    " BEGIN SELECT raise(ABORT, 'an entry never goes'); END",
)
_ADDED_BY_2: Final = (
    "CREATE TABLE versions (from_seq INTEGER PRIMARY KEY, version INTEGER NOT NULL)",
    "CREATE TABLE checkpoints (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL,"
    " key BLOB NOT NULL, signature BLOB NOT NULL)",
    "CREATE TRIGGER checkpoints_never_change BEFORE UPDATE ON checkpoints"
    " BEGIN SELECT raise(ABORT, 'a checkpoint never changes'); END",
    "CREATE TRIGGER checkpoints_never_go BEFORE DELETE ON checkpoints"
    " BEGIN SELECT raise(ABORT, 'a checkpoint never goes'); END",
)
_ADDED_BY_3: Final = (
    "CREATE TABLE identity (from_seq INTEGER PRIMARY KEY, journal TEXT NOT NULL,"
    " name TEXT NOT NULL, of_table TEXT)",
    "CREATE TRIGGER identity_never_changes BEFORE UPDATE ON identity"
    " BEGIN SELECT raise(ABORT, 'the identity never changes'); END",
    "CREATE TRIGGER identity_never_goes BEFORE DELETE ON identity"
    " BEGIN SELECT raise(ABORT, 'the identity never goes'); END",
)
_ADDED: Final = (_VERSION_1, _ADDED_BY_2, _ADDED_BY_3)
"""The tables that each version added to those of the one before."""
_SCHEMAS: Final = {
    version: tuple(chain.from_iterable(_ADDED[:version])) for version in range(1, len(_ADDED) + 1)
}


def connected(address: str, *, uri: bool = False) -> sqlite3.Connection:
    """Open a database in autocommit mode; show text that is not UTF-8 instead of refusing it."""
    connection = sqlite3.connect(address, uri=uri, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def founded(connection: sqlite3.Connection, identity: Identity) -> sqlite3.Connection:
    """Create a new journal in an empty database, durable from its first entry."""
    for setting in (
        f"page_size={PAGE_BYTES}",
        "journal_mode=WAL",
        "synchronous=FULL",
        f"application_id={APPLICATION_ID}",
        f"user_version={SCHEMA_VERSION}",
    ):
        connection.execute(f"PRAGMA {setting}")
    with transaction(connection):
        for statement in _SCHEMAS[SCHEMA_VERSION]:
            connection.execute(statement)
        connection.execute("INSERT INTO versions VALUES (1, ?)", (SCHEMA_VERSION,))
        _identify(connection, identity, from_seq=1)
    return connection


def upgrade(connection: sqlite3.Connection, identity: Identity) -> None:
    """Upgrade a verified journal of an older version, within a transaction.

    One without an identity gets ``identity``, which holds from its next entry on.
    """
    for version in range(version_of(connection), SCHEMA_VERSION):
        _UPGRADES[version](connection)
        connection.execute(f"PRAGMA user_version={version + 1}")
    if connection.execute("SELECT 1 FROM identity").fetchone() is None:
        _identify(connection, identity, _entries(connection) + 1)


def _identify(connection: sqlite3.Connection, identity: Identity, from_seq: int) -> None:
    row = (from_seq, identity.journal, identity.name, identity.table)
    connection.execute("INSERT INTO identity VALUES (?, ?, ?, ?)", row)


def _entries(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("SELECT coalesce(max(seq), 0) FROM entries").fetchone()[0]
    return found


def _to_2(connection: sqlite3.Connection) -> None:
    for statement in _ADDED_BY_2:
        connection.execute(statement)
    entries = _entries(connection)
    if entries:
        connection.execute("INSERT INTO versions VALUES (1, 1)")
    connection.execute("INSERT INTO versions VALUES (?, 2)", (entries + 1,))


def _to_3(connection: sqlite3.Connection) -> None:
    for statement in _ADDED_BY_3:
        connection.execute(statement)
    connection.execute("INSERT OR REPLACE INTO versions VALUES (?, 3)", (_entries(connection) + 1,))


_UPGRADES: Final[Mapping[int, Callable[[sqlite3.Connection], None]]] = {1: _to_2, 2: _to_3}


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of the file's tables."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def written_in(connection: sqlite3.Connection) -> tuple[tuple[int, int], ...]:
    """Return the versions that wrote it, each with its first entry, ascending."""
    if version_of(connection) == 1:
        return ((1, 1),)
    query = "SELECT from_seq, version FROM versions ORDER BY from_seq"
    return tuple(connection.execute(query).fetchall())


def identity_of(connection: sqlite3.Connection, where: str) -> tuple[int, Identity] | None:
    """Return the identity, and the first entry whose checkpoints sign it.

    ``None`` for journals of older versions, which had no identity.

    Raises:
        TechnicianError: the record of it was changed.
    """
    if version_of(connection) < _IDENTIFIED:
        return None
    rows = connection.execute("SELECT from_seq, journal, name, of_table FROM identity").fetchall()
    if len(rows) != 1:
        raise damaged(where, f"expected one record of its identity, found {len(rows)}")
    from_seq, journal, name, table = rows[0]
    if not (isinstance(journal, str) and isinstance(name, str)):
        raise damaged(where, "the record of its identity is not text")
    identity = Identity(journal=journal, name=name, table=table)
    if not identity.names_a_file:
        raise damaged(where, "the record of its identity names no file")
    return from_seq, identity


def check_kind(connection: sqlite3.Connection, where: str) -> None:
    """Raise ``TechnicianError`` unless this is a journal with its tables and guards."""
    kind = connection.execute("PRAGMA application_id").fetchone()[0]
    version = version_of(connection)
    if kind == APPLICATION_ID and version > SCHEMA_VERSION:
        raise TechnicianError(
            f"the journal is of version {version}, this program knows {SCHEMA_VERSION}",
            where=where,
            way_out="Read it with the Pitwatch that wrote it, or a newer one",
        )
    if kind != APPLICATION_ID or version not in _SCHEMAS:
        raise damaged(where, "not a journal")
    schema = connection.execute("SELECT sql FROM sqlite_master").fetchall()
    if sorted(str(sql) for (sql,) in schema) != sorted(_SCHEMAS[version]):
        raise damaged(where, "its tables or the triggers that guard them were changed")


def check_pages(connection: sqlite3.Connection, where: str) -> None:
    """Raise ``TechnicianError`` where SQLite finds its own pages damaged."""
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise damaged(where, f"its pages are damaged: {' '.join(str(found).split())}")


def waiting(path: Path) -> bool:
    """Return whether the write-ahead log beside the file still holds entries."""
    return JournalFiles(path).log_bytes > 0


def log_copied(connection: sqlite3.Connection, patience_ms: int) -> bool:
    """Copy the write-ahead log into the database; return whether no reader blocked it so long."""
    return _checkpointed(connection, "FULL", patience_ms)


def log_emptied(connection: sqlite3.Connection, patience_ms: int) -> bool:
    """Empty a copied write-ahead log; return whether no reader blocked it so long."""
    return _checkpointed(connection, "TRUNCATE", patience_ms)


def _checkpointed(connection: sqlite3.Connection, how: str, patience_ms: int) -> bool:
    connection.execute(f"PRAGMA busy_timeout={patience_ms}")
    busy: int = connection.execute(f"PRAGMA wal_checkpoint({how})").fetchone()[0]
    return not busy


def keeper_of(path: Path) -> sqlite3.Connection:
    """Open a second connection that keeps the log when the writer's connection is dropped.

    SQLite removes the log with the last writing connection. A file without seal and log would look
    like one whose log somebody removed.
    """
    keeper = in_play(path)
    keeper.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return keeper


def at_rest(path: Path) -> sqlite3.Connection:
    """Open a journal for reading alone, also while it is written; create no file beside it.

    SQLite creates a missing index of a log, even for a reader. So a log without one, as in a copy
    of files, is read in a temporary folder, removed before this returns.

    Raises:
        TechnicianError: there is no file, or not a regular one.
    """
    if not path.is_file():
        raise no_journal(path)
    files = JournalFiles(path)
    if not files.log_bytes:
        return _opened(path, "mode=ro&immutable=1")
    if files.log_index.exists():
        return in_play(path)
    with scratch_folder("pitwatch-") as folder:
        copy = JournalFiles(folder / path.name)
        shutil.copyfile(files.log, copy.log)
        shutil.copyfile(path, copy.main)
        connection = _opened(copy.main, "mode=ro")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the log too
        return connection


def in_play(path: Path) -> sqlite3.Connection:
    """Open a journal beside its writer for reading alone; its log and the log's index exist."""
    return _opened(path, "mode=ro")


def _opened(path: Path, how: str) -> sqlite3.Connection:
    return connected(f"file:{quote(os.path.abspath(path))}?{how}", uri=True)  # noqa: PTH100


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one transaction; where the disk fails, the connection stays usable."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:  # Ctrl-C too ends the transaction
        if connection.in_transaction:  # SQLite ends the transaction by itself where the disk failed
            connection.execute("ROLLBACK")
        raise


@contextmanager
def one_line(where: str) -> Iterator[None]:
    """Convert the database's own errors into one line for the technician.

    Where a schema is not UTF-8, SQLite's message cannot be decoded either.
    """
    try:
        yield
    except sqlite3.OperationalError as fault:
        code = getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        what, way_out = _BY_CODE.get(code, (str(fault), _CHECK))
        raise unusable(where, what, way_out) from fault
    except OSError as fault:
        what, way_out = _BY_ERRNO.get(fault.errno or 0, (fault.strerror or str(fault), _CHECK))
        raise unusable(where, what, way_out) from fault
    except (sqlite3.Error, UnicodeDecodeError) as fault:
        raise damaged(where, fault) from fault


def no_journal(path: Path) -> TechnicianError:
    """Return the error for a missing journal at ``path``."""
    what = "this is no file" if path.exists() else "there is no journal"
    return TechnicianError(what, where=str(path), way_out="Check the file's name")


def unusable(where: str, what: str, way_out: str) -> TechnicianError:
    """Return the error for a journal that cannot be used at present, though it may be sound."""
    return TechnicianError(
        f"the journal cannot be read or written: {what}", where=where, way_out=way_out
    )


def damaged(where: str, what: object) -> TechnicianError:
    """Return the error for a journal that has changed since it was written."""
    return TechnicianError(f"the journal is damaged: {what}", where=where, way_out=_RESTORE)
