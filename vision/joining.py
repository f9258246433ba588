"""What the indices of one card say together: its place, its name, its other indices."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.corners import MIDDLE_MM, anchor_of, anchor_points
from vision.indices import Indices

IN_PLACE_MM: Final = 5.0
"""Millimetres. An expected index counts as the card's own within this distance of its place."""


def joined_map(indices: Indices, members: list[int]) -> NDArray[np.float32]:
    """Fit one card's map to all its indices: their anchors first, then their directions."""
    first = indices.maps[members[0]].astype(np.float64)
    if len(members) == 1:
        return np.asarray(first, np.float32)
    card_points, picture_points = _anchors(indices, members, first)
    axes = [_alike(indices.maps[i].astype(np.float64), first) for i in members]
    linear = np.mean([axis[:, :2] for axis in axes], axis=0)
    spread = card_points - card_points.mean(0)
    seen = picture_points - picture_points.mean(0)
    given = spread @ linear.T
    turn = _similarity(given, seen)
    linear = turn @ linear
    origin = picture_points.mean(0) - linear @ card_points.mean(0)
    return np.asarray(np.column_stack([linear, origin]), np.float32)


def _alike(onto: NDArray[np.float64], first: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotate a map by half a turn where it views the card from its other end."""
    if onto[:, 1] @ first[:, 1] >= 0:
        return onto
    return turned(onto)


def _anchors(
    indices: Indices, members: list[int], first: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    card, picture = [], []
    for i in members:
        onto = indices.maps[i].astype(np.float64)
        own = anchor_of(bool(indices.right_hand[i]))
        picture.append(onto[:, :2] @ own + onto[:, 2])
        card.append(own if onto[:, 1] @ first[:, 1] >= 0 else 2 * MIDDLE_MM - own)
    return np.array(card), np.array(picture)


def _similarity(given: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotation and scale that bring the given points nearest to the seen ones."""
    weight = float((given**2).sum())
    if weight < 1e-6:
        return np.eye(2)
    along = float((given * seen).sum()) / weight
    across = float((given[:, 0] * seen[:, 1] - given[:, 1] * seen[:, 0]).sum()) / weight
    return np.array([[along, -across], [across, along]])


def joined_vote(
    indices: Indices,
    members: list[int],
    overlap: float,
    face: NDArray[np.float64],
    beside_face: float,
) -> NDArray[np.float64]:
    """Combine the votes of one card's indices and of its face, ``(53,)``: 52 cards and none.

    They share a typeface, a light and a lens, and so their errors. Where the face prefers the
    indices' card, it takes nothing away: the more certain of indices alone and both together
    counts.

    Args:
        indices: all indices read.
        members: the numbers of this card's indices.
        overlap: the share of an index's evidence that the others repeat; with 0 each counts in
            full, with 1 all count as one.
        face: ``(53,)``, the whole face's evidence, already weighted.
        beside_face: the indices' weight beside it.
    """
    logs = np.column_stack([indices.card_log[members], indices.none_log[members]]).sum(0)
    logs /= len(members) ** overlap
    alone, both = _chances(logs), _chances(logs * beside_face + face)
    agreed = face[alone[:52].argmax()] == face[:52].max()
    return alone if agreed and alone[:52].max() > both[:52].max() else both


def _chances(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum(), np.float64)


def unseen_corners(
    indices: Indices, cards: list[list[int]]
) -> tuple[NDArray[np.float32], NDArray[np.bool_], list[int]]:
    """Return the indices that must exist but were not found: maps ``(N, 2, 3)``, sides, cards.

    These are the one opposite each, and all four where one stands in a right-hand corner.
    """
    maps, right_hand, cards_of = [], [], []
    for number, members in enumerate(cards):
        onto = joined_map(indices, members).astype(np.float64)
        corners = [(onto, False), (turned(onto), False)]
        if indices.right_hand[members].any():
            corners += [(onto, True), (turned(onto), True)]
        for corner, right in corners:
            if not any(_is_at(indices, i, corner, right) for i in members):
                maps.append(corner)
                right_hand.append(right)
                cards_of.append(number)
    return np.array(maps, np.float32).reshape(-1, 2, 3), np.array(right_hand, bool), cards_of


def _is_at(indices: Indices, member: int, corner: NDArray[np.float64], right: bool) -> bool:
    upright = float(indices.maps[member][:, 1] @ corner[:, 1]) > 0
    return upright and bool(indices.right_hand[member]) == right


def turned(onto: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the map of the same card viewed from its other end."""
    other = -onto
    other[:, 2] = onto[:, :2] @ (2 * MIDDLE_MM) + onto[:, 2]
    return other


def in_place(
    given: NDArray[np.float32], seen: NDArray[np.float32], right_hand: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return whether indices ``(N, 2, 3)`` were seen at their expected places, ``(N,)``."""
    far = anchor_points(seen, right_hand) - anchor_points(given, right_hand)
    px_per_mm = np.sqrt(np.abs(np.linalg.det(given[:, :, :2])))
    return np.asarray(np.hypot(*far.T) < IN_PLACE_MM * px_per_mm)
