"""The part of the felt where cards in play can lie."""

import math
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import Point, TableLayout, inside
from vision.change import Grid, Mask
from vision.felt import Felt, Points

# Chosen, not measured, unless a line says otherwise.
# Distance from the shoe's mouth within which a card is in the dealer's hand.
_MOUTH_MM: Final = 60.0
_TUCKED_MM: Final = 60.0  # distance from the chips within which a pitch player tucks cards


def in_play(place: Point, layout: TableLayout) -> bool:
    """Return whether a card there is in play: outside rack, tray and the shoe's mouth."""
    if math.dist(place, layout.shoe_mouth) <= _MOUTH_MM:
        return False
    return not any(inside(place, zone) for zone in (layout.discard_rack, layout.tray))


def watched_blocks(grid: Grid, felt: Felt, layout: TableLayout) -> Mask:
    """Mark the blocks to read: all between the card zones and the betting circles.

    Outside are the players' arms and the dealer's sleeves, which move all the time.
    """
    mask = np.zeros((grid.rows, grid.columns), np.uint8)
    _fill(mask, grid, felt, _hull(layout), 1)
    for zone in (layout.tray, layout.discard_rack):
        _fill(mask, grid, felt, np.array(zone), 0)
    return mask > 0


def card_blocks(grid: Grid, felt: Felt, layout: TableLayout) -> Mask:
    """Mark the blocks of the card zones: no chips lie there."""
    mask = np.zeros((grid.rows, grid.columns), np.uint8)
    for zone in (layout.dealer_cards, *(spot.cards for spot in layout.spots)):
        _fill(mask, grid, felt, np.array(zone), 1)
    return mask > 0


def _hull(layout: TableLayout) -> Points:
    corners = [*layout.dealer_cards, *(corner for spot in layout.spots for corner in spot.cards)]
    for spot in layout.spots:
        reach = spot.circle.radius_mm + _TUCKED_MM
        corners += [
            (spot.circle.x_mm + reach * dx, spot.circle.y_mm + reach * dy)
            for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1))
        ]
    outline = cv2.convexHull(np.array(corners, np.float32))
    return np.asarray(outline.reshape(-1, 2), np.float64)


def _fill(mask: NDArray[np.uint8], grid: Grid, felt: Felt, zone: Points, by: int) -> None:
    scale = (grid.columns / grid.width_px, grid.rows / grid.height_px)
    blocks = felt.outline_px(zone) * scale - 0.5
    cv2.fillPoly(mask, [np.round(blocks).astype(np.int32)], by)
