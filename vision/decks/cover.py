"""Find the parts of the cards in one picture that no other card can cover.

It is unknown which of two cards lies on top; a part outside every other card is visible either way.
"""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.corners import CARD_WIDTH_MM
from vision.decks.appearance import CORNERS, ends
from vision.decks.matching import LEFT_BOX

COVERED: Final = 0.03
"""Share. A part counts as open when at most this much of it lies within another card."""
WITHIN: Final = (0.6, 0.7)
"""Shares: of its area within a card, and of that card's size. A find above the first and below the
second is print on the card: cards in one picture have about one size."""
# An index in mm of the card: a pixel is 1 mm, and the patch begins at (-1.5, -2.0) mm.
_FROM_MM: Final = (LEFT_BOX[0] - 1.5, LEFT_BOX[1] - 2.0)
# Millimetres: the opposite corner of the part of an index that :mod:`vision.decks.matching`
# compares.
_TO_MM: Final = (LEFT_BOX[2] - 1.5, LEFT_BOX[3] - 2.0)

Quads = NDArray[np.float32]


def open_cards(corners_px: Quads) -> NDArray[np.bool_]:
    """Return which cards ``(N, 4, 2)`` are wholly open, ``(N,)``."""
    return np.array(
        [_open(quad, _others(corners_px, at)) for at, quad in enumerate(corners_px)], bool
    )


def open_corners(corners_px: Quads) -> NDArray[np.bool_]:
    """Return which index corners are open, ``(N, 4)``, in the order of an appearance's."""
    found = np.zeros((len(corners_px), CORNERS), bool)
    for at, quad in enumerate(corners_px):
        others = _others(corners_px, at)
        found[at] = [_open(box, others) for box in _boxes(quad)]
    return found


def _boxes(quad: Quads) -> list[Quads]:
    """Return the outlines of the four index corners in the picture."""
    left, right = (_FROM_MM[0], _TO_MM[0]), (CARD_WIDTH_MM - _TO_MM[0], CARD_WIDTH_MM - _FROM_MM[0])
    outlines = [
        np.array([[x, y, 1] for x, y in _rectangle(*across, _FROM_MM[1], _TO_MM[1])])
        for across in (left, right)
    ]
    top, bottom = ends(quad.astype(np.float64))
    return [
        np.asarray(outline @ onto.T, np.float32) for outline in outlines for onto in (top, bottom)
    ]


def _rectangle(x0: float, x1: float, y0: float, y1: float) -> list[tuple[float, float]]:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def _others(quads: Quads, at: int) -> list[Quads]:
    """Return the other cards, without those that are only print on this one."""
    return [other for k, other in enumerate(quads) if k != at and not _print(other, quads[at])]


def _print(other: Quads, quad: Quads) -> bool:
    smaller = cv2.contourArea(other) < WITHIN[1] * cv2.contourArea(quad)
    return bool(smaller) and shared(other, quad) > WITHIN[0]


def _open(part: Quads, others: list[Quads]) -> bool:
    return all(shared(part, other) <= COVERED for other in others)


def shared(part: Quads, other: Quads) -> float:
    """Return the share of a convex outline ``(K, 2)`` that lies within another."""
    area, _ = cv2.intersectConvexConvex(part, other)
    return float(area) / max(float(cv2.contourArea(part)), 1.0)
