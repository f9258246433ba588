"""Follow a recorded video while it is written, in pieces that a browser plays as they come."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from models.errors import TechnicianError

_HEADER: Final = 8
_INTO: Final = frozenset({b"moov", b"trak", b"mdia", b"moof", b"traf", b"edts"})
_UNSET: Final = b"free"
"""The type of a box that players ignore (ISO/IEC 14496-12, 8.1.2)."""
_MILLISECONDS: Final = 1000


@dataclass(frozen=True, slots=True)
class _Box:
    kind: bytes
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class _Form:
    """A segment's header, ready to be played, and the offset that its time stamps lack."""

    opening: bytes
    begins_ticks: int


class Broadcast:
    """One camera's newest pictures, in complete fragments that each begin with a key frame.

    A segment's own time starts with its first picture; an edit list places that in the session's
    time. Players of streams ignore edit lists. So here the fragments carry the session's time
    themselves: 0 s is the session's start, in every segment.

    Args:
        files: returns the video's segments so far, in order.
    """

    def __init__(self, files: Callable[[], Sequence[Path]]) -> None:
        self._files = files
        self._path: Path | None = None
        self._form = _Form(b"", 0)
        self._at = 0

    def news(self) -> bytes:
        """Return the bytes written since the last call; at first the newest fragment.

        Empty where there are none.

        Raises:
            TechnicianError: the video cannot be read, or is not in fragments.
        """
        files = self._files()
        try:
            if self._path is None:
                return self._begin(files)
            return self._more(self._path) or self._next(files)
        except OSError as fault:
            raise self._unreadable(str(fault.strerror).lower()) from fault
        except (ValueError, IndexError) as fault:
            raise self._unreadable("it differs from the recording") from fault

    def _begin(self, files: Sequence[Path]) -> bytes:
        for path in reversed(files):
            if path.exists() and self._open(path):
                with path.open("rb") as file:
                    *_, latest = self._fragments(file)
                    self._at = latest.end
                    return self._form.opening + self._stamped(file, latest)
        return b""

    def _next(self, files: Sequence[Path]) -> bytes:
        """Continue in the next segment, if it has begun."""
        assert self._path is not None
        later = list(files)[list(files).index(self._path) + 1 :]
        if not later or not self._open(later[0]):
            return b""
        return self._form.opening + self._more(later[0])

    def _open(self, path: Path) -> bool:
        """Open a segment, if it holds a complete fragment."""
        with path.open("rb") as file:
            opening = list(_opening(file))
            if not opening or opening[-1].kind != b"moov":
                return False
            begin = opening[-1].end
            if next(_pairs(file, begin), None) is None:
                return False
            file.seek(0)
            self._form, self._path, self._at = _formed(file.read(begin)), path, begin
        return True

    def _more(self, path: Path) -> bytes:
        fragments = []
        with path.open("rb") as file:
            for fragment in self._fragments(file):
                fragments.append(self._stamped(file, fragment))
                self._at = fragment.end
        return b"".join(fragments)

    def _fragments(self, file: BinaryIO) -> Iterator[_Box]:
        return _pairs(file, self._at)

    def _stamped(self, file: BinaryIO, fragment: _Box) -> bytes:
        file.seek(fragment.begin)
        data = bytearray(file.read(fragment.end - fragment.begin))
        for box in _inside(data, b"tfdt"):
            # Only version 1 has room for the session's time, and the recorder writes version 1.
            if data[box.begin + _HEADER] != 1:
                raise ValueError("a short time")
            value = slice(box.begin + _HEADER + 4, box.begin + _HEADER + 12)
            ticks = int.from_bytes(data[value], "big") + self._form.begins_ticks
            data[value] = ticks.to_bytes(8, "big")
        return bytes(data)

    def _unreadable(self, why: str) -> TechnicianError:
        return TechnicianError(
            f"the video cannot be followed ({why})",
            where=str(self._path),
            way_out="Look at the table's log; its recorder writes this file",
        )


def _top(file: BinaryIO, begin: int) -> Iterator[_Box]:
    """Yield the complete boxes of a file from ``begin`` on."""
    size = os.fstat(file.fileno()).st_size
    while begin + _HEADER <= size:
        file.seek(begin)
        header = file.read(_HEADER)
        length = int.from_bytes(header[:4], "big")
        if length < _HEADER:
            raise ValueError("a box of no size")
        if begin + length > size:
            return
        yield _Box(header[4:], begin, begin + length)
        begin += length


def _opening(file: BinaryIO) -> Iterator[_Box]:
    for box in _top(file, 0):
        yield box
        if box.kind == b"moov":
            return


def _pairs(file: BinaryIO, begin: int) -> Iterator[_Box]:
    """Yield each fragment: its ``moof`` and ``mdat`` as one box."""
    head = None
    for box in _top(file, begin):
        if box.kind == b"moof":
            head = box
        elif box.kind == b"mdat" and head is not None:
            yield _Box(b"moof", head.begin, box.end)
            head = None


def _formed(opening: bytes) -> _Form:
    """Remove the edit list from a segment's header."""
    data, begins_ms = bytearray(opening), 0
    for box in _inside(data, b"elst"):
        body = data[box.begin + _HEADER : box.end]
        first, media = body[8:12], body[12:16]
        if body[0] == 0 and int.from_bytes(body[4:8], "big") and media == b"\xff" * 4:
            begins_ms = int.from_bytes(first, "big")
    for box in _inside(data, b"edts"):
        data[box.begin + 4 : box.begin + _HEADER] = _UNSET
    timescale, movie = _scale(data, b"mdhd"), _scale(data, b"mvhd")
    if movie != _MILLISECONDS:
        raise ValueError("another movie's time")
    return _Form(bytes(data), begins_ms * timescale // _MILLISECONDS)


def _scale(data: bytearray, kind: bytes) -> int:
    """Return the ticks per second of a header."""
    box = next(_inside(data, kind))
    at = box.begin + _HEADER + (20 if data[box.begin + _HEADER] else 12)
    return int.from_bytes(data[at : at + 4], "big")


def _inside(data: bytearray, kind: bytes, begin: int = 0, end: int | None = None) -> Iterator[_Box]:
    """Yield the boxes of a kind at every depth."""
    end = len(data) if end is None else end
    while begin + _HEADER <= end:
        length = int.from_bytes(data[begin : begin + 4], "big")
        if length < _HEADER:
            raise ValueError("a box of no size")
        found = bytes(data[begin + 4 : begin + _HEADER])
        if found == kind:
            yield _Box(kind, begin, begin + length)
        elif found in _INTO:
            yield from _inside(data, kind, begin + _HEADER, begin + length)
        begin += length
