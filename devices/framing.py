"""The common parts of framers: faults, checksums, and lines of text.

A framer is pure: ``feed(chunk)`` yields the frames that the chunk completed. The cuts between
chunks change neither frames nor faults, and no stream makes a framer hold more than its cap.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import xor
from typing import Final

from models.events import ReaderFault

CAP_BYTES: Final = 128
"""Bytes of the longest frame, line or run of garbage that a framer holds."""

_UNPRINTABLE: Final = re.compile(rb"[^\x20-\x7e]")
_LINES: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_CHECKED: Final = re.compile(rb"(?P<body>.*)\*(?P<check>[0-9A-F]{2})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FrameFault:
    """Bytes that are no frame. ``kind`` is ``checksum``, ``framing`` or ``overflow``."""

    kind: str
    detail: str
    raw: bytes

    def observed(self, source: str, at_ns: int) -> ReaderFault:
        """Return the fault as an observation of ``source``."""
        return ReaderFault(
            source=source, at=at_ns, kind=self.kind, detail=self.detail, raw=self.raw.hex()
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text without its end."""

    text: str
    checked: bool
    """Whether it carried a checksum."""
    raw: bytes
    after_garbage: bool = False
    """Whether garbage came right before it: its start may be lost even where the checksum holds."""


def exclusive_or(frame: bytes) -> int:
    """Return the exclusive-or of all bytes, 0 for none."""
    return reduce(xor, frame, 0)


def checked_line(text: str) -> bytes:
    """Encode ``text*HH`` with its line end, as :class:`LineFramer` reads it."""
    body = text.encode("ascii")
    return b"%s*%02X\r\n" % (body, exclusive_or(body))


class LineFramer:
    r"""Cut a byte stream into lines ``text [ '*' HH ] [ CR ] LF``.

    ``HH`` is the exclusive-or of the text's bytes in upper-case hex, as in NMEA 0183. A byte that
    no text holds ends the garbage before a line, and the framer reads on behind it. It skips empty
    lines.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[Line | FrameFault]:
        """Yield each line completed by ``chunk``, or the fault found in its place."""
        for part in _LINES.findall(chunk):
            yield from self._extend(part)

    def finish(self) -> Iterator[FrameFault]:
        """Yield the fault of a line that the end of the stream cut short."""
        left, self._buffer, self._skipping = bytes(self._buffer), bytearray(), False
        if left:
            yield FrameFault("framing", "the stream ended within a line", left)

    def _extend(self, part: bytes) -> Iterator[Line | FrameFault]:
        while part:
            if self._skipping:
                part = self._skip(part)
                continue
            room = CAP_BYTES - len(self._buffer)
            self._buffer += part[:room]
            part = part[room:]
            if self._buffer.endswith(b"\n"):
                yield from _line(self._drain())
            elif len(self._buffer) == CAP_BYTES:
                yield self._overflow()

    def _overflow(self) -> FrameFault:
        held = self._drain()
        clean = _garbage_bytes(held)
        if clean:
            self._buffer += held[clean:]
            return FrameFault("framing", "bytes that are no text", held[:clean])
        self._skipping = True
        return FrameFault("overflow", f"no line end in {CAP_BYTES} bytes", held)

    def _skip(self, part: bytes) -> bytes:
        odd = _UNPRINTABLE.search(part)
        self._skipping = odd is None
        return part[odd.start() :] if odd else b""

    def _drain(self) -> bytes:
        held = bytes(self._buffer)
        self._buffer.clear()
        return held


def _garbage_bytes(text: bytes) -> int:
    """Return the number of bytes at the start that cannot belong to a line."""
    return max((odd.end() for odd in _UNPRINTABLE.finditer(text)), default=0)


def _line(raw: bytes) -> Iterator[Line | FrameFault]:
    text = raw.removesuffix(b"\n").removesuffix(b"\r")
    clean = _garbage_bytes(text)
    if clean:
        yield FrameFault("framing", "bytes that are no text", raw[:clean])
    if text[clean:]:
        yield _text_line(text[clean:], raw[clean:], after_garbage=clean > 0)


def _text_line(text: bytes, raw: bytes, *, after_garbage: bool) -> Line | FrameFault:
    parts = _CHECKED.fullmatch(text)
    if parts is None:
        return Line(text.decode("ascii"), False, raw, after_garbage)
    due = exclusive_or(parts["body"])
    if due != int(parts["check"], 16):
        return FrameFault("checksum", f"checksum is {due:02X}, not as sent", raw)
    return Line(parts["body"].decode("ascii"), True, raw, after_garbage)
