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

OPENING_BYTES: Final = 16
"""Bytes of the longest opening of a line."""

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
    no text holds ends the garbage before a line, and the framer reads on behind it. Garbage may be
    text, too: where a line of its own begins within one and has a checksum that holds, that line
    counts. Without a checksum nothing tells it from the garbage. The framer skips empty lines.

    Args:
        opening: what the device's lines begin with; at most ``OPENING_BYTES`` long.
    """

    def __init__(self, opening: re.Pattern[bytes]) -> None:
        self._opening = re.compile(b"(?=%b)" % opening.pattern)  # also where two overlap
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
            room = CAP_BYTES - len(self._buffer)
            self._buffer += part[:room]
            part = part[room:]
            if self._buffer.endswith(b"\n"):
                yield from self._line(self._drain())
            elif len(self._buffer) == CAP_BYTES:
                yield from self._overflow()

    def _overflow(self) -> Iterator[FrameFault]:
        held = self._drain()
        if clean := _garbage_bytes(held.removesuffix(b"\r")):
            self._buffer += held[clean:]
            self._skipping = False
            yield FrameFault("framing", "bytes that are no text", held[:clean])
            return
        # The rest of a long line is part of this one fault, but a line may begin within it.
        begin = next((at for at in self._openings(held) if at), len(held) - OPENING_BYTES)
        self._buffer += held[begin:]
        if not self._skipping:
            yield FrameFault("overflow", f"no line end in {CAP_BYTES} bytes", held[:begin])
        self._skipping = True

    def _openings(self, text: bytes) -> list[int]:
        return [found.start() for found in self._opening.finditer(text)]

    def _line(self, raw: bytes) -> Iterator[Line | FrameFault]:
        is_rest, self._skipping = self._skipping, False
        text = raw.removesuffix(b"\n").removesuffix(b"\r")
        clean = _garbage_bytes(text)
        if clean:
            yield FrameFault("framing", "bytes that are no text", raw[:clean])
        text, raw, is_rest = text[clean:], raw[clean:], is_rest and not clean
        begin = self._sound_line(text)
        if begin and not is_rest:
            yield FrameFault("framing", "text before a line", raw[:begin])
        if begin is not None:
            yield _text_line(text[begin:], raw[begin:], after_garbage=is_rest or clean + begin > 0)
        elif text and not is_rest:
            yield _text_line(text, raw, after_garbage=clean > 0)

    def _sound_line(self, text: bytes) -> int | None:
        """Return where the first line within a text begins whose checksum holds."""
        return next((at for at in self._openings(text) if _is_checked(text[at:])), None)

    def _drain(self) -> bytes:
        held = bytes(self._buffer)
        self._buffer.clear()
        return held


def _garbage_bytes(text: bytes) -> int:
    """Return the number of bytes at the start that cannot belong to a line."""
    return max((odd.end() for odd in _UNPRINTABLE.finditer(text)), default=0)


def _is_checked(text: bytes) -> bool:
    parts = _CHECKED.fullmatch(text)
    return parts is not None and exclusive_or(parts["body"]) == int(parts["check"], 16)


def _text_line(text: bytes, raw: bytes, *, after_garbage: bool) -> Line | FrameFault:
    parts = _CHECKED.fullmatch(text)
    if parts is None:
        return Line(text.decode("ascii"), False, raw, after_garbage)
    due = exclusive_or(parts["body"])
    if due != int(parts["check"], 16):
        return FrameFault("checksum", f"checksum is {due:02X}, not as sent", raw)
    return Line(parts["body"].decode("ascii"), True, raw, after_garbage)
