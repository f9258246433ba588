"""A camera in space: places over the felt to pixels, and pixels back to a plane over the felt.

A place is ``(x, y, height)`` in millimetres: x and y on the felt as in the layout, height above it.
:mod:`vision.felt` knows only the felt's own plane, which is enough for cards.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from models.chip_set import CHIP_THICK_MM
from models.layout import TableLayout
from models.session import CameraPose
from vision.felt import Points
from vision.optics import Optics

Places = NDArray[np.float64]
"""``(N, 3)`` float64: x and y on the felt and the height above it, in millimetres."""

_NEAREST_MM = 1.0
"""Depth before the lens from which a place counts as seen."""


@dataclass(frozen=True)
class Camera:
    """A camera over the felt.

    Attributes:
        turn: ``(3, 3)``, from the felt's frame with its third axis *up* to the camera's.
        shift_mm: ``(3,)``, the felt's origin in the camera's frame.
        optics: the focal length and the lens.
    """

    turn: NDArray[np.float64]
    shift_mm: NDArray[np.float64]
    optics: Optics

    @classmethod
    def of(cls, pose: CameraPose) -> "Camera":
        """Take the camera of a pose."""
        focal, (x, y) = pose.focal_px, pose.centre_px
        camera = np.array([(focal, 0.0, x), (0.0, focal, y), (0.0, 0.0, 1.0)])
        # x and y are those of a picture from above, so the pose's third axis points into the felt.
        turn = cv2.Rodrigues(np.array(pose.turn_rad))[0] * (1.0, 1.0, -1.0)
        return cls(
            np.asarray(turn, np.float64),
            np.array(pose.shift_mm, np.float64),
            Optics(camera, pose.distortion),
        )

    @cached_property
    def place_mm(self) -> NDArray[np.float64]:
        """Where the lens is: x, y and height."""
        return np.asarray(-self.turn.T @ self.shift_mm, np.float64)

    def to_flat(self, places_mm: Places) -> Points:
        """Project ``(N, 3)`` places to ``(N, 2)`` flat pixels; NaN for one behind the lens."""
        seen = places_mm @ self.turn.T + self.shift_mm
        depth = np.where(seen[:, 2:] > _NEAREST_MM, seen[:, 2:], np.nan)
        camera = self.optics.camera
        focal = np.array([camera[0, 0], camera[1, 1]])
        return np.asarray(seen[:, :2] / depth * focal + camera[:2, 2], np.float64)

    def to_px(self, places_mm: Places) -> Points:
        """Project ``(N, 3)`` places to ``(N, 2)`` pixels; NaN for one behind the lens."""
        return self.optics.bend(self.to_flat(places_mm))

    def to_mm(self, points_px: Points, height_mm: float = 0.0) -> Points:
        """Return where ``(N, 2)`` pixels meet the plane at a height: x and y, ``(N, 2)``.

        NaN for a pixel that shows nothing of the plane, as above the horizon.
        """
        towards = self.rays(self.optics.straighten(points_px))
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = (height_mm - self.place_mm[2]) / towards[:, 2:]
            met = self.place_mm[:2] + reach * towards[:, :2]
        return np.where(reach > 0, met, np.nan)

    def rays(self, flat_px: Points) -> Places:
        """Return the direction of each of ``(N, 2)`` flat pixels in the felt's frame, ``(N, 3)``.

        Its length is that of one millimetre of depth.
        """
        camera = self.optics.camera
        focal = np.array([camera[0, 0], camera[1, 1]])
        normal = (flat_px - camera[:2, 2]) / focal
        return np.asarray(np.column_stack([normal, np.ones(len(normal))]) @ self.turn, np.float64)

    def elevation_deg(self, x_mm: float, y_mm: float) -> float:
        """Return how high above the felt the camera stands, seen from a place on it."""
        x, y, height = self.place_mm - (x_mm, y_mm, 0.0)
        return math.degrees(math.atan2(height, math.hypot(x, y)))

    def height_px(self, x_mm: float, y_mm: float, height_mm: float) -> float:
        """Return how long a thing of this height, upright on the felt, is in the picture."""
        foot, head = self.to_px(np.array([(x_mm, y_mm, 0.0), (x_mm, y_mm, height_mm)]))
        return float(np.hypot(*(head - foot)))


def chip_px(camera: Camera, layout: TableLayout) -> tuple[float, float]:
    """Return how many pixels high a chip's edge is, in the farthest circle and in the nearest."""
    seen = [
        camera.height_px(spot.circle.x_mm, spot.circle.y_mm, CHIP_THICK_MM) for spot in layout.spots
    ]
    return min(seen), max(seen)
