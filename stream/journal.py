"""The table's journal: append-only, hash-chained, durable before anything acts on an entry.

One SQLite file in WAL mode. An entry is an event's JSON exactly as it was hashed; its hash is
SHA-256 over the hash before it, its ``seq`` (eight bytes, big-endian) and those bytes.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

import msgspec

from models.decode import decode_event
from models.errors import InputRefused, OperatorError, TechnicianError
from models.events import Event
from models.judgements import AnyEvent
from stream.seal import PAGE_BYTES, Seal, SealBroken, read_seal, write_seal

APPLICATION_ID: Final = 0x50495457
SCHEMA_VERSION: Final = 1

_GENESIS: Final = bytes(32)
_READ_AT_ONCE: Final = 500
_RESTORE: Final = "Keep this file as it is and restore the journal from its last good copy"
_SCHEMA: Final = (
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, body BLOB NOT NULL)",
    "CREATE TRIGGER entries_follow_on BEFORE INSERT ON entries"
    " WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)"
    " BEGIN SELECT raise(ABORT, 'an entry follows the last one'); END",
    "CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries"
    " BEGIN SELECT raise(ABORT, 'an entry never changes'); END",
    "CREATE TRIGGER entries_never_go BEFORE DELETE ON entries"
    " BEGIN SELECT raise(ABORT, 'an entry never goes'); END",
)


class UnknownEvent(msgspec.Struct, frozen=True):
    """An event of a type that this version does not know, kept word for word."""

    seq: int | None
    type: str
    body: bytes
    """Its JSON as journalled."""


class _Head(msgspec.Struct):
    type: str


E = TypeVar("E", bound=Event | UnknownEvent)


@dataclass(frozen=True, slots=True)
class Verified:
    """A journal that is as it was written."""

    entries: int
    head: str
    """The last entry's hash in hex; it stands for every entry before it."""
    sealed: bool
    """Whether the file was closed in order, so that every byte of it is proved."""


class Journal:
    """The one writer of a journal. Use :meth:`create`, :meth:`open` or :meth:`in_memory`."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None) -> None:
        self._connection = connection
        self._path = path
        self._seq, self._head = _last(connection)

    @classmethod
    def create(cls, path: Path) -> Self:
        """Start a new journal.

        Raises:
            OperatorError: there is a file at ``path`` already.
            TechnicianError: the disk refuses it.
        """
        if path.exists():
            raise OperatorError(
                "the journal exists already", where=str(path), way_out="Name a new file"
            )
        with _one_line(str(path)):
            return cls(_founded(_connected(str(path))), path)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Go on with a journal, once it is verified.

        Raises:
            TechnicianError: it is missing or damaged.
        """
        verify_journal(path)
        with _one_line(str(path)):
            connection = _connected(str(path))
            connection.execute("PRAGMA synchronous=FULL")
            return cls(connection, path)

    @classmethod
    def in_memory(cls) -> Self:
        """Start a journal that ends with the process: for replays and tests."""
        return cls(_founded(_connected(":memory:")), None)

    @property
    def last_seq(self) -> int:
        """The last entry's number, 0 while there is none."""
        return self._seq

    def append(self, event: E) -> E:
        """Append one event and return it with its ``seq``; durable on return.

        Raises:
            TechnicianError: the disk refuses it; nothing was appended.
        """
        (appended,) = self.append_all((event,))
        return appended

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append events in one transaction, all or none; as :meth:`append`."""
        seq, head = self._seq, self._head
        appended, rows = [], []
        for event in events:
            seq += 1
            numbered = _numbered(event, seq)
            body = _body(numbered)
            head = _link(head, seq, body)
            appended.append(numbered)
            rows.append((seq, head, body))
        with _one_line(self._where), _transaction(self._connection):
            self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
        self._seq, self._head = seq, head
        return tuple(appended)

    def read(self, after_seq: int = 0) -> Iterator[AnyEvent | UnknownEvent]:
        """Yield the events after ``after_seq`` in order.

        Raises:
            InputRefused: an entry of a known type is not what the format says.
            TechnicianError: the file is damaged.
        """
        return _read(self._connection, self._where, after_seq)

    def verify(self) -> Verified:
        """Check every entry, and the pages they lie on.

        Raises:
            TechnicianError: naming the first bad entry and what differs.
        """
        with _one_line(self._where):
            return _verified(self._connection, self._where)

    def close(self) -> None:
        """Close in order; a file is sealed, so that any change to it shows."""
        with _one_line(self._where):
            self._connection.close()
        if self._path is not None and not _waiting(self._path):
            with _one_line(self._where):
                write_seal(self._path, Seal(self._seq, self._head))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _where(self) -> str:
        return "journal in memory" if self._path is None else str(self._path)


def verify_journal(path: Path) -> Verified:
    """Check a journal's file: its seal if it was closed, its entries, its pages.

    Nothing is written. A journal that is being written can be verified as well.

    Raises:
        TechnicianError: naming the first bad entry and what differs.
    """
    where = str(path)
    if not path.is_file():
        raise TechnicianError("there is no journal", where=where, way_out="Check the file's name")
    seal, broken = _seal(path)
    with _one_line(where), closing(_at_rest(path)) as connection:
        found = _verified(connection, where)
    if broken is not None:
        raise _damaged(where, broken) from broken
    if seal is None:
        return found
    if (seal.entries, seal.head.hex()) != (found.entries, found.head):
        raise _damaged(where, "the seal is another journal's")
    return Verified(found.entries, found.head, sealed=True)


def read_journal(path: Path) -> Iterator[AnyEvent | UnknownEvent]:
    """Verify a journal's file and yield its events in order; nothing is written.

    Raises:
        TechnicianError: it is missing or damaged; no event was yielded.
        InputRefused: an entry of a known type is not what the format says.
    """
    verify_journal(path)
    with closing(_at_rest(path)) as connection:
        yield from _read(connection, str(path), 0)


def _seal(path: Path) -> tuple[Seal | None, SealBroken | None]:
    """Return the seal, or why it is broken: the entries may say it more exactly."""
    if _waiting(path):
        return None, None
    try:
        with _one_line(str(path)):
            return read_seal(path), None
    except SealBroken as broken:
        return None, broken


def _waiting(path: Path) -> bool:
    """Tell whether entries still lie in the write-ahead log beside the file."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _at_rest(path: Path) -> sqlite3.Connection:
    """Open a journal to be read alone, whether or not it is being written."""
    mode = "mode=ro" if _waiting(path) else "immutable=1"
    return _connected(f"{path.resolve().as_uri()}?{mode}", uri=True)


