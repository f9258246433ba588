"""The felt with nothing on it, as far as it has been seen: what tells a place that is free."""

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.change import Grid, Mask
from vision.felt import Felt, Pose

_LEVELS: Final = 22
_GAIN: Final = (0.6, 1.5)
_CARD_SHARE: Final = 0.10
_BARE_SHARE: Final = 0.5
_SHRINK_MM: Final = 5.0
_GROW_MM: Final = 4.0
_RING_MM: Final = 45.0
_DRIFT: Final = 0.1


class Backdrop:
    """The reduced colour picture of the bare felt, learned where no card lies.

    A place is *free* when the felt shows inside the outline of the card that lay there: a card
    under an arm or under another card shows the arm or the other card, never the felt.
    """

    def __init__(self, grid: Grid, felt: Felt) -> None:
        self._grid, self._felt = grid, felt
        self._felt_bgr = np.zeros((*grid.small[::-1], 3), np.float32)
        self._learned = np.zeros(grid.small[::-1], np.bool_)
        self._now = np.zeros((*grid.small[::-1], 3), np.uint8)
        self._still = np.zeros(grid.small[::-1], np.bool_)

    def show(self, image: NDArray[np.uint8], settled: Mask) -> None:
        """Take the colour picture that the next questions are about, and what in it is at rest."""
        self._now = self._grid.reduce(image)
        self._still = self._grid.spread(settled) > 0

    def learn(self, cards: Sequence[Pose]) -> None:
        """Learn the felt wherever it is at rest and none of ``cards`` lies; follow slow light."""
        bare = self._still.copy()
        bare[self._drawn(cards, _GROW_MM) > 0] = False
        new = bare & ~self._learned
        self._felt_bgr[new] = self._now[new]
        apart = np.abs(self._now - self._felt_bgr).max(axis=2)
        alike = bare & self._learned & (apart < _LEVELS)
        self._felt_bgr[alike] += _DRIFT * (self._now[alike] - self._felt_bgr[alike])
        self._learned |= new

    def free(self, pose: Pose, under: Sequence[Pose] = ()) -> bool:
        """Tell whether the felt is seen inside the outline of ``pose``.

        Args:
            pose: where a card lay.
            under: cards seen lying now; what they cover says nothing.
        """
        outline = self._drawn([pose], -_SHRINK_MM) > 0
        whole = int(outline.sum())
        outline &= self._drawn(under, _GROW_MM) == 0
        felt = int(self._alike(outline, pose).sum())
        return felt >= max(_CARD_SHARE * whole, _BARE_SHARE * int(outline.sum()), 1)

    def _alike(self, outline: NDArray[np.bool_], around: Pose) -> NDArray[np.bool_]:
        """Which pixels of ``outline`` look like the felt, in whatever light."""
        seen = outline & self._still
        now, felt = self._now[seen].astype(np.float32), self._felt_bgr[seen]
        learned = self._learned[seen]
        if not learned.all():
            ring = (self._drawn([around], _RING_MM) > 0) & self._learned
            if not ring.any():
                return np.zeros(len(now), np.bool_)
            felt[~learned] = np.median(self._felt_bgr[ring], axis=0)
        light = np.median((now.sum(axis=1) + 1) / (felt.sum(axis=1) + 1)) if len(now) else 1.0
        gain = float(np.clip(light, *_GAIN))
        return np.asarray(np.abs(now - gain * felt).max(axis=1, initial=0) < _LEVELS, np.bool_)

    def _drawn(self, poses: Sequence[Pose], grow_mm: float) -> NDArray[np.uint8]:
        mask = np.zeros(self._grid.small[::-1], np.uint8)
        for pose in poses:
            px = self._felt.to_px(pose.outline_mm(grow_mm)) * self._grid.scale
            cv2.fillConvexPoly(mask, np.round(px - 0.5).astype(np.int32), 255)
        return mask
