"""When what a fact tells of lies on the felt, free of the hand that laid it there.

A card leaves the shoe half a second before it lies; chips rest on their plate while the dealer's
hand still covers them. Whoever wants to see a card or a payment looks when it lies free.
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
"""How long after a fact its chips are looked for; a hand withdraws within a second."""
_AROUND: Final = 1.4
"""How much larger than its circle the looked-at square is: payments lie beside the wager."""
_AROUND_SPLIT: Final = 2.2
"""The same of the wagers beside it: of split hands, and on the side."""
_LEVELS: Final = 25
"""Grey levels by which a pixel differs where something covers it; noise stays below 12."""
_COVERED: Final = 0.04
"""The share of pixels that a hand covers at least."""

Patch = tuple[int, NDArray[np.uint8]]
"""A picture's time and its grey piece."""


def chips_rect(
    felt: Felt, layout: TableLayout, at: tuple[int, str], size_px: tuple[int, int]
) -> Rect:
    """Return the square of the picture in which the chips of a plate lie.

    Args:
        felt: how the felt lies in the picture.
        layout: where its spots are.
        at: the spot, and which of its circles, as ``PlateRead`` names them.
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
    """Cut a rectangle out of each picture's brightness."""
    left, top, width, height = rect
    return [
        (frame.at_ns, frame.gray[top : top + height, left : left + width].copy())
        for frame in frames
    ]


def free_times(seen: Sequence[Patch]) -> tuple[int, ...]:
    """Return when pictures show a place free, at least two in a row.

    What lies there is what most pictures show; a hand that passes covers it in few.

    Args:
        seen: the place in pictures one after another, while the same lay there.
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
