"""Recorded files as they are on disk, cut for an incident where the journal hashed them.

::

    hashes.json             the journal's entries with the hashes, each with a proof of its own
    recorded/overhead.mp4   the video's header, and the whole pieces that touch the span
    recorded/shoe.cap       the same of a port's bytes

The clips and ``serial/`` beside them are made from these, for people.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from models.session import Session
from stream.excerpt import Excerpt, Proof
from stream.recorded import Piece, RecordingHashed
from stream.recording import SESSION_FILE

HASHES: Final = "hashes.json"
FOLDER: Final = "recorded/"
_HEARD_WITHIN_NS: Final = 1_000_000_000
"""Nanoseconds within which a read of a port is written down; usually far less."""


class Ranged(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file with bytes of a recorded one."""

    name: str
    """Its name in the incident."""
    folder: str
    file: str
    ranges: tuple[tuple[int, int], ...]
    """The ranges of the recorded file's bytes: from, and up to before."""


class Proven(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A journal's entry with hashes, and its proof."""

    proof: Proof
    bodies: tuple[str, ...]
    """The entry, and those after it up to its checkpoint: their JSON as it was hashed."""


@dataclass(frozen=True, slots=True)
class Hashed:
    """A piece of a device's file, and the entry with its hash."""

    entry: RecordingHashed
    piece: Piece

    def touches(self, from_ns: int, to_ns: int) -> bool:
        """Return whether it has data of that span."""
        begin_ns, end_ns = self.piece.from_ns, self.piece.to_ns
        if begin_ns is None or end_ns is None:
            return False
        return begin_ns <= to_ns and from_ns <= end_ns


@dataclass(frozen=True, slots=True)
class Cut:
    """The parts of a recording that go into an incident."""

    files: dict[str, bytes]
    ranged: tuple[Ranged, ...]
    seqs: frozenset[int]
    """The entries with their hashes."""


def pieces_of(entries: Iterable[RecordingHashed], device: str) -> tuple[Hashed, ...]:
    """Return the pieces of a device's files, in order."""
    return tuple(
        Hashed(entry, piece)
        for entry in entries
        for piece in entry.pieces
        if piece.device == device
    )


def window(pieces: Sequence[Hashed], from_ns: int, to_ns: int, *, is_port: bool) -> range:
    """Return the pieces that show everything a device gave within a span.

    They begin with the last one that ends before it and end with the first one after it, so that
    nothing can be left out at either edge.
    """
    before = [n for n, one in enumerate(pieces) if _is_before(one.piece, from_ns)]
    after = [n for n, one in enumerate(pieces) if is_after(one, to_ns, is_port=is_port)]
    first = max(before, default=0)
    return range(first, min([n for n in after if n >= first], default=len(pieces) - 1) + 1)


def is_after(one: Hashed, to_ns: int, *, is_port: bool) -> bool:
    """Return whether a piece shows that no earlier data is still to come.

    A port's bytes are hashed as they arrive, a camera's one fragment later.
    """
    if one.piece.from_ns is not None:
        return one.piece.from_ns > to_ns
    return is_port and (one.entry.at or 0) > to_ns + _HEARD_WITHIN_NS


def _is_before(piece: Piece, from_ns: int) -> bool:
    return piece.to_ns is not None and piece.to_ns < from_ns


def ports_of(session: Session) -> frozenset[str]:
    """Return the names of a session's ports."""
    return frozenset(port.port for port in session.serial)


def devices_of(session: Session) -> tuple[str, ...]:
    """Return the names of a session's cameras and ports."""
    return (*(camera.name for camera in session.cameras), *(port.port for port in session.serial))


def cut(
    folder: Path,
    place: str,
    session: Session,
    entries: Sequence[RecordingHashed],
    span: tuple[int, int],
) -> Cut:
    """Cut the data of a recording's cameras and ports within a span.

    Args:
        folder: the recording's.
        place: prefix of its files' names in the incident.
        session: its description.
        entries: the journal's with hashes of it.
        span: from and to, nanoseconds since the Unix epoch, UTC.
    """
    from_ns, to_ns = span
    files: dict[str, bytes] = {}
    ranged: list[Ranged] = []
    proving = list(_of_description(folder, session, entries))
    for device in devices_of(session):
        pieces = pieces_of(entries, device)
        shown = window(pieces, from_ns, to_ns, is_port=device in ports_of(session))
        taken = [one for one in pieces[shown.start : shown.stop] if one.touches(from_ns, to_ns)]
        named = {one.piece.file for one in taken}
        heads = [one for one in pieces if one.piece.file in named and is_header(one.piece)]
        proving += [*pieces[shown.start : shown.stop], *heads]
        for file in sorted(named):
            own = [one.piece for one in (*heads, *taken) if one.piece.file == file]
            name, ranges = f"{place}{FOLDER}{file}", tuple(_joined(own))
            ranged.append(Ranged(name=name, folder=folder.name, file=file, ranges=ranges))
            files[name] = b"".join(_bytes(folder / file, ranges))
    seqs = frozenset(one.entry.seq for one in proving if one.entry.seq is not None)
    return Cut(files, tuple(ranged), seqs)


def proofs(excerpts: Iterable[Excerpt]) -> bytes:
    """Return ``hashes.json``."""
    proven = [
        Proven(proof=one.proof, bodies=tuple(body.decode() for body in one.bodies))
        for one in excerpts
    ]
    return msgspec.json.format(msgspec.json.encode(proven), indent=1)


def is_header(piece: Piece) -> bool:
    """Return whether a piece is the header that every fragment of its video needs."""
    return bool(piece.device) and piece.from_byte == 0 < piece.to_byte and piece.from_ns is None


def _of_description(
    folder: Path, session: Session, entries: Sequence[RecordingHashed]
) -> Iterator[Hashed]:
    for name in (SESSION_FILE, session.layout):
        data = (folder / name).read_bytes()
        yield from described_by(entries, name, data)[-1:]


def described_by(entries: Iterable[RecordingHashed], file: str, data: bytes) -> tuple[Hashed, ...]:
    """Return the pieces that together are a file which describes its session."""
    return tuple(
        one for one in pieces_of(entries, "") if one.piece.file == file and one.piece.is_of(data)
    )


def _joined(pieces: Iterable[Piece]) -> Iterator[tuple[int, int]]:
    """Yield the ranges that pieces cover together."""
    begin = end = 0
    for piece in pieces:
        if piece.from_byte != end:
            if begin < end:
                yield begin, end
            begin = piece.from_byte
        end = piece.to_byte
    if begin < end:
        yield begin, end


def _bytes(file: Path, ranges: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    with file.open("rb") as source:
        for begin, end in ranges:
            source.seek(begin)
            yield source.read(end - begin)
