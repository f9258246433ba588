"""The table's journal: append-only, hash-chained, durable before anything acts on an entry.

One SQLite file in WAL mode. An entry is an event's JSON exactly as it was hashed; its hash is
SHA-256 over the hash before it, its ``seq`` (eight bytes, big-endian) and those bytes. From
time to time a checkpoint signs the last hash, and with it every entry before.
"""

import hashlib
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

import msgspec

from models.decode import decode_event
from models.errors import InputRefused, OperatorError, TechnicianError
from models.events import Event
from models.judgements import AnyEvent
from stream.clock import Clock
from stream.seal import Seal, SealBroken, read_seal, write_seal
from stream.signing import Signer, is_signed
from stream.sole import Sole
from stream.store import (
    SCHEMA_VERSION,
    at_rest,
    check_kind,
    check_pages,
    connected,
    damaged,
    founded,
    one_line,
    transaction,
    upgraded,
    version_of,
    waiting,
    written_in,
)
from stream.upcasting import upcast

_GENESIS: Final = bytes(32)
_READ_AT_ONCE: Final = 500


class UnknownEvent(msgspec.Struct, frozen=True):
    """An event of a type that this version does not know, kept word for word."""

    seq: int | None
    type: str
    body: bytes
    """Its JSON as journalled."""


class _Head(msgspec.Struct):
    type: str


_EVENT: Final[msgspec.json.Decoder[AnyEvent]] = msgspec.json.Decoder(AnyEvent)


E = TypeVar("E", bound=Event | UnknownEvent)


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """When a journal is signed, and by which key."""

    signer: Signer
    clock: Clock
    """Says when a checkpoint is due, and when it was made."""
    entries: int = 1000
    """At the latest after so many entries …"""
    period_ns: int = 60_000_000_000
    """… or with the first entry after so long."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A journal that is as it was written."""

    entries: int
    head: str
    """The last entry's hash in hex; it stands for every entry before it."""
    sealed: bool
    """Whether the file was closed in order, so that every byte of it is proved."""
    signed: int = 0
    """The last entry that a checkpoint signs, with all before it; 0 where none does."""
    keys: tuple[str, ...] = ()
    """The public keys, in hex, whose checkpoints it holds."""


