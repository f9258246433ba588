"""The index of the decks at one table: how large it is, and where on a card it stands.

A reader infers a whole card from an index by the proportions of usual decks. Where one index alone
shows, a deck with larger indices makes larger cards. But how large a card is, the felt knows: only
place and direction belong to the index. Cards of which both ends show teach the proportions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from models.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.corners import ANCHOR_MM
from vision.felt import Points, Pose, fit_card, point_of

LEAST: Final = 3
"""Cards that teach an index before it counts. Chosen: one may be read beside a finger."""
MOST: Final = 25  # cards it is learnt from, the first ones; chosen
MIDDLE: Final = (0.5, 0.5)
USUAL_AT: Final = (ANCHOR_MM[0] / CARD_WIDTH_MM, ANCHOR_MM[1] / CARD_HEIGHT_MM)
"""Where a usual card's upper left index stands, in shares of its width and height."""


@dataclass(frozen=True, slots=True)
class Shape:
    """An index beside a usual one.

    Attributes:
        size: the width of the card that it implies, as a share of a card's.
        at: where it stands, in shares of the card's width and height from the corner beside it.
    """

    size: float = 1.0
    at: tuple[float, float] = USUAL_AT


class DeckIndex:
    """Learns the index of the decks at one table."""

    def __init__(self) -> None:
        self._taught: list[Shape] = []
        self.shape = Shape()
        """The index as far as it is known; a usual one before."""

    @property
    def learns(self) -> bool:
        """Return whether further cards may teach it."""
        return len(self._taught) < MOST

    def learn(self, one: Shape) -> None:
        """Take in the index of a card whose outline is known without it."""
        self._taught.append(one)
        if len(self._taught) >= LEAST:
            self.shape = Shape(
                median(shape.size for shape in self._taught),
                (
                    median(shape.at[0] for shape in self._taught),
                    median(shape.at[1] for shape in self._taught),
                ),
            )

    def pose(self, corners_mm: Points, held_at: Sequence[float]) -> tuple[Pose, float]:
        """Return the pose of a card of true size, and its misfit in millimetres (rms).

        Args:
            corners_mm: ``(4, 2)`` as read, clockwise from the card's own top left.
            held_at: the point in shares of width and height where they are exact.
        """
        if tuple(held_at) == MIDDLE:
            return fit_card(corners_mm)
        right_hand = held_at[0] > MIDDLE[0]
        at = (1 - self.shape.at[0], self.shape.at[1]) if right_hand else self.shape.at
        held = point_of(corners_mm, (held_at[0], held_at[1]))
        sized = held + (corners_mm - point_of(corners_mm, at)) / self.shape.size
        return fit_card(np.asarray(sized, np.float64), at)


def shape_of(corners_mm: Points, true_mm: Points, size: float) -> Shape:
    """Return the index of a card, as read and as it lies, both ``(4, 2)`` corners.

    Args:
        corners_mm: by its indices.
        true_mm: by its edges.
        size: the width that its indices imply, as a share of a card's.
    """
    across, down = true_mm[1] - true_mm[0], true_mm[3] - true_mm[0]
    way = point_of(corners_mm, USUAL_AT) - true_mm[0]
    share = np.linalg.solve(np.column_stack([across, down]), way)
    return Shape(size, (float(share[0]), float(share[1])))
