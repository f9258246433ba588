"""Where on the felt a card lies: in whose zone, in which hand, straight or sideways."""

from collections.abc import Sequence
from functools import lru_cache
from math import atan2, degrees, hypot, inf
from typing import Final

from models.events import Dealt
from models.layout import DEALER_POINT, Point, Polygon, SpotLayout, TableLayout, inside, middle
from settlement.reconcile.sightings import Place

APART_MM = 55.0
"""Two cards whose nearest hand-mates are further away than this are not one hand."""

TUCK_MM = 100.0
"""Cards tucked under a wager lie no further than this from the middle of its circle."""

REACH_MM = 25.0
"""A card may lie this far outside its zone and still be meant for it."""

NEXT_OFFSETS_MM = ((18.0, 8.0), (27.0, 8.0))
"""Where the next card of a hand comes to lie on the last one: right, and towards its top."""

_PLACES = 512
"""Places whose zone is remembered: a card that lies still is asked about many times."""


class Zone:
    """Whose zone a card lies in, or between whose; empty where it lies in nobody's."""

    def __init__(self, owners: tuple[Dealt, ...]) -> None:
        self.owners: Final = owners

    @property
    def owner(self) -> Dealt | None:
        """The one whose it is beyond doubt."""
        return self.owners[0] if len(self.owners) == 1 else None


class Felt:
    """The table's layout, asked about places."""

    def __init__(self, layout: TableLayout) -> None:
        self._layout = layout
        self._zones: list[tuple[Dealt, _Area]] = [("dealer", _Area(layout.dealer_cards))]
        self._zones += [(spot.spot, _Area(spot.cards)) for spot in layout.spots]
        self._out_of_play = (_Area(layout.discard_rack), _Area(layout.tray))
        self._towards_top = {spot.spot: _towards_dealer(spot) for spot in layout.spots}
        self._known = lru_cache(_PLACES)(self._zone_of)
        self._known_aside = lru_cache(_PLACES)(self._is_aside)

    @property
    def spots(self) -> tuple[int, ...]:
        """The numbers of the betting spots."""
        return tuple(spot.spot for spot in self._layout.spots)

    def zone(self, place: Place) -> Zone:
        """Tell whose zone ``place`` lies in; two owners where it lies across both."""
        return self._known((place.x_mm, place.y_mm))

    def _zone_of(self, here: Point) -> Zone:
        best = second = -inf
        owner: Dealt = "dealer"
        neighbour: Dealt = "dealer"
        for whose, area in self._zones:
            if area.at_most_mm(here) < second:
                continue
            depth = area.depth_mm(here)
            if depth > best:
                best, second, owner, neighbour = depth, best, whose, owner
            elif depth > second:
                second, neighbour = depth, whose
        if best < -REACH_MM:
            return Zone(self._at_circle(here))
        if best < 0 and best - second < REACH_MM:
            return Zone((owner, neighbour))
        return Zone((owner,))

    def _at_circle(self, here: Point) -> tuple[Dealt, ...]:
        """Cards tucked under a wager lie by its circle."""
        return tuple(
            spot.spot
            for spot in self._layout.spots
            if hypot(here[0] - spot.circle.x_mm, here[1] - spot.circle.y_mm) < TUCK_MM
        )

    def tucked(self, place: Place) -> bool:
        """Tell whether a card lies under a wager."""
        return bool(self._at_circle((place.x_mm, place.y_mm)))

    def aside(self, place: Place) -> bool:
        """Tell whether ``place`` is where cards out of play lie: rack, tray, the shoe's mouth."""
        return self._known_aside((place.x_mm, place.y_mm))

    def _is_aside(self, here: Point) -> bool:
        if any(area.depth_mm(here) > -REACH_MM for area in self._out_of_play):
            return self._known(here).owner is None
        return (
            hypot(here[0] - self._layout.shoe_mouth[0], here[1] - self._layout.shoe_mouth[1]) < 60
        )

    def sideways(self, place: Place, spot: int) -> bool:
        """Tell whether a card lies across its hand, as the one card of a double does."""
        x, y = self._towards_top[spot]
        turned = (place.angle_deg - degrees(atan2(x, -y))) % 180
        return 45 < turned < 135

    def rightward_mm(self, place: Place, spot: int) -> float:
        """Return how far to the right ``place`` is, as the cards of ``spot`` face the dealer."""
        x, y = self._towards_top[spot]
        return place.y_mm * x - place.x_mm * y

    def off_mm(self, place: Place, hand: Sequence[Place], spot: int, further: int = 0) -> float:
        """Return how far ``place`` is from where a card of ``hand`` is due.

        Args:
            place: where a card lies.
            hand: where the hand's cards lie, in the order of their deal.
            spot: whose hand it is.
            further: so many cards may lie between the hand's last one and it.
        """
        last = hand[-1]
        tx, ty = self._towards_top[spot]
        return min(
            hypot(
                place.x_mm - (last.x_mm + steps * (tx * top - ty * right)),
                place.y_mm - (last.y_mm + steps * (tx * right + ty * top)),
            )
            for steps in range(1, further + 2)
            for right, top in NEXT_OFFSETS_MM
        )


def apart_mm(one: Place, other: Place) -> float:
    """Return the distance between two cards' middles."""
    return hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)


def _towards_dealer(spot: SpotLayout) -> Point:
    x, y = DEALER_POINT[0] - spot.circle.x_mm, DEALER_POINT[1] - spot.circle.y_mm
    length = hypot(x, y) or 1.0
    return (x / length, y / length)


class _Area:
    """A polygon of the felt, and how deep places lie in it."""

    def __init__(self, polygon: Polygon) -> None:
        self._polygon = polygon
        self._edges = tuple(zip(polygon, (*polygon[1:], polygon[0]), strict=True))
        self._middle = middle(polygon)
        self._reach_mm = max(_off_mm(self._middle, corner) for corner in polygon)

    def at_most_mm(self, point: Point) -> float:
        """Return a bound of the depth of ``point``, by the circle about the corners."""
        return self._reach_mm - _off_mm(self._middle, point)

    def depth_mm(self, point: Point) -> float:
        """Return how deep ``point`` lies inside; negative is its distance outside."""
        edge = min(_segment_mm(point, one, other) for one, other in self._edges)
        return edge if inside(point, self._polygon) else -edge


def _off_mm(one: Point, other: Point) -> float:
    return hypot(one[0] - other[0], one[1] - other[1])


def _segment_mm(point: Point, one: Point, other: Point) -> float:
    dx, dy = other[0] - one[0], other[1] - one[1]
    length = dx * dx + dy * dy
    along = 0.0 if not length else ((point[0] - one[0]) * dx + (point[1] - one[1]) * dy) / length
    along = min(1.0, max(0.0, along))
    return hypot(point[0] - one[0] - along * dx, point[1] - one[1] - along * dy)
