"""Small pictures with soft edges, composited into the large one."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

Image: TypeAlias = NDArray[np.uint8]
Matrix: TypeAlias = NDArray[np.float64]
"""``(3, 3)``, homogeneous."""
Box: TypeAlias = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are outside."""


@dataclass(frozen=True)
class Patch:
    """Something drawn at one place of the picture, with premultiplied colours.

    Attributes:
        left, top: place of its first pixel.
        colour: ``(h, w, 3)`` uint8 BGR, the colour that it adds.
        keep: ``(h, w, 3)`` uint8, the share of the picture beneath that stays: 255 all, 0 none.
    """

    left: int
    top: int
    colour: Image
    keep: Image

    @classmethod
    def of(cls, left: int, top: int, bgra: Image) -> Self:
        """Take a BGRA picture whose colours are already multiplied by its alpha."""
        keep = cv2.cvtColor(255 - bgra[..., 3], cv2.COLOR_GRAY2BGR)
        colour = cv2.cvtColor(bgra, cv2.COLOR_BGRA2BGR)
        return cls(left, top, np.asarray(colour, np.uint8), np.asarray(keep, np.uint8))

    @property
    def right(self) -> int:
        """The first column beyond it."""
        return self.left + int(self.colour.shape[1])

    @property
    def bottom(self) -> int:
        """The first row beyond it."""
        return self.top + int(self.colour.shape[0])

    @cached_property
    def box(self) -> Box:
        """The pixels it covers."""
        return self.left, self.top, self.right, self.bottom

    def lay(self, onto: Image) -> None:
        """Draw it over ``onto``, in place."""
        under = onto[self.top : self.bottom, self.left : self.right]
        cv2.multiply(under, self.keep, under, 1 / 255)
        cv2.add(under, self.colour, under)

    def within(self, box: Box) -> Self | None:
        """Return the part inside ``box``; ``None`` without an overlap."""
        shared = overlap(self.box, box)
        if shared is None:
            return None
        left, top, right, bottom = shared
        part = np.s_[top - self.top : bottom - self.top, left - self.left : right - self.left]
        return type(self)(left, top, self.colour[part], self.keep[part])


def overlap(one: Box, other: Box) -> Box | None:
    """Return the overlap of two boxes; ``None`` without one."""
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[2], other[2]), min(one[3], other[3])
    return (left, top, right, bottom) if left < right and top < bottom else None


def grown(box: Box, by: int, size_px: tuple[int, int]) -> Box:
    """Widen a box on every side, within the picture."""
    left, top, right, bottom = box
    return (
        max(0, left - by),
        max(0, top - by),
        min(size_px[0], right + by),
        min(size_px[1], bottom + by),
    )


def premultiplied(bgra: Image) -> Image:
    """Premultiply the colours of a BGRA picture by its alpha, so that edges blend cleanly."""
    alpha = cv2.cvtColor(bgra[..., 3], cv2.COLOR_GRAY2BGR)
    out = bgra.copy()
    out[..., :3] = cv2.multiply(bgra[..., :3], alpha, scale=1 / 255)
    return out


def padded(sprite: Image, by: int = 4) -> Image:
    """Add a transparent border to a sprite, so that its outline is smoothed too."""
    return np.asarray(cv2.copyMakeBorder(sprite, by, by, by, by, cv2.BORDER_CONSTANT), np.uint8)


def on_felt(sprite: Image, px_per_mm: tuple[float, float]) -> Matrix:
    """Map a sprite's pixels to millimetres about its middle."""
    height, width = sprite.shape[:2]
    along_x, along_y = 1 / px_per_mm[0], 1 / px_per_mm[1]
    return np.array(
        [
            [along_x, 0, (1 - width) / 2 * along_x],
            [0, along_y, (1 - height) / 2 * along_y],
            [0, 0, 1],
        ]
    )


def put(x_mm: float, y_mm: float, angle_deg: float = 0.0, scale: float = 1.0) -> Matrix:
    """Return a clockwise rotation (in the picture), scaling and translation."""
    cos, sin = scale * np.cos(np.deg2rad(angle_deg)), scale * np.sin(np.deg2rad(angle_deg))
    return np.array([[cos, -sin, x_mm], [sin, cos, y_mm], [0, 0, 1]])


def spread(sprite: Image, to_px: Matrix) -> tuple[float, float, float, float]:
    """Return the bounds, in pixels, of a sprite mapped by ``to_px``."""
    height, width = sprite.shape[:2]
    corners = np.array([[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], float)
    mapped = cv2.perspectiveTransform(corners.reshape(-1, 1, 2), to_px).reshape(-1, 2)
    (left, top), (right, bottom) = mapped.min(axis=0), mapped.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def warped(sprite: Image, to_px: Matrix, box: Box, fine: int = 2) -> Image:
    """Sample a sprite into ``box``: drawn ``fine`` times larger, then averaged down."""
    left, top, right, bottom = box
    middle = (fine - 1) / 2
    enlarge = np.array([[fine, 0, middle - fine * left], [0, fine, middle - fine * top], [0, 0, 1]])
    size = (fine * (right - left), fine * (bottom - top))
    big = cv2.warpPerspective(sprite, enlarge @ to_px, size, flags=cv2.INTER_LINEAR)
    if fine > 1:
        big = cv2.resize(big, (right - left, bottom - top), interpolation=cv2.INTER_AREA)
    return np.asarray(big, np.uint8)


def smeared(pixels: Image, by_px: tuple[float, float]) -> Image:
    """Blur a picture along ``by_px``, centred, like the motion of an exposure."""
    step_x, step_y = by_px[0] / 4, by_px[1] / 4
    while max(abs(step_x), abs(step_y)) >= 0.5:
        ahead, behind = (_moved(pixels, sign * step_x, sign * step_y) for sign in (1, -1))
        pixels = np.asarray(cv2.addWeighted(ahead, 0.5, behind, 0.5, 0), np.uint8)
        step_x, step_y = step_x / 2, step_y / 2
    return pixels


def _moved(pixels: Image, by_x: float, by_y: float) -> Image:
    shift = np.array([[1, 0, round(by_x)], [0, 1, round(by_y)]], np.float64)
    size = pixels.shape[1], pixels.shape[0]
    return np.asarray(cv2.warpAffine(pixels, shift, size, flags=cv2.INTER_NEAREST), np.uint8)
