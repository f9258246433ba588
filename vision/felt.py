"""The felt in the picture: millimetres to pixels and back, and a card's pose."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from models.errors import InstallerError
from models.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM
from models.session import CameraPose, ReferencePoint
from vision.optics import Optics

Points: TypeAlias = NDArray[np.float64]
"""``(N, 2)`` float64, x then y."""

CARD_MM: Final[Points] = np.array(
    [
        (-CARD_WIDTH_MM / 2, -CARD_HEIGHT_MM / 2),
        (CARD_WIDTH_MM / 2, -CARD_HEIGHT_MM / 2),
        (CARD_WIDTH_MM / 2, CARD_HEIGHT_MM / 2),
        (-CARD_WIDTH_MM / 2, CARD_HEIGHT_MM / 2),
    ]
)
"""A card's corners about its middle, clockwise from its own top left."""

# Chosen, not measured, unless a line says otherwise.
_OUTLIER_MM: Final = 8.0  # a reference point that far off the rest is left out of the fit
_WORST_MM: Final = 12.0  # error of the fit from which it is refused
_LEAST_SPREAD: Final = 0.02  # 0 where the points lie on a line, about 1 on a square
_EDGE_MM: Final = 40.0
"""Millimetres. A lens bends a straight edge by at most a pixel from a chord of this length."""


@dataclass(frozen=True, slots=True)
class Pose:
    """A card's pose: its middle, and its top edge's direction clockwise from the felt's -y."""

    x_mm: float
    y_mm: float
    angle_deg: float

    @property
    def corners_mm(self) -> Points:
        """The card's ``(4, 2)`` corners on the felt, clockwise from its own top left."""
        return self.outline_mm(0.0)

    def outline_mm(self, grow_mm: float) -> Points:
        """Return the corners of the card's outline, grown (or shrunk, below 0) on every side."""
        turn = math.radians(self.angle_deg)
        c, s = math.cos(turn), math.sin(turn)
        outline = CARD_MM + np.sign(CARD_MM) * grow_mm
        turned = outline @ np.array([(c, s), (-s, c)])
        return np.asarray(turned + np.array([self.x_mm, self.y_mm]), np.float64)

    def distance_mm(self, other: "Pose") -> float:
        """Return the distance between the two middles."""
        return math.hypot(self.x_mm - other.x_mm, self.y_mm - other.y_mm)

    def turn_deg(self, other: "Pose") -> float:
        """Return the angle between the two as lines, 0 to 90: a card looks the same upside down."""
        apart = (self.angle_deg - other.angle_deg) % 180
        return min(apart, 180 - apart)


def mean_pose(poses: Sequence[Pose]) -> Pose:
    """Average the poses of one card, found by either end; the last one decides which end is up."""
    last = poses[-1]
    turns = [(pose.angle_deg - last.angle_deg + 90) % 180 - 90 for pose in poses]
    return Pose(
        sum(pose.x_mm for pose in poses) / len(poses),
        sum(pose.y_mm for pose in poses) / len(poses),
        last.angle_deg + sum(turns) / len(turns),
    )


def fit_card(corners_mm: Points, held_at: tuple[float, float] = (0.5, 0.5)) -> tuple[Pose, float]:
    """Fit a card of true size to four corners.

    Args:
        corners_mm: ``(4, 2)``, clockwise from the card's own top left; their size may be wrong.
        held_at: the point of the card, in shares of its width and height, where they are exact: its
            index where the corners were inferred from that.

    Returns:
        The pose and the misfit in millimetres (rms).
    """
    off = corners_mm - corners_mm.mean(axis=0)
    dot = float((CARD_MM * off).sum())
    cross = float((CARD_MM[:, 0] * off[:, 1] - CARD_MM[:, 1] * off[:, 0]).sum())
    turned = Pose(0.0, 0.0, math.degrees(math.atan2(cross, dot)))
    x_mm, y_mm = point_of(corners_mm, held_at) - point_of(turned.corners_mm, held_at)
    pose = Pose(float(x_mm), float(y_mm), turned.angle_deg)
    misfit = pose.corners_mm - corners_mm
    return pose, float(np.sqrt((misfit**2).sum(axis=1).mean()))


