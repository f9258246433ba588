"""Words printed on the felt."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.scenes.sprites import Image

_BOLD = 700  # weight of a variable typeface, OpenType
_RULER = 200
"""Font size for measuring; letters are then drawn at the wanted size."""


def arc_text(
    ink: Image,
    words: str,
    hub: tuple[float, float],
    *,
    radius: float,
    height: float,
    turn_deg: float = 0.0,
) -> None:
    """Add ``words`` along an arc below ``hub``, to be read by players at the bottom.

    All in the raster's pixels: the letters' middles lie ``radius`` from the hub; ``turn_deg``
    moves the words clockwise along the arc.
    """
    strip = _strip(words, height)
    tall, wide = strip.shape
    reach = (wide / 2 + tall) / radius
    turns = np.linspace(-reach, reach, 64) - np.deg2rad(turn_deg)
    left, top, right, bottom = _arc_box(ink, hub, (radius - tall, radius + tall), turns)
    y, x = np.mgrid[top:bottom, left:right].astype(np.float32)
    across, down = x - hub[0], y - hub[1]
    turned = np.arctan2(across, down) + np.float32(np.deg2rad(turn_deg))
    along = turned * radius + wide / 2
    below = np.hypot(across, down) - radius + tall / 2
    drawn = cv2.remap(strip, along.astype(np.float32), below.astype(np.float32), cv2.INTER_LINEAR)
    part = ink[top:bottom, left:right]
    np.maximum(part, drawn.astype(np.uint8), out=part)


def straight_text(ink: Image, words: str, middle: tuple[float, float], height: float) -> None:
    """Add ``words`` about a point, upright."""
    strip = _strip(words, height)
    tall, wide = strip.shape
    left, top = round(middle[0] - wide / 2), round(middle[1] - tall / 2)
    if left < 0 or top < 0 or left + wide > ink.shape[1] or top + tall > ink.shape[0]:
        return
    part = ink[top : top + tall, left : left + wide]
    np.maximum(part, strip, out=part)


def _strip(words: str, height: float) -> NDArray[np.uint8]:
    """Draw one line of capitals about ``height`` pixels tall, white on black."""
    face = cv2.FontFace("sans")
    canvas = np.zeros((2 * _RULER, _RULER * (len(words) + 1), 3), np.uint8)
    cv2.putText(canvas, words, (20, int(1.4 * _RULER)), (255, 255, 255), face, _RULER, _BOLD)
    mask = canvas[..., 0]
    columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    cut = mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    ratio = height / cut.shape[0]
    size = max(1, round(cut.shape[1] * ratio)), max(1, round(height))
    small = cv2.resize(cut, size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.copyMakeBorder(small, 3, 3, 3, 3, cv2.BORDER_CONSTANT), np.uint8)


def _arc_box(
    ink: Image,
    hub: tuple[float, float],
    radii: tuple[float, float],
    turns: NDArray[np.float64],
) -> tuple[int, int, int, int]:
    """Return the part of a raster that an arc covers, from its inner and its outer rim."""
    away = np.array(radii)[:, None]
    x, y = hub[0] + away * np.sin(turns), hub[1] + away * np.cos(turns)
    height, width = ink.shape
    return (
        max(0, int(x.min())),
        max(0, int(hub[1]), int(y.min())),
        min(width, int(x.max()) + 2),
        min(height, int(y.max()) + 2),
    )
