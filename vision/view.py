"""The evidence of one picture about a place on the felt."""

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from models.events import Face
from vision.backdrop import Backdrop, Print
from vision.change import ChangeDetector, Mask, Rect
from vision.felt import Felt, Points, Pose

# Chosen, not measured, unless a line says otherwise.
_AT_REST: Final = 0.6  # share of a card's blocks at rest
_CUT_PX: Final = 3.0  # an index may reach this far beyond the part that was read
_EARLY: Final = 25  # percentile of its blocks' times: when a card came to rest
_CORE_MM: Final = -8.0  # a card's outline drawn smaller, so that its edge does not count
_STRIP: Final = 0.15  # share of a card that must be visible to tell whether it lies there still
_UNCHANGED: Final = 0.5
"""Share of that which looks as it did. Of a hole card on which the up card was laid 0.79 did,
beside the dealer's fingers (filmed session 9343); where a card was turned over beside its place,
felt shows."""
_INDEX_MM: Final = (18.0, 26.0)  # width and height of the corner that shows an index


class FeltView:
    """Answers the tracker from the change detector and the backdrop, for one moment.

    Args:
        felt: where the felt lies in the picture.
        detector: the times of motion.
        backdrop: the bare felt; must have this moment's picture.
        rects: the parts of the picture that were read.
        at_ns: the moment.
    """

    def __init__(
        self,
        felt: Felt,
        detector: ChangeDetector,
        backdrop: Backdrop,
        rects: Sequence[Rect],
        at_ns: int,
    ) -> None:
        self.at_ns = at_ns
        self._felt, self._detector, self._backdrop = felt, detector, backdrop
        self._rects = rects

    def supports(self, pose: Pose, face: Face) -> bool:
        """Return whether the read part contains a sighting's evidence, and the card rests.

        A face rests on either of its indices, a back on the whole card.
        """
        if not self.at_rest(pose):
            return False
        outline = pose.corners_mm
        if face == "down":
            return self._uncut(outline)
        return any(self._uncut(_index(outline, end)) for end in (0, 2))

    def at_rest(self, pose: Pose) -> bool:
        """Return whether most of the card's place is at rest."""
        return float(self._detector.settled[self.blocks(pose)].mean()) >= _AT_REST

    def free(self, pose: Pose, under: Sequence[Pose]) -> bool:
        """Return whether bare felt is visible inside the outline, beside what ``under`` covers."""
        return self._backdrop.free(pose, under)

    def unchanged(self, pose: Pose, under: Sequence[Pose]) -> bool:
        """Return whether a strip of the card at ``pose`` is visible, and looks as it did.

        What ``under`` covers does not count.
        """
        part, visible, whole = self._backdrop.beside(pose, under)
        if visible.sum() < _STRIP * whole:
            return False
        return self._detector.same(part, visible) >= _UNCHANGED

    def print_of(self, pose: Pose) -> Print:
        """Return how the card at ``pose`` looks now."""
        return self._backdrop.print_of(pose)

    def explained(self, pose: Pose, prints: Sequence[Print]) -> float:
        """Return the share of a place that shows felt, or the cards of ``prints`` as they were."""
        return self._backdrop.explained(pose, prints)

    def moved_ns(self, pose: Pose) -> int:
        """Return when anything at ``pose`` last moved."""
        return int(self._detector.since_ns[self.blocks(pose)].max())

    def rested_ns(self, pose: Pose) -> int:
        """Return when the card at ``pose`` came to rest, ignoring a hand still over it.

        What another card covers of it rested before, and looks as it did.
        """
        blocks = self.blocks(pose)
        unlike = blocks & self._detector.unlike
        since = self._detector.since_ns[unlike if unlike.any() else blocks]
        return int(np.percentile(since, _EARLY, method="lower"))

    def _uncut(self, outline_mm: Points) -> bool:
        """Return whether no edge of a read part cuts the outline; the picture's edges may."""
        grid = self._detector.grid
        corners = self._felt.to_px(outline_mm)
        inner = np.clip(corners, 0, (grid.width_px, grid.height_px))
        (x0, y0), (x1, y1) = inner.min(axis=0), inner.max(axis=0)
        return any(
            x0 >= left - _CUT_PX
            and y0 >= top - _CUT_PX
            and x1 <= left + width + _CUT_PX
            and y1 <= top + height + _CUT_PX
            for left, top, width, height in self._rects
        )

    def blocks(self, pose: Pose) -> Mask:
        """Return the blocks under the card without its rim; at least one."""
        grid = self._detector.grid
        scale = (grid.columns / grid.width_px, grid.rows / grid.height_px)
        inner = self._felt.to_px(pose.outline_mm(_CORE_MM)) * scale - 0.5
        edge = (grid.columns - 1, grid.rows - 1)
        mask = np.zeros((grid.rows, grid.columns), np.uint8)
        cv2.fillConvexPoly(mask, np.clip(np.round(inner), 0, edge).astype(np.int32), 1)
        return mask > 0


def _index(outline: Points, end: int) -> Points:
    """Return opposite corners of the index at one corner of a card, 0 or 2."""
    corner, beside, below = outline[end], outline[end ^ 1], outline[3 - end]
    across = (beside - corner) / np.linalg.norm(beside - corner) * _INDEX_MM[0]
    down = (below - corner) / np.linalg.norm(below - corner) * _INDEX_MM[1]
    return np.array([corner, corner + across, corner + down, corner + across + down])