class Journal:
    """The one writer of a journal. Use :meth:`create`, :meth:`open` or :meth:`in_memory`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path | None,
        checkpoints: Checkpoints | None = None,
        sole: Sole | None = None,
    ) -> None:
        self._connection = connection
        self._path = path
        self._sole = sole
        self._checkpoints = checkpoints
        self._seq, self._head = _last(connection)
        self._signed_seq, self._signed_ns = _last_checkpoint(connection)

    @classmethod
    def create(cls, path: Path, checkpoints: Checkpoints | None = None) -> Self:
        """Start a new journal, signed as ``checkpoints`` says.

        Raises:
            OperatorError: there is a file at ``path`` already.
            TechnicianError: the disk refuses it, or another program begins one there.
        """
        if path.exists():
            raise OperatorError(
                "the journal exists already", where=str(path), way_out="Name a new file"
            )
        sole = Sole(path)
        try:
            with one_line(str(path)):
                _found(path)
                return cls(_durable(path), path, checkpoints, sole)
        except BaseException:
            sole.let_go()
            raise

    @classmethod
    def open(cls, path: Path, checkpoints: Checkpoints | None = None) -> Self:
        """Go on with a journal, once it is verified; one of an older version is upgraded.

        Raises:
            TechnicianError: it is missing or damaged, another program writes it, or the disk
                refuses it.
        """
        verify_journal(path)
        sole = Sole(path)
        try:
            with one_line(str(path)):
                connection = _durable(path)
                if version_of(connection) < SCHEMA_VERSION:
                    upgraded(connection)
                return cls(connection, path, checkpoints, sole)
        except BaseException:
            sole.let_go()
            raise

    @classmethod
    def in_memory(cls) -> Self:
        """Start a journal that ends with the process: for replays and tests."""
        return cls(founded(connected(":memory:")), None)

    @property
    def last_seq(self) -> int:
        """The last entry's number, 0 while there is none."""
        return self._seq

    def append(self, event: E) -> E:
        """Append one event and return it with its ``seq``; durable on return.

        Raises:
            TechnicianError: the disk refuses it; nothing was appended, and once the disk is
                well again appending goes on.
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
            head = link(head, seq, body)
            appended.append(numbered)
            rows.append((seq, head, body))
        with one_line(self._where), transaction(self._connection):
            self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
            signed_ns = self._sign(seq, head) if self._is_due(seq) else None
        self._seq, self._head = seq, head
        self._note(signed_ns)
        return tuple(appended)

    def checkpoint(self) -> None:
        """Sign what was not signed yet; without a key, or with nothing new, do nothing.

        Raises:
            TechnicianError: the disk refuses it; what is in the journal stays in it.
        """
        if self._checkpoints is None or self._seq == self._signed_seq:
            return
        with one_line(self._where), transaction(self._connection):
            signed_ns = self._sign(self._seq, self._head)
        self._note(signed_ns)

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
        with one_line(self._where):
            return _verified(self._connection, self._where)

    def close(self) -> None:
        """Close in order; a file is signed and sealed, so that any change to it shows.

        Raises:
            TechnicianError: the disk refuses it; every entry is in the file all the same.
        """
        try:
            try:
                self.checkpoint()
            finally:
                with one_line(self._where):
                    self._connection.close()
            if self._path is not None and not waiting(self._path):
                with one_line(self._where):
                    write_seal(self._path, Seal(self._seq, self._head))
        finally:
            if self._sole is not None:
                self._sole.let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _is_due(self, seq: int) -> bool:
        due = self._checkpoints
        if due is None or seq == self._signed_seq:
            return False
        return (
            seq - self._signed_seq >= due.entries
            or due.clock.now_ns() - self._signed_ns >= due.period_ns
        )

    def _sign(self, seq: int, head: bytes) -> int:
        assert self._checkpoints is not None
        signer, at_ns = self._checkpoints.signer, self._checkpoints.clock.now_ns()
        row = (seq, at_ns, signer.public, signer.sign(seq, at_ns, head))
        self._connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?)", row)
        return at_ns

    def _note(self, signed_ns: int | None) -> None:
        if signed_ns is not None:
            self._signed_seq, self._signed_ns = self._seq, signed_ns

    @property
    def _where(self) -> str:
        return "journal in memory" if self._path is None else str(self._path)


def verify_journal(path: Path, keys: Collection[bytes] = ()) -> Verified:
    """Check a journal's file: its seal if it was closed, its entries, signatures and pages.

    Nothing is written. A journal that is being written can be verified as well.

    Args:
        path: the journal.
        keys: the public keys, 32 bytes each, that may have signed it; with none, a signature
            must fit the key it names, whoever's that is.

    Raises:
        TechnicianError: naming the first bad entry and what differs; with ``keys``, also where
            nothing is signed, or by another key.
    """
    where = str(path)
    if not path.is_file():
        raise TechnicianError("there is no journal", where=where, way_out="Check the file's name")
    seal, broken = _seal(path)
    with one_line(where), closing(at_rest(path)) as connection:
        found = _verified(connection, where)
    if broken is not None:
        raise damaged(where, broken) from broken
    _check_keys(found, keys, where)
    if seal is None:
        return found
    if (seal.entries, seal.head.hex()) != (found.entries, found.head):
        raise damaged(where, "the seal is another journal's")
    return Verified(found.entries, found.head, True, found.signed, found.keys)


def read_journal(path: Path) -> Iterator[AnyEvent | UnknownEvent]:
    """Verify a journal's file and yield its events in order; nothing is written.

    Raises:
        TechnicianError: it is missing or damaged; no event was yielded.
        InputRefused: an entry of a known type is not what the format says.
    """
    verify_journal(path)
    with closing(at_rest(path)) as connection:
        yield from _read(connection, str(path), 0)


class AnotherJournal(TechnicianError):
    """Not the journal that was read before, or not all of it any more."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a journal has been read: its last entry read, and that entry's hash."""

    seq: int = 0
    head: bytes = _GENESIS


def holds(path: Path, kind: str) -> bool:
    """Tell whether a journal has an entry of that type; nothing is proved of it.

    Raises:
        TechnicianError: it cannot be read.
    """
    query = "SELECT 1 FROM entries WHERE instr(body, ?) > 0 LIMIT 1"
    with one_line(str(path)), closing(at_rest(path)) as connection:
        wanted = b'"type":' + msgspec.json.encode(kind)
        return connection.execute(query, (wanted,)).fetchone() is not None