def point_of(corners: Points, at: tuple[float, float]) -> Points:
    """Return the point of a card ``(4, 2)`` at shares of its width and height, ``(2,)``."""
    across, down = at
    top = corners[0] * (1 - across) + corners[1] * across
    bottom = corners[3] * (1 - across) + corners[2] * across
    return np.asarray(top * (1 - down) + bottom * down, np.float64)


@dataclass(frozen=True, slots=True)
class Felt:
    """The felt in one camera's picture.

    Attributes:
        flat_from_mm: ``(3, 3)`` homography to the pixels of a lens without distortion.
        error_mm: rms error of the points that located the felt.
        optics: the lens; ``None`` for one without distortion.
    """

    flat_from_mm: NDArray[np.float64]
    error_mm: float
    optics: Optics | None = None

    def to_px(self, points_mm: Points) -> Points:
        """Project ``(N, 2)`` felt points into the picture."""
        flat = _project(self.flat_from_mm, points_mm)
        return flat if self.optics is None else self.optics.bend(flat)

    def to_mm(self, points_px: Points) -> Points:
        """Project ``(N, 2)`` picture points onto the felt."""
        flat = points_px if self.optics is None else self.optics.straighten(points_px)
        return _project(_inverse(self.flat_from_mm), flat)

    def outline_px(self, polygon_mm: Points) -> Points:
        """Project a polygon into the picture, with its edges distorted by the lens."""
        if self.optics is None:
            return self.to_px(polygon_mm)
        edges = zip(polygon_mm, np.roll(polygon_mm, -1, axis=0), strict=True)
        return self.to_px(np.concatenate([_chords(start, end) for start, end in edges]))

    def px_per_mm(self, x_mm: float, y_mm: float) -> float:
        """Return the picture's scale at a place: the square root of its area magnification."""
        square = np.array([(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)]) - 5.0
        px = self.to_px(square + np.array([x_mm, y_mm])).astype(np.float32)
        return math.sqrt(cv2.contourArea(px)) / 10.0

    def card_width_px(self, x_mm: float, y_mm: float) -> float:
        """Return the apparent width of a card lying there."""
        return self.px_per_mm(x_mm, y_mm) * CARD_WIDTH_MM

    def pose(
        self, corners_px: Points, held_at: tuple[float, float] = (0.5, 0.5)
    ) -> tuple[Pose, float]:
        """Return the pose of the card with these ``(4, 2)`` corners and its misfit in mm."""
        return fit_card(self.to_mm(corners_px), held_at)


def locate(view: CameraPose | Sequence[ReferencePoint], *, where: str) -> Felt:
    """Locate the felt in the picture from a camera's pose, or from reference points.

    Args:
        view: the pose or the points, as ``session.toml`` has them.
        where: the camera, for the error message.

    Raises:
        InstallerError: if it does not determine a felt seen from above.
    """
    if not isinstance(view, CameraPose):
        return locate_felt(view, where=where)
    felt = felt_of(view)
    reach = np.array([(0.0, 0.0), (100.0, 0.0), (0.0, 100.0)])
    if not (np.isfinite(felt.flat_from_mm).all() and _seen_from_above(felt, reach)):
        raise _refused("the pose shows the felt from below or not at all", where)
    return felt


def felt_of(pose: CameraPose) -> Felt:
    """Return the felt as a camera of this pose sees it."""
    focal, (x, y) = pose.focal_px, pose.centre_px
    camera = np.array([(focal, 0.0, x), (0.0, focal, y), (0.0, 0.0, 1.0)])
    turn = cv2.Rodrigues(np.array(pose.turn_rad))[0]
    plane = np.column_stack([turn[:, 0], turn[:, 1], pose.shift_mm])
    optics = Optics(camera, pose.distortion) if any(pose.distortion) else None
    return Felt(np.asarray(camera @ plane, np.float64), pose.error_mm, optics)


