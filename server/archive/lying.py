"""Find the time at which the cards or chips of a fact are visible, without a hand over them.

A card leaves the shoe half a second before it rests; chips rest on their plate while the dealer's
hand still covers them. A picture of a card or payment is best once the hand has gone.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from devices.cameras.frame import Frame
from models.layout import TableLayout
from simulation.places import insurance_place
from vision.change import Rect
from vision.felt import Felt

LOOKED_AT_NS: Final = 3_000_000_000
"""Nanoseconds after a fact within which its chips are looked for; a hand withdraws within a
second."""
_AROUND: Final = 1.4
"""Size of the square relative to its circle: payments lie beside the wager."""
_AROUND_SPLIT: Final = 2.2
"""The same for the wagers beside it: split hands and side wagers."""
_LEVELS: Final = 25
"""Grey levels of difference of a covered pixel; noise stays below 12."""
_COVERED: Final = 0.04
"""Smallest share of pixels that a hand covers."""

Patch = tuple[int, NDArray[np.uint8]]
"""A picture's time and its grey crop."""


def chips_rect(
    felt: Felt, layout: TableLayout, at: tuple[int, str], size_px: tuple[int, int]
) -> Rect:
    """Return the square of the picture that holds the chips of a plate.

    Args:
        felt: the felt in the picture.
        layout: the places of its spots.
        at: the spot and its circle, as in ``PlateRead``.
        size_px: of the picture; the square is cut off at its edge.

    Raises:
        KeyError: the felt has no such spot.
    """
    spot, name = at
    circle = layout.spot(spot).circle
    middle = insurance_place(layout, spot) if name == "I" else (circle.x_mm, circle.y_mm)
    reach = circle.radius_mm * (_AROUND if name in "0I" else _AROUND_SPLIT)
    square = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * reach
    px = felt.to_px(square + np.array(middle))
    left, top = (max(0, int(one)) for one in px.min(axis=0))
    right, bottom = (
        min(side, int(one) + 1) for side, one in zip(size_px, px.max(axis=0), strict=True)
    )
    return left, top, max(0, right - left), max(0, bottom - top)


def patches(frames: Iterable[Frame], rect: Rect) -> list[Patch]:
    """Crop a rectangle of each picture's brightness."""
    left, top, width, height = rect
    return [
        (frame.at_ns, frame.gray[top : top + height, left : left + width].copy())
        for frame in frames
    ]


def free_times(seen: Sequence[Patch]) -> tuple[int, ...]:
    """Return the times at which pictures show a place uncovered, at least two in a row.

    Most pictures show the place uncovered; a passing hand covers it in few.

    Args:
        seen: consecutive pictures of the place, with unchanged contents.
    """
    if not seen or seen[0][1].size == 0:
        return ()
    lying = np.median(np.stack([patch for _, patch in seen]), axis=0)
    free = [
        float((np.abs(patch.astype(np.float32) - lying) > _LEVELS).mean()) < _COVERED
        for _, patch in seen
    ]
    alone = [False, *free, False]
    return tuple(
        at_ns
        for number, (at_ns, _) in enumerate(seen, start=1)
        if alone[number] and (alone[number - 1] or alone[number + 1])
    )
