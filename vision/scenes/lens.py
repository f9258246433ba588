"""The projection of the felt into the picture, and the light on it."""

import math
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import TableLayout
from models.session import CameraPose, ReferencePoint
from vision.scenes.look import Look
from vision.scenes.sprites import Image, Matrix, Patch

_FOCAL_WIDTHS = 1.25
"""Focal length in picture widths: a view of 44 degrees across."""
_MARGIN = 1.011
"""Scale of the view: a little of the felt's surroundings is visible too."""
_GAIN_ONE = 150
"""The 8-bit gain that leaves brightness unchanged."""


class Lens:
    """A camera over the felt.

    Drawing happens in the picture of a lens without distortion ("flat" pixels); the last step
    distorts it. Pixel coordinates are OpenCV's: the middle of the first pixel is (0, 0).

    Args:
        layout: the felt.
        look: the camera over its middle, where ``pose`` is absent.
        pose: another camera, anywhere above the felt; of the look's camera nothing counts then.
    """

    def __init__(self, layout: TableLayout, look: Look, pose: CameraPose | None = None) -> None:
        if pose is None:
            self.size_px = look.width_px, look.height_px
            self.px_per_mm = look.zoom * min(
                look.width_px / (layout.width_mm * _MARGIN),
                look.height_px / (layout.depth_mm * _MARGIN),
            )
            self._distortion = np.array([look.distortion, 0.0, 0.0, 0.0])
            self._camera = _intrinsics(look)
            self._plane = _pose(layout, look, self.px_per_mm)
        else:
            self.size_px = pose.width_px, pose.height_px
            # In steps, so that cameras at about the same distance share the drawn print.
            self.px_per_mm = math.ceil(2 * pose.focal_px / pose.shift_mm[2]) / 2
            self._distortion = np.array([*pose.distortion, 0.0, 0.0])
            self._camera = _matrix(pose.focal_px, pose.centre_px)
            turn = cv2.Rodrigues(np.array(pose.turn_rad))[0]
            self._plane = np.column_stack([turn[:, :2], pose.shift_mm])
        self.flat: Matrix = self._camera @ self._plane
        """Homography from millimetres on the felt to flat pixels."""
        self.height_mm = float(self._camera[0, 0] / self.px_per_mm)
        """Height of the camera in mm."""

    def pose(self) -> CameraPose:
        """Return the camera's pose as an exact calibration would find it."""
        across, down, shift = self._plane.T
        turn = cv2.Rodrigues(np.column_stack([across, down, np.cross(across, down)]))[0].ravel()
        return CameraPose(
            width_px=self.size_px[0],
            height_px=self.size_px[1],
            focal_px=float(self._camera[0, 0]),
            centre_px=(float(self._camera[0, 2]), float(self._camera[1, 2])),
            distortion=(float(self._distortion[0]), float(self._distortion[1])),
            turn_rad=(float(turn[0]), float(turn[1]), float(turn[2])),
            shift_mm=(float(shift[0]), float(shift[1]), float(shift[2])),
            error_mm=0.0,
        )

    def project(self, points_mm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map ``(N, 2)`` millimetres on the felt to ``(N, 2)`` pixels of the final picture."""
        flat = cv2.perspectiveTransform(points_mm.reshape(-1, 1, 2).astype(np.float64), self.flat)
        if not self._distortion.any():
            return np.asarray(flat.reshape(-1, 2), np.float64)
        normal = cv2.undistortPoints(flat, self._camera, np.zeros(4)).reshape(-1, 2)
        rays = np.column_stack([normal, np.ones(len(normal))])
        bent, _ = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), self._camera, self._distortion)
        return np.asarray(bent.reshape(-1, 2), np.float64)

    def felt_grid(self) -> NDArray[np.float32]:
        """Return the place on the felt of every flat pixel, ``(H, W, 2)`` millimetres."""
        width, height = self.size_px
        grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1)
        back = np.linalg.inv(self.flat)
        on_felt = cv2.perspectiveTransform(grid.reshape(-1, 1, 2).astype(np.float32), back)
        return np.asarray(on_felt, np.float32).reshape(height, width, 2)

    def bend(self, picture: Image) -> Image:
        """Distort a flat picture as the lens does; without distortion, return it unchanged."""
        if not self._distortion.any():
            return picture
        return np.asarray(cv2.remap(picture, *self._bent, cv2.INTER_LINEAR), np.uint8)

    @cached_property
    def _bent(self) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
        width, height = self.size_px
        grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1)
        places = grid.reshape(-1, 1, 2).astype(np.float32)
        flat = cv2.undistortPoints(places, self._camera, self._distortion, P=self._camera)
        maps = cv2.convertMaps(
            flat.reshape(height, width, 2).astype(np.float32), np.empty(0), cv2.CV_16SC2
        )
        return np.asarray(maps[0], np.int16), np.asarray(maps[1], np.uint16)


class Light:
    """The lamps over the table: a gradient of brightness, their colour, one reflection."""

    def __init__(self, look: Look) -> None:
        y, x = np.mgrid[0 : look.height_px, 0 : look.width_px].astype(np.float32)
        x, y = x / look.width_px - 0.5, y / look.width_px - 0.5 * look.height_px / look.width_px
        gain = look.brightness * _slope(x, y, look)
        colour = np.array([1 - look.warmth, 1.0, 1 + look.warmth], np.float32)
        self._gain = np.clip(gain[..., None] * colour * _GAIN_ONE, 0, 255).round().astype(np.uint8)
        self._glare = _glare(x, y, look)

    def on_cloth(self, picture: Image) -> Image:
        """Light a whole picture of matte things."""
        lit = cv2.multiply(picture, self._gain, scale=1 / _GAIN_ONE)
        dull = cv2.cvtColor(self._glare // 3, cv2.COLOR_GRAY2BGR)
        return np.asarray(cv2.add(lit, dull), np.uint8)

    def on(self, patch: Patch) -> Patch:
        """Light one glossy thing at its place."""
        part = np.s_[patch.top : patch.bottom, patch.left : patch.right]
        colour = cv2.multiply(patch.colour, self._gain[part], scale=1 / _GAIN_ONE)
        if self._glare[part].any():
            shine = cv2.cvtColor(self._glare[part], cv2.COLOR_GRAY2BGR)
            colour = cv2.add(colour, cv2.multiply(shine, 255 - patch.keep, scale=1 / 255))
        return Patch(patch.left, patch.top, np.asarray(colour, np.uint8), patch.keep)


def reference_points(layout: TableLayout, look: Look) -> tuple[ReferencePoint, ...]:
    """Return the places of printed marks in the picture, as an installer would click them.

    They are the middles of the betting circles, and the ends and the middle of the insurance line:
    seven or more, spread over the whole felt, exact.
    """
    line = layout.insurance_line
    marks = [(spot.circle.x_mm, spot.circle.y_mm) for spot in layout.spots]
    marks += [line[0], line[len(line) // 2], line[-1]]
    places = Lens(layout, look).project(np.array(marks, np.float64))
    return tuple(
        ReferencePoint(x_px=float(x_px), y_px=float(y_px), x_mm=x_mm, y_mm=y_mm)
        for (x_px, y_px), (x_mm, y_mm) in zip(places, marks, strict=True)
    )


def _intrinsics(look: Look) -> Matrix:
    middle = (look.width_px - 1) / 2, (look.height_px - 1) / 2
    return _matrix(_FOCAL_WIDTHS * look.width_px, middle)


def _matrix(focal_px: float, centre_px: tuple[float, float]) -> Matrix:
    return np.array([[focal_px, 0, centre_px[0]], [0, focal_px, centre_px[1]], [0, 0, 1]])


def _pose(layout: TableLayout, look: Look, px_per_mm: float) -> Matrix:
    """Return the felt's plane in the camera's frame: columns x, y and the origin."""
    focal = _FOCAL_WIDTHS * look.width_px
    distance = focal / px_per_mm
    about_x, about_y = (np.deg2rad(angle) for angle in look.tilt_deg)
    turn = (
        cv2.Rodrigues(np.array([0, 0, np.deg2rad(look.rotation_deg)]))[0]
        @ cv2.Rodrigues(np.array([about_x, 0.0, 0.0]))[0]
        @ cv2.Rodrigues(np.array([0.0, about_y, 0.0]))[0]
    )
    shift = np.array([*look.shift_px, 0.0]) / px_per_mm
    middle = np.array([0.0, layout.depth_mm / 2, 0.0])
    origin = np.array([0.0, 0.0, distance]) + shift - turn @ middle
    return np.asarray(np.column_stack([turn[:, 0], turn[:, 1], origin]), np.float64)


def _slope(x: NDArray[np.float32], y: NDArray[np.float32], look: Look) -> NDArray[np.float32]:
    angle = np.deg2rad(look.light_from_deg)
    slope = 1 + 2 * look.light_slope * (x * np.cos(angle) + y * np.sin(angle))
    vignette = 1 - 0.28 * (x * x + y * y)
    return np.asarray(slope * vignette, np.float32)


def _glare(x: NDArray[np.float32], y: NDArray[np.float32], look: Look) -> Image:
    at_x = look.glare_at[0] - 0.5
    at_y = (look.glare_at[1] - 0.5) * look.height_px / look.width_px
    wide = ((x - at_x) / 0.07) ** 2 + ((y - at_y) / 0.05) ** 2
    return np.asarray(np.clip(110 * look.glare * np.exp(-wide / 2), 0, 255), np.uint8)
