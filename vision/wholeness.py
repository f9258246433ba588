"""Whether a picture is whole: a part of it may have been lost on the way or in decoding.

What a decoder shows in place of a lost part is grey or green, or its last row again and again. No
row there differs from the one above it. Where the picture showed more before, over its whole width
or height from an edge on, that part is lost. No hand and no cloth does that: they have edges.
"""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

_TILES: Final = (16, 12)
"""Tiles across and down."""
_FLAT: Final = 0.5
"""Mean step from a row to the next, of 255. On six rendered films, after H.264 at the recorder's
quality, lost parts had at most 0.04, and three tiles of four of whole pictures 1.3 and more."""
_FLATTER: Final = 0.35
"""The share of its usual step that a tile of a lost part has at most. Chosen, as those below."""
_LEAST_TILES: Final = 8
"""Tiles that showed more before: fewer tell nothing."""
_LEAST_ROWS: Final = 2
"""Rows or columns of tiles that are lost together."""
_LEARN: Final = 0.05
"""The weight of the newest picture in the usual steps."""


class Wholeness:
    """Compares each picture of one camera with the earlier ones."""

    def __init__(self) -> None:
        self._usual: NDArray[np.float32] | None = None

    def see(self, gray: NDArray[np.uint8]) -> str | None:
        """Take the next picture, ``(H, W)``; return how much of it is lost, for people."""
        steps = _steps(gray)
        if self._usual is None or self._usual.shape != steps.shape:
            self._usual = steps
            return None
        told = self._usual > _FLAT / _FLATTER
        flat = told & (steps < _FLAT) & (steps < _FLATTER * self._usual)
        lost = max(_edge_share(told, flat), _edge_share(told.T, flat.T))
        if not lost:
            self._usual += _LEARN * (steps - self._usual)
            return None
        return f"{lost:.0%} of the picture is missing: it was lost in decoding"


def _steps(gray: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return for each tile how far a row differs from the one above, on average."""
    upper = gray[: gray.shape[0] // 4 * 4 : 4, 3::8]
    apart = cv2.absdiff(gray[1::4, 3::8][: len(upper)], upper).astype(np.float32)
    return np.asarray(cv2.resize(apart, _TILES, interpolation=cv2.INTER_AREA), np.float32)


def _edge_share(told: NDArray[np.bool_], flat: NDArray[np.bool_]) -> float:
    """Return the share of rows from an edge on in which every tile that told more is flat."""
    gone = (told == flat).all(axis=1)
    return max(_run(gone, told), _run(gone[::-1], told[::-1]))


def _run(gone: NDArray[np.bool_], told: NDArray[np.bool_]) -> float:
    rows = 0 if gone.all() else int(gone.argmin())
    enough = rows >= _LEAST_ROWS and int(told[:rows].sum()) >= _LEAST_TILES
    return rows / len(gone) if enough else 0.0
