"""A piece of a journal that can be proved away from it.

It holds the entries of the piece, and those after it up to the next checkpoint, with their hashed
bytes. The checkpoint's signature covers the last hash, and with it every entry before: nobody can
change, remove or insert an entry without a new signature.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec

from models.errors import OperatorError
from stream.identity import Identity
from stream.journal import link, verify_journal
from stream.signing import fingerprint, is_signed
from stream.store import at_rest, identity_of, one_line, version_of

Hex: TypeAlias = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{2})*$")]


class Proof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The hashes and signature that prove an excerpt's entries. Bytes are in hex."""

    before: Hex
    """Hash of the entry before the first."""
    first: int
    """``seq`` of the first entry."""
    last: int
    """``seq`` of the last requested entry; the entries after it only serve the proof."""
    to: int
    """``seq`` of the last entry here: the signed one, where there is one."""
    head: Hex
    """The hash of entry ``to``."""
    signed_at: int | None = None
    """The time of the signature, nanoseconds since the Unix epoch, UTC; like key and signature,
    ``None`` where no signature covers the excerpt."""
    key: Hex | None = None
    signature: Hex | None = None
    identity: Identity | None = None
    """The journal's identity, as the signature covers it; ``None`` for versions 1 and 2."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a journal."""

    proof: Proof
    bodies: tuple[bytes, ...]
    """The JSON of every entry, as it was hashed."""


def excerpt(path: Path, first: int, last: int) -> Excerpt:
    """Cut entries ``first`` to ``last`` out of a verified journal, also while it is written.

    Raises:
        OperatorError: it holds no such entries.
        TechnicianError: it is missing or damaged.
    """
    (found,) = excerpts(path, ((first, last),))
    return found


def excerpts(path: Path, spans: Sequence[tuple[int, int]]) -> tuple[Excerpt, ...]:
    """Cut several pieces out of a journal, verifying it once; as :func:`excerpt`."""
    verify_journal(path)
    return tuple(_cut(path, first, last) for first, last in spans)


def _cut(path: Path, first: int, last: int) -> Excerpt:
    with one_line(str(path)), closing(at_rest(path)) as connection:
        signed, identified = None, identity_of(connection, str(path))
        if version_of(connection) > 1:
            query = "SELECT seq, at, key, signature FROM checkpoints WHERE seq >= ? ORDER BY seq"
            signed = connection.execute(query, (last,)).fetchone()
        to = last if signed is None else signed[0]
        query = "SELECT seq, hash, body FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq"
        rows = connection.execute(query, (first - 1, to)).fetchall()
    before = rows.pop(0)[1] if rows and rows[0][0] == first - 1 else bytes(32)
    if not 0 < first <= last or [row[0] for row in rows] != [*range(first, to + 1)]:
        raise OperatorError(
            f"there are no entries {first} to {last}",
            where=str(path),
            way_out="Ask for a time that the journal knows",
        )
    proof = Proof(before=before.hex(), first=first, last=last, to=to, head=rows[-1][1].hex())
    if signed is not None:
        _, at_ns, key, signature = signed
        proof = msgspec.structs.replace(
            proof,
            signed_at=at_ns,
            key=bytes(key).hex(),
            signature=bytes(signature).hex(),
            identity=identified[1] if identified is not None and to >= identified[0] else None,
        )
    return Excerpt(proof, tuple(bytes(row[2]) for row in rows))


def faults(proof: Proof, bodies: Sequence[bytes]) -> Iterator[str]:
    """Yield the faults of an excerpt; nothing where it is unchanged."""
    if not proof.first <= proof.last <= proof.to or len(bodies) != proof.to - proof.first + 1:
        yield f"it should hold entries {proof.first} to {proof.to}, it holds {len(bodies)}"
        return
    head = bytes.fromhex(proof.before)
    for seq, body in enumerate(bodies, start=proof.first):
        head = link(head, seq, body)
    if head.hex() != proof.head:
        yield "an entry is not as it was written: the chain does not come to its head"
    elif proof.key is not None and not _is_signed(proof):
        yield f"the checkpoint at entry {proof.to} does not fit its signature"


def signed_by(proof: Proof) -> str | None:
    """Return the fingerprint of the key that signed an excerpt; ``None`` without a signature."""
    return None if proof.key is None else fingerprint(bytes.fromhex(proof.key))


def _is_signed(proof: Proof) -> bool:
    if proof.key is None or proof.signature is None or proof.signed_at is None:
        return False
    key, signature = bytes.fromhex(proof.key), bytes.fromhex(proof.signature)
    head = bytes.fromhex(proof.head)
    return is_signed(key, signature, proof.to, proof.signed_at, head, identity=proof.identity)
