"""Detect whether a camera is still in its calibrated pose, and find its new one."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import TableLayout
from models.session import CameraPose
from vision.calibration import LEAST_MARKERS, Tie, fit_pose, marker_ties
from vision.felt import Felt, Points
from vision.landmarks import Compared
from vision.markers import find_markers

ALIKE: Final = 0.6
"""Likeness. A landmark above it is visible."""
# Chosen, not measured, unless a line says otherwise.
LEAST_LANDMARKS: Final = 5  # a shift needs two, the others show an error
_AGREEING: Final = 0.6  # share of landmarks that must agree on a movement
_TOGETHER_PX: Final = 1.0  # pixels within which they agree after a small movement
_FAR_TOGETHER_PX: Final = 4.0  # the same after a large one, from coarser features
_FEATURES: Final = 900  # ORB features of a whole picture
_LEAST_FEATURES: Final = 25  # matched features that make a movement believable
_RATIO: Final = 0.8  # Lowe's ratio of the best to the second match
_MATCHED: Final = 0.4  # share of the matches that must agree


@dataclass(frozen=True, slots=True)
class Gone:
    """The present places in the picture of points of the felt that moved.

    Attributes:
        mm: ``(N, 2)``, their places on the felt.
        px: ``(N, 2)``, their present places in the picture.
        off_mm: the felt's apparent movement, rms.
    """

    mm: Points
    px: Points
    off_mm: float


def gone_by(felt: Felt, seen: Compared) -> Gone | None:
    """Return the movement of the visible landmarks; ``None`` where they do not agree."""
    there = seen.alike >= ALIKE
    if there.sum() < LEAST_LANDMARKS:
        return None
    before, now = seen.places_px[there], (seen.places_px + seen.shift_px)[there]
    cv2.setRNGSeed(1)  # the same pictures must give the same result in every run
    _, agreeing = cv2.estimateAffinePartial2D(
        before, now, method=cv2.RANSAC, ransacReprojThreshold=_TOGETHER_PX
    )
    kept = np.ravel(agreeing) > 0 if agreeing is not None else np.zeros(len(before), np.bool_)
    if kept.sum() < max(LEAST_LANDMARKS, _AGREEING * len(before)):
        return None
    return _gone(felt, before[kept], now[kept])


class Whole:
    """A picture's features; they locate it again however far the camera was knocked."""

    def __init__(self, gray: NDArray[np.uint8]) -> None:
        self._orb = cv2.ORB.create(nfeatures=_FEATURES, scaleFactor=1.3, nlevels=5)
        self._pairs = cv2.BFMatcher(cv2.NORM_HAMMING)
        self._before, self._marks = self._features(gray)

    def gone(self, gray: NDArray[np.uint8], felt: Felt) -> Gone | None:
        """Find the picture's features in another one; ``None`` where it shows something else."""
        places, marks = self._features(gray)
        if min(len(places), len(self._before)) < _LEAST_FEATURES:
            return None
        matched = [
            (pair[0].queryIdx, pair[0].trainIdx)
            for pair in self._pairs.knnMatch(self._marks, marks, k=2)
            if len(pair) == 2 and pair[0].distance < _RATIO * pair[1].distance
        ]
        if len(matched) < _LEAST_FEATURES:
            return None
        one, other = (np.array(part) for part in zip(*matched, strict=True))
        before, now = self._before[one], places[other]
        cv2.setRNGSeed(1)  # the same pictures must give the same result in every run
        _, agreeing = cv2.findHomography(before, now, cv2.RANSAC, _FAR_TOGETHER_PX)
        most = max(_LEAST_FEATURES, _MATCHED * len(matched))
        if agreeing is None or np.count_nonzero(agreeing) < most:
            return None
        kept = np.ravel(agreeing) > 0
        return _gone(felt, before[kept], now[kept])

    def _features(self, gray: NDArray[np.uint8]) -> tuple[Points, NDArray[np.uint8]]:
        """Return places in the whole picture, found in a half-size copy, and their descriptors."""
        small = cv2.resize(gray, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        points, marks = self._orb.detectAndCompute(small, None)
        places = np.array([point.pt for point in points], np.float64).reshape(-1, 2)
        descriptors = np.zeros((0, 32), np.uint8) if marks is None else np.asarray(marks, np.uint8)
        return places * 2 + 0.5, descriptors


def markers_gone(gray: NDArray[np.uint8], felt: Felt, layout: TableLayout) -> Gone | None:
    """Return the distance of the visible markers from their places; ``None`` for too few."""
    if len(layout.markers) < LEAST_MARKERS:
        return None
    ties = marker_ties(find_markers(gray, layout.marker_family), layout)
    if len(ties) < LEAST_MARKERS:
        return None
    mm, px = (np.concatenate([getattr(tie, of) for tie in ties]) for of in ("mm", "px"))
    off = np.hypot(*(felt.to_mm(px) - mm).T)
    return Gone(mm, px, float(np.median(off)))


def proposed_pose(pose: CameraPose, gone: Gone) -> CameraPose:
    """Return the camera's new pose with its old lens."""
    focal, (x, y) = pose.focal_px, pose.centre_px
    camera = np.array([(focal, 0.0, x), (0.0, focal, y), (0.0, 0.0, 1.0)])
    bent = np.array([*pose.distortion, 0.0, 0.0])
    flat = np.column_stack([gone.mm, np.zeros(len(gone.mm))])
    _, turn, shift = cv2.solvePnP(
        flat,
        gone.px,
        camera,
        bent,
        np.array(pose.turn_rad),
        np.array(pose.shift_mm),
        useExtrinsicGuess=True,
        flags=cv2.SOLVEPNP_ITERATIVE,
    )
    seen, _ = cv2.projectPoints(flat, turn, shift, camera, bent)
    off = np.hypot(*(np.asarray(seen, np.float64).reshape(-1, 2) - gone.px).T)
    across_px = focal / float(shift[2, 0])
    return CameraPose(
        width_px=pose.width_px,
        height_px=pose.height_px,
        focal_px=focal,
        centre_px=pose.centre_px,
        distortion=pose.distortion,
        turn_rad=_three(np.asarray(turn, np.float64)),
        shift_mm=_three(np.asarray(shift, np.float64)),
        error_mm=float(np.sqrt((off**2).mean()) / across_px),
    )


def pose_of(felt: Felt, layout: TableLayout, size_px: tuple[int, int]) -> CameraPose:
    """Return a pose for a felt that was located by reference points only."""
    half, depth = layout.width_mm / 2, layout.depth_mm
    grid = np.meshgrid(np.linspace(-half, half, 7), np.linspace(0, depth, 5))
    mm = np.stack(grid, axis=-1).reshape(-1, 2)
    return fit_pose([Tie("felt", mm, felt.to_px(mm))], size_px)


def _gone(felt: Felt, before_px: Points, now_px: Points) -> Gone:
    mm = felt.to_mm(before_px)
    off = felt.to_mm(now_px) - mm
    return Gone(mm, now_px, float(np.sqrt((off**2).sum(axis=1).mean())))


def _three(values: NDArray[np.float64]) -> tuple[float, float, float]:
    one, two, three = (float(value) for value in np.ravel(values))
    return one, two, three
