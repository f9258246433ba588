"""Read journals: entries, events and identity, also while the table writes them."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from models.decode import decode_event
from models.errors import InputRefused, TechnicianError
from models.judgements import AnyEvent
from stream.files import JournalFiles
from stream.identity import Identity
from stream.store import (
    at_rest,
    check_kind,
    damaged,
    identity_of,
    in_play,
    one_line,
    version_of,
    written_in,
)
from stream.upcasting import upcast
from stream.verifying import GENESIS, Place, another, link, verify_journal

_READ_AT_ONCE: Final = 500


class UnknownEvent(msgspec.Struct, frozen=True):
    """An event of a type unknown to this version, kept byte for byte."""

    seq: int | None
    type: str
    body: bytes
    """Its JSON as journalled."""
    at: int | None = None
    """The time that it states, as :class:`models.events.Event` has it."""


class _Head(msgspec.Struct):
    type: str
    at: object = None

    @property
    def time(self) -> int | None:
        """Its time, where it states one in nanoseconds."""
        return self.at if type(self.at) is int and 0 <= self.at < 2**63 else None


_EVENT: Final[msgspec.json.Decoder[AnyEvent]] = msgspec.json.Decoder(AnyEvent)


def read_journal(path: Path) -> Iterator[AnyEvent | UnknownEvent]:
    """Verify a journal's file and yield its events in order, dated; write nothing.

    Raises:
        TechnicianError: it is missing or damaged; no event was yielded.
        InputRefused: an entry of a known type does not match the format.
    """
    return dated(read_as_written(path), lambda: None)


def dated(
    events: Iterable[AnyEvent | UnknownEvent], time_before: Callable[[], int | None]
) -> Iterator[AnyEvent | UnknownEvent]:
    """Yield events of a journal; one without a time gets that of the nearest before it.

    Up to Pitwatch 0.2.0 a question had none, nor had the settlement of an unfinished round.

    Args:
        events: some entries in their order.
        time_before: returns the nearest time before them; asked only if it is needed.
    """
    last_ns: int | None = None
    for event in events:
        if event.at is None:
            last_ns = time_before() if last_ns is None else last_ns
            yield replace(event, at=last_ns)
        else:
            last_ns = event.at
            yield event


def read_as_written(path: Path) -> Iterator[AnyEvent | UnknownEvent]:
    """Yield the events of :func:`read_journal` with the times that they themselves state."""
    verify_journal(path)
    with closing(at_rest(path)) as connection:
        yield from events_in(connection, str(path), 0)


class Entry(NamedTuple):
    """An entry as a journal stores it."""

    seq: int
    hash: bytes
    body: bytes
    version: int
    """The version of the journal that wrote it."""


class Signature(NamedTuple):
    """A checkpoint as a journal stores it."""

    seq: int
    """The last entry that it covers."""
    at_ns: int
    key: bytes
    signature: bytes


def last_signature(path: Path) -> Signature | None:
    """Return a journal's last signed checkpoint, unverified, also while it is written.

    Raises:
        TechnicianError: the journal is missing, or is no journal.
    """
    with one_line(str(path)), closing(at_rest(path)) as connection:
        check_kind(connection, str(path))
        if version_of(connection) == 1:
            return None
        query = (
            "SELECT seq, at, key, signature FROM checkpoints WHERE seq > 0"
            " ORDER BY seq DESC LIMIT 1"
        )
        row = connection.execute(query).fetchone()
        return None if row is None else Signature(*row)


def last_place(path: Path) -> Place:
    """Return a journal's last entry and its hash, unverified, also while it is written.

    Raises:
        TechnicianError: it is missing, or is no journal.
    """
    with one_line(str(path)), closing(at_rest(path)) as connection:
        check_kind(connection, str(path))
        return Place(*last_in(connection))


def journal_id(path: Path) -> str | None:
    """Return a journal's id; ``None`` for one of an older version, or where it cannot be read."""
    try:
        identity = journal_identity(path)
    except TechnicianError:
        return None
    return None if identity is None else identity.journal


def journal_identity(path: Path) -> Identity | None:
    """Return a journal's identity; ``None`` for one of an older version.

    Raises:
        TechnicianError: it is missing, or is no journal.
    """
    with one_line(str(path)), closing(at_rest(path)) as connection:
        check_kind(connection, str(path))
        identified = identity_of(connection, str(path))
    return None if identified is None else identified[1]


