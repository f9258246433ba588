"""Casino chips: one chip's face, and a stack as an overhead camera sees it."""

from collections.abc import Mapping
from functools import cache
from typing import Final

import cv2
import numpy as np

from models.chip_set import CHIP_DIAMETER_MM
from vision.scenes.sprites import Image, padded, premultiplied

RADIUS_MM: Final = CHIP_DIAMETER_MM / 2
PX_PER_MM: Final = 4.0  # of a drawn chip, four times the camera's
# BGR by cents: a usual American colour each.
_BODY: Final[dict[int, tuple[int, int, int]]] = {
    100: (214, 216, 218),
    250: (180, 150, 226),
    500: (40, 38, 178),
    1000: (190, 118, 40),
    2500: (64, 122, 30),
    10000: (36, 34, 34),
    50000: (128, 42, 96),
    100000: (40, 176, 224),
    500000: (60, 84, 122),
}
# BGR of other values.
_OTHER: Final = ((150, 130, 60), (90, 60, 160), (60, 140, 160), (140, 90, 110))


def chip_colour(value_cents: int) -> tuple[int, int, int]:
    """Return a chip's colour, BGR, by its value: five is red, twenty-five green."""
    return _BODY.get(value_cents) or _OTHER[value_cents // 100 % len(_OTHER)]


@cache
def chip_sprite(value_cents: int) -> Image:
    """Draw a chip from above, BGRA with premultiplied colours, at :data:`PX_PER_MM`."""
    fine = 4
    radius = RADIUS_MM * PX_PER_MM * fine
    size = 2 * round(radius)
    middle = (size - 1) / 2
    body = chip_colour(value_cents)
    marks = (226, 228, 230) if sum(body) < 560 else (176, 96, 30)
    chip = np.zeros((size, size, 4), np.uint8)
    _disc(chip, middle, radius, (*body, 255))
    for turn in range(0, 360, 45):
        _wedge(chip, middle, radius, turn, marks)
    _disc(chip, middle, 0.74 * radius, (*body, 255))
    _disc(chip, middle, 0.66 * radius, (*_towards(body, 255, 0.55), 255))
    _disc(chip, middle, 0.58 * radius, (*_towards(body, 255, 0.82), 255))
    _label(chip, value_cents, fine)
    _rim(chip, middle, radius)
    small = cv2.resize(chip, (size // fine, size // fine), interpolation=cv2.INTER_AREA)
    return padded(premultiplied(np.asarray(small, np.uint8)))


def piled(chips: Mapping[int, int]) -> tuple[int, ...]:
    """List a stack's chips from the bottom: the highest values lie lowest."""
    return tuple(value for value in sorted(chips, reverse=True) for _ in range(chips[value]))


def _disc(chip: Image, middle: float, radius: float, colour: tuple[int, ...]) -> None:
    centre = round(middle * 16), round(middle * 16)
    cv2.circle(chip, centre, round(radius * 16), colour, -1, cv2.LINE_AA, 4)


def _wedge(
    chip: Image, middle: float, radius: float, turn: int, colour: tuple[int, int, int]
) -> None:
    centre, axes = (round(middle), round(middle)), (round(radius), round(radius))
    cv2.ellipse(chip, centre, axes, 0, turn - 8, turn + 8, (*colour, 255), -1, cv2.LINE_AA)


def _rim(chip: Image, middle: float, radius: float) -> None:
    """Darken the rounded edge, so that stacked chips are distinct."""
    across = np.hypot(*np.mgrid[0 : len(chip), 0 : len(chip)] - middle) / radius
    shade = np.clip((1.02 - across) / 0.10, 0.35, 1)
    chip[..., :3] = (chip[..., :3] * shade[..., None]).astype(np.uint8)


def _label(chip: Image, value_cents: int, fine: int) -> None:
    words = f"{value_cents // 100}" if value_cents % 100 == 0 else f"{value_cents / 100:.1f}"
    size = round(11 * PX_PER_MM * fine * (1 if len(words) < 3 else 2.6 / len(words)))
    face = cv2.FontFace("sans")
    canvas = np.zeros((*chip.shape[:2], 3), np.uint8)
    end, _ = cv2.putText(canvas, words, (0, size), (255, 255, 255), face, size, 700)
    left = (len(chip) - end[0]) // 2
    canvas[:] = 0
    baseline = (len(chip) + round(0.72 * size)) // 2
    cv2.putText(canvas, words, (left, baseline), (255, 255, 255), face, size, 700)
    cover = canvas[..., :1] / 255
    ink = np.array(_towards(chip_colour(value_cents), 0, 0.6), np.float64)
    chip[..., :3] = (chip[..., :3] * (1 - cover) + ink * cover).astype(np.uint8)


def _towards(colour: tuple[int, int, int], end: int, share: float) -> tuple[int, int, int]:
    blue, green, red = (round(part + (end - part) * share) for part in colour)
    return blue, green, red
