"""A camera's multipart stream over HTTP, cut into its pictures at the boundaries.

::

    --boundary CRLF  name: value CRLF …  CRLF  JPEG  CRLF  --boundary CRLF  …

The stated length of a part only tells that its picture is there before the next boundary is. It is
believed where a JPEG ends there. Else the picture ends at the next boundary, wherever that is.
"""

import re
from collections.abc import Iterator
from typing import Final

_LENGTH: Final = re.compile(
    rb"^content-length:[ \t]*([0-9]{1,9})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)
_OPENING: Final = re.compile(rb"\s*(--[^\s]{1,200})[ \t]*\r?\n")
_MOST_LINE: Final = 256
"""Bytes of the longest line with a boundary."""
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_MOST_HEAD: Final = 8192
"""Bytes of a part's head; a longer one is none."""
_MOST_PART: Final = 1 << 25
"""Bytes of a part. A stream without a boundary in so many is none of pictures."""


class LostBoundary(ValueError):
    """There is no boundary where one must be."""


def may_open_multipart(begin: bytes) -> bool | None:
    """Return whether a stream that begins so is one of JPEGs in parts; ``None``: not known yet."""
    if not b"--".startswith(begin.lstrip()[:2]):
        return False
    opening = _OPENING.match(begin)
    head_end = None if opening is None else _HEAD_END.search(begin, opening.end() - 1)
    if opening is None or head_end is None:
        return None if len(begin) < _MOST_HEAD else False
    return b"image/jp" in begin[: head_end.end()].lower()


def is_whole(jpeg: bytes) -> bool:
    """Return whether a JPEG has its beginning and its end."""
    return jpeg.startswith(b"\xff\xd8") and jpeg.rstrip(b"\r\n\0").endswith(b"\xff\xd9")


class Parts:
    """Cuts a stream into its parts."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._boundary: re.Pattern[bytes] | None = None
        self._searched = 0
        """Up to here no boundary was found."""
        self._length: int | None = None
        """Of the body that the data begins with; ``None`` where it is not stated."""
        self._in_body = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the parts that are complete now.

        Raises:
            LostBoundary: no boundary came for 32 MiB.
        """
        self._data += chunk
        while (part := self._body() if self._in_body else self._head()) is not None:
            if part:
                yield part
        if len(self._data) > _MOST_PART:
            raise LostBoundary(f"no boundary in {len(self._data)} bytes")

    def _head(self) -> bytes | None:
        """Pass over everything up to the next body; return ``None`` while it is not there."""
        opening = self._next_boundary()
        if opening is None:
            return None
        end = _HEAD_END.search(self._data, opening.end() - 1, opening.end() + _MOST_HEAD)
        if end is None:
            if len(self._data) - opening.end() > _MOST_HEAD:
                self._cut(opening.end())
                return b""
            return None
        length = _LENGTH.search(bytes(self._data[opening.end() : end.end()]))
        self._length = None if length is None else int(length.group(1))
        self._cut(end.end())
        self._in_body = True
        return b""

    def _body(self) -> bytes | None:
        following = self._next_boundary()
        stated = self._length
        if stated is not None and len(self._data) >= stated:
            whole = bytes(self._data[:stated])
            if is_whole(whole) and (following is None or following.start() >= stated):
                return self._end(whole)
            self._length = None
        if following is None:
            return None
        body = bytes(self._data[: following.start()])
        return self._end(body.removesuffix(b"\n").removesuffix(b"\r"))

    def _end(self, body: bytes) -> bytes:
        self._cut(len(body))
        self._in_body = False
        return body

    def _next_boundary(self) -> re.Match[bytes] | None:
        if self._boundary is None:
            opening = _OPENING.search(self._data)
            if opening is None:
                return None
            line = re.escape(opening.group(1)) + rb"(?:--)?[ \t]*\r?\n"
            self._boundary = re.compile(line)
        found = self._boundary.search(self._data, self._searched)
        if found is None:
            self._searched = max(0, len(self._data) - _MOST_LINE)
        return found

    def _cut(self, at: int) -> None:
        del self._data[:at]
        self._searched = 0
