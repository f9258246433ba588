"""The places of a tidy dealer's cards and chips: poses in millimetres on a given felt."""

from dataclasses import dataclass, replace
from functools import cache
from math import atan2, cos, degrees, hypot, radians, sin
from typing import Final

from models.layout import DEALER_POINT, Point, SpotLayout, TableLayout, middle
from vision.scenes.performance import Place

_ROW_MM: Final = 72.0
_BOX_MM: Final = (0.0, 75.0, -75.0, 150.0, -150.0, 225.0)
_STACK_MM: Final = (0.0, 42.0, -42.0)
_STEP_MM: Final = (18.0, -8.0)
_SIDEWAYS_MM: Final = (27.0, -8.0)
_SLOTS: Final = ((-1, 1), (1, 1), (-1, -1), (1, -1), (0, 1), (0, -1))
"""Columns and rows of split hands; the last two are for illegal hands."""
_PER_ROW: Final = 6
_UP_CARD: Final = (-150.0, 285.0)
_HOLE_SHIFT_MM: Final = 30.0
_DRAW_MM: Final = 70.0
_DEALER_ROW: Final = 7
_CLEAR_MM: Final = 130.0


@dataclass(frozen=True, slots=True)
class SpotPlaces:
    """The poses of one spot, in its own frame: right and outward from its cards."""

    cards: Point
    circle: Point
    out: Point
    half_mm: float
    """Half the distance between two columns of split hands."""
    player: Point
    """A point off the felt for the player's cards in the hand."""

    @property
    def right(self) -> Point:
        """Direction to the right of a card whose top edge faces the dealer."""
        return (self.out[1], -self.out[0])

    @property
    def angle_deg(self) -> float:
        """Direction of such a card's top edge."""
        return degrees(atan2(-self.out[0], self.out[1]))

    def at(self, origin: Point, right_mm: float, out_mm: float) -> Point:
        """Return the point this far to the right of and outward from ``origin``."""
        (rx, ry), (ux, uy) = self.right, self.out
        return (
            origin[0] + rx * right_mm + ux * out_mm,
            origin[1] + ry * right_mm + uy * out_mm,
        )

    def card(self, slot: int | None, number: int) -> Place:
        """Return the pose of card ``number`` of a hand; ``slot`` is ``None`` before a split."""
        row, column = divmod(number, _PER_ROW)
        right = _STEP_MM[0] * column - 20.0
        out = _STEP_MM[1] * column - 26.0 * row + 10.0
        if slot is not None:
            side, row_of_slot = _SLOTS[slot % len(_SLOTS)]
            right, out = right + self.half_mm * side, out + _ROW_MM * row_of_slot
        return Place(*self.at(self.cards, right, out), self.angle_deg)

    def sideways(self, last: Place) -> Place:
        """Return the pose of a double's card, across the last one."""
        place = self.at((last.x_mm, last.y_mm), *_SIDEWAYS_MM)
        return Place(*place, self.angle_deg + 90.0)

    def stack(self, hand: int, number: int) -> Point:
        """Return the place of stack ``number`` of a hand's wager."""
        row, column = divmod(number, len(_STACK_MM))
        return self.at(self.circle, _BOX_MM[hand % len(_BOX_MM)] + 9.0 * row, _STACK_MM[column])

    def side(self, number: int) -> Point:
        """Return the place of stack ``number`` of a side wager."""
        return self.at(self.circle, 14.0 * number, 95.0)

    def tucked(self, number: int) -> Place:
        """Return the place of a card tucked under its wager."""
        return Place(*self.at(self.circle, 16.0 * number - 8.0, -72.0), self.angle_deg)


def spot_places(layout: TableLayout, spot: int) -> SpotPlaces:
    """Return the poses of ``spot``; raises ``KeyError`` where the felt has none."""
    return _places(layout.spot(spot), layout.width_mm, layout.depth_mm)


@cache
def _places(found: SpotLayout, width_mm: float, depth_mm: float) -> SpotPlaces:
    x, y = found.circle.x_mm - DEALER_POINT[0], found.circle.y_mm - DEALER_POINT[1]
    length = hypot(x, y)
    out = (x / length, y / length)
    cards, circle = middle(found.cards), (found.circle.x_mm, found.circle.y_mm)
    places = SpotPlaces(cards, circle, out, 0.0, _beyond(circle, out, width_mm, depth_mm))
    across = [
        (px - places.cards[0]) * places.right[0] + (py - places.cards[1]) * places.right[1]
        for px, py in found.cards
    ]
    width = (max(across) - min(across)) * 0.85
    return replace(places, half_mm=min(88.0, width / 4))


def _beyond(circle: Point, out: Point, width_mm: float, depth_mm: float) -> Point:
    """Return the first point outward from a circle that lies clear of the felt."""
    x, y = circle
    while abs(x) < width_mm / 2 + _CLEAR_MM and y < depth_mm + _CLEAR_MM:
        x, y = x + out[0] * 10.0, y + out[1] * 10.0
    return x, y


def insurance_place(layout: TableLayout, spot: int) -> Point:
    """Return the point of the insurance line before ``spot``."""
    out = spot_places(layout, spot).out
    return max(
        layout.insurance_line,
        key=lambda p: (
            (p[0] * out[0] + (p[1] - DEALER_POINT[1]) * out[1])
            / hypot(p[0], p[1] - DEALER_POINT[1])
        ),
    )


def up_card() -> Place:
    """Return the pose of the dealer's up card."""
    return Place(*_UP_CARD)


def hole_card() -> Place:
    """Return the pose of the hole card, a strip of its back beside the up card."""
    return Place(_UP_CARD[0] + _HOLE_SHIFT_MM, _UP_CARD[1])


def dealer_card(number: int) -> Place:
    """Return the pose of the dealer's face-up card ``number`` (the turned hole card is 1)."""
    row, column = divmod(number, _DEALER_ROW)
    return Place(_UP_CARD[0] + _DRAW_MM * column, _UP_CARD[1] - 75.0 * row)


def shifted(place: Place, right_mm: float, out_mm: float, turn_deg: float) -> Place:
    """Return a pose moved in its own frame and rotated: a hand is never exact."""
    a = radians(place.angle_deg)
    return Place(
        place.x_mm + cos(a) * right_mm - sin(a) * out_mm,
        place.y_mm + sin(a) * right_mm + cos(a) * out_mm,
        place.angle_deg + turn_deg,
    )
