"""Hashes of a recording's files, journalled while it is written, to hold a copy to them.

A file is hashed in pieces as its bytes are written, each piece from the end of the one before. A
checkpoint directly after each such entry signs it, so that it can be proven without any other.
"""

import hashlib
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from models.events import Event
from stream.store import at_rest, one_line

_START: Final = b'{"type":"recording_hashed"'


class Piece(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Bytes of a file, ``from_byte`` up to before ``to_byte``."""

    file: str
    device: str = ""
    """The camera or port; empty for a file that describes the session."""
    from_byte: int = 0
    to_byte: int
    sha256: str = ""
    """Left out where nothing was added."""
    from_ns: int | None = None
    """When its earliest picture or read was taken, nanoseconds since the Unix epoch, UTC."""
    to_ns: int | None = None
    """When its latest was."""
    closed: bool = False
    """Whether the file ends here."""

    def is_of(self, data: bytes) -> bool:
        """Tell whether these are its bytes."""
        if len(data) != self.to_byte - self.from_byte:
            return False
        return not data or hashlib.sha256(data).hexdigest() == self.sha256


class RecordingHashed(Event, frozen=True, kw_only=True, tag="recording_hashed"):
    """What was added to a recorded session since the entry before; ``at`` is when it was hashed."""

    folder: str
    """The session folder's name."""
    pieces: tuple[Piece, ...]


class Hashing:
    """The growing end of one file, hashed as it is written."""

    def __init__(self, file: str, device: str) -> None:
        self._file, self._device = file, device
        self._begin = self._end = 0
        self._sha256 = hashlib.sha256()
        self._from_ns: int | None = None
        self._to_ns: int | None = None

    def add(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes that the disk took."""
        self._sha256.update(data)
        self._end += len(data)

    def note(self, at_ns: int) -> None:
        """Take note of when a picture or read was taken; its bytes may come later."""
        self._from_ns = at_ns if self._from_ns is None else min(self._from_ns, at_ns)
        self._to_ns = at_ns if self._to_ns is None else max(self._to_ns, at_ns)

    def cut(self, *, closed: bool = False) -> Piece:
        """Return what was added, with the times noted, and begin the next piece."""
        piece = self._piece(self._from_ns, self._to_ns, closed=closed)
        self._from_ns = self._to_ns = None
        return piece

    def cut_header(self) -> Piece:
        """Return what was added as a piece of no time; the times noted belong to what follows."""
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
    """Return a file that is written in one go as one piece."""
    data = file.read_bytes()
    return Piece(file=file.name, to_byte=len(data), sha256=hashlib.sha256(data).hexdigest())


def hashed_in(journal: Path) -> tuple[RecordingHashed, ...]:
    """Return a journal's entries with hashes of recordings, in order; nothing is proved of them.

    Raises:
        TechnicianError: it cannot be read.
    """
    query = "SELECT body FROM entries WHERE substr(body, 1, ?) = ? ORDER BY seq"
    with one_line(str(journal)), closing(at_rest(journal)) as connection:
        rows = connection.execute(query, (len(_START), _START)).fetchall()
    return tuple(found for (body,) in rows if (found := recording_hashed(bytes(body))) is not None)


def recording_hashed(body: bytes) -> RecordingHashed | None:
    """Return what an entry says of recordings; ``None`` for any other."""
    return msgspec.json.decode(body, type=RecordingHashed) if body.startswith(_START) else None
