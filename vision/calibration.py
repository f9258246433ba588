"""A camera's pose over the felt and its lens, from one picture and the layout.

A marker gives four points, a printed circle its whole edge, a click one point. One least-squares
fit in pixels finds the pose, the focal length and the lens's two radial coefficients. A picture
from straight above cannot distinguish a distant long lens from a near short one. Where the points
leave that open, the fit keeps to a usual lens; both map the felt equally well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.errors import InstallerError
from models.layout import TableLayout
from models.session import CameraPose
from vision.camera import Camera
from vision.felt import Points, felt_of
from vision.focus import blur_px
from vision.markers import SeenMarker, corners_mm, find_markers, refined_corners
from vision.rings import find_rings, match_rings, traced_ring

# Chosen, not measured, unless a line says otherwise.
LEAST_MARKERS: Final = 4  # each gives four points; four markers show each other's errors
LEAST_CLICKS: Final = 6  # clicked points; clicks are less exact than markers, so more are asked
WORST_RMS_MM: Final = 4.0  # mm on the felt, root mean square over all points
WORST_MM: Final = 10.0
"""Mm on the felt, for one point. The tracker separates cards 12 mm apart."""
BLURRED_MM: Final = 2.5
"""Mm on the felt, a Gaussian's sigma. A card's index has strokes of a millimetre: no index is
readable in a softer picture."""

_USUAL_FOCAL: Final = 1.2
"""Of the picture's width: a usual lens with a view of 45 degrees across."""
_FOCAL_DOUBT: Final = 0.4  # standard deviation of the focal length's logarithm
_RADIAL_DOUBT: Final = (0.4, 0.3)
"""Standard deviations from a usual lens: of the focal length's logarithm, and of the distortion."""
_POINT_DOUBT_PX: Final = 0.3  # standard deviation of a point's place in the picture
_STRAY: Final = 3.0
"""Multiples of a point's standard deviation. A point farther off pulls no harder than that."""
_REACH_MM: Final = (12.0, 8.0, 6.0, 6.0)
"""How far the edge of a circle is looked for, each time that all edges are found again."""
_ROUNDS: Final = 60  # steps of the fit at most
_LEAST_COVER: Final = 0.3
"""Smallest share of the felt that the points must span."""


@dataclass(frozen=True, slots=True)
class Tie:
    """An object in the picture with known places on the felt.

    Attributes:
        name: its name for people: ``marker 3``, ``circle-1``.
        mm: ``(K, 2)`` on the felt.
        px: ``(K, 2)`` in the picture.
    """

    name: str
    mm: Points
    px: Points