def _connected(address: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=uri, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _founded(connection: sqlite3.Connection) -> sqlite3.Connection:
    for setting in (
        f"page_size={PAGE_BYTES}",
        "journal_mode=WAL",
        "synchronous=FULL",
        f"application_id={APPLICATION_ID}",
        f"user_version={SCHEMA_VERSION}",
    ):
        connection.execute(f"PRAGMA {setting}")
    with _transaction(connection):
        for statement in _SCHEMA:
            connection.execute(statement)
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def _one_line(where: str) -> Iterator[None]:
    """Turn the database's own errors into one line for the technician."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as fault:
        raise TechnicianError(
            f"the journal cannot be read or written: {fault}",
            where=where,
            way_out="Check the disk, and that no other program writes this journal",
        ) from fault
    except sqlite3.Error as fault:
        raise _damaged(where, fault) from fault


def _read(
    connection: sqlite3.Connection, where: str, after_seq: int
) -> Iterator[AnyEvent | UnknownEvent]:
    query = "SELECT seq, body FROM entries WHERE seq > ? ORDER BY seq LIMIT ?"
    while True:
        with _one_line(where):
            rows = connection.execute(query, (after_seq, _READ_AT_ONCE)).fetchall()
        for seq, body in rows:
            yield _event(body, where, seq)
        if len(rows) < _READ_AT_ONCE:
            return
        after_seq = rows[-1][0]


def _last(connection: sqlite3.Connection) -> tuple[int, bytes]:
    query = "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1"
    row: tuple[int, bytes] | None = connection.execute(query).fetchone()
    return row or (0, _GENESIS)


def _numbered(event: E, seq: int) -> E:
    if not isinstance(event, UnknownEvent):
        return msgspec.structs.replace(event, seq=seq)
    tree = msgspec.json.decode(event.body) | {"seq": seq}
    return msgspec.structs.replace(event, seq=seq, body=msgspec.json.encode(tree))


def _body(event: Event | UnknownEvent) -> bytes:
    return event.body if isinstance(event, UnknownEvent) else msgspec.json.encode(event)


def _event(body: bytes, where: str, seq: int) -> AnyEvent | UnknownEvent:
    try:
        return decode_event(body, where, seq)
    except InputRefused as refused:
        if refused.field != "type":
            raise
        return UnknownEvent(seq, msgspec.json.decode(body, type=_Head).type, body)


def _link(head: bytes, seq: int, body: bytes) -> bytes:
    return hashlib.sha256(head + seq.to_bytes(8, "big") + body).digest()


def _verified(connection: sqlite3.Connection, where: str) -> Verified:
    _check_kind(connection, where)
    seq, head = 0, _GENESIS
    rows = connection.execute("SELECT seq, hash, body FROM entries ORDER BY seq")
    for found, stored, body in rows:
        seq += 1
        if found != seq:
            raise _damaged(where, f"entry {seq} is missing, entry {found} stands in its place")
        if not (isinstance(stored, bytes) and isinstance(body, bytes)):
            raise _damaged(where, f"entry {seq} is not stored as bytes")
        head = _link(head, seq, body)
        if stored != head:
            raise _damaged(where, f"entry {seq} does not match its hash: {_shown(body)}")
    _check_pages(connection, where)
    return Verified(seq, head.hex(), sealed=False)


def _check_kind(connection: sqlite3.Connection, where: str) -> None:
    kind = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    schema = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
    if (kind, version) != (APPLICATION_ID, SCHEMA_VERSION):
        raise _damaged(where, f"not a journal of version {SCHEMA_VERSION}")
    if tuple(sql for (sql,) in schema) != _SCHEMA:
        raise _damaged(where, "its tables or the triggers that guard them were changed")


def _check_pages(connection: sqlite3.Connection, where: str) -> None:
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise _damaged(where, f"its pages are damaged: {' '.join(str(found).split())}")


def _shown(body: bytes) -> str:
    text = body.decode("utf-8", "backslashreplace")
    return text if len(text) <= 60 else text[:59] + "…"


def _damaged(where: str, what: object) -> TechnicianError:
    return TechnicianError(f"the journal is damaged: {what}", where=where, way_out=_RESTORE)
