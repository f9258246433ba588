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

FROZEN_NS: Final = 500_000_000
"""A picture that equals the one before bit for bit is taken for a repeat for so long: eight in a
row of a camera of 15 a second. A camera that froze is reported by its health."""
STOPPED_NS: Final = 100_000_000
"""Everything stopping at once is taken for a repeat for so long: two pictures of a camera of 15 a
second. Longer would make every last card of a deal late."""
_COLLAPSED: Final = 0.15
"""Share of the change before: below it, what moved has stopped. Repeats measured 0.001 to 0.08,
the last picture of a hand that withdraws 0.1 to 1 (filmed sessions 9101 and 9102)."""
_QUIET: Final = 0.6
"""Share of the usual noise: repeats that were encoded again measured 0.2 to 0.5 at the median."""
_SILENT: Final = 0.1
"""Grey levels of usual noise that an encoder has smoothed away, 0.0 to 0.02 in filmed sessions
9101 to 9104: it then tells nothing. A repeat encoded again measured 0.6 to 15 times that."""
_USUAL: Final = 20
"""The percentile of recent noise that counts as usual."""
_USUAL_NS: Final = 5_000_000_000  # time over which the usual noise is known
_EVER_NS: Final = 60_000_000_000
"""So long is remembered whether new pictures ever equal the one before."""
_EVER: Final = 1
"""The percentile of changes that tells it: a camera that froze for a moment does not."""
_TILES: Final = (16, 9)  # tiles across and down; the quietest are compared


class Repeats:
    """Follows one camera's pictures."""

    def __init__(self) -> None:
        self._before: NDArray[np.uint8] | None = None
        self._new_ns = 0
        self._change = 0.0
        self._changes = _Recent(_EVER_NS)
        self._noise = _Recent(_USUAL_NS)

    def repeated(self, gray: NDArray[np.uint8], at_ns: int) -> bool:
        """Take the next picture; return whether it repeats the one before.

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
        self._changes.add(change, at_ns)
        self._noise.add(noise, at_ns)
        return False

    def _is_repeat(self, change: float, noise: float, waited_ns: int) -> bool:
        if change >= _COLLAPSED * self._change and change:
            return False
        if not change and self._changes.percentile(_EVER):
            return waited_ns < FROZEN_NS
        usual = self._noise.percentile(_USUAL)
        quiet = usual < _SILENT or noise < _QUIET * usual
        return change < _COLLAPSED * self._change and quiet and waited_ns < STOPPED_NS


class _Recent:
    """Measures of the last new pictures."""

    def __init__(self, kept_ns: int) -> None:
        self._kept_ns = kept_ns
        self._measures: deque[tuple[int, float]] = deque()

    def add(self, measure: float, at_ns: int) -> None:
        self._measures.append((at_ns, measure))
        while at_ns - self._measures[0][0] > self._kept_ns:
            self._measures.popleft()

    def percentile(self, share: float) -> float:
        """Return it; 0 before the first."""
        measures = [measure for _, measure in self._measures]
        return float(np.percentile(measures, share)) if measures else 0.0


def _measured(sample: NDArray[np.uint8], before: NDArray[np.uint8]) -> tuple[float, float]:
    """Return by how many grey levels the picture changed, as a whole and in its quieter half."""
    apart = cv2.absdiff(sample, before).astype(np.float32)
    tiles = np.sort(np.asarray(cv2.resize(apart, _TILES, interpolation=cv2.INTER_AREA)), axis=None)
    return float(tiles.mean()), float(tiles[: tiles.size // 2].mean())
