"""The table's journal: append-only, hash-chained, durable before anything acts on an entry.

One SQLite file in WAL mode. An entry is an event's JSON exactly as it was hashed; its hash is
SHA-256 over the hash before it, its ``seq`` (eight bytes, big-endian) and those bytes. A checkpoint
regularly signs the last hash and the journal's identity, and so covers every entry before. The
table sends each checkpoint away as it is made.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Generic, Self

import msgspec

from models.errors import TechnicianError
from models.events import Event
from models.judgements import AnyEvent
from stream.chaining import E, chained
from stream.checkpoints import Checkpoint, SendCheckpoint
from stream.clock import Clock
from stream.files import JournalFiles, followed
from stream.identity import new_identity
from stream.opening import Opening, check_table, put_new, to_compare
from stream.reading import UnknownEvent, events_in, last_in
from stream.seal import Seal, write_seal
from stream.signing import Signer
from stream.sole import Sole
from stream.store import (
    SCHEMA_VERSION,
    connected,
    founded,
    identity_of,
    log_copied,
    log_emptied,
    one_line,
    transaction,
    upgrade,
    version_of,
)
from stream.verifying import (
    GENESIS,
    AnotherJournal,
    LogMissing,
    Place,
    TailFound,
    Verified,
    link,
    verified,
    verify_journal,
)
from stream.watching import Loss, Watch

__all__ = [
    "AnotherJournal",
    "Checkpoints",
    "Journal",
    "Place",
    "TailFound",
    "Verified",
    "link",
    "verify_journal",
]

_LAST_READERS_MS: Final = 2_000
"""Milliseconds that a closing journal waits for readers in the middle of a page of entries."""


@dataclass(frozen=True, slots=True)
class _Chained(Generic[E]):
    """Events on their way into the journal, all or none."""

    events: tuple[E, ...]
    """With their ``seq``."""
    rows: Sequence[tuple[int, bytes, bytes]]
    """Number, hash and JSON of each."""
    seq: int
    head: bytes
    """The journal's last entry with them, and its hash."""
    checkpoint: Checkpoint | None
    """The one that is due with the last of them."""


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """When checkpoints of a journal are made, with which key, and where they are sent."""

    signer: Signer | None
    """Signs them; ``None`` where the table has no key: they are then sent unsigned."""
    clock: Clock
    """Gives the time at which a checkpoint is due and made."""
    entries: int = 1000
    """Entries after which a checkpoint is due …"""
    period_ns: int = 60_000_000_000
    """… or nanoseconds after which the next entry makes one due."""
    send: SendCheckpoint = lambda _: None
    """Sends each checkpoint away from the table, once it is durable."""


