"""A signed PNG of one camera picture: its content, its time and its signer.

Three text chunks come before the end (PNG 1.2, 4.2.3); picture viewers ignore them::

    iTXt  Description          a sentence for people
    iTXt  Pitwatch snapshot    the facts, JSON (:class:`Facts`)
    tEXt  Pitwatch signature   ed25519 KEY SIGNATURE, both in hex

The signature (Ed25519, purpose ``snapshot 1``) is over the SHA-256 of every byte before its chunk.
``pixels_sha256`` is over the decoded picture, for comparison with the recording.
"""

import hashlib
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from models.errors import PitwatchError, TechnicianError
from server.archive.clips import Clips
from stream.clock import utc
from stream.journal import Place, verify_journal
from stream.reading import read_on
from stream.signing import Signer, fingerprint, is_digest_signed
from vision.crops import as_png, decoded
from vision.picture_files import LARGEST_PIXELS, declared_size

PURPOSE: Final = "snapshot 1"
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_FACTS: Final = b"Pitwatch snapshot"
_SIGNATURE: Final = b"Pitwatch signature"
_SIGNED: Final = re.compile(_SIGNATURE + rb"\0ed25519 ([0-9a-f]{64}) ([0-9a-f]{128})")
_UTF8: Final = b"\0\0\0\0\0"
"""The bytes after an iTXt chunk's keyword: uncompressed, no language, no translated keyword."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content and evidence of a snapshot. Times are nanoseconds, UTC."""

    table: str
    session: str
    """The journal's name."""
    round: int
    camera: str
    file: str
    """The recording's video file."""
    frame: int
    """The picture's index in that file, from 0 in the order of time."""
    at: int
    entry: int
    """The journal's last entry not later than the picture."""
    journal_seq: int
    """The last entry of the journal when the snapshot was made."""
    journal_hash: str
    """Hash of that entry in hex; it covers every entry before it."""
    pixels_sha256: str
    made_by: str
    made_at: int


@dataclass(frozen=True, slots=True)
class Checked:
    """A sound snapshot."""

    facts: Facts
    key: str
    """The fingerprint of its signer's key."""


def pixels_sha256(image: NDArray[np.uint8]) -> str:
    """Return the SHA-256 of a BGR picture, ``(H, W, 3)``: its size, then its bytes row by row."""
    size = struct.pack(">II", image.shape[1], image.shape[0])
    return hashlib.sha256(size + np.ascontiguousarray(image).tobytes()).hexdigest()


def snapshot(image: NDArray[np.uint8], facts: Facts, signer: Signer) -> bytes:
    """Return a BGR picture as a signed PNG."""
    *parts, end = _chunks(as_png(image), "the picture just made")
    text = (
        f"{facts.table}, round {facts.round}, camera {facts.camera}, {utc(facts.at)}, "
        f"picture {facts.frame} of {facts.file}; journal {facts.session} entry {facts.entry}"
    )
    parts.append(_chunk(b"iTXt", b"Description" + _UTF8 + text.encode()))
    parts.append(_chunk(b"iTXt", _FACTS + _UTF8 + msgspec.json.encode(facts)))
    content = _PNG + b"".join(parts)
    signature = signer.sign_digest(PURPOSE, hashlib.sha256(content).digest())
    signed = _SIGNATURE + f"\0ed25519 {signer.public.hex()} {signature.hex()}".encode()
    return content + _chunk(b"tEXt", signed) + end


def check_snapshot(content: bytes, where: str, key: str | None = None) -> Checked:
    """Check a snapshot: any changed byte shows.

    Args:
        content: the whole file.
        where: its name, for messages.
        key: the fingerprint of the expected signer's key; without it any key is accepted.

    Raises:
        TechnicianError: it is no snapshot, has changed, or another key signed it.
    """
    *parts, last, end = [b"", b"", *_chunks(content, where)]
    signed = _SIGNED.fullmatch(last[8:-4])
    if signed is None or last[4:8] != b"tEXt" or end != _chunk(b"IEND", b""):
        raise _not_so(where, "it bears no signature at its end")
    public, signature = (bytes.fromhex(signed[number].decode()) for number in (1, 2))
    digest = hashlib.sha256(_PNG + b"".join(parts)).digest()
    if not is_digest_signed(public, signature, PURPOSE, digest):
        raise _not_so(where, "it was changed after it was signed")
    signed_by = fingerprint(public)
    if key is not None and key != signed_by:
        raise _not_so(where, f"it is signed by another key, {signed_by}")
    facts = _facts(parts, where)
    width, height = declared_size(content) or (0, 0)
    if width * height > LARGEST_PIXELS:
        most = f"at most {LARGEST_PIXELS // 10**6} megapixels expected"
        raise _not_so(where, f"its picture states {width} x {height} pixels, {most}")
    image = decoded(content)
    if image is None or pixels_sha256(image) != facts.pixels_sha256:
        raise _not_so(where, "its picture is not the one that its facts name")
    return Checked(facts, signed_by)


def check_journal(facts: Facts, journal: Path) -> None:
    """Compare a snapshot with the table's journal.

    Raises:
        TechnicianError: the journal is damaged, or lacks the snapshot's entry.
    """
    verify_journal(journal)
    read_on(journal, Place(facts.journal_seq, bytes.fromhex(facts.journal_hash)), 1)


def check_recording(facts: Facts, recording: Path) -> None:
    """Compare a snapshot with the recording, pixel by pixel.

    Raises:
        TechnicianError: the recording shows another picture at that time.
        PitwatchError: the recording cannot be read.
    """
    frame = Clips(recording).frame_at(facts.at, facts.camera)
    if frame.at_ns != facts.at or pixels_sha256(frame.image) != facts.pixels_sha256:
        raise _not_so(str(recording), f"it shows another picture at {utc(facts.at)}")


def _facts(parts: list[bytes], where: str) -> Facts:
    start = _FACTS + _UTF8
    for part in parts:
        if part[4:8] == b"iTXt" and part[8:].startswith(start):
            try:
                return msgspec.json.decode(part[8 + len(start) : -4], type=Facts)
            except msgspec.DecodeError as fault:
                raise _not_so(where, f"its facts cannot be read: {fault}") from fault
    raise _not_so(where, "it names no facts")


def _chunks(content: bytes, where: str) -> list[bytes]:
    """Return a PNG's chunks, with their lengths and verified checksums."""
    if not content.startswith(_PNG):
        raise _not_so(where, "it is no PNG")
    return list(_each_chunk(content, where))


def _each_chunk(content: bytes, where: str) -> Iterator[bytes]:
    at = len(_PNG)
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4].rjust(4, b"\0"))
        part = content[at : at + 12 + length]
        if len(part) != 12 + length or _chunk(part[4:8], part[8:-4]) != part:
            raise _not_so(where, "it was cut off, or a byte of it was changed")
        yield part
        at += len(part)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _not_so(where: str, what: str) -> PitwatchError:
    return TechnicianError(
        what, where=where, way_out="Do not rely on it: take the snapshot again from the console"
    )
