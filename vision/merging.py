"""Join the indices of one card: their geometry and their votes."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.corners import CARD_WIDTH_MM, MIDDLE_MM, anchor_of, anchor_points, other_hand
from vision.indices import Indices
from vision.joining import joined_map, turned

SAME_PLACE: Final = 0.35
"""Card widths between the middles that two indices of one card give."""
SAME_PLACE_ASLANT: Final = 0.75
"""The same for an unknown view angle."""
FLIPPED: Final = 0.2
"""The same, where one of them must be reinterpreted as the card's other upper corner."""
ECHO_PLACE: Final = 0.4
"""Card widths between the middles that two finds of one card at different sizes give."""
ECHO_SIZE: Final = 1.08
"""Ratio. Equal cards on one spot differ less in size than this."""
CLEARLY: Final = 0.3
"""Probability of agreement above which two indices at one place belong to one card."""
ONE_PLACE: Final = 0.22
"""Card widths. Opposite indices with middles this close belong to one card where their readings
allow it: a card covering another that far hides its index."""
BARELY: Final = 0.05
"""Probability of agreement that allows it."""
ENDS_ASKEW_RAD: Final = 0.15
"""Radians. Two opposite indices that lie like a card's ends, up to this rotation, with one face,
belong to one card although both misjudge its size."""
ENDS_SIZE: Final = 2.0
"""Largest size ratio for that."""
ENDS_SPAN: Final = (0.75, 1.12)
"""Least and largest distance of two such indices, as a share of that on a usual card, where the
card's width is known. The larger an index, the deeper it stands: on decks with ranks of 5 to 23 mm
the shares were 0.83 to 1.04 (lab/notes/2026-11-29-index-sizes.md); the width may be off by 8%."""
OWN_CORNER: Final = 0.15
"""Card widths. An index this close to an equal card's own index place is that index."""
PRINT_NONE: Final = 0.1
"""Probability. A find at least this likely to be no index may be part of a court's picture."""
ON_TOP_MM: Final = 2.0
"""Millimetres. An index this far within a card's outline lies on the card; outlines are found to
that. Of 92 doubts on training photographs 71 lay so on a certain card, and none was a card."""

COVERED_MM: Final = 4.0
"""Millimetres. A card that covers a point of another one covers this much around it: a lone index
misplaces its card's outline by less."""

FANNED_SIZE: Final = 1.15
"""Ratio. A lone index misjudges its card's size by less where the camera's pose is known."""


def with_hands_settled(indices: Indices) -> Indices:
    """Reassign an index's hand where that joins it to another index of the same face.

    A detector has little evidence for the corner that an index stands in; the card's other indices
    supply it. This needs a right-hand index among the finds: most decks have none.
    """
    if not indices.right_hand.any():
        return indices
    maps, right_hand = indices.maps.copy(), indices.right_hand.copy()
    faces = indices.card_log.argmax(1)
    for one in np.argsort(indices.heat, kind="stable"):
        alike = [other for other in np.flatnonzero(faces == faces[one]) if other != one]
        views = [_view(maps[other], bool(right_hand[other])) for other in alike]
        hand = bool(right_hand[one])
        if _nearest(_view(maps[one], hand), views) < SAME_PLACE:
            continue
        mirrored = other_hand(maps[one], hand)
        four = right_hand[one] or right_hand[alike].any()
        if four and _nearest(_view(mirrored, not hand), views) < FLIPPED:
            maps[one], right_hand[one] = mirrored, not hand
    return replace(indices, maps=maps, right_hand=right_hand)


def _nearest(one: "_View", others: list["_View"]) -> float:
    return min((_distance(one, other) for other in others), default=np.inf)


def group(indices: Indices, card_width_px: float | None) -> list[list[int]]:
    """Group indices into cards: lists of their numbers, the most certain first in each.

    ``card_width_px``: how wide a card is there; ``None`` where size and view angle are unknown.
    """
    views = [_view(*given) for given in zip(indices.maps, indices.right_hand, strict=True)]
    same_place = SAME_PLACE_ASLANT if card_width_px is None else SAME_PLACE
    apart = [[_ends_apart(a, b, card_width_px) for b in views] for a in views]
    far = np.array(apart).reshape(len(views), len(views))
    pairs = [(far[a, b], a, b) for a in range(len(views)) for b in range(a)]
    card_of = list(range(len(views)))
    for distance, a, b in sorted(pairs):
        clearly = BARELY if distance < ONE_PLACE else CLEARLY
        if distance < same_place and _agreement(indices, a, b) >= clearly:
            _unite(card_of, a, b, far < same_place)
    groups = [[i for i, card in enumerate(card_of) if card == c] for c in sorted(set(card_of))]
    return [sorted(g, key=lambda i: float(indices.none_log[i])) for g in groups]


