"""Verify a journal's file: its chain, signatures, seal and pages.

The file is only read. It cannot show by itself that its end was cut off; the checkpoints that left
the table show that (:mod:`stream.checkpoints`).
"""

import hashlib
import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from models.errors import TechnicianError
from models.events import Event
from stream.checkpoints import Checkpoint, Held, held_to
from stream.files import JournalFiles
from stream.identity import Identity
from stream.seal import Seal, SealBroken, read_seal
from stream.signing import fingerprint, is_signed
from stream.store import (
    at_rest,
    check_kind,
    check_pages,
    damaged,
    identity_of,
    no_journal,
    one_line,
    version_of,
    waiting,
)
from stream.write_ahead import is_log_missing

GENESIS: Final = bytes(32)
"""The hash before the first entry."""


@dataclass(frozen=True, slots=True)
class Place:
    """A reader's position in a journal: the last entry read, and its hash."""

    seq: int = 0
    head: bytes = GENESIS


class AnotherJournal(TechnicianError):
    """The journal is not the one read before, or has lost entries since."""


class TailFound(Event, frozen=True, kw_only=True, tag="tail_found"):
    """Entries that this process found unsigned when it opened the journal, and did not write.

    A later signature proves the order of these entries, not their origin.
    """

    first: int
    last: int
    head: str
    """The hash of entry ``last``, in hex."""


class LogMissing(Event, frozen=True, kw_only=True, tag="log_missing"):
    """The journal lacked its write-ahead log when this process opened it, and needed one."""

    last: int
    """The last entry in the file. Later ones, if any, are lost."""


M = TypeVar("M", TailFound, LogMissing)
_LOG_MISSING: Final = b'{"type":"log_missing"'
_LOG: Final[msgspec.json.Decoder[LogMissing]] = msgspec.json.Decoder(LogMissing)
_TAIL_FOUND: Final = b'{"type":"tail_found"'
_TAIL: Final[msgspec.json.Decoder[TailFound]] = msgspec.json.Decoder(TailFound)


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of verifying a sound journal."""

    entries: int
    head: str
    """The last entry's hash in hex; it covers every entry before it."""
    sealed: bool
    """Whether the file was closed in order, so that every byte of it is proved."""
    signed: int = 0
    """The last entry that a checkpoint signs, with all before it; 0 where none does."""
    keys: tuple[str, ...] = ()
    """The fingerprints of the keys of its checkpoints."""
    identity: Identity | None = None
    """The journal's identity; ``None`` for one of an older version."""
    found: tuple[tuple[int, int], ...] = ()
    """First and last of the entries that a process found unsigned at its start, and then signed.

    Tails that a checkpoint of the earlier process covers are left out, where checkpoints were
    given.
    """
    gaps: tuple[int, ...] = ()
    """Entries after which others may be lost: the write-ahead log was missing at a restart."""
    lacks_log: bool = False
    """Whether it was not closed in order and its write-ahead log is gone: entries may be
    missing."""
    held: Held | None = None
    """Coverage by the given checkpoints; ``None`` where none were given."""


def link(head: bytes, seq: int, body: bytes) -> bytes:
    """Return the hash of an entry: over the hash before it, its number and its JSON."""
    return hashlib.sha256(head + seq.to_bytes(8, "big") + body).digest()


def found_tail(body: bytes) -> TailFound | None:
    """Return an entry's statement on entries found unsigned; ``None`` for any other entry."""
    return _TAIL.decode(body) if body.startswith(_TAIL_FOUND) else None


def verify_journal(
    path: Path,
    keys: Collection[str] = (),
    checkpoints: Collection[Checkpoint] | None = None,
    after: Place | None = None,
) -> Verified:
    """Check a journal's file: its seal if it was closed, its entries, signatures and pages.

    Nothing is written. A journal that is being written can be verified as well.

    Args:
        path: the journal.
        keys: the fingerprints of the keys that may have signed it; with none, a signature must fit
            the key that it names.
        checkpoints: those that left the table, to compare the journal with; ``None`` skips this.
        after: check only the entries after this one, their signatures and the seal, not the pages.

    Raises:
        AnotherJournal: the entry at ``after`` is not in it.
        TechnicianError: naming the first bad entry and what differs; with ``keys``, also where
            nothing is signed, or by another key; with ``checkpoints``, where it lacks an entry that
            one of them covers.
    """
    where = str(path)
    if not path.is_file():
        raise no_journal(path)
    seal, broken = _seal(path)
    with one_line(where):
        lacks_log = is_log_missing(JournalFiles(path))
        with closing(at_rest(path)) as connection:
            found = verified(connection, where, after)
            if checkpoints is not None:
                held = _held(connection, checkpoints, found.identity, path)
                found = replace(found, held=held, found=_unwitnessed(found, checkpoints))
    if broken is not None:
        raise damaged(where, broken) from broken
    _check_keys(found, keys, where)
    if seal is None:
        return replace(found, lacks_log=lacks_log)
    if (seal.entries, seal.head.hex()) != (found.entries, found.head):
        raise damaged(where, "the seal is another journal's")
    return replace(found, sealed=True)


