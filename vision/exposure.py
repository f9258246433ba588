"""The light of one frame against another: lamps flicker, shutters roll, cameras expose anew.

Such light falls on whole lines of the picture, cards and hands on parts of them. So each line has a
gain, from those of its pixels that have otherwise not changed.
"""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

Gains = NDArray[np.float32]
"""``(rows, 1)`` float32, by which each line of a picture is to be multiplied."""

# Chosen, not measured, unless a line says otherwise.
_STEP: Final = 3  # of so many lines and columns one is looked at
_CHANGED: Final = 40  # levels of 255: a pixel that differs by more shows something else
_SAME: Final = 8  # levels of 255 left by a first estimate, above which a pixel is left out
_LINES: Final = 0.03  # share of the lines over which a gain is averaged
_SHARE: Final = 0.2  # share of those lines' pixels that a gain needs
_LIMITS: Final = (0.65, 1.5)  # least and greatest gain; beyond, the light has changed for good
_NONE: Final = 0.006  # a smaller difference from 1 is no change of light


def gains(now: NDArray[np.uint8], before: NDArray[np.uint8]) -> Gains | None:
    """Return the gains that bring a frame to the light of an earlier one; ``None`` for none.

    Args:
        now: ``(H, W)`` uint8 grey.
        before: the earlier one, of the same size.
    """
    height = len(now)
    now, before = now[::_STEP, ::_STEP], before[::_STEP, ::_STEP]
    same = _below(cv2.absdiff(now, before), _CHANGED)
    first = _by_line(now, before, same)
    if first is None:
        return None
    apart = np.abs(now * first - before)
    found = _by_line(now, before, np.asarray(same & (apart < _SAME), np.uint8))
    if found is None or not ((found > _LIMITS[0]) & (found < _LIMITS[1])).all():
        return None
    if np.abs(found - 1).max() < _NONE:
        return None
    whole = cv2.resize(found, (1, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(whole, np.float32).reshape(-1, 1)


def lit(picture: NDArray[np.uint8], by_line: Gains | None) -> NDArray[np.uint8]:
    """Return a picture ``(H, W)`` or ``(H, W, 3)`` with its lines multiplied by their gains."""
    if by_line is None:
        return picture
    gain = by_line if picture.ndim == 2 else by_line[..., None]
    return np.asarray(np.clip(picture * gain + 0.5, 0, 255), np.uint8)


def _below(apart: cv2.typing.MatLike, level: int) -> NDArray[np.uint8]:
    return np.asarray(apart < level, np.uint8)


def _by_line(
    now: NDArray[np.uint8], before: NDArray[np.uint8], same: NDArray[np.uint8]
) -> Gains | None:
    """Return each line's gain, from the pixels that ``same`` marks with 1."""
    sums = np.stack(
        [
            np.asarray(cv2.reduce(part, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32F), np.float32)[:, 0]
            for part in (cv2.multiply(before, same), cv2.multiply(now, same), same)
        ]
    )
    whole = sums.sum(1)
    if whole[1] <= 0 or whole[2] < _SHARE * now.size:
        return None
    lines = max(1, round(_LINES * len(now))) | 1
    near = cv2.blur(sums, (lines, 1), borderType=cv2.BORDER_REPLICATE)
    enough = near[2] > _SHARE * now.shape[1]
    found = np.where(enough, near[0] / np.maximum(near[1], 1.0), whole[0] / whole[1])
    return np.asarray(found[:, None], np.float32)