@dataclass(frozen=True, slots=True)
class _View:
    """A card as one of its indices implies it: its middle, unit up vector, and width, in pixels.

    ``inward``: from that index's anchor to the middle, in pixels.
    """

    middle: NDArray[np.float64]
    up: NDArray[np.float64]
    width: float
    right_hand: bool
    inward: NDArray[np.float64]


def _view(given: NDArray[np.floating], right_hand: bool) -> _View:
    onto = np.asarray(given, np.float64)
    up = -onto[:, 1] / max(float(np.hypot(*onto[:, 1])), 1e-6)
    width = float(np.sqrt(abs(np.linalg.det(onto[:, :2])))) * CARD_WIDTH_MM
    middle = onto[:, :2] @ MIDDLE_MM + onto[:, 2]
    inward = onto[:, :2] @ (MIDDLE_MM - anchor_of(right_hand))
    return _View(middle, up, max(width, 1e-6), bool(right_hand), inward)


def _distance(one: _View, other: _View) -> float:
    """Return the distance of the middles that two indices imply, in card widths.

    It is infinite where they cannot belong to one card. An index and its opposite point in opposite
    directions; a left and a right one point in the same or in opposite directions.
    """
    cosine = float(one.up @ other.up)
    if abs(cosine) < 0.85 or (one.right_hand == other.right_hand and cosine > 0):
        return np.inf
    if not 0.65 < one.width / other.width < 1.54:
        return np.inf
    return _apart(one, other)


def _ends_apart(one: _View, other: _View, card_width_px: float | None) -> float:
    """Return the distance where both indices may misjudge the card's size.

    Two that lie like a card's ends count as close, but only close enough to require equal faces. A
    deck's index may be larger or smaller than usual; how far its ends lie apart is the card's.
    """
    distance = _distance(one, other)
    near = SAME_PLACE_ASLANT if card_width_px is None else SAME_PLACE
    if not near <= distance < np.inf or one.right_hand != other.right_hand:
        return distance
    way = one.inward - other.inward
    between = other.middle - other.inward - (one.middle - one.inward)
    grown = float(np.hypot(*between)) / max(float(np.hypot(*way)), 1e-6)
    askew = abs(float(np.arctan2(way[0] * between[1] - way[1] * between[0], way @ between)))
    low, high = 1 / ENDS_SIZE, ENDS_SIZE
    if card_width_px is not None:
        grown *= (one.width + other.width) / 2 / card_width_px
        low, high = ENDS_SPAN
    return ONE_PLACE if low < grown < high and askew < ENDS_ASKEW_RAD else distance


def _apart(one: _View, other: _View) -> float:
    return float(np.hypot(*(one.middle - other.middle))) / min(one.width, other.width)


def _agreement(indices: Indices, a: int, b: int) -> float:
    """Return the probability that two indices read one face, relative to two certain readings."""
    one, other = np.exp(indices.card_log[a]), np.exp(indices.card_log[b])
    return float(one @ other) / max(float(one.max() * other.max()), 1e-12)


def without_duplicates(
    indices: Indices, cards: list[list[int]], maps: NDArray[np.float32], faces: list[int]
) -> list[int]:
    """Return the cards without duplicates from an index whose view angle was misjudged.

    A duplicate has the other's face, middle and direction, or is an index of the other by its
    place. An equal card that lies there too has the same size, and lies far enough off to leave
    both their indices visible.

    Args:
        indices: all indices read.
        cards: the numbers of each card's indices.
        maps: of the cards, ``(cards, 2, 3)``.
        faces: each card's reading, an index of the 52.
    """
    views = [_view(onto, False) for onto in maps]
    surest = [-float(indices.none_log[members].min()) for members in cards]
    kept: list[int] = []
    for one in sorted(range(len(cards)), key=lambda i: (-len(cards[i]), -surest[i])):
        alike = [k for k in kept if faces[one] == faces[k]]
        if not any(
            _echoes(views[one], views[k]) or _is_own(indices, cards[one], maps[k]) for k in alike
        ):
            kept.append(one)
    return sorted(kept)


def _echoes(one: _View, other: _View) -> bool:
    low, high = sorted((one.width, other.width))
    reach = ECHO_PLACE if high > ECHO_SIZE * low else ONE_PLACE
    return _apart(one, other) < reach and abs(float(one.up @ other.up)) > 0.9


