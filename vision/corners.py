"""The place of an index on a card, and the patch around it that the classifier reads.

A card's own frame is in millimetres, origin at its top left corner, x to the right, y down. The
*anchor* is a fixed point of that frame inside every deck's index, jumbo or standard; the detector
finds anchors, and the whole card follows from one of them. In a picture, a pixel's middle has whole
coordinates.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

CARD_WIDTH_MM: Final = 63.5  # a poker-size card, 2.5 inches
CARD_HEIGHT_MM: Final = 88.9  # 3.5 inches
# From the card's top left corner.
MIDDLE_MM: Final = np.array([CARD_WIDTH_MM / 2, CARD_HEIGHT_MM / 2])
ANCHOR_MM: Final = (6.5, 12.0)  # middle of a usual index, from the corner beside it
PATCH_FROM_MM: Final = (-1.5, -2.0)
"""The patch's top left corner on the card."""
PATCH_PX_PER_MM: Final = 2.0  # what the networks were trained on
PATCH_PX: Final = (40, 64)
"""Width and height of the patch the classifier reads: 20 by 32 mm of the card."""


def card_to_picture(
    anchors: NDArray[np.float32],
    ups: NDArray[np.float32],
    rights: NDArray[np.float32],
    right_hand: NDArray[np.bool_],
) -> NDArray[np.float32]:
    """Maps from each card's frame to the picture, ``(N, 2, 3)``.

    Args:
        anchors: ``(N, 2)`` pixels.
        ups: ``(N, 2)``, pixels travelled for one card width towards the card's top.
        rights: ``(N, 2)``, the same to its right.
        right_hand: ``(N,)``, the index stands in the top right corner, not the top left.
    """
    x_axis, y_axis = rights / CARD_WIDTH_MM, -ups / CARD_WIDTH_MM
    x = np.where(right_hand, CARD_WIDTH_MM - ANCHOR_MM[0], ANCHOR_MM[0])[:, None]
    origin = anchors - x_axis * x - y_axis * ANCHOR_MM[1]
    return np.asarray(np.stack([x_axis, y_axis, origin], axis=2), np.float32)


def card_corners(maps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each card's corners in the picture, ``(N, 4, 2)``, clockwise from its top left."""
    w, h = CARD_WIDTH_MM, CARD_HEIGHT_MM
    outline = np.array([[0, 0, 1], [w, 0, 1], [w, h, 1], [0, h, 1]], np.float32)
    return np.asarray(np.einsum("nij,kj->nki", maps, outline), np.float32)


def patch_map(card_map: NDArray[np.float32], right_hand: bool) -> NDArray[np.float64]:
    """Map from patch pixels to the picture, ``(2, 3)``, for one index of a card."""
    width_mm = PATCH_PX[0] / PATCH_PX_PER_MM
    left = CARD_WIDTH_MM - PATCH_FROM_MM[0] - width_mm if right_hand else PATCH_FROM_MM[0]
    step = 1 / PATCH_PX_PER_MM
    place = np.array([[step, 0, left], [0, step, PATCH_FROM_MM[1]], [0, 0, 1]])
    return np.asarray(card_map.astype(np.float64) @ place)


def bend_between(
    given: NDArray[np.float64], true: NDArray[np.float64], right_hand: bool
) -> NDArray[np.float32]:
    """Return the bend of a misplaced map, ``(6,)``: the correction that :func:`unbent` applies.

    Four numbers of the linear map from the true card's frame into the misplaced one's, minus the
    identity, and two for the offset of the true anchor in the misplaced frame, in centimetres.
    """
    into = np.linalg.inv(given[:, :2])
    anchor = anchor_of(right_hand)
    linear = into @ true[:, :2]
    place = into @ (true[:, :2] @ anchor + true[:, 2] - given[:, 2])
    return np.asarray([*(linear - np.eye(2)).ravel(), *(place - anchor) / 10], np.float32)


def unbent(
    maps: NDArray[np.float32], bends: NDArray[np.float32], right_hand: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Correct misplaced maps ``(N, 2, 3)`` by their bends ``(N, 6)``."""
    anchors = _anchors(right_hand)
    linear = maps[:, :, :2] @ (np.eye(2) + bends[:, :4].reshape(-1, 2, 2))
    place = np.einsum("nij,nj->ni", maps[:, :, :2], anchors + bends[:, 4:] * 10) + maps[:, :, 2]
    origin = place - np.einsum("nij,nj->ni", linear, anchors)
    return np.asarray(np.concatenate([linear, origin[:, :, None]], axis=2), np.float32)


def anchor_points(maps: NDArray[np.float32], right_hand: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the anchors' places in the picture, ``(N, 2)``."""
    turned = np.einsum("nij,nj->ni", maps[:, :, :2], _anchors(right_hand))
    return np.asarray(turned + maps[:, :, 2], np.float32)


def other_hand(onto: NDArray[np.floating], right_hand: bool) -> NDArray[np.float64]:
    """Return the map of the same index, read as the one in the card's other upper corner."""
    across = CARD_WIDTH_MM - 2 * ANCHOR_MM[0]
    moved = np.asarray(onto, np.float64).copy()
    moved[:, 2] += moved[:, 0] * (across if right_hand else -across)
    return moved


def _anchors(right_hand: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.array([anchor_of(bool(right)) for right in right_hand]).reshape(-1, 2)


def anchor_of(right_hand: bool) -> NDArray[np.float64]:
    """Return an index's anchor on its own card, ``(2,)`` millimetres."""
    x = CARD_WIDTH_MM - ANCHOR_MM[0] if right_hand else ANCHOR_MM[0]
    return np.array([x, ANCHOR_MM[1]])
