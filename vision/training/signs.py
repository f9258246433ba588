"""The suits' signs of generated decks: drawn as curves, or set in a typeface, and bent."""

from functools import lru_cache
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vision.training.style import Style

# Standard deviation of a redrawn rank's bend, as a share of its height. Chosen, not measured.
BENT: Final = 0.02


# Standard deviation of a redrawn rank's slant. Chosen, not measured.
LEANING: Final = 0.08


THICKENED: Final = 0.05
"""Largest thickening of a redrawn rank, as a share of its height. Chosen, not measured."""


SIGNS: Final = {"S": "\u2660", "H": "\u2665", "D": "\u2666", "C": "\u2663"}


def suit_mask(suit: str, height_px: int, style: Style) -> Image.Image:
    """Return the alpha of a suit's sign, from its own outline."""
    ink = _sign(suit, style.pip_shape, style.suits, style.signs)
    width = max(2, ink.shape[1] * height_px // ink.shape[0])
    return Image.fromarray(cv2.resize(ink, (width, height_px), interpolation=cv2.INTER_AREA))


@lru_cache(maxsize=64)
def _sign(suit: str, curl: float, outline: int, signs: Path | None) -> NDArray[np.uint8]:
    """Draw a suit's sign, 256 pixels high.

    ``curl`` bends its sides; ``outline`` is a style's seed; ``signs`` a typeface to take it from.
    """
    fine = np.zeros((256, 256), np.uint8)
    if signs is not None:
        fine = _set_sign(suit, signs)
    elif outline and suit in "SC":
        _black(np.random.default_rng([outline, 5]), fine, suit, curl)
    else:
        {"S": _spade, "H": _heart, "D": _diamond, "C": _club}[suit](fine, curl)
    if outline:
        fine = reshaped(np.random.default_rng([outline, ord(suit)]), fine)
    rows, columns = np.nonzero(fine)
    return fine[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]


def _set_sign(suit: str, typeface: Path) -> NDArray[np.uint8]:
    """Draw a suit's sign from a typeface, 256 pixels high."""
    font = ImageFont.truetype(str(typeface), 256)
    left, top, right, bottom = (int(edge) for edge in font.getbbox(SIGNS[suit]))
    canvas = Image.new("L", (right - left + 4, bottom - top + 4), 0)
    ImageDraw.Draw(canvas).text((2 - left, 2 - top), SIGNS[suit], 255, font)
    longest = 252 / max(canvas.size)
    size = round(canvas.width * longest), round(canvas.height * longest)
    return np.asarray(canvas.resize(size, Image.Resampling.LANCZOS), np.uint8)


def _black(rng: np.random.Generator, canvas: NDArray[np.uint8], suit: str, curl: float) -> None:
    """Draw a deck's kind of spade or club.

    The leaves of clubs touch, merge or stand apart on arms; stems are broad or fine.
    """
    fine, flare = rng.uniform(0.012, 0.05), rng.uniform(0.05, 0.2)
    radius, arms = rng.uniform(0.145, 0.235), rng.uniform(0.04, 0.2)
    apart, low = rng.uniform(1.02, 1.35), rng.uniform(0.52, 0.62)
    top = rng.uniform(0.45, 0.55)
    if suit == "S":
        heart = np.zeros_like(canvas)
        _heart(heart, curl)
        canvas[:-12] = heart[::-1][12:]
    else:
        aside = min(radius * apart, 0.49 - radius)
        for x, y in ((0.5, radius + 0.02), (0.5 - aside, low), (0.5 + aside, low)):
            leaf = round(x * 256), round(y * 256)
            cv2.circle(canvas, leaf, round(radius * 256), 255, -1, cv2.LINE_AA)
            cv2.line(canvas, (128, 122), leaf, 255, round(arms * 256), cv2.LINE_AA)
    _stem(canvas, top, curl, fine, flare)


def reshaped(rng: np.random.Generator, fine: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Widen a sign in places, shift its parts, and change their thickness."""
    fine = np.pad(fine, 40)
    unit = len(fine)
    y = np.arange(unit)
    knots = np.linspace(0, unit - 1, 6)
    wide = np.exp(np.interp(y, knots, rng.normal(0, 0.13, 6)))
    tall = np.cumsum(np.exp(np.interp(y, knots, rng.normal(0, 0.2, 6))))
    x_from = (y[None] - unit / 2) / wide[:, None] + unit / 2
    y_from = np.broadcast_to((tall / tall[-1] * (unit - 1))[:, None], x_from.shape)
    bent = cv2.remap(fine, x_from.astype(np.float32), y_from.astype(np.float32), cv2.INTER_LINEAR)
    return _inked(rng, bent, int(rng.integers(1, 12)), thinner=0.35, thicker=0.35)


def _bent(rng: np.random.Generator, ink: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Bend a rank, slant it a little, and change its strokes' thickness.

    Ranks of playing cards are more often hand-lettered than typeset.
    """
    height, width = ink.shape
    side = max(height, width) // 4
    ink = np.pad(ink, side)
    y, x = np.mgrid[0 : ink.shape[0], 0 : ink.shape[1]].astype(np.float32)
    coarse = rng.normal(0, BENT * height, (2, 5, 5)).astype(np.float32)
    shift = [cv2.resize(each, ink.shape[::-1], interpolation=cv2.INTER_CUBIC) for each in coarse]
    lean = np.float32(rng.normal(0, LEANING))
    x_from = x + shift[0] + lean * (y - ink.shape[0] / 2)
    bent = cv2.remap(ink, x_from, y + shift[1], cv2.INTER_LINEAR)
    thick_px = max(1, round(rng.uniform(0, THICKENED) * height))
    return _inked(rng, bent, thick_px, thinner=0.2, thicker=0.4)


def _inked(
    rng: np.random.Generator, ink: cv2.typing.MatLike, px: int, *, thinner: float, thicker: float
) -> NDArray[np.uint8]:
    """Thin or thicken strokes by ``px`` pixels, with these probabilities, or leave them."""
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (px, px))
    kind = rng.random()
    if kind < thinner:
        ink = cv2.erode(ink, kernel)
    elif kind < thinner + thicker:
        ink = cv2.dilate(ink, kernel)
    return np.asarray(ink, np.uint8)


def _fill(canvas: NDArray[np.uint8], points: NDArray[np.float64]) -> None:
    cv2.fillPoly(canvas, [np.round(points * 256).astype(np.int32)], 255, cv2.LINE_AA)


def _heart(canvas: NDArray[np.uint8], curl: float) -> None:
    t = np.linspace(0, 2 * np.pi, 200)
    x = np.sign(np.sin(t)) * np.abs(np.sin(t)) ** (3 - 0.6 * curl)
    y = -(13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)) / 16
    _fill(canvas, np.stack([0.5 + 0.46 * x, 0.45 + 0.46 * y], 1))


