"""Square markers on the felt: their patterns, and their detection in a picture."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import Marker, MarkerFamily
from vision.felt import Felt, Points

_FAMILIES: Final[Mapping[MarkerFamily, int]] = {
    "aruco-4x4": cv2.aruco.DICT_4X4_50,
    "apriltag-36h11": cv2.aruco.DICT_APRILTAG_36H11,
}
_REFINED_SHARE: Final = 0.07
"""Share of the marker's side within which a corner is refined."""
_EDGE_SHARE: Final = 0.16  # of a marker's side: how far an edge is searched, within its rim
_ELSEWHERE_PX: Final = 4.0
"""A marker this far from its place in the layout is refined where it was found."""
_EDGE_STEPS: Final = 49  # places across an edge
_EDGE_PLACES: Final = 10  # places along it, each the mean of
_EDGE_MEAN: Final = 6  # lines across


@dataclass(frozen=True, slots=True)
class SeenMarker:
    """One marker in a picture.

    Attributes:
        id: which of its family's patterns.
        corners_px: ``(4, 2)``, clockwise from the pattern's own top left.
    """

    id: int
    corners_px: Points


def pattern(family: MarkerFamily, number: int) -> NDArray[np.bool_]:
    """Return a marker's cells, dark ones set, its dark frame included, without a white rim."""
    dictionary = cv2.aruco.getPredefinedDictionary(_FAMILIES[family])
    cells = dictionary.markerSize + 2
    drawn = cv2.aruco.generateImageMarker(dictionary, number, cells)
    return np.asarray(drawn, np.uint8) < 128


def corners_mm(marker: Marker) -> Points:
    """Return a marker's ``(4, 2)`` corners on the felt, in the order of detection."""
    turn = np.deg2rad(marker.angle_deg)
    right = np.array([np.cos(turn), np.sin(turn)]) * marker.side_mm / 2
    down = np.array([-np.sin(turn), np.cos(turn)]) * marker.side_mm / 2
    middle = np.array([marker.x_mm, marker.y_mm])
    around = [-right - down, right - down, right + down, down - right]
    return np.asarray(middle + np.array(around), np.float64)


def refined_corners(
    gray: NDArray[np.uint8], marker: Marker, corners_px: Points, felt: Felt
) -> Points:
    """Find a marker's corners again, ``(4, 2)`` pixels, where its sides meet.

    From the side a marker is so flat that what lies around one corner holds other corners. A side
    is long: a line through the edge at many places of it is exact.

    Args:
        gray: the picture.
        marker: its place on the felt.
        corners_px: where its corners were found.
        felt: about where the felt lies in the picture.
    """
    corners = corners_mm(marker)
    off = (corners_px - felt.to_px(corners)).mean(axis=0)
    if np.hypot(*off) < _ELSEWHERE_PX:
        off = np.zeros(2)
    reach_mm = _EDGE_SHARE * marker.side_mm
    across_mm = np.linspace(-reach_mm, reach_mm, _EDGE_STEPS)
    sides = []
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = (end - start) / np.linalg.norm(end - start)
        out = np.array([along[1], -along[0]])  # corners run clockwise, so this points outwards
        share = (np.arange(_EDGE_PLACES * _EDGE_MEAN) + 0.5) / (_EDGE_PLACES * _EDGE_MEAN)
        feet = start + (0.1 + 0.8 * share)[:, None] * (end - start)
        places = feet[:, None] + across_mm[None, :, None] * out
        px = (felt.to_px(places.reshape(-1, 2)) + off).astype(np.float32)
        x_px, y_px = (px[:, at].reshape(len(feet), _EDGE_STEPS) for at in (0, 1))
        light = np.asarray(cv2.remap(gray, x_px, y_px, cv2.INTER_LINEAR), np.float64)
        steps = light.reshape(_EDGE_PLACES, _EDGE_MEAN, -1).mean(axis=1)
        edge_mm = np.array([_crossing(row, across_mm) for row in steps])
        found = feet.reshape(_EDGE_PLACES, _EDGE_MEAN, 2).mean(axis=1) + edge_mm[:, None] * out
        found = found[np.isfinite(edge_mm)]
        if len(found) <= _EDGE_PLACES // 2:
            return corners_px
        sides.append(felt.to_px(found) + off)
    return _met(sides)


def _crossing(light: NDArray[np.float64], across_mm: NDArray[np.float64]) -> float:
    """Return where the dark inside becomes the white outside; NaN where it does not."""
    middle = (light.min() + light.max()) / 2
    last = int(np.nonzero(light < middle)[0][-1])
    if last == len(light) - 1:
        return math.nan
    share = float((middle - light[last]) / (light[last + 1] - light[last]))
    return float(across_mm[last] + share * (across_mm[1] - across_mm[0]))


def _met(sides: Sequence[Points]) -> Points:
    """Return the corners of four sides, each a row of points: side k runs from corner k on."""
    lines = []
    for points in sides:
        middle = np.median(points, axis=0)
        way = np.linalg.svd(points - points.mean(axis=0))[2][0]
        aside = np.abs((points - middle) @ (-way[1], way[0]))
        kept = points[aside <= max(2.5 * float(np.median(aside)), 1e-6)]
        kept = kept if len(kept) >= len(points) // 2 else points
        way = np.linalg.svd(kept - kept.mean(axis=0))[2][0]
        lines.append((-way[1], way[0], way[1] * kept[:, 0].mean() - way[0] * kept[:, 1].mean()))
    met = np.array([np.cross(lines[at - 1], lines[at]) for at in range(4)])
    return np.asarray(met[:, :2] / met[:, 2:], np.float64)


def find_markers(gray: NDArray[np.uint8], family: MarkerFamily) -> tuple[SeenMarker, ...]:
    """Find every marker of a family in a grey picture, by id; one may be seen at two places."""
    found, numbers, _ = _detector(family).detectMarkers(np.ascontiguousarray(gray))
    if not found:
        return ()
    seen = [
        SeenMarker(int(number), _refined(gray, np.asarray(corners, np.float32).reshape(4, 2)))
        for number, corners in zip(np.ravel(numbers), found, strict=True)
    ]
    return tuple(sorted(seen, key=lambda marker: (marker.id, *marker.corners_px[0])))


def _detector(family: MarkerFamily) -> cv2.aruco.ArucoDetector:
    settings = cv2.aruco.DetectorParameters()
    settings.minMarkerPerimeterRate = 0.02
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_NONE
    dictionary = cv2.aruco.getPredefinedDictionary(_FAMILIES[family])
    return cv2.aruco.ArucoDetector(dictionary, settings)


def _refined(gray: NDArray[np.uint8], corners: NDArray[np.float32]) -> Points:
    side = float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).mean())
    reach = max(2, round(_REFINED_SHARE * side))
    stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_MAX_ITER, 40, 0.005)
    points = np.ascontiguousarray(corners, np.float32).reshape(-1, 1, 2)
    fine = cv2.cornerSubPix(gray, points, (reach, reach), (-1, -1), stop)
    return np.asarray(fine.reshape(4, 2), np.float64)
