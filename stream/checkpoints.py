"""Checkpoints outside the table: they limit how much of a journal can be cut off unnoticed.

A journal's file proves its entries, but not that it is complete: somebody can cut off its end and
seal the rest again. A checkpoint states a time, the number of entries and the last hash. Kept where
nobody who can change the journal can write, it exposes such a cut.

A file of checkpoints has one JSON object a line, as :class:`Checkpoint` writes it. The reader
ignores text before the object, such as the prefix of a syslog server.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from models.errors import OperatorError, TechnicianError
from stream.identity import Identity
from stream.signing import fingerprint, is_signed

_KIND: Final = "journal_checkpoint"
_START: Final = b'{"type":"' + _KIND.encode() + b'"'
_WAY_OUT: Final = (
    "Keep this file as it is, and restore the journal from the last copy that has all of them"
)


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True, tag=_KIND):
    """States that a journal had ``seq`` entries at a time. Bytes are in hex."""

    identity: Identity
    seq: int
    """Its last entry; 0 for a journal that was made and had none."""
    head: str
    """The hash of that entry, which covers every one before it."""
    at: int
    """When it was made, nanoseconds since the Unix epoch, UTC."""
    key: str | None = None
    """The public key that signed it; ``None`` where the table has no key."""
    signature: str | None = None

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the key it names; ``None`` where it names none."""
        try:
            return None if self.key is None else fingerprint(bytes.fromhex(self.key))
        except ValueError:
            return None

    @property
    def is_signed(self) -> bool:
        """Return whether its signature fits the key it names."""
        if self.key is None or self.signature is None:
            return False
        try:
            key, signature, head = map(bytes.fromhex, (self.key, self.signature, self.head))
        except ValueError:
            return False
        return is_signed(key, signature, self.seq, self.at, head, identity=self.identity)


_DECODER: Final = msgspec.json.Decoder(Checkpoint)
SendCheckpoint = Callable[[Checkpoint], None]
"""Sends a checkpoint away from the table. It returns at once and raises nothing."""


@dataclass(frozen=True, slots=True)
class Held:
    """The result of comparing a journal with its checkpoints, where all of them fit."""

    seq: int = 0
    """The last covered entry; 0 where there is no checkpoint."""
    at: int | None = None
    """The time of that checkpoint."""
    known: int = 0
    """The number of checkpoints of this journal."""
    earlier: tuple[str, ...] = ()
    """The ids of earlier journals with the same name."""


def read_checkpoints(file: Path) -> tuple[Checkpoint, ...]:
    """Read all checkpoints of a file, of every journal in it.

    A last line that ends within its object is skipped: its writer may still be writing it.

    Raises:
        OperatorError: the file cannot be read.
        TechnicianError: a line starts like a checkpoint but is none.
    """
    found, _ = read_checkpoints_on(file, 0)
    return found


def read_checkpoints_on(
    file: Path, after_bytes: int, at_most_bytes: int = -1
) -> tuple[tuple[Checkpoint, ...], int]:
    """Read the checkpoints of a file's next lines; raises as :func:`read_checkpoints`.

    Returns:
        those after so many bytes, and how many bytes the whole lines have that were read so far.
    """
    try:
        with file.open("rb") as opened:
            opened.seek(after_bytes)
            lines = opened.read(at_most_bytes).splitlines(keepends=True)
    except OSError as fault:
        raise OperatorError(
            f"the checkpoints cannot be read ({fault.strerror})",
            where=str(file),
            way_out="Name the file that the table's checkpoints are sent to",
        ) from fault
    whole = sum(len(line) for line in lines if line.endswith(b"\n"))
    source = f"{file}, after byte {after_bytes}" if after_bytes else str(file)
    return tuple(_parsed(lines, source)), after_bytes + whole


def _parsed(lines: Iterable[bytes], source: str) -> Iterator[Checkpoint]:
    for number, line in enumerate(lines, start=1):
        start = line.rfind(_START)
        if start < 0:
            continue
        try:
            yield _DECODER.decode(line[start:])
        except (msgspec.DecodeError, UnicodeDecodeError) as fault:
            if not line.endswith(b"\n"):
                return
            raise TechnicianError(
                f"this line is no checkpoint ({fault})",
                where=f"{source}:{number}",
                way_out="Use another copy of the checkpoints, or take this line out",
            ) from fault


def trusted(checkpoints: Iterable[Checkpoint], keys: Collection[str]) -> tuple[Checkpoint, ...]:
    """Return the checkpoints that a key of one of these fingerprints signed; without, all."""
    if not keys:
        return tuple(checkpoints)
    return tuple(one for one in checkpoints if one.fingerprint in keys and one.is_signed)


def held_to(
    checkpoints: Iterable[Checkpoint],
    identity: Identity | None,
    name: str,
    hash_of: Callable[[int], bytes | None],
    where: str,
) -> Held:
    """Compare a journal with the checkpoints that left its table.

    Args:
        checkpoints: those of any journals.
        identity: the journal's identity; ``None`` for one of an older version.
        name: the name of its file, without the folder.
        hash_of: returns the hash of an entry, ``None`` where the journal has no such entry.
        where: the journal's name in errors.

    Raises:
        TechnicianError: it lacks an entry that a checkpoint covers, has another in its place, or a
            later journal of that name is known.
    """
    checkpoints = tuple(checkpoints)
    own = [one for one in checkpoints if one.identity == identity]
    _check_not_replaced(checkpoints, own, name, where)
    for one in sorted(own, key=lambda one: one.seq, reverse=True):
        found = bytes(32) if one.seq == 0 else hash_of(one.seq)
        if found is None:
            raise _missing(one, where)
        if found.hex() != one.head:
            raise TechnicianError(
                f"entry {one.seq} is not the one that the checkpoint of {utc(one.at)} covers",
                where=where,
                way_out=_WAY_OUT,
            )
    last = max(own, key=lambda one: one.seq, default=None)
    others = {one.identity.journal for one in checkpoints if one.identity.name == name}
    earlier = tuple(sorted(others - {one.identity.journal for one in own}))
    if last is None:
        return Held(earlier=earlier)
    return Held(last.seq, last.at, len(own), earlier)


def utc(at_ns: int) -> str:
    """Return an instant for people: ``2026-11-21T14:23:45Z``."""
    return datetime.fromtimestamp(at_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _missing(checkpoint: Checkpoint, where: str) -> TechnicianError:
    return TechnicianError(
        f"entries are missing at its end: it had {checkpoint.seq} at {utc(checkpoint.at)}, "
        "as a checkpoint says",
        where=where,
        way_out=_WAY_OUT,
    )


def _check_not_replaced(
    checkpoints: Iterable[Checkpoint], own: Collection[Checkpoint], name: str, where: str
) -> None:
    last_ns = max((one.at for one in own), default=-1)
    for one in checkpoints:
        if one.identity.name == name and one not in own and one.at > last_ns:
            raise TechnicianError(
                "it is another journal than the last one that had this name: "
                f"a checkpoint of {utc(one.at)} names journal {one.identity.journal}",
                where=where,
                way_out="Look for that journal in the archive and the backups",
            )