def holds(path: Path, kind: str) -> bool:
    """Return whether a journal has an entry of that type, without verifying it.

    Raises:
        TechnicianError: it cannot be read.
    """
    query = "SELECT 1 FROM entries WHERE instr(body, ?) > 0 LIMIT 1"
    with one_line(str(path)), closing(at_rest(path)) as connection:
        wanted = b'"type":' + msgspec.json.encode(kind)
        return connection.execute(query, (wanted,)).fetchone() is not None


def entries_of(
    path: Path, kinds: Iterable[type[msgspec.Struct]], after_seq: int = 0
) -> list[tuple[int, bytes]]:
    """Return number and JSON of a journal's entries of some types, also while it is written.

    They are not verified.

    Raises:
        TechnicianError: it cannot be read.
    """
    starts = [f'{{"type":"{kind.__struct_config__.tag}"'.encode() for kind in kinds]
    begins = " OR ".join(["substr(body, 1, ?) = ?"] * len(starts))
    query = f"SELECT seq, body FROM entries WHERE seq > ? AND ({begins}) ORDER BY seq"
    wanted = [value for start in starts for value in (len(start), start)]
    with one_line(str(path)), closing(at_rest(path)) as connection:
        return connection.execute(query, (after_seq, *wanted)).fetchall()


def read_on(
    path: Path, place: Place, at_most: int = _READ_AT_ONCE
) -> tuple[tuple[AnyEvent | UnknownEvent, ...], Place]:
    """Read and verify the next entries of a journal, also while it is written.

    The file is open only during the call, so that its writer can close it in order.

    Returns:
        at most ``at_most`` events after ``place``, and the new place.

    Raises:
        AnotherJournal: the entry at ``place`` is not in it.
        TechnicianError: it is missing, is no journal, or an entry does not follow the one before.
        InputRefused: an entry of a known type does not match the format.
    """
    where = str(path)
    with one_line(where), closing(at_rest(path)) as connection:
        check_kind(connection, where)
        found, after = _next_entries(connection, where, place, at_most)
        events = (event_of(upcast(one.body, one.version), where, one.seq) for one in found)
        return tuple(dated(events, lambda: _time_before(connection, place.seq))), after


def entries_after(
    path: Path, place: Place, at_most: int = _READ_AT_ONCE
) -> tuple[tuple[Entry, ...], Place]:
    """Read and verify the next entries as they are stored; otherwise as :func:`read_on`."""
    where = str(path)
    with one_line(where), closing(at_rest(path)) as connection:
        check_kind(connection, where)
        return _next_entries(connection, where, place, at_most)


class JournalReader:
    """Reads a journal again and again as its table writes it, and keeps it open between reads.

    Opening a journal takes 50 times as long as asking an open one for its next entries. The file is
    kept open only while it has a log, and the reader holds no lock between reads: the writer closes
    and seals the journal as if there were no reader. Where another file came into its place, or an
    open one does not give what it should, the journal is opened anew.

    Args:
        path: the journal.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._names: tuple[str, ...] = ()
        self._opened: tuple[int, ...] = ()
        """The files that are open, by their numbers on the disk."""

    def entries_after(self, place: Place, at_most: int) -> tuple[tuple[Entry, ...], Place]:
        """Read the next entries, as :func:`entries_after` does."""
        connection = self._live()
        if connection is None:
            return entries_after(self._path, place, at_most)
        where = str(self._path)
        try:
            with one_line(where):
                return _next_entries(connection, where, place, at_most)
        except TechnicianError:
            self.close()
            return entries_after(self._path, place, at_most)

    def close(self) -> None:
        """Close the file; the next read opens it again."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._opened = None, ()

    def _live(self) -> sqlite3.Connection | None:
        """Return an open connection; ``None`` for a journal that is not being written."""
        if self._connection is not None and _in_play(self._names) != self._opened:
            self.close()
        if self._connection is None:
            files, where = JournalFiles(self._path), str(self._path)
            self._names = tuple(map(str, (self._path, files.log, files.log_index)))
            self._opened = _in_play(self._names)
            if self._opened:
                with one_line(where), ExitStack() as undo:
                    connection = in_play(self._path)
                    undo.callback(connection.close)
                    check_kind(connection, where)
                    undo.pop_all()
                    self._connection = connection
        return self._connection