@dataclass(frozen=True, slots=True)
class TieError:
    """The error of one tie on the felt.

    Attributes:
        name: the tie's name.
        error_mm: rms distance from the fitted pose.
        held_out_mm: the same for a pose fitted without it: the expected error at an unknown place.
    """

    name: str
    error_mm: float
    held_out_mm: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of calibrating with one picture."""

    pose: CameraPose
    ties: tuple[Tie, ...]
    errors: tuple[TieError, ...]
    """The error of each tie, in their order."""
    blur_px: float
    """Blur of the picture's sharpest edges, a Gaussian's sigma."""

    @property
    def worst(self) -> TieError:
        """The tie that agrees least with the others."""
        return max(self.errors, key=lambda error: error.held_out_mm)


def calibrate(
    image: NDArray[np.uint8], layout: TableLayout, clicks: Sequence[Tie] = (), *, where: str
) -> Calibration:
    """Find a camera's pose from the markers in its picture, its circles, or clicked points.

    Args:
        image: ``(H, W, 3)`` uint8 BGR.
        layout: where the markers lie.
        clicks: clicked points; where there are any, markers are ignored.
        where: the picture, for the error message.

    Raises:
        InstallerError: the picture is blurred, the points are too few or too close together, the
            markers belong to another layout, or they do not lie as in the layout.
    """
    gray = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)
    size = gray.shape[1], gray.shape[0]
    soft_px = blur_px(gray)
    ties = clicks or _seen_ties(gray, layout, soft_px, where)
    if clicks and len(clicks) < LEAST_CLICKS:
        raise _refused(
            f"{len(clicks)} points were clicked, at least {LEAST_CLICKS} are needed",
            where,
            "Click more printed points, spread over the whole felt",
        )
    _check_spread(ties, layout, where)
    pose = fit_pose(ties, size)
    for reach_mm in () if clicks else _REACH_MM:
        ties = _refined(gray, ties, layout, pose, reach_mm)
        pose = fit_pose(ties, size, pose)
    found = Calibration(pose, tuple(ties), _errors(ties, pose, size), soft_px)
    _check_sharp(found, layout, where)
    _check_error(found, where)
    return found


def fit_pose(
    ties: Sequence[Tie], size_px: tuple[int, int], start: CameraPose | None = None
) -> CameraPose:
    """Fit pose, focal length and lens to at least four points, no three of them on a line.

    ``start`` is a pose near it, where one is known.
    """
    mm = np.concatenate([tie.mm for tie in ties])
    px = np.concatenate([tie.px for tie in ties])
    guess = _first_guess(mm, px, size_px) if start is None else _values(start)
    fitted = _least_squares(guess, mm, px, size_px)
    pose = _pose(fitted, size_px, 0.0)
    off = felt_of(pose).to_mm(px) - mm
    return _pose(fitted, size_px, float(np.sqrt((off**2).sum(axis=1).mean())))


def marker_ties(seen: Sequence[SeenMarker], layout: TableLayout) -> list[Tie]:
    """Pair the visible markers with their places in the layout; ignore others."""
    known = {marker.id: marker for marker in layout.markers}
    return [
        Tie(f"marker {one.id}", corners_mm(known[one.id]), one.corners_px)
        for one in seen
        if one.id in known
    ]


def _refined(
    gray: NDArray[np.uint8],
    ties: Sequence[Tie],
    layout: TableLayout,
    pose: CameraPose,
    reach_mm: float,
) -> list[Tie]:
    """Find the edges of each marker or circle again, now that the camera is roughly known."""
    markers = {f"marker {marker.id}": marker for marker in layout.markers}
    circles = {f"circle-{spot.spot}": spot.circle for spot in layout.spots}
    felt, found = felt_of(pose), []
    for tie in ties:
        if tie.name in markers:
            px = refined_corners(gray, markers[tie.name], tie.px, felt)
            found.append(Tie(tie.name, tie.mm, px))
            continue
        mm, px = traced_ring(gray, circles[tie.name], felt, reach_mm)
        found.append(Tie(tie.name, mm, px) if len(mm) else tie)
    return found


def _ring_ties(gray: NDArray[np.uint8], layout: TableLayout) -> list[Tie]:
    """Return the middles of the printed circles; none where not all of them are found."""
    matched = match_rings(find_rings(gray), layout)
    if matched is None:
        return []
    return [
        Tie(f"circle-{spot.spot}", mm[None], px[None])
        for spot, mm, px in zip(layout.spots, *matched, strict=True)
    ]


# --- what is refused -----------------------------------------------------------------------


def _seen_ties(
    gray: NDArray[np.uint8], layout: TableLayout, soft_px: float, where: str
) -> list[Tie]:
    """Return the markers in the picture, or else the circles of an empty felt."""
    if not layout.markers:
        if circles := _ring_ties(gray, layout):
            return circles
        raise _refused(
            f"layout {layout.name} has no markers, and not all its circles are seen",
            where,
            "Clear the felt, give the layout's [[markers]], or click points (--point)",
        )
    seen = find_markers(gray, layout.marker_family)
    numbers = [marker.id for marker in seen]
    if twice := sorted({n for n in numbers if numbers.count(n) > 1}):
        raise _refused(
            f"marker {twice[0]} is seen twice", where, "Leave one of each on the felt and in view"
        )
    ties = marker_ties(seen, layout)
    strange = len(seen) - len(ties)
    if strange > len(ties):
        listed = ", ".join(map(str, numbers))
        own = ", ".join(str(marker.id) for marker in layout.markers)
        raise _refused(
            f"the markers {listed} are of another layout; {layout.name} has {own}",
            where,
            "Give the layout that belongs to this felt",
        )
    if len(ties) < LEAST_MARKERS:
        if soft_px > 2.0:
            raise _blurred(soft_px, where)
        if circles := _ring_ties(gray, layout):
            return circles
        named = ", ".join(tie.name.removeprefix("marker ") for tie in ties) or "none"
        raise _refused(
            f"{len(ties)} of {len(layout.markers)} markers are seen ({named}), "
            f"at least {LEAST_MARKERS} are needed",
            where,
            "Clear the felt, light it, and print missing markers (--print-markers)",
        )
    return ties


def _check_spread(ties: Sequence[Tie], layout: TableLayout, where: str) -> None:
    mm = np.concatenate([tie.mm for tie in ties]).astype(np.float32)
    share = cv2.contourArea(cv2.convexHull(mm)) / (layout.width_mm * layout.depth_mm)
    if share < _LEAST_COVER:
        raise _refused(
            f"what was seen spans {share:.0%} of the felt, {_LEAST_COVER:.0%} are needed",
            where,
            "Uncover markers, or click points, in every part of the felt",
        )


def _check_error(found: Calibration, where: str) -> None:
    error_mm, worst = found.pose.error_mm, found.worst
    if error_mm <= WORST_RMS_MM and worst.held_out_mm <= WORST_MM:
        return
    raise _refused(
        f"the points disagree by {error_mm:.1f} mm, {worst.name} most: "
        f"{worst.held_out_mm:.1f} mm from where the others put it",
        where,
        f"Measure {worst.name} on the felt again and correct the layout, or the click",
    )


def _check_sharp(found: Calibration, layout: TableLayout, where: str) -> None:
    place = 0.0, layout.depth_mm / 2
    lower = math.sin(math.radians(Camera.of(found.pose).elevation_deg(*place)))
    # Across the line of sight, where an oblique view shortens nothing.
    scale = felt_of(found.pose).px_per_mm(*place) / math.sqrt(lower)
    if found.blur_px > BLURRED_MM * scale:
        raise _blurred(found.blur_px, where)


def _blurred(soft_px: float, where: str) -> InstallerError:
    return _refused(
        f"the picture is blurred: its sharpest edges are {soft_px:.1f} pixels soft",
        where,
        "Focus the camera on the felt and take another picture",
    )


def _refused(what: str, where: str, way_out: str) -> InstallerError:
    return InstallerError(what, where=where, way_out=way_out)


# --- the fit -------------------------------------------------------------------------------


def _errors(
    ties: Sequence[Tie], pose: CameraPose, size_px: tuple[int, int]
) -> tuple[TieError, ...]:
    found = []
    for at, tie in enumerate(ties):
        others = [other for number, other in enumerate(ties) if number != at]
        found.append(
            TieError(tie.name, _off_mm(tie, pose), _off_mm(tie, fit_pose(others, size_px, pose)))
        )
    return tuple(found)


def _off_mm(tie: Tie, pose: CameraPose) -> float:
    off = felt_of(pose).to_mm(tie.px) - tie.mm
    return float(np.sqrt((off**2).sum(axis=1).mean()))


def _first_guess(mm: Points, px: Points, size_px: tuple[int, int]) -> NDArray[np.float64]:
    """Return the logarithm of the focal length, two radial coefficients, rotation, shift."""
    focal = _USUAL_FOCAL * size_px[0]
    camera = np.array(
        [(focal, 0, (size_px[0] - 1) / 2), (0, focal, (size_px[1] - 1) / 2), (0, 0, 1)]
    )
    onto, _ = cv2.findHomography(mm, px, 0)
    plane = np.linalg.inv(camera) @ np.asarray(onto, np.float64)
    plane /= (np.linalg.norm(plane[:, 0]) + np.linalg.norm(plane[:, 1])) / 2
    plane *= 1.0 if plane[2, 2] > 0 else -1.0
    left, _, right = np.linalg.svd(plane[:, :2], full_matrices=False)
    axes = left @ right
    turn = cv2.Rodrigues(np.column_stack([axes, np.cross(axes[:, 0], axes[:, 1])]))[0].ravel()
    return np.concatenate([[np.log(focal), 0.0, 0.0], turn, plane[:, 2]])


def _pose(values: NDArray[np.float64], size_px: tuple[int, int], error_mm: float) -> CameraPose:
    one, two, *rest = (float(value) for value in values[1:])
    return CameraPose(
        width_px=size_px[0],
        height_px=size_px[1],
        focal_px=float(np.exp(values[0])),
        centre_px=((size_px[0] - 1) / 2, (size_px[1] - 1) / 2),
        distortion=(one, two),
        turn_rad=(rest[0], rest[1], rest[2]),
        shift_mm=(rest[3], rest[4], rest[5]),
        error_mm=error_mm,
    )


def _values(pose: CameraPose) -> NDArray[np.float64]:
    """Return the fit's values of a pose; `_pose` takes them back."""
    return np.array([np.log(pose.focal_px), *pose.distortion, *pose.turn_rad, *pose.shift_mm])


