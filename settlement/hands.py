"""What a hand of cards is worth."""

from collections.abc import Sequence
from typing import Final

from models.cards import Card

_MOST_NAMED: Final = 22
"""The longest hand of 21 that one shoe can make is 21 aces."""


def total(cards: Sequence[Card | None]) -> tuple[int, bool]:
    """Return ``(points, soft)``: an ace counts 11 unless that passes 21.

    An unknown card counts nothing; ask :func:`known` first where it matters.
    """
    points, ace = 0, False
    for card in cards:
        if card is not None:
            points += card.points
            ace = ace or card.points == 1
    if ace and points <= 11:
        return points + 10, True
    return points, False


def known(cards: Sequence[Card | None]) -> bool:
    """Tell whether every card's value is known."""
    return None not in cards


def natural(cards: Sequence[Card | None]) -> bool:
    """Tell whether these are an ace and a ten, and nothing else."""
    return len(cards) == 2 and known(cards) and total(cards)[0] == 21


def busted(cards: Sequence[Card | None]) -> bool:
    """Tell whether the cards known already pass 21."""
    return total(cards)[0] > 21


def matched(one: Card | None, other: Card | None, by: str) -> bool | None:
    """Tell whether two cards make a pair ``by`` ``"value"`` or ``"rank"``; ``None`` if unknown."""
    if one is None or other is None:
        return None
    if by == "value":
        return one.points == other.points
    return one.rank == other.rank


def named(cards: Sequence[Card | None]) -> str:
    """Write cards for people: ``TS 7H``, an unknown one as ``??``."""
    words = ["??" if card is None else str(card) for card in cards[:_MOST_NAMED]]
    return " ".join(words) + (f" … {len(cards)} cards" if len(cards) > _MOST_NAMED else "")


def count(cards: Sequence[Card | None]) -> str:
    """Write a total for people: ``soft 17``, ``hard 17``, ``unknown``."""
    if not known(cards):
        return "unknown"
    points, soft = total(cards)
    return f"{'soft' if soft else 'hard'} {points}"