def _in_play(names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the numbers of a journal's files on the disk; none where it is not being written."""
    try:
        main, log, index = map(os.stat, names)
    except OSError:
        return ()
    return (main.st_dev, main.st_ino, log.st_ino, index.st_ino) if log.st_size else ()


def _next_entries(
    connection: sqlite3.Connection, where: str, place: Place, at_most: int
) -> tuple[tuple[Entry, ...], Place]:
    """Read and verify the entries after a place of an open journal.

    Raises:
        AnotherJournal: the entry at that place is not the one that was read before.
        TechnicianError: an entry is damaged, or does not follow.
    """
    query = "SELECT seq, hash, body FROM entries WHERE seq >= ? ORDER BY seq LIMIT ?"
    rows = connection.execute(query, (place.seq, at_most + (place.seq > 0))).fetchall()
    if place.seq:
        before = rows.pop(0)[:2] if rows else None
        if before != (place.seq, place.head):
            raise another(where, place)
    written = written_in(connection) if rows else ()
    entries = []
    for seq, stored, body in rows:
        if not isinstance(body, bytes):
            raise damaged(where, f"entry {seq} is not stored as bytes")
        head = link(place.head, place.seq + 1, body)
        if seq != place.seq + 1 or stored != head:
            raise damaged(where, f"entry {place.seq + 1} is missing or does not match its hash")
        place = Place(seq, head)
        version = max(version for from_seq, version in written if from_seq <= seq)
        entries.append(Entry(seq, head, body, version))
    return tuple(entries), place


def read_between(path: Path, after_seq: int, last_seq: int) -> tuple[AnyEvent | UnknownEvent, ...]:
    """Read the entries after ``after_seq`` up to ``last_seq`` again, also while it is written.

    They are not verified: for callers that verified them with :func:`read_on` before.

    Raises:
        TechnicianError: the journal is missing or damaged.
        InputRefused: an entry of a known type does not match the format.
    """
    with one_line(str(path)), closing(at_rest(path)) as connection:
        events = takewhile(
            lambda event: event.seq is not None and event.seq <= last_seq,
            events_in(connection, str(path), after_seq),
        )
        return tuple(dated(events, lambda: _time_before(connection, after_seq)))


def _time_before(connection: sqlite3.Connection, last_seq: int) -> int | None:
    """Return the nearest time that an entry up to ``last_seq`` states."""
    query = "SELECT body FROM entries WHERE seq <= ? ORDER BY seq DESC"
    bodies = (body for (body,) in connection.execute(query, (last_seq,)))
    times = (msgspec.json.decode(body, type=_Head).time for body in bodies)
    return next((at for at in times if at is not None), None)


def events_in(
    connection: sqlite3.Connection, where: str, after_seq: int
) -> Iterator[AnyEvent | UnknownEvent]:
    """Yield the events after ``after_seq`` of an open journal, unverified."""
    query = "SELECT seq, body FROM entries WHERE seq > ? ORDER BY seq LIMIT ?"
    with one_line(where):
        written = written_in(connection)
    while True:
        with one_line(where):
            rows = connection.execute(query, (after_seq, _READ_AT_ONCE)).fetchall()
        for seq, body in rows:
            version = max(version for from_seq, version in written if from_seq <= seq)
            yield event_of(upcast(body, version), where, seq)
        if len(rows) < _READ_AT_ONCE:
            return
        after_seq = rows[-1][0]


def last_in(connection: sqlite3.Connection) -> tuple[int, bytes]:
    """Return the number and hash of an open journal's last entry."""
    query = "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1"
    row: tuple[int, bytes] | None = connection.execute(query).fetchone()
    return row or (0, GENESIS)


def event_of(body: bytes, where: str, seq: int) -> AnyEvent | UnknownEvent:
    """Decode an entry's JSON; ``where`` and ``seq`` only serve the error message.

    Raises:
        InputRefused: it is of a known type and does not match the format.
    """
    event = _as_written(body)
    if event is not None:
        return event
    try:
        return decode_event(body, where, seq, newer=True)
    except InputRefused as refused:
        if refused.field != "type":
            raise
        head = msgspec.json.decode(body, type=_Head)
        return UnknownEvent(seq, head.type, body, head.time)


def _as_written(body: bytes) -> AnyEvent | None:
    """Return an event whose JSON is exactly as this version writes it; ``None`` for any other.

    Such JSON repeats no field. Skipping that check halves the time.
    """
    try:
        event = _EVENT.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return event if msgspec.json.encode(event) == body else None