def _least_squares(
    values: NDArray[np.float64], mm: Points, px: Points, size_px: tuple[int, int]
) -> NDArray[np.float64]:
    """Minimise the sum of squares by the method of Levenberg and Marquardt."""
    steps = np.array([1e-5, 1e-5, 1e-5, 1e-6, 1e-6, 1e-6, 1e-2, 1e-2, 1e-2])
    off, damping = _residuals(values, mm, px, size_px), 1e-3
    for _ in range(_ROUNDS):
        slopes = np.column_stack(
            [
                (
                    _residuals(values + step, mm, px, size_px)
                    - _residuals(values - step, mm, px, size_px)
                )
                / (2 * step.sum())
                for step in np.diag(steps)
            ]
        )
        square = slopes.T @ slopes
        damped = square + damping * np.diag(np.diag(square))
        change = np.linalg.solve(damped, -slopes.T @ off)
        tried = _residuals(values + change, mm, px, size_px)
        if tried @ tried < off @ off:
            gained = 1 - (tried @ tried) / (off @ off)
            values, off, damping = values + change, tried, damping / 5
            if gained < 1e-9:
                break
        elif damping > 1e8:
            break
        else:
            damping *= 5
    return values


def _residuals(
    values: NDArray[np.float64], mm: Points, px: Points, size_px: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the residuals, each in its standard deviations: points, then the usual lens."""
    off = (felt_of(_pose(values, size_px, 0.0)).to_px(mm) - px) / _POINT_DOUBT_PX
    far = np.maximum(np.hypot(off[:, 0], off[:, 1]), 1e-9)
    beyond = np.maximum(far, _STRAY)
    pull = np.sqrt(2 * _STRAY * beyond - _STRAY**2) / beyond
    unusual = [
        (values[0] - np.log(_USUAL_FOCAL * size_px[0])) / _FOCAL_DOUBT,
        values[1] / _RADIAL_DOUBT[0],
        values[2] / _RADIAL_DOUBT[1],
    ]
    return np.concatenate([(off * pull[:, None]).ravel(), unusual])
