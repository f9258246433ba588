"""A drawing of a round's felt: the layout in millimetres, and the cards at their places."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean
from typing import Final, Literal

from models.cards import Card
from models.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM, SpotLayout, TableLayout

Tone = Literal["won", "lost", "even", "open"]

ENLARGED: Final = 1.6
"""Scale of the cards, about the common middle of each place."""

RING: Final = 1.35
"""Scale of the betting circles, for the amounts in them."""

SUIT_PATHS: Final = {
    "S": "M0-9C4-4 9-1 9 4 9 8 4 9 1.3 6L3 10H-3L-1.3 6C-4 9-9 8-9 4-9-1-4-4 0-9Z",
    "H": "M0 9C-5 4-9 1-9-4-9-8-3-10 0-5 3-10 9-8 9-4 9 1 5 4 0 9Z",
    "D": "M0-10 7.5 0 0 10-7.5 0Z",
    "C": "M0-9A4.6 4.6 0 0 1 3.6-1.5 4.6 4.6 0 1 1 1.3 5.2L3 10H-3L-1.3 5.2"
    "A4.6 4.6 0 1 1-3.6-1.5 4.6 4.6 0 0 1 0-9Z",
}
"""Outlines of the suits, about 20 units high around the origin, so that no typeface is needed."""


@dataclass(frozen=True, slots=True)
class LaidCard:
    """One card on the felt: its middle, and its top edge's direction, clockwise from -y."""

    place: int | str
    """The spot, or ``dealer``."""
    card: Card | None
    face_up: bool
    x_mm: float
    y_mm: float
    angle_deg: float


@dataclass(frozen=True, slots=True)
class CircleNote:
    """The text at a betting circle: the stake and its result."""

    spot: int
    stake: str
    net: str
    tone: Tone


def draw_felt(
    layout: TableLayout, cards: Iterable[LaidCard], notes: Iterable[CircleNote], title: str
) -> str:
    """Return the drawing as one ``<svg>``; cards overlap in the order given."""
    half, depth = layout.width_mm / 2, layout.depth_mm
    noted = {note.spot: note for note in notes}
    parts = [
        f'<svg class="felt" viewBox="{-half - 12:g} -12 {2 * half + 24:g} {depth + 24:g}" '
        f'role="img" aria-label="{escape(title)}">',
        _cloth(half, depth),
        _insurance_line(layout),
        _box(layout.tray, "tray"),
        _box(layout.discard_rack, "rack"),
        *(_circle(spot, noted.get(spot.spot)) for spot in layout.spots),
        *_enlarged(tuple(cards)),
        "</svg>",
    ]
    return "".join(parts)


def _cloth(half: float, depth: float) -> str:
    shoulder = depth * 0.28
    edge = (
        f"M{-half:g} 0H{half:g}V{shoulder:g}"
        f"A{half:g} {depth - shoulder:g} 0 0 1 {-half:g} {shoulder:g}Z"
    )
    return f'<path class="cloth" d="{edge}"/>'


def _insurance_line(layout: TableLayout) -> str:
    points = " ".join(f"{x:g},{y:g}" for x, y in layout.insurance_line)
    return f'<polyline class="print" points="{points}"/>'


def _box(corners: Iterable[tuple[float, float]], name: str) -> str:
    points = " ".join(f"{x:g},{y:g}" for x, y in corners)
    return f'<polygon class="{name}" points="{points}"/>'


def _circle(spot: SpotLayout, note: CircleNote | None) -> str:
    circle = spot.circle
    x, y, radius = circle.x_mm, circle.y_mm, circle.radius_mm * RING
    tone = note.tone if note else "empty"
    drawn = f'<circle class="bet {tone}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'
    if note is None:
        return drawn + f'<text class="spot" x="{x:g}" y="{y + 18:g}">{spot.spot}</text>'
    return (
        drawn
        + f'<text class="stake" x="{x:g}" y="{y - 4:g}">{escape(note.stake)}</text>'
        + f'<text class="net {tone}" x="{x:g}" y="{y + 42:g}">{escape(note.net)}</text>'
    )


def _enlarged(cards: Sequence[LaidCard]) -> Iterator[str]:
    places: dict[int | str, list[LaidCard]] = {}
    for card in cards:
        places.setdefault(card.place, []).append(card)
    middles = {
        place: (fmean(card.x_mm for card in lying), fmean(card.y_mm for card in lying))
        for place, lying in places.items()
    }
    yield from (_card(card, *middles[card.place]) for card in cards)


def _card(laid: LaidCard, middle_x: float, middle_y: float) -> str:
    width, height = CARD_WIDTH_MM, CARD_HEIGHT_MM
    body = (
        f'<rect class="{"face" if laid.face_up else "back"}" x="{-width / 2:g}" '
        f'y="{-height / 2:g}" width="{width:g}" height="{height:g}" rx="5"/>'
    )
    inside = _face(laid.card) if laid.face_up else _back(width, height)
    x = middle_x + ENLARGED * (laid.x_mm - middle_x)
    y = middle_y + ENLARGED * (laid.y_mm - middle_y)
    place = f"translate({x:.1f} {y:.1f}) rotate({laid.angle_deg:.1f}) scale({ENLARGED})"
    return f'<g transform="{place}">{body}{inside}</g>'


def _back(width: float, height: float) -> str:
    return (
        f'<rect class="weave" x="{5 - width / 2:g}" y="{5 - height / 2:g}" '
        f'width="{width - 10:g}" height="{height - 10:g}" rx="3"/>'
    )


def _face(card: Card | None) -> str:
    if card is None:
        return '<text class="pip doubt" y="18">?</text>'
    red = "red" if card.suit in "HD" else "black"
    rank = "10" if card.rank == "T" else card.rank
    index = f'<text class="index {red}" x="-19" y="-19">{rank}</text>'
    if not card.suited:
        return index
    suit = SUIT_PATHS[card.suit]
    small = f'<path class="{red}" transform="translate(-19 -5) scale(.95)" d="{suit}"/>'
    return (
        index + small + f'<path class="{red}" transform="translate(6 16) scale(1.9)" d="{suit}"/>'
    )