def locate_felt(points: Sequence[ReferencePoint], *, where: str) -> Felt:
    """Fit the felt to its reference points, without one outlier where there are enough points.

    Args:
        points: at least four, no three of the four outermost on one line.
        where: the camera, for the error message.

    Raises:
        InstallerError: if the points do not determine a felt seen from above.
    """
    mm = np.array([(p.x_mm, p.y_mm) for p in points], dtype=np.float64).reshape(-1, 2)
    px = np.array([(p.x_px, p.y_px) for p in points], dtype=np.float64).reshape(-1, 2)
    if len(points) < 4 or not np.isfinite(np.hstack([mm, px])).all():
        raise _refused(f"{len(points)} usable reference points, at least 4 are needed", where)
    if min(_spread(mm), _spread(px)) < _LEAST_SPREAD:
        raise _refused("the reference points lie on one line or on one another", where)
    mm_from_px, kept = _fit(px, mm)
    if mm_from_px is None or abs(np.linalg.det(mm_from_px)) < 1e-12:
        raise _refused("the reference points fix no view of the felt", where)
    felt = Felt(_inverse(mm_from_px), _rms_mm(mm_from_px, px[kept], mm[kept]))
    if not felt.error_mm <= _WORST_MM:
        raise _refused(f"the reference points disagree by {felt.error_mm:.0f} mm", where)
    if not _seen_from_above(felt, mm):
        raise _refused("the reference points show the felt mirrored or from below", where)
    return felt


def _refused(what: str, where: str) -> InstallerError:
    way_out = "Mark at least four well spread printed points of the felt again"
    return InstallerError(what, where=where, way_out=way_out)


def _project(homography: NDArray[np.float64], points: Points) -> Points:
    flat = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    mapped = np.hstack([flat, np.ones((len(flat), 1))]) @ homography.T
    return np.asarray(mapped[:, :2] / mapped[:, 2:], dtype=np.float64)


def _chords(start: Points, end: Points) -> Points:
    """Return points from ``start`` towards ``end``, dense enough for a distorted picture."""
    steps = max(1, math.ceil(float(np.hypot(*(end - start))) / _EDGE_MM))
    share = np.arange(steps)[:, None] / steps
    return np.asarray(start + share * (end - start), np.float64)


def _inverse(homography: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.inv(homography), np.float64)


def _spread(points: Points) -> float:
    """Return the distance of the points from a common line: 0 on a line, about 1 on a square.

    For four points, the smallest triangle of any three must not vanish either.
    """
    if len(points) == 4:
        return min(_flatness(np.delete(points, i, axis=0)) for i in range(4))
    return _flatness(points)


def _flatness(points: Points) -> float:
    across = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return float(across[1] / across[0]) if across[0] > 0 else 0.0


def _fit(px: Points, mm: Points) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_]]:
    if len(px) == 4:
        fitted = cv2.getPerspectiveTransform(px.astype(np.float32), mm.astype(np.float32))
        return np.asarray(fitted, dtype=np.float64), np.ones(4, dtype=np.bool_)
    cv2.setRNGSeed(1)  # the same points must give the same felt in every run
    fitted, inliers = cv2.findHomography(px, mm, cv2.RANSAC, _OUTLIER_MM)
    kept = np.asarray(inliers).ravel().astype(np.bool_)
    if fitted is None or kept.sum() < max(4, len(px) - len(px) // 4):
        fitted, _ = cv2.findHomography(px, mm, 0)
        kept = np.ones(len(px), dtype=np.bool_)
    return (None if fitted is None else np.asarray(fitted, dtype=np.float64)), kept


def _rms_mm(mm_from_px: NDArray[np.float64], px: Points, mm: Points) -> float:
    off = _project(mm_from_px, px) - mm
    return float(np.sqrt((off**2).sum(axis=1).mean()))


def _seen_from_above(felt: Felt, mm: Points) -> bool:
    """A view from above keeps a card's corners clockwise everywhere near the points."""
    cards = [felt.to_px(CARD_MM + place).astype(np.float32) for place in mm]
    return all(cv2.contourArea(corners, oriented=True) > 0 for corners in cards)