def _diamond(canvas: NDArray[np.uint8], curl: float) -> None:
    t = np.linspace(0, 2 * np.pi, 201)
    power = 2.0 + 0.7 * curl
    x = np.sign(np.cos(t)) * np.abs(np.cos(t)) ** power
    y = np.sign(np.sin(t)) * np.abs(np.sin(t)) ** power
    _fill(canvas, np.stack([0.5 + 0.38 * x, 0.5 + 0.48 * y], 1))


def _spade(canvas: NDArray[np.uint8], curl: float) -> None:
    heart = np.zeros_like(canvas)
    _heart(heart, curl)
    canvas[:-12] = heart[::-1][12:]
    _stem(canvas, 0.55, curl)


def _club(canvas: NDArray[np.uint8], curl: float) -> None:
    radius = round((0.205 + 0.02 * curl) * 256)
    for x, y in ((0.5, 0.24), (0.27, 0.56), (0.73, 0.56)):
        cv2.circle(canvas, (round(x * 256), round(y * 256)), radius, 255, -1, cv2.LINE_AA)
    cv2.circle(canvas, (128, 122), 24, 255, -1)
    _stem(canvas, 0.5, curl)


def _stem(
    canvas: NDArray[np.uint8], top: float, curl: float, fine: float = 0.035, flare: float = 0.12
) -> None:
    """Draw the stem of a black sign; widths are shares of the sign's width."""
    y = np.linspace(top, 0.95, 20)
    half = fine + (flare + 0.06 * curl) * ((y - top) / (0.95 - top)) ** (2 + 2 * curl)
    _fill(
        canvas, np.concatenate([np.stack([0.5 - half, y], 1), np.stack([0.5 + half, y], 1)[::-1]])
    )
