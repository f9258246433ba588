"""The furniture of the table: chip tray, shoe, discard rack."""

import cv2
import numpy as np

from models.chip_set import CHIP_THICK_MM
from models.layout import Polygon, TableLayout
from vision.scenes.chips import RADIUS_MM, chip_colour
from vision.scenes.lens import Lens
from vision.scenes.look import Look
from vision.scenes.sprites import Image, Matrix, padded, premultiplied, put, spread, warped

_PX_PER_MM = 3.0  # of the drawn tray
# Cents of the chips in each tube of the tray.
_TUBES = (100, 100, 500, 500, 500, 2500, 2500, 10000, 2500, 500, 500, 500, 100, 100)
SHOE_ANGLE_DEG = 66.0
"""Rotation of the shoe: its mouth points down the table and towards its middle."""


def draw_furniture(picture: Image, layout: TableLayout, look: Look, lens: Lens) -> None:
    """Draw the furniture onto the empty felt, in place."""
    rng = np.random.default_rng((look.seed, 2))
    _stand(picture, _tray(layout.tray, rng), lens, _on(layout.tray))
    _stand(picture, _rack(layout.discard_rack), lens, _on(layout.discard_rack))
    if look.dealing == "shoe":
        shoe = _shoe()
        mouth = shoe.shape[1] / 2, shoe.shape[0] - 4.0
        _stand(picture, shoe, lens, put(*layout.shoe_mouth, SHOE_ANGLE_DEG), mouth)


def _stand(
    picture: Image, sprite: Image, lens: Lens, place: Matrix, anchor: tuple[float, float] = (4, 4)
) -> None:
    """Draw a sprite with its pixel ``anchor`` at ``place``."""
    shrink = np.diag([1 / _PX_PER_MM, 1 / _PX_PER_MM, 1])
    to_px = lens.flat @ place @ shrink @ put(-anchor[0], -anchor[1])
    left, top, right, bottom = spread(sprite, to_px)
    width, height = lens.size_px
    box = (
        max(0, int(left) - 24),
        max(0, int(top) - 24),
        min(width, int(right) + 26),
        min(height, int(bottom) + 26),
    )
    if box[0] >= box[2] or box[1] >= box[3]:
        return
    drawn = warped(sprite, to_px, box)
    dark = cv2.GaussianBlur(np.roll(drawn[..., 3], (5, 4), (0, 1)), (0, 0), 6).astype(np.float32)
    part = picture[box[1] : box[3], box[0] : box[2]]
    keep = (1 - 0.5 / 255 * dark) * (1 - drawn[..., 3].astype(np.float32) / 255)
    part[:] = (part * keep[..., None]).astype(np.uint8) + drawn[..., :3]


def _on(polygon: Polygon) -> Matrix:
    """Anchor a sprite at the upper left corner of a polygon."""
    return put(min(x for x, _ in polygon), min(y for _, y in polygon))


def _extent(polygon: Polygon) -> tuple[int, int]:
    xs, ys = [x for x, _ in polygon], [y for _, y in polygon]
    return round((max(xs) - min(xs)) * _PX_PER_MM), round((max(ys) - min(ys)) * _PX_PER_MM)


def _tray(polygon: Polygon, rng: np.random.Generator) -> Image:
    """Draw a metal tray of tubes with chips on edge."""
    width, height = _extent(polygon)
    tray = np.full((height, width, 4), (62, 64, 66, 255), np.uint8)
    inset = round(6 * _PX_PER_MM)
    tube = min((width - 2 * inset) / len(_TUBES), 2.25 * RADIUS_MM * _PX_PER_MM)
    first = (width - tube * len(_TUBES)) / 2
    for at, value in enumerate(_TUBES):
        left, right = round(first + at * tube) + 3, round(first + (at + 1) * tube) - 3
        full = round((height - 2 * inset) * rng.uniform(0.55, 0.98))
        _tube(tray[inset : height - inset, left:right], full, chip_colour(value), rng)
    cv2.rectangle(tray, (0, 0), (width - 1, height - 1), (120, 122, 124, 255), 4)
    return padded(tray)


def _tube(tube: Image, full: int, colour: tuple[int, int, int], rng: np.random.Generator) -> None:
    height, width = tube.shape[:2]
    round_ = np.sqrt(np.clip(1 - np.linspace(-1, 1, width) ** 2, 0.05, 1))[None, :, None]
    tube[..., :3] = (np.array([40, 41, 42]) * (0.5 + 0.5 * round_)).astype(np.uint8)
    thick = CHIP_THICK_MM * _PX_PER_MM
    rows = np.arange(full)
    marked = (rng.random(1000) < 0.4)[(rows // thick).astype(int)]
    edge = np.where((rows % thick) < 2, 0.55, 1.0)[:, None, None]
    stripe = np.abs(np.linspace(-1, 1, width) + rng.uniform(-0.5, 0.5)) < 0.25
    paint = np.where(
        (marked[:, None] & stripe[None, :])[..., None], (224, 226, 228), np.array(colour)
    )
    tube[height - full :, :, :3] = np.clip(paint * edge * (0.35 + 0.7 * round_), 0, 255)


def _rack(polygon: Polygon) -> Image:
    """Draw a smoked acrylic box, open towards the dealer's right."""
    width, height = _extent(polygon)
    rack = np.full((height, width, 4), (28, 26, 60, 190), np.uint8)
    cv2.rectangle(rack, (2, 2), (width - 3, height - 3), (70, 66, 120, 240), 7)
    cv2.line(rack, (10, 10), (width - 12, 10), (150, 148, 180, 230), 3, cv2.LINE_AA)
    return padded(premultiplied(rack))


def _shoe() -> Image:
    """Draw a dealing shoe from above, its mouth at the bottom."""
    width, length = round(104 * _PX_PER_MM), round(215 * _PX_PER_MM)
    shoe = np.zeros((length, width, 4), np.uint8)
    shoe[:] = (30, 29, 28, 255)
    shade = 0.75 + 0.5 * np.sin(np.linspace(0.3, 2.8, width))
    shoe[..., :3] = (shoe[..., :3] * shade[None, :, None]).astype(np.uint8)
    side = round(9 * _PX_PER_MM)
    _cards_in_shoe(shoe[side : round(0.66 * length), side : width - side])
    cv2.rectangle(shoe, (0, 0), (width - 1, length - 1), (72, 72, 74, 255), 4)
    lip = shoe[round(0.7 * length) : length - side // 2, side : width - side]
    slope = np.linspace(1.9, 0.9, lip.shape[0])[:, None, None]
    lip[..., :3] = np.clip(lip[..., :3] * slope, 0, 255).astype(np.uint8)
    return padded(shoe)


def _cards_in_shoe(inside: Image) -> None:
    """Draw the cards' edges, visible through the shoe's open top."""
    rows = np.arange(inside.shape[0])
    filled = rows > 0.45 * len(rows)
    grain = np.random.default_rng(3).uniform(0.78, 1.0, len(rows))
    edges = np.where(filled, 205 * grain, 22)[:, None, None] * np.array([0.96, 0.98, 1.0])
    inside[..., :3] = np.broadcast_to(edges, (*inside.shape[:2], 3)).astype(np.uint8)