def read_on(
    path: Path, place: Place, at_most: int = _READ_AT_ONCE
) -> tuple[tuple[AnyEvent | UnknownEvent, ...], Place]:
    """Read the next entries of a journal, also while it is written, each proved by the chain.

    The file is open only during the call, so that its writer can close it in order.

    Returns:
        at most ``at_most`` events after ``place``, and how far that came.

    Raises:
        AnotherJournal: the entry at ``place`` is not in it.
        TechnicianError: it is missing, is no journal, or an entry does not follow the one before.
        InputRefused: an entry of a known type is not what the format says.
    """
    where = str(path)
    query = "SELECT seq, hash, body FROM entries WHERE seq > ? ORDER BY seq LIMIT ?"
    with one_line(where), closing(at_rest(path)) as connection:
        check_kind(connection, where)
        _check_same(connection, where, place)
        written = written_in(connection)
        rows = connection.execute(query, (place.seq, at_most)).fetchall()
    events = []
    for seq, stored, body in rows:
        if not isinstance(body, bytes):
            raise damaged(where, f"entry {seq} is not stored as bytes")
        head = link(place.head, place.seq + 1, body)
        if seq != place.seq + 1 or stored != head:
            raise damaged(where, f"entry {place.seq + 1} is missing or does not match its hash")
        place = Place(seq, head)
        version = max(version for from_seq, version in written if from_seq <= seq)
        events.append(_event(upcast(body, version), where, seq))
    return tuple(events), place


def _check_same(connection: sqlite3.Connection, where: str, place: Place) -> None:
    query = "SELECT hash FROM entries WHERE seq = ?"
    if place.seq and connection.execute(query, (place.seq,)).fetchone() != (place.head,):
        raise AnotherJournal(
            f"entry {place.seq} is not the one that was read before",
            where=where,
            way_out="Find out who put another file in its place, and read it from its start",
        )


def read_between(path: Path, after_seq: int, last_seq: int) -> tuple[AnyEvent | UnknownEvent, ...]:
    """Read the entries after ``after_seq`` up to ``last_seq`` again, also while it is written.

    They are not proved anew: for whoever went through them with :func:`read_on` before.

    Raises:
        TechnicianError: the journal is missing or damaged.
        InputRefused: an entry of a known type is not what the format says.
    """
    with one_line(str(path)), closing(at_rest(path)) as connection:
        return tuple(
            takewhile(
                lambda event: event.seq is not None and event.seq <= last_seq,
                _read(connection, str(path), after_seq),
            )
        )


def backup_journal(source: Path, target: Path, *, force: bool = False) -> Verified:
    """Copy a journal, also while it is being written, verify the copy and seal it.

    The copy holds every entry that was acknowledged before this was called. It appears under
    its name only when it is whole.

    Raises:
        OperatorError: there is a file at ``target`` already, and ``force`` does not give it up.
        TechnicianError: the journal is missing or damaged, or a disk refuses it.
    """
    if target.exists() and not force:
        raise OperatorError(
            "the backup exists already", where=str(target), way_out="Name a new file"
        )
    if not source.is_file():
        raise TechnicianError(
            "there is no journal", where=str(source), way_out="Check the file's name"
        )
    part = target.with_name(target.name + ".part")
    try:
        with one_line(str(part)):
            part.unlink(missing_ok=True)
            _copy(source, part)
        found = verify_journal(part)
        with one_line(str(part)):
            write_seal(part, Seal(found.entries, bytes.fromhex(found.head)))
            part.replace(target)
            _sync_folder(target.parent)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return verify_journal(target)


def _copy(source: Path, target: Path) -> None:
    with closing(at_rest(source)) as reading, closing(connected(str(target))) as copy:
        reading.backup(copy)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _seal(path: Path) -> tuple[Seal | None, SealBroken | None]:
    """Return the seal, or why it is broken: the entries may say it more exactly."""
    if waiting(path):
        return None, None
    try:
        with one_line(str(path)):
            return read_seal(path), None
    except SealBroken as broken:
        return None, broken


def _read(
    connection: sqlite3.Connection, where: str, after_seq: int
) -> Iterator[AnyEvent | UnknownEvent]:
    query = "SELECT seq, body FROM entries WHERE seq > ? ORDER BY seq LIMIT ?"
    with one_line(where):
        written = written_in(connection)
    while True:
        with one_line(where):
            rows = connection.execute(query, (after_seq, _READ_AT_ONCE)).fetchall()
        for seq, body in rows:
            version = max(version for from_seq, version in written if from_seq <= seq)
            yield _event(upcast(body, version), where, seq)
        if len(rows) < _READ_AT_ONCE:
            return
        after_seq = rows[-1][0]


