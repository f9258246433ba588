"""The names of cards for people."""

from models.cards import Card


def card_name(card: Card | None) -> str:
    """Name a card for people."""
    return "a card not read" if card is None else str(card)
