"""Pictures that cannot be trusted: black, blinded, frozen, of another size."""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Fault: TypeAlias = tuple[str, str]
"""Kind and detail."""

_BLACK: Final = 24.0
_WHITE: Final = 226.0
"""Video brightness runs from 16 to 235."""
_FLAT: Final = 6.0
_STEP: Final = 7
_ROWS: Final = 4
FROZEN_NS: Final = 1_000_000_000
"""A camera's own noise never repeats a picture exactly for so long."""


class PictureCheck:
    """Looks at every picture for faults that show at a glance; each is told once until it ends.

    Args:
        size: width and height that the camera is set up for.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size
        self._told: str | None = None
        self._before: NDArray[np.uint8] | None = None
        self._same_since_ns = 0
        self.trusted = True
        """Whether the last picture may be read."""

    def see(self, gray: NDArray[np.uint8], at_ns: int) -> Fault | None:
        """Check the next picture; returns a fault that has just begun."""
        fault = self._size_fault(gray) or self._light_fault(gray) or self._frozen(gray, at_ns)
        told, self._told = self._told, fault[0] if fault else None
        self.trusted = fault is None or fault[0] == "frozen"
        return fault if fault and fault[0] != told else None

    def _size_fault(self, gray: NDArray[np.uint8]) -> Fault | None:
        size = gray.shape[1], gray.shape[0]
        if size == self._size:
            return None
        return "size", f"{size[0]}x{size[1]} pixels instead of {self._size[0]}x{self._size[1]}"

    def _light_fault(self, gray: NDArray[np.uint8]) -> Fault | None:
        sample = gray[::_STEP, ::_STEP]
        mean, spread = float(sample.mean()), float(sample.std())
        if mean < _BLACK and spread < _FLAT:
            return "black", f"mean brightness {mean:.0f} of 255"
        if mean > _WHITE and spread < _FLAT:
            return "overexposed", f"mean brightness {mean:.0f} of 255"
        return None

    def _frozen(self, gray: NDArray[np.uint8], at_ns: int) -> Fault | None:
        sample = gray[::_ROWS]
        if self._before is None or not np.array_equal(sample, self._before):
            self._before, self._same_since_ns = sample.copy(), at_ns
        if at_ns - self._same_since_ns < FROZEN_NS:
            return None
        return "frozen", f"the same picture for {(at_ns - self._same_since_ns) / 1e9:.1f} s"
