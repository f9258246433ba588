"""A card's face by what the camera read and what the shoe can still hold."""

from typing import Final

from models.cards import Card
from settlement.reconcile.draws import Composition
from settlement.reconcile.sightings import Lying

KNOWN_P: Final = 0.98
"""From this on a face is known without any other sensor's word."""


def read_face(lying: Lying, composition: Composition) -> Card | None:
    """Return the face beyond doubt, or ``None``."""
    if lying.reading is None:
        return None
    held = [(face, p) for face, p in lying.reading.listed if composition.holds(face)]
    mass = sum((p for _, p in held), 0.0) + lying.reading.other
    face, p = max(held, key=lambda named: named[1], default=(None, 0.0))
    return face if p / mass >= KNOWN_P else None


def card_name(card: Card | None) -> str:
    """Name a card for people."""
    return "a card not read" if card is None else str(card)