def _found(path: Path) -> None:
    """Put an empty journal at ``path``, whole or not at all: a process may be killed meanwhile."""
    half = path.with_name(f".{path.name}.new")
    for ending in ("", "-wal", "-shm"):
        half.with_name(half.name + ending).unlink(missing_ok=True)
    founded(connected(str(half))).close()
    half.rename(path)
    _sync_folder(path.parent)


def _durable(path: Path) -> sqlite3.Connection:
    connection = connected(str(path))
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _last(connection: sqlite3.Connection) -> tuple[int, bytes]:
    query = "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1"
    row: tuple[int, bytes] | None = connection.execute(query).fetchone()
    return row or (0, _GENESIS)


def _last_checkpoint(connection: sqlite3.Connection) -> tuple[int, int]:
    query = "SELECT seq, at FROM checkpoints ORDER BY seq DESC LIMIT 1"
    row: tuple[int, int] | None = connection.execute(query).fetchone()
    return row or (0, 0)


def _numbered(event: E, seq: int) -> E:
    if not isinstance(event, UnknownEvent):
        return msgspec.structs.replace(event, seq=seq)
    tree = msgspec.json.decode(event.body) | {"seq": seq}
    return msgspec.structs.replace(event, seq=seq, body=msgspec.json.encode(tree))


def _body(event: Event | UnknownEvent) -> bytes:
    return event.body if isinstance(event, UnknownEvent) else msgspec.json.encode(event)


def _event(body: bytes, where: str, seq: int) -> AnyEvent | UnknownEvent:
    event = _as_written(body)
    if event is not None:
        return event
    try:
        return decode_event(body, where, seq)
    except InputRefused as refused:
        if refused.field != "type":
            raise
        return UnknownEvent(seq, msgspec.json.decode(body, type=_Head).type, body)


def _as_written(body: bytes) -> AnyEvent | None:
    """Return an event whose JSON is just as this version writes it; ``None`` for any other.

    Such JSON holds each field once: that need not be looked for, which takes twice as long.
    """
    try:
        event = _EVENT.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return event if msgspec.json.encode(event) == body else None


def link(head: bytes, seq: int, body: bytes) -> bytes:
    """Return the hash of an entry: over the hash before it, its number and its JSON."""
    return hashlib.sha256(head + seq.to_bytes(8, "big") + body).digest()


def _verified(connection: sqlite3.Connection, where: str) -> Verified:
    check_kind(connection, where)
    signatures = _signatures(connection)
    seq, head, signed = 0, _GENESIS, 0
    rows = connection.execute("SELECT seq, hash, body FROM entries ORDER BY seq")
    for found, stored, body in rows:
        seq += 1
        if found != seq:
            raise damaged(where, f"entry {seq} is missing, entry {found} stands in its place")
        if not (isinstance(stored, bytes) and isinstance(body, bytes)):
            raise damaged(where, f"entry {seq} is not stored as bytes")
        head = link(head, seq, body)
        if stored != head:
            raise damaged(where, f"entry {seq} does not match its hash: {_shown(body)}")
        if seq in signatures:
            at_ns, key, signature = signatures[seq]
            if not is_signed(key, signature, seq, at_ns, head):
                raise damaged(where, f"the checkpoint at entry {seq} does not fit its signature")
            signed = seq
    if signatures and max(signatures) > seq:
        last = max(signatures)
        raise damaged(where, f"entries up to {last} were signed, but it ends with entry {seq}")
    check_pages(connection, where)
    keys = tuple(sorted({key.hex() for _, key, _ in signatures.values()}))
    return Verified(seq, head.hex(), False, signed, keys)


def _signatures(connection: sqlite3.Connection) -> dict[int, tuple[int, bytes, bytes]]:
    if version_of(connection) == 1:
        return {}
    rows = connection.execute("SELECT seq, at, key, signature FROM checkpoints")
    return {seq: (at_ns, bytes(key), bytes(signature)) for seq, at_ns, key, signature in rows}


def _check_keys(found: Verified, keys: Collection[bytes], where: str) -> None:
    if not keys:
        return
    strangers = set(found.keys) - {key.hex() for key in keys}
    if strangers:
        raise damaged(where, f"it is signed by another key, {min(strangers)}")
    if not found.signed and found.entries:
        raise damaged(where, "nothing of it is signed")


def _shown(body: bytes) -> str:
    text = body.decode("utf-8", "backslashreplace")
    return text if len(text) <= 60 else text[:59] + "…"
