"""A room: the camera, lamps, cloth and people of one table, drawn from a seed.

Places are millimetres in the felt's frame (``models.layout``), with z upwards from the cloth.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from models.session import CameraPose

Points: TypeAlias = NDArray[np.float64]

PICTURE_PX: Final = (1920, 1080)
MARGIN_PX: Final = 64
"""What is rendered beyond each edge of the picture: a lens with barrel distortion shows it."""
CANVAS_PX: Final = (PICTURE_PX[0] + 2 * MARGIN_PX, PICTURE_PX[1] + 2 * MARGIN_PX)
CALIBRATION_MM: Final = 0.6
"""How far off the calibration of such a camera is, a standard error: docs/camera.md."""
CLOTHS: Final = (
    (0.012, 0.115, 0.045),
    (0.012, 0.045, 0.16),
    (0.20, 0.012, 0.022),
    (0.035, 0.04, 0.045),
    (0.01, 0.11, 0.12),
    (0.10, 0.02, 0.07),
)
"""Linear colours of the cloth: green, blue, red, grey, teal, plum."""
SKINS: Final = (
    (0.62, 0.36, 0.26),
    (0.50, 0.27, 0.17),
    (0.33, 0.16, 0.09),
    (0.17, 0.075, 0.042),
    (0.07, 0.03, 0.018),
)
SLEEVES: Final = (
    (0.62, 0.62, 0.60),
    (0.012, 0.012, 0.014),
    (0.05, 0.09, 0.22),
    (0.20, 0.03, 0.03),
    (0.16, 0.15, 0.12),
)


@dataclass(frozen=True, slots=True)
class Lamp:
    """A square lamp over the table, looking at a point of the cloth."""

    at_mm: tuple[float, float, float]
    towards_mm: tuple[float, float]
    side_mm: float
    watts: float
    colour: tuple[float, float, float]


@dataclass(frozen=True)
class Room:
    """What one table looks like.

    Attributes:
        eye_mm: the camera's place.
        turn_rad: its turn from straight down, about the picture's x, y and z axis.
        radial: Brown's first two radial coefficients.
        stop: the lens's stop, which decides how soft a raised hand is.
        ambient: the light from everywhere, linear.
        gain: exposure: linear light that becomes white.
        noise: the sensor's noise in grey levels, a standard deviation.
        bands: share by which lamps flicker in bands of a rolling shutter.
        curl_mm: how far the corners of a used card stand up, on average.
    """

    seed: int
    cloth: tuple[float, float, float]
    lamps: tuple[Lamp, ...]
    ambient: tuple[float, float, float]
    eye_mm: tuple[float, float, float]
    turn_rad: tuple[float, float, float]
    focal_px: float
    radial: tuple[float, float]
    stop: float
    gain: float
    gloss: float
    noise: float
    bands: float
    exposure: float
    curl_mm: float

    @cached_property
    def turn(self) -> Points:
        """Rotation from the felt's frame (z down) to the camera's."""
        x, y, z = (
            cv2.Rodrigues(axis * a)[0] for axis, a in zip(np.eye(3), self.turn_rad, strict=True)
        )
        return np.asarray(z @ y @ x, np.float64)

    @cached_property
    def shift_mm(self) -> Points:
        """The felt's origin in the camera's frame."""
        x, y, z = self.eye_mm
        return np.asarray(-self.turn @ np.array([x, y, -z]), np.float64)

    def canvas_px(self, points_mm: Points) -> Points:
        """Project ``(N, 3)`` points into the canvas, where lines are straight: ``(N, 2)``."""
        seen = (points_mm * (1, 1, -1)) @ self.turn.T + self.shift_mm
        centre = (np.array(CANVAS_PX) - 1) / 2
        return np.asarray(seen[:, :2] / seen[:, 2:] * self.focal_px + centre, np.float64)

    @cached_property
    def lens(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Where on the canvas each pixel of the picture comes from: x and y, ``(H, W)``."""
        width, height = PICTURE_PX
        centre = (np.array(PICTURE_PX) - 1) / 2
        camera = np.array([(self.focal_px, 0, centre[0]), (0, self.focal_px, centre[1]), (0, 0, 1)])
        grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1)
        pixels = grid.reshape(-1, 1, 2).astype(np.float64)
        bent = np.array([*self.radial, 0.0, 0.0])
        flat = cv2.undistortPoints(pixels, camera, bent, P=camera).reshape(height, width, 2)
        return (flat[..., 0] + MARGIN_PX).astype(np.float32), (flat[..., 1] + MARGIN_PX).astype(
            np.float32
        )

    def pose(self) -> CameraPose:
        """Return the camera's pose as a calibration finds it, off by a fraction of a millimetre."""
        off = np.random.default_rng([self.seed, 3]).normal(0, CALIBRATION_MM, 3)
        centre = (np.array(PICTURE_PX) - 1) / 2
        return CameraPose(
            width_px=PICTURE_PX[0],
            height_px=PICTURE_PX[1],
            focal_px=self.focal_px,
            centre_px=(float(centre[0]), float(centre[1])),
            distortion=self.radial,
            turn_rad=_triple(np.asarray(cv2.Rodrigues(self.turn)[0].ravel(), np.float64)),
            shift_mm=_triple(self.shift_mm + off),
            error_mm=CALIBRATION_MM,
        )


def room(seed: int, width_mm: float, depth_mm: float) -> Room:
    """Draw a room whose camera shows a felt of this size, from a seed."""
    rng = np.random.default_rng([seed, 1])
    span = rng.uniform
    focal = PICTURE_PX[0] * span(0.85, 1.35)
    height = focal * max(width_mm / PICTURE_PX[0], depth_mm / PICTURE_PX[1]) * span(1.015, 1.05)
    lean_x, lean_y = math.radians(span(-5, 5)), math.radians(span(-4, 4))
    eye = (height * math.tan(lean_y), depth_mm / 2 + height * math.tan(lean_x), height)
    return Room(
        seed=seed,
        cloth=CLOTHS[int(rng.integers(len(CLOTHS)))],
        lamps=tuple(_lamp(rng, depth_mm) for _ in range(int(rng.integers(2, 4)))),
        ambient=_triple(np.array([0.9, 0.95, 1.0]) * span(0.12, 0.32)),
        eye_mm=eye,
        turn_rad=(-lean_x, lean_y, math.radians(span(-1.5, 1.5))),
        focal_px=focal,
        radial=(span(-0.12, 0.02), span(0.0, 0.03)),
        stop=span(1.6, 2.8),
        gain=span(0.9, 1.15),
        gloss=span(0.22, 0.42),
        noise=span(1.5, 3.5),
        bands=span(0.0, 0.015),
        exposure=span(0.3, 0.7),
        curl_mm=span(0.6, 2.6),
    )


def _lamp(rng: np.random.Generator, depth_mm: float) -> Lamp:
    side = rng.uniform(250, 900)
    warm = rng.uniform(0.0, 0.25)
    return Lamp(
        at_mm=(rng.uniform(-900, 900), rng.uniform(-300, 1500), rng.uniform(1500, 2300)),
        towards_mm=(rng.uniform(-300, 300), depth_mm / 2),
        side_mm=side,
        watts=rng.uniform(0.7, 1.3),
        colour=(1.0, 1.0 - 0.35 * warm, 1.0 - warm),
    )


def _triple(values: Points) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
