"""Lens distortion: from undistorted pixels to those of the picture, and back.

*Flat* pixels are those of the same camera with a lens without distortion.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

# Steps at most, and px at which they end: OpenCV's solver.
_UNBEND: Final = (cv2.TERM_CRITERIA_MAX_ITER | cv2.TERM_CRITERIA_EPS, 60, 1e-9)
_FARTHEST: Final = 3.0
"""Tangent of the widest angle to the lens's axis that is computed."""


@dataclass(frozen=True)
class Optics:
    """One lens.

    Attributes:
        camera: ``(3, 3)``, focal length and centre in pixels.
        radial: the two radial coefficients.
    """

    camera: NDArray[np.float64]
    radial: tuple[float, float]

    def bend(self, flat_px: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distort ``(N, 2)`` flat pixels to those of the picture.

        A point beyond the lens's view is put on the rim of the view.
        """
        normal = (flat_px - self.camera[:2, 2]) / self._focal
        away = np.hypot(normal[:, 0], normal[:, 1])
        normal = normal * (np.minimum(away, self._rim) / np.maximum(away, 1e-12))[:, None]
        square = (normal**2).sum(axis=1, keepdims=True)
        one, two = self.radial
        bent = normal * (1 + square * (one + square * two))
        return np.asarray(bent * self._focal + self.camera[:2, 2], np.float64)

    def straighten(self, picture_px: NDArray[np.float64]) -> NDArray[np.float64]:
        """Undistort ``(N, 2)`` pixels of the picture to flat pixels."""
        if not len(picture_px):
            return picture_px
        bent = np.array([*self.radial, 0.0, 0.0])
        points = np.ascontiguousarray(picture_px, np.float64).reshape(-1, 1, 2)
        flat = cv2.undistortPoints(points, self.camera, bent, P=self.camera, criteria=_UNBEND)
        return np.asarray(flat.reshape(-1, 2), np.float64)

    @property
    def _focal(self) -> NDArray[np.float64]:
        return np.array([self.camera[0, 0], self.camera[1, 1]])

    @cached_property
    def _rim(self) -> float:
        """Return the tangent beyond which a larger angle lies no farther out in the picture."""
        one, two = self.radial
        inner = 9 * one**2 - 20 * two
        if inner < 0:
            return _FARTHEST
        # The slope 1 + 3 k1 s + 5 k2 s^2 vanishes at s = 2 / (-3 k1 +- root), s the square.
        below = [-3 * one + sign * math.sqrt(inner) for sign in (1, -1)]
        turns = [math.sqrt(2 / part) for part in below if part > 2 / _FARTHEST**2]
        return min([_FARTHEST, *turns])
