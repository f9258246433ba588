"""A performance: what moves on a simulated felt, and when.

Times are nanoseconds since the session's start. Places are millimetres on the felt. The simulation
writes a performance; :mod:`vision.scenes` films it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from models.cards import Card

By: TypeAlias = str | None
"""The hand that acts: ``dealer``, ``player:3``, or ``None`` for nobody."""


@dataclass(frozen=True, slots=True)
class Place:
    """A card's pose: its middle, and its top edge's direction, clockwise from -y."""

    x_mm: float
    y_mm: float
    angle_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class CardMove:
    """One card moves from one place to another; it comes to rest at ``until_ns``.

    ``start`` is ``None`` for a card that comes into view (out of the shoe's mouth, off the deck in
    the dealer's hand: it starts at the mouth), ``end`` is ``None`` for one that leaves the felt.
    ``under`` names the card that it is slid beneath; otherwise it comes to lie on top.
    """

    from_ns: int
    until_ns: int
    card_id: int
    card: Card
    start: Place | None
    end: Place | None
    face_before: Literal["up", "down"]
    face_after: Literal["up", "down"]
    by: By
    under: int | None = None


@dataclass(frozen=True, slots=True)
class ChipMove:
    """A stack of chips (value in cents → count) appears, moves or goes, as cards do."""

    from_ns: int
    until_ns: int
    stack_id: int
    chips: Mapping[int, int]
    start: tuple[float, float] | None
    end: tuple[float, float] | None
    by: By


@dataclass(frozen=True, slots=True)
class Gesture:
    """A hand reaches to a place and returns without moving anything: a signal, a touch."""

    from_ns: int
    until_ns: int
    x_mm: float
    y_mm: float
    by: str
    kind: Literal["wave", "beckon", "tap", "touch", "point"]


@dataclass(frozen=True, slots=True)
class Performance:
    """Everything that moves in a session, each in order of its start."""

    duration_ns: int
    cards: tuple[CardMove, ...]
    chips: tuple[ChipMove, ...]
    gestures: tuple[Gesture, ...]
