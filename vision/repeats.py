"""Tells a new picture from one that a camera, an encoder or a decoder shows a second time.

A card in flight that is seen twice in one place looks like a card at rest. What parts the two is
the whole picture: a sensor never gives the same noise twice, and where hands move, not everything
stops within one picture. Counted in nanoseconds of the stream's time.
"""

from collections import deque
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

FROZEN_NS: Final = 2_000_000_000
"""A picture without any new noise is taken for a repeat for so long. The camera's health reports
a frozen camera well before that."""
STOPPED_NS: Final = 100_000_000
"""Everything stopping at once is taken for a repeat for so long: two pictures of a camera of 15 a
second. Longer would make every last card of a deal late."""
_COLLAPSED: Final = 0.15
"""Share of the change before: below it, what moved has stopped. Repeats measured 0.001 to 0.08,
the last picture of a hand that withdraws 0.1 to 1 (filmed sessions 9101 and 9102)."""
_QUIET: Final = 0.6
"""Share of the usual noise: repeats that were encoded again measured 0.2 to 0.5 at the median."""
_USUAL: Final = 20
"""The percentile of recent noise that counts as usual."""
_USUAL_NS: Final = 5_000_000_000
_TILES: Final = (16, 9)


class Repeats:
    """Follows one camera's pictures."""

    def __init__(self) -> None:
        self._before: NDArray[np.uint8] | None = None
        self._new_ns = 0
        self._change = 0.0
        self._noise: deque[tuple[int, float]] = deque()

    def repeated(self, gray: NDArray[np.uint8], at_ns: int) -> bool:
        """Take in the next picture and tell whether it shows the one before again.

        Args:
            gray: ``(H, W)`` uint8.
            at_ns: its own time.
        """
        sample = np.ascontiguousarray(gray[2::4, 3::8])
        before, self._before = self._before, sample
        if before is None or before.shape != sample.shape:
            self._new_ns = at_ns
            return False
        change, noise = _measured(sample, before)
        if self._is_repeat(change, noise, at_ns - self._new_ns):
            return True
        self._new_ns, self._change = at_ns, change
        self._learn(noise, at_ns)
        return False

    def _is_repeat(self, change: float, noise: float, waited_ns: int) -> bool:
        usual = float(np.percentile([n for _, n in self._noise], _USUAL)) if self._noise else 0.0
        if not change and usual:
            return waited_ns < FROZEN_NS
        collapsed = change < _COLLAPSED * self._change
        quiet = not usual or noise < _QUIET * usual
        return collapsed and quiet and waited_ns < STOPPED_NS

    def _learn(self, noise: float, at_ns: int) -> None:
        self._noise.append((at_ns, noise))
        while at_ns - self._noise[0][0] > _USUAL_NS:
            self._noise.popleft()


def _measured(sample: NDArray[np.uint8], before: NDArray[np.uint8]) -> tuple[float, float]:
    """Return by how many grey levels the picture changed, as a whole and in its quieter half."""
    apart = cv2.absdiff(sample, before).astype(np.float32)
    tiles = np.sort(np.asarray(cv2.resize(apart, _TILES, interpolation=cv2.INTER_AREA)), axis=None)
    return float(tiles.mean()), float(tiles[: tiles.size // 2].mean())