def verified(connection: sqlite3.Connection, where: str, after: Place | None = None) -> Verified:
    """Check the entries of an open journal, their signatures, and the database pages.

    With ``after``, check only the entries after that one, and their signatures.

    Raises:
        AnotherJournal: the entry at ``after`` is not in it.
        TechnicianError: naming the first bad entry and what differs.
    """
    check_kind(connection, where)
    signatures = _signatures(connection)
    identified = identity_of(connection, where)
    place = after or Place()
    check_same(connection, where, place)
    seq, head = place.seq, place.head
    signed = max((one for one in signatures if one <= seq), default=0)
    tails: list[tuple[int, int]] = []
    gaps: list[int] = []
    query = "SELECT seq, hash, body FROM entries WHERE seq > ? ORDER BY seq"
    rows = connection.execute(query, (seq,))
    for found, stored, body in rows:
        seq += 1
        if found != seq:
            raise damaged(where, f"entry {seq} is missing, entry {found} is in its place")
        if not (isinstance(stored, bytes) and isinstance(body, bytes)):
            raise damaged(where, f"entry {seq} is not stored as bytes")
        head = link(head, seq, body)
        if stored != head:
            raise damaged(where, f"entry {seq} does not match its hash: {_shown(body)}")
        if seq in signatures:
            _check_signature(signatures[seq], seq, head, _at(identified, seq), where)
            signed = seq
        if body.startswith(_TAIL_FOUND):
            found_tail = _decoded(_TAIL, body, where, seq)
            tails.append((found_tail.first, found_tail.last))
        elif body.startswith(_LOG_MISSING):
            gaps.append(_decoded(_LOG, body, where, seq).last)
    if signatures and max(signatures) > seq:
        last = max(signatures)
        raise damaged(where, f"entries up to {last} were signed, but it ends with entry {seq}")
    if after is None:
        check_pages(connection, where)
    keys = tuple(sorted({fingerprint(key) for _, key, _ in signatures.values()}))
    identity = None if identified is None else identified[1]
    return Verified(seq, head.hex(), False, signed, keys, identity, tuple(tails), tuple(gaps))


def check_same(connection: sqlite3.Connection, where: str, place: Place) -> None:
    """Check that the entry at a place is the one that was read before.

    Raises:
        AnotherJournal: it is not.
    """
    query = "SELECT hash FROM entries WHERE seq = ?"
    if place.seq and connection.execute(query, (place.seq,)).fetchone() != (place.head,):
        raise another(where, place)


def another(where: str, place: Place) -> AnotherJournal:
    """Return the error of a journal whose entry at a place is not the one read before."""
    return AnotherJournal(
        f"entry {place.seq} is not the one that was read before",
        where=where,
        way_out="Find out who put another file in its place, and read it from its start",
    )


def _held(
    connection: sqlite3.Connection,
    checkpoints: Collection[Checkpoint],
    identity: Identity | None,
    path: Path,
) -> Held:
    def hash_of(seq: int) -> bytes | None:
        query = "SELECT hash FROM entries WHERE seq = ?"
        row: tuple[bytes] | None = connection.execute(query, (seq,)).fetchone()
        return None if row is None else row[0]

    return held_to(checkpoints, identity, path.name, hash_of, str(path))


def _unwitnessed(
    found: Verified, checkpoints: Collection[Checkpoint]
) -> tuple[tuple[int, int], ...]:
    """Return the parts of the found tails that no earlier checkpoint covers.

    A start signs after the entry that states the tail, so a checkpoint within the tail is not its
    own.
    """
    seqs = [one.seq for one in checkpoints if one.identity == found.identity]
    left = (
        (max((seq + 1 for seq in seqs if first <= seq <= last), default=first), last)
        for first, last in found.found
    )
    return tuple((first, last) for first, last in left if first <= last)


def _check_signature(
    made: tuple[int, bytes, bytes], seq: int, head: bytes, identity: Identity | None, where: str
) -> None:
    at_ns, key, signature = made
    if not is_signed(key, signature, seq, at_ns, head, identity=identity):
        raise damaged(where, f"the checkpoint at entry {seq} does not fit its signature")


def _at(identified: tuple[int, Identity] | None, seq: int) -> Identity | None:
    """Return the identity that a checkpoint at entry ``seq`` signs."""
    return identified[1] if identified is not None and seq >= identified[0] else None


def _decoded(decoder: msgspec.json.Decoder[M], body: bytes, where: str, seq: int) -> M:
    try:
        return decoder.decode(body)
    except msgspec.DecodeError as fault:
        raise damaged(where, f"entry {seq} says how the journal was found, but {fault}") from fault


def _signatures(connection: sqlite3.Connection) -> dict[int, tuple[int, bytes, bytes]]:
    if version_of(connection) == 1:
        return {}
    rows = connection.execute("SELECT seq, at, key, signature FROM checkpoints")
    return {seq: (at_ns, bytes(key), bytes(signature)) for seq, at_ns, key, signature in rows}


def _check_keys(found: Verified, keys: Collection[str], where: str) -> None:
    if not keys:
        return
    strangers = set(found.keys) - set(keys)
    if strangers:
        raise damaged(where, f"it is signed by another key, {min(strangers)}")
    if not found.signed and found.entries:
        raise damaged(where, "nothing of it is signed")


def _seal(path: Path) -> tuple[Seal | None, SealBroken | None]:
    """Return the seal, or why it is broken: the entries may show the fault more exactly."""
    if waiting(path):
        return None, None
    try:
        with one_line(str(path)):
            return read_seal(path), None
    except SealBroken as broken:
        return None, broken


def _shown(body: bytes) -> str:
    text = body.decode("utf-8", "backslashreplace")
    return text if len(text) <= 60 else text[:59] + "…"
