"""Hashes of a recording's files, journalled while they are written, to verify copies of them.

A file is hashed in pieces as its bytes are written; each piece starts at the end of the one before.
A checkpoint directly after each such entry signs it, so that it can be proved alone.
"""

import hashlib
from pathlib import Path
from typing import Final

import msgspec

from models.events import Event
from stream.reading import entries_of

_START: Final = b'{"type":"recording_hashed"'


class Piece(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A range of a file's bytes, from ``from_byte`` to before ``to_byte``."""

    file: str
    device: str = ""
    """The camera or port; empty for a file that describes the session."""
    from_byte: int = 0
    to_byte: int
    sha256: str = ""
    """Empty where nothing was added."""
    from_ns: int | None = None
    """Time of its earliest picture or read, nanoseconds since the Unix epoch, UTC."""
    to_ns: int | None = None
    """Time of its latest."""
    closed: bool = False
    """Whether the file ends here."""

    def is_of(self, data: bytes) -> bool:
        """Return whether ``data`` are its bytes."""
        if len(data) != self.to_byte - self.from_byte:
            return False
        return not data or hashlib.sha256(data).hexdigest() == self.sha256


class RecordingHashed(Event, frozen=True, kw_only=True, tag="recording_hashed"):
    """The bytes added to a recorded session since the entry before; ``at`` is the hashing time."""

    folder: str
    """The session folder's name."""
    pieces: tuple[Piece, ...]


class Hashing:
    """A running hash of the growing end of one file."""

    def __init__(self, file: str, device: str) -> None:
        self._file, self._device = file, device
        self._begin = self._end = 0
        self._sha256 = hashlib.sha256()
        self._from_ns: int | None = None
        self._to_ns: int | None = None

    def add(self, data: bytes | bytearray | memoryview) -> None:
        """Add bytes that were written to disk."""
        self._sha256.update(data)
        self._end += len(data)

    def note(self, at_ns: int) -> None:
        """Note the time of a picture or read; its bytes may come later."""
        self._from_ns = at_ns if self._from_ns is None else min(self._from_ns, at_ns)
        self._to_ns = at_ns if self._to_ns is None else max(self._to_ns, at_ns)

    def cut(self, *, closed: bool = False) -> Piece:
        """Return the added bytes as a piece with the noted times, and begin the next piece."""
        piece = self._piece(self._from_ns, self._to_ns, closed=closed)
        self._from_ns = self._to_ns = None
        return piece

    def cut_header(self) -> Piece:
        """Return the added bytes as a piece without times; the next piece gets the noted times."""
        return self._piece(None, None, closed=False)

    def _piece(self, from_ns: int | None, to_ns: int | None, *, closed: bool) -> Piece:
        begin, self._begin = self._begin, self._end
        sha256, self._sha256 = self._sha256.hexdigest(), hashlib.sha256()
        return Piece(
            file=self._file,
            device=self._device,
            from_byte=begin,
            to_byte=self._end,
            sha256="" if begin == self._end else sha256,
            from_ns=from_ns,
            to_ns=to_ns,
            closed=closed,
        )


def whole(file: Path) -> Piece:
    """Return a whole file as one piece, for files written in one step."""
    data = file.read_bytes()
    return Piece(file=file.name, to_byte=len(data), sha256=hashlib.sha256(data).hexdigest())


def hashed_in(journal: Path) -> tuple[RecordingHashed, ...]:
    """Return a journal's entries with hashes of recordings, in order, without verifying them.

    Raises:
        TechnicianError: it cannot be read.
    """
    bodies = entries_of(journal, (RecordingHashed,))
    return tuple(found for _, body in bodies if (found := recording_hashed(body)) is not None)


def recording_hashed(body: bytes) -> RecordingHashed | None:
    """Return an entry's hashes of recordings; ``None`` for any other entry."""
    return msgspec.json.decode(body, type=RecordingHashed) if body.startswith(_START) else None