def _is_own(indices: Indices, members: list[int], whole: NDArray[np.float32]) -> bool:
    """Return whether a lone index lies where a card has one of its own."""
    if len(members) > 1:
        return False
    onto, right_hand = indices.maps[members[0]], indices.right_hand[members]
    corners = np.array([whole, turned(whole.astype(np.float64))], np.float32)
    here = _view(onto, bool(right_hand[0])).up
    place = anchor_points(onto[None], right_hand)[0]
    card = _view(whole, False)
    far = np.hypot(*(anchor_points(corners, np.repeat(right_hand, 2)) - place).T) / card.width
    upright = [float(_view(corner, False).up @ here) > 0.9 for corner in corners]
    return bool((upright & (far < OWN_CORNER)).any())


def without_print(indices: Indices, cards: list[list[int]]) -> list[list[int]]:
    """Remove finds that are part of a court's picture, and keep the order.

    Another card's index within the outline of a card and almost in its pose would belong to a card
    on top of it: that one would hide one of two opposite indices.
    """
    badly_read = [
        len(members) == 1 and indices.none_log[members[0]] >= np.log(PRINT_NONE)
        for members in cards
    ]
    if not any(badly_read):
        return cards
    wholes = [joined_map(indices, members) for members in cards if _opposite(indices, members)]
    anchors = anchor_points(indices.maps, indices.right_hand)

    def is_print(one: int) -> bool:
        view = _view(indices.maps[one], False)
        return any(
            _apart(view, _view(whole, False)) < ONE_PLACE
            and abs(float(view.up @ _view(whole, False).up)) > 0.85
            and _within(whole, anchors[one])
            for whole in wholes
        )

    return [
        members
        for members, badly in zip(cards, badly_read, strict=True)
        if not (badly and is_print(members[0]))
    ]


def explained(
    indices: Indices,
    cards: list[list[int]],
    maps: NDArray[np.float32],
    faces: list[int],
    certain: list[bool],
) -> list[int]:
    """Return the cards that certain cards do not explain as print of their own.

    Nothing lies on the visible indices of a certain card. An index on it that alone makes a card of
    the same face is part of its print, and so is one that makes another card in doubt where that
    would cover one of them or be of another size: a pip, a court's figure, a chip's number. An
    equal card beneath it shows its index beside it, and of a fan both indices of a lower card are
    visible beside an upper one.

    Args:
        indices: all indices read.
        cards: the numbers of each card's indices.
        maps: of the cards, ``(cards, 2, 3)``.
        faces: each card's reading, an index of the 52.
        certain: whether that reading is certain.
    """
    tops = [at for at in range(len(cards)) if certain[at] and _opposite(indices, cards[at])]

    anchors = anchor_points(indices.maps, indices.right_hand)

    def is_print(one: int) -> bool:
        if len(cards[one]) > 1:
            return False
        return any(
            _within(maps[top], anchors[cards[one][0]], ON_TOP_MM)
            and (
                faces[one] == faces[top]
                or not (certain[one] or _fans(maps[one], maps[top], anchors[cards[top]]))
            )
            for top in tops
            if top != one
        )

    return [at for at in range(len(cards)) if not is_print(at)]


def _fans(
    upper: NDArray[np.float32], lower: NDArray[np.float32], visible: NDArray[np.floating]
) -> bool:
    """Return whether a card of the same size may lie on another and leave its indices visible."""
    size = _view(upper, False).width / _view(lower, False).width
    if not 1 / FANNED_SIZE < size < FANNED_SIZE:
        return False
    return not any(_within(upper, point, COVERED_MM) for point in visible)


def _opposite(indices: Indices, members: list[int]) -> bool:
    ups = indices.maps[members][:, :, 1]
    return bool((ups @ ups[0] < 0).any())


def _within(onto: NDArray[np.float32], point: NDArray[np.floating], margin_mm: float = 0.0) -> bool:
    place = np.linalg.solve(onto[:, :2].astype(np.float64), point - onto[:, 2])
    return bool((place > margin_mm).all() and (place < 2 * MIDDLE_MM - margin_mm).all())


def _unite(card_of: list[int], a: int, b: int, near: NDArray[np.bool_]) -> None:
    """Join two indices' cards unless that would use a corner twice."""
    mine = [i for i, card in enumerate(card_of) if card == card_of[a]]
    theirs = [i for i, card in enumerate(card_of) if card == card_of[b]]
    if mine == theirs or not near[np.ix_(mine, theirs)].all():
        return
    target = card_of[b]
    for i in mine:
        card_of[i] = target