class Journal:
    """The one writer of a journal. Use :meth:`create`, :meth:`open` or :meth:`in_memory`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path | None,
        checkpoints: Checkpoints | None = None,
        sole: Sole | None = None,
        keeper: sqlite3.Connection | None = None,
    ) -> None:
        self._connection = connection  # dropped before the keeper, which must close last
        self._keeper = keeper
        self._path = path
        self._sole = sole
        self._checkpoints = checkpoints
        self._seq, self._head = last_in(connection)
        self._signed_seq, self._signed_ns = _last_checkpoint(connection)
        self._sent_seq = self._signed_seq
        self._lost: Loss | None = None
        self._lost_how = ""
        self._watch = None if path is None else Watch(path)
        identified = identity_of(connection, self._where)
        assert identified is not None, "journals are upgraded before they are written"
        _, self.identity = identified

    @classmethod
    def create(
        cls,
        path: Path,
        checkpoints: Checkpoints | None = None,
        table: str | None = None,
        name: str | None = None,
    ) -> Self:
        """Create a new journal of ``table``, signed as ``checkpoints`` defines.

        ``name`` is the name of its final file, where ``path`` is a temporary one.

        Raises:
            OperatorError: a file of a journal is at ``path`` already.
            TechnicianError: the disk refuses it, or another program creates one there.
        """
        path = followed(path)
        files = JournalFiles(path)
        files.check_vacant()
        sole = Sole(path)
        opening = Opening(path, entries=0)
        try:
            files.check_vacant()
            with one_line(str(path)):
                put_new(path, new_identity(name or path.name, table))
                opening.begin(was_sealed=True)
                journal = cls(opening.writer, path, checkpoints, sole, opening.keeper)
                journal._send(journal._checkpoint_now(0, GENESIS))
                return journal
        except BaseException:  # Ctrl-C too leaves no half journal and no lock
            opening.undo()
            sole.let_go()
            raise

    @classmethod
    def open(
        cls,
        path: Path,
        checkpoints: Checkpoints | None = None,
        table: str | None = None,
        against: Collection[Checkpoint] | None = None,
        after: Place | None = None,
    ) -> Self:
        """Verify a journal and open it for appending; upgrade one of an older version.

        With ``after``, verify only what follows that entry: the caller has reason to trust it, and
        verifies the rest later.

        Another process wrote the entries that no checkpoint signs yet. Before this process signs,
        it states them in an entry, :class:`TailFound`. It sends the last checkpoint again unless
        ``against`` has it: the other process may have ended before it sent it.

        Raises:
            AnotherJournal: the entry at ``after`` is not in it.
            TechnicianError: it is missing or damaged, belongs to another table than ``table``,
                lacks an entry that one of ``against`` covers, another program writes it, or the
                disk refuses it.
        """
        path = followed(path)
        found = verify_journal(path, checkpoints=to_compare(path, against), after=after)
        check_table(found.identity, table, str(path))
        sole = Sole(path)
        opening = Opening(path, found.entries)
        try:
            with one_line(str(path)):
                opening.begin(was_sealed=found.sealed)
                # One transaction: a log that holds the upgrade alone would not be missing any more.
                with transaction(opening.writer):
                    if version_of(opening.writer) < SCHEMA_VERSION:
                        upgrade(opening.writer, new_identity(path.name, table))
                    journal = cls(opening.writer, path, checkpoints, sole, opening.keeper)
                    findings = tuple(journal._findings(lacks_log=found.lacks_log))
                    marked = journal._chained(findings) if findings else None
                    if marked is not None:
                        journal._insert(marked)
                journal._send_again(against or ())
                if marked is not None:
                    journal._acknowledge(marked)
                if not journal.last_seq:
                    journal._send(journal._checkpoint_now(0, GENESIS))
                return journal
        except BaseException:  # Ctrl-C too leaves the journal as it was
            opening.undo()
            sole.let_go()
            raise

    @classmethod
    def in_memory(cls) -> Self:
        """Create a journal that ends with the process: for replays and tests."""
        return cls(founded(connected(":memory:"), new_identity("memory", None)), None)

    @property
    def last_seq(self) -> int:
        """The last entry's number, 0 while there is none."""
        return self._seq

    def append(self, event: E) -> E:
        """Append one event and return it with its ``seq``; durable on return.

        Raises:
            TechnicianError: the disk refuses it; nothing was appended, and appending works again
                once the disk does.
        """
        (appended,) = self.append_all((event,))
        return appended

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append events in one transaction, all or none; as :meth:`append`."""
        chained = self._chained(events)
        self.check_in_place()
        with one_line(self._where), transaction(self._connection):
            self._insert(chained)
        self._acknowledge(chained)
        return chained.events

    def checkpoint(self) -> None:
        """Make a checkpoint of the entries that none covers yet; with no such entry, do nothing.

        Raises:
            TechnicianError: the disk refuses it; the journal keeps its entries.
        """
        if self._checkpoints is None or self._seq == self._sent_seq:
            return
        made = self._checkpoint_now(self._seq, self._head)
        with one_line(self._where), transaction(self._connection):
            self._insert_checkpoint(made)
        self._send(made)

    def check_in_place(self) -> None:
        """Check that nobody deleted, replaced or truncated the journal's files.

        Raises:
            TechnicianError: somebody did; the acknowledged entries are copied beside it where
                possible.
        """
        loss = None if self._watch is None else self._watch.loss()
        if loss is None and self._lost is None:
            return
        if loss is not None and self._lost is None:
            self._lost, what = loss
            kept = self._rescued() if self._lost == "main" else None
            self._lost_how = what if kept is None else f"{what}; its entries were kept in {kept}"
        raise TechnicianError(
            f"{self._lost_how}. Nothing more is written",
            where=self._where,
            way_out="Find out what caused this, and start again",
        )

    def hash_of(self, seq: int) -> bytes:
        """Return the hash of an entry; of 0, what the first is chained to."""
        query = "SELECT hash FROM entries WHERE seq = ?"
        with one_line(self._where):
            row: tuple[bytes] | None = self._connection.execute(query, (seq,)).fetchone()
        return GENESIS if row is None else row[0]

    def read(self, after_seq: int = 0) -> Iterator[AnyEvent | UnknownEvent]:
        """Yield the events after ``after_seq`` in order.

        Raises:
            InputRefused: an entry of a known type does not match the format.
            TechnicianError: the file is damaged.
        """
        return events_in(self._connection, self._where, after_seq)

    def verify(self) -> Verified:
        """Check every entry, and the database pages.

        Raises:
            TechnicianError: naming the first bad entry and what differs.
        """
        with one_line(self._where):
            return verified(self._connection, self._where)

    def close(self) -> None:
        """Close in order: sign and seal the file, so that any change to it shows.

        Raises:
            TechnicianError: the disk refuses it; every entry is in the file all the same.
        """
        try:
            if self._lost == "main":
                self._close_lost()
                return
            try:
                self.checkpoint()
            finally:
                self._let_go_of_the_file()
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

    def _let_go_of_the_file(self) -> None:
        """Copy the log into the file, seal it, and only then empty the log and close.

        A kill at any point leaves a log or a seal. Where the log cannot be copied, it still holds
        every entry, and the file stays unsealed.
        """
        if self._path is None or self._keeper is None:
            self._connection.close()
            return
        with (
            one_line(self._where),
            suppress(sqlite3.OperationalError),
            closing(self._keeper),
            closing(self._connection),
        ):
            if log_copied(self._connection, _LAST_READERS_MS):
                write_seal(self._path, Seal(self._seq, self._head))
                if log_emptied(self._connection, _LAST_READERS_MS):
                    self._keeper.close()

    def _is_due(self, seq: int) -> bool:
        due = self._checkpoints
        if due is None or seq == self._sent_seq:
            return False
        return (
            seq - self._sent_seq >= due.entries
            or due.clock.now_ns() - self._signed_ns >= due.period_ns
        )

    def _checkpoint_now(self, seq: int, head: bytes) -> Checkpoint | None:
        if self._checkpoints is None:
            return None
        signer, at_ns = self._checkpoints.signer, self._checkpoints.clock.now_ns()
        made = Checkpoint(identity=self.identity, seq=seq, head=head.hex(), at=at_ns)
        if signer is None:
            return made
        signature = signer.sign(seq, at_ns, head, self.identity)
        return msgspec.structs.replace(made, key=signer.public.hex(), signature=signature.hex())

    def _chained(self, events: Iterable[E]) -> "_Chained[E]":
        """Number events and link them to the last entry; nothing is written."""
        numbered, rows = chained(events, Place(self._seq, self._head))
        seq, head, _ = rows[-1] if rows else (self._seq, self._head, b"")
        made = self._checkpoint_now(seq, head) if self._is_due(seq) else None
        return _Chained(numbered, rows, seq, head, made)

    def _insert(self, chained: "_Chained[E]") -> None:
        """Put them into the journal, within a transaction of the caller's."""
        self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", chained.rows)
        self._insert_checkpoint(chained.checkpoint)

    def _acknowledge(self, chained: "_Chained[E]") -> None:
        """Take note of entries that are durable."""
        self._seq, self._head = chained.seq, chained.head
        self.check_in_place()
        self._send(chained.checkpoint)

    def _insert_checkpoint(self, made: Checkpoint | None) -> None:
        """Put a signed checkpoint into the journal as well."""
        if made is not None and made.key is not None and made.signature is not None:
            row = (made.seq, made.at, bytes.fromhex(made.key), bytes.fromhex(made.signature))
            self._connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?)", row)

    def _send(self, made: Checkpoint | None) -> None:
        """Send a durable checkpoint away from the table."""
        if made is not None and self._checkpoints is not None:
            self._sent_seq, self._signed_ns = made.seq, made.at if made.seq else self._signed_ns
            self._checkpoints.send(made)

    def _send_again(self, known: Collection[Checkpoint]) -> None:
        """Send the journal's last signed checkpoint unless one of ``known`` covers as much."""
        query = "SELECT seq, at, key, signature FROM checkpoints ORDER BY seq DESC LIMIT 1"
        row = self._connection.execute(query).fetchone()
        if row is None or self._checkpoints is None:
            return
        seq, at_ns, key, signature = row
        made = Checkpoint(
            identity=self.identity,
            seq=seq,
            head=self.hash_of(seq).hex(),
            at=at_ns,
            key=key.hex(),
            signature=signature.hex(),
        )
        is_known = any(one.identity == made.identity and one.seq >= seq for one in known)
        if made.is_signed and not is_known:
            self._checkpoints.send(made)

    def _findings(self, *, lacks_log: bool) -> Iterator[Event]:
        """Yield which entries are unsigned, before they are signed, and that the log is missing."""
        due, table = self._checkpoints, self.identity.table
        at_ns = None if due is None else due.clock.now_ns()
        if due is not None and due.signer is not None and self._seq != self._signed_seq:
            first, last = self._signed_seq + 1, self._seq
            head = self._head.hex()
            yield TailFound(at=at_ns, table=table, first=first, last=last, head=head)
        if lacks_log:
            yield LogMissing(at=at_ns, table=table, last=self._seq)

    def _rescued(self) -> Path | None:
        """Copy the data of a file that is gone from its place but still open in this process."""
        assert self._path is not None
        copy = JournalFiles(self._path.with_name(f"{self._path.name}.{self._seq}.rescued"))
        try:
            with closing(connected(str(copy.main))) as target:
                self._connection.backup(target)
            found = verify_journal(copy.main)
            write_seal(copy.main, Seal(found.entries, bytes.fromhex(found.head)))
        except (TechnicianError, sqlite3.Error, OSError):
            copy.remove()
            return None
        return copy.main

    def _close_lost(self) -> None:
        """Close without touching the file in the journal's place."""
        assert self._watch is not None
        with suppress(sqlite3.Error, OSError), self._watch.sparing_others():
            self._connection.close()
            if self._keeper is not None:
                self._keeper.close()

    @property
    def _where(self) -> str:
        return "journal in memory" if self._path is None else str(self._path)


def _last_checkpoint(connection: sqlite3.Connection) -> tuple[int, int]:
    query = "SELECT seq, at FROM checkpoints ORDER BY seq DESC LIMIT 1"
    row: tuple[int, int] | None = connection.execute(query).fetchone()
    return row or (0, 0)
