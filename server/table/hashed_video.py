"""Hash a video file fragment by fragment while it is written."""

from collections import deque
from typing import Final

from stream.recorded import Hashing, Piece

_BOX_HEAD_BYTES: Final = 8
_SIZE_BYTES: Final = 4
_FRAGMENT: Final = b"moof"


class HashedVideo:
    """The pieces of a fragmented MP4: its header, then one or more whole fragments each.

    The header with any run of later pieces is a playable video.

    Args:
        file: its name in the session folder.
        camera: the camera's name.
        pieces: receives each piece; another thread may remove them.
    """

    def __init__(self, file: str, camera: str, pieces: deque[Piece]) -> None:
        self._hashing, self._pieces = Hashing(file, camera), pieces
        self._header: bytearray | None = bytearray()
        self._box_at = 0

    def wrote(self, data: memoryview) -> None:
        """Add bytes that were written to disk."""
        if self._header is None:
            self._hashing.add(data)
            return
        self._header += data
        while len(self._header) >= self._box_at + _BOX_HEAD_BYTES:
            head = self._header[self._box_at : self._box_at + _BOX_HEAD_BYTES]
            if head[_SIZE_BYTES:] == _FRAGMENT:
                self._end_header(self._header)
                return
            self._box_at += int.from_bytes(head[:_SIZE_BYTES], "big")

    def pictured(self, at_ns: int, *, begins_fragment: bool) -> None:
        """Note a picture after it was passed to the muxer.

        A picture that begins a fragment makes the muxer write all fragments before it.
        """
        if begins_fragment and self._header is None:
            self._pieces.append(self._hashing.cut())
        self._hashing.note(at_ns)

    def close(self) -> None:
        """Finish the last piece, once the file is closed."""
        if self._header is not None:
            self._hashing.add(self._header)
        self._pieces.append(self._hashing.cut(closed=True))

    def _end_header(self, written: bytearray) -> None:
        self._header = None
        self._hashing.add(written[: self._box_at])
        self._pieces.append(self._hashing.cut_header())
        self._hashing.add(written[self._box_at :])
