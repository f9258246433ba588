"""The felt in millimetres: where spots, circles, the dealer's cards, shoe and tray lie.

Frame: origin at the middle of the dealer's edge, x to the dealer's left (towards spot 1),
y towards the players. Seen from above with the dealer at the top of the picture, x runs to
the right and y down: the same handedness as pixels.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

CARD_WIDTH_MM = 63.5
CARD_HEIGHT_MM = 88.9

Point: TypeAlias = tuple[float, float]
"""``(x_mm, y_mm)`` on the felt."""

DEALER_POINT: Final[Point] = (0.0, 40.0)
"""Where the dealer stands. Every spot faces this point, and the arcs of the print are drawn about
it."""

Polygon: TypeAlias = Annotated[tuple[Point, ...], Meta(min_length=3)]

MarkerFamily: TypeAlias = Literal["aruco-4x4", "apriltag-36h11"]
"""The family of a felt's square markers: ArUco's 50 patterns of 4 by 4, or AprilTag's 587."""


class Circle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A betting circle."""

    x_mm: float
    y_mm: float
    radius_mm: Annotated[float, Meta(gt=0)]


class SpotLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One betting spot: its circle, and the zone its cards are dealt into."""

    spot: Annotated[int, Meta(ge=1, le=99)]
    circle: Circle
    cards: Polygon


class Marker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A square pattern, printed on the felt or stuck to it, that a camera detects by itself."""

    id: Annotated[int, Meta(ge=0, le=586)]
    """Index of the pattern in its family."""
    x_mm: float
    y_mm: float
    """Centre, with ``x_mm``."""
    side_mm: Annotated[float, Meta(ge=15, le=200)]
    """Side of the black square, without the white rim."""
    angle_deg: float = 0.0
    """Direction of its top edge from its middle, clockwise from the felt's -y."""


class TableLayout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The printed felt of one table."""

    name: str
    width_mm: Annotated[float, Meta(gt=0, le=10_000)]
    depth_mm: Annotated[float, Meta(gt=0, le=10_000)]
    spots: Annotated[tuple[SpotLayout, ...], Meta(min_length=1, max_length=12)]
    insurance_line: Annotated[tuple[Point, ...], Meta(min_length=2)]
    dealer_cards: Polygon
    shoe_mouth: Point
    discard_rack: Polygon
    tray: Polygon
    marker_family: MarkerFamily = "aruco-4x4"
    markers: tuple[Marker, ...] = ()
    """Positions of the markers, outside the places of cards. At least four fix a camera's pose."""

    def spot(self, number: int) -> SpotLayout:
        """Return spot ``number``; raises ``KeyError`` where the felt has none."""
        for spot in self.spots:
            if spot.spot == number:
                return spot
        raise KeyError(number)


def inside(point: Point, polygon: Polygon) -> bool:
    """Whether ``point`` lies in ``polygon`` (even-odd rule)."""
    x, y = point
    crossings = 0
    for (x0, y0), (x1, y1) in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * (x1 - x0) / (y1 - y0):
            crossings += 1
    return crossings % 2 == 1


def middle(polygon: Polygon) -> Point:
    """Return the mean of the corners."""
    return (
        sum(x for x, _ in polygon) / len(polygon),
        sum(y for _, y in polygon) / len(polygon),
    )


def landmarks(layout: TableLayout) -> dict[str, Point]:
    """Name the points of a felt that a person can click in a picture.

    ``circle-1`` …, the middles of the betting circles; ``line-left``, ``line-middle``,
    ``line-right`` of the insurance line, from the dealer; ``tray-1`` … and ``rack-1`` …, their
    corners in the layout's order; ``marker-0`` …, the markers' middles.
    """
    line = sorted(layout.insurance_line, reverse=True)
    named = {f"circle-{s.spot}": (s.circle.x_mm, s.circle.y_mm) for s in layout.spots}
    named |= {"line-left": line[0], "line-right": line[-1]}
    if len(line) % 2:
        named["line-middle"] = line[len(line) // 2]
    named |= {f"tray-{at}": corner for at, corner in enumerate(layout.tray, 1)}
    named |= {f"rack-{at}": corner for at, corner in enumerate(layout.discard_rack, 1)}
    return named | {f"marker-{m.id}": (m.x_mm, m.y_mm) for m in layout.markers}


def faults(layout: TableLayout) -> tuple[str, ...]:
    """Return why a layout cannot be a real felt: empty where it can."""
    numbers = [spot.spot for spot in layout.spots]
    found = []
    if numbers != list(range(1, len(numbers) + 1)):
        found.append(f"spots must be numbered 1, 2, 3 … in order, found {numbers}")
    across = [spot.circle.x_mm for spot in layout.spots]
    if across != sorted(across, reverse=True):
        found.append("spot 1 is at the dealer's left (largest x); circles must run to the right")
    half = layout.width_mm / 2
    for name, points in _named_points(layout):
        off = [p for p in points if not (-half <= p[0] <= half and 0 <= p[1] <= layout.depth_mm)]
        if off:
            found.append(f"{name} leaves the felt at x {off[0][0]:g}, y {off[0][1]:g} mm")
    for one, other in zip(layout.spots, layout.spots[1:], strict=False):
        if inside(middle(one.cards), other.cards) or inside(middle(other.cards), one.cards):
            found.append(f"the card zones of spots {one.spot} and {other.spot} overlap")
    return (*found, *_marker_faults(layout))


def _marker_faults(layout: TableLayout) -> list[str]:
    numbers = [marker.id for marker in layout.markers]
    found = [f"marker {n} lies at two places" for n in sorted(set(numbers)) if numbers.count(n) > 1]
    most = {"aruco-4x4": 49, "apriltag-36h11": 586}[layout.marker_family]
    found += [f"{layout.marker_family} has no marker {n}" for n in numbers if n > most]
    zones = [("the dealer's cards", layout.dealer_cards)]
    zones += [(f"the cards of spot {spot.spot}", spot.cards) for spot in layout.spots]
    for marker in layout.markers:
        place = (marker.x_mm, marker.y_mm)
        found += [
            f"marker {marker.id} lies under {name}" for name, zone in zones if inside(place, zone)
        ]
    return found


def _named_points(layout: TableLayout) -> list[tuple[str, tuple[Point, ...]]]:
    named: list[tuple[str, tuple[Point, ...]]] = [
        (f"spot {s.spot} cards", s.cards) for s in layout.spots
    ]
    named += [(f"spot {s.spot} circle", ((s.circle.x_mm, s.circle.y_mm),)) for s in layout.spots]
    named += [
        ("insurance_line", layout.insurance_line),
        ("dealer_cards", layout.dealer_cards),
        ("shoe_mouth", (layout.shoe_mouth,)),
        ("discard_rack", layout.discard_rack),
        ("tray", layout.tray),
    ]
    named += [(f"marker {m.id}", ((m.x_mm, m.y_mm),)) for m in layout.markers]
    return named
