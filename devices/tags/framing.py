"""RFID frames of one fixed length, each with STX first and its own checksum."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from devices.framing import CAP_BYTES, FrameFault, exclusive_or

STX: Final = 0x02
ETX: Final = 0x03
HEX: Final = frozenset(b"0123456789ABCDEF")


@dataclass(frozen=True, slots=True)
class TagFrame:
    """One tag as a reader sent it."""

    tag: str
    raw: bytes


Check = Callable[[bytes], TagFrame | FrameFault]
"""Decodes one complete frame: the tag, or its fault."""


class FixedFramer:
    """Cut a byte stream into frames of ``length`` bytes, each opened by STX.

    Invalid bytes become one fault of at most 128 bytes, and reading continues at the next STX, even
    within a broken frame.
    """

    def __init__(self, length: int, check: Check) -> None:
        self._length, self._check = length, check
        self._buffer = bytearray()
        self._junk = bytearray()

    def feed(self, chunk: bytes) -> Iterator[TagFrame | FrameFault]:
        """Yield each frame completed by ``chunk``, or the fault found in its place."""
        for byte in chunk:
            if not self._buffer and byte != STX:
                self._junk.append(byte)
                if len(self._junk) == CAP_BYTES:
                    yield from self._give_up_junk()
                continue
            self._buffer.append(byte)
            if len(self._buffer) == self._length:
                yield from self._give_up_junk()
                yield self._cut()

    def finish(self) -> Iterator[FrameFault]:
        """Yield the fault of the unfinished bytes at the end of the stream."""
        left = bytes(self._junk + self._buffer)
        self._junk.clear()
        self._buffer.clear()
        if left:
            yield FrameFault("framing", "the stream ended within a frame", left)

    def _cut(self) -> TagFrame | FrameFault:
        found = self._check(bytes(self._buffer))
        if isinstance(found, TagFrame):
            self._buffer.clear()
            return found
        # A start byte within a broken frame may open a sound one: keep it.
        inner = self._buffer.find(STX, 1)
        length = inner if inner > 0 else len(self._buffer)
        raw = bytes(self._buffer[:length])
        del self._buffer[:length]
        return FrameFault(found.kind, found.detail, raw)

    def _give_up_junk(self) -> Iterator[FrameFault]:
        junk = bytes(self._junk)
        self._junk.clear()
        if junk:
            yield FrameFault("framing", "bytes between frames", junk)


def hex_tag(frame: bytes, digits: bytes, end: bytes) -> TagFrame | FrameFault:
    """Decode a frame of STX, ``digits`` (the tag, then two of checksum) and ``end``."""
    if not frame.endswith(end):
        return FrameFault("framing", "no end of text where one is due", frame)
    if not HEX.issuperset(digits):
        return FrameFault("framing", "a digit that is not upper-case hex", frame)
    due = exclusive_or(bytes.fromhex(digits[:-2].decode("ascii")))
    if due != int(digits[-2:], 16):
        return FrameFault("checksum", f"checksum is {due:02X}, not as sent", frame)
    return TagFrame(digits[:-2].decode("ascii"), frame)


def hex_frame(tag: str, end: bytes) -> bytes:
    """Encode ten hex digits of a tag as :func:`hex_tag` reads them."""
    return b"\x02%s%02X%s" % (tag.encode("ascii"), exclusive_or(bytes.fromhex(tag)), end)
