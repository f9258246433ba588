"""Square markers on the felt: their patterns, and their detection in a picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import Marker, MarkerFamily
from vision.felt import Points

_FAMILIES: Final[Mapping[MarkerFamily, int]] = {
    "aruco-4x4": cv2.aruco.DICT_4X4_50,
    "apriltag-36h11": cv2.aruco.DICT_APRILTAG_36H11,
}
_REFINED_SHARE: Final = 0.07
"""Share of the marker's side within which a corner is refined."""


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
