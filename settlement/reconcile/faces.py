"""A card's face by what the camera read and what the shoe can still hold."""

from models.cards import Card
from settlement.reconcile.draws import Composition
from settlement.reconcile.sightings import EXCLUDED_P, Lying


def read_face(lying: Lying, composition: Composition) -> Card | None:
    """Return the face beyond doubt, or ``None``."""
    if lying.face == "down":
        return None
    if not lying.candidates:
        return lying.card if lying.card and composition.holds(lying.card) else None
    left = {name: p for name, p in lying.candidates if composition.holds(Card(name))}
    mass = sum(left.values()) + max(0.0, 1.0 - sum(p for _, p in lying.candidates))
    name, p = max(left.items(), key=lambda named: named[1], default=("", 0.0))
    return Card(name) if mass and p / mass >= 1 - EXCLUDED_P else None


def card_name(card: Card | None) -> str:
    """Name a card for people."""
    return "a card not read" if card is None else str(card)
