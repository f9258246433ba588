"""Which card it is, by the shoe's reading of it and the camera's looks."""

from collections.abc import Callable
from typing import Final

from models.cards import DECK, RANKS, SUITS, Card
from settlement.reconcile.looks import Reading, meant_by

SHOE_MISREAD_P: Final = 0.001
"""How often the shoe's reader says a face that the card does not have, at worst."""

READ_AS_P: Final = SHOE_MISREAD_P / (len(DECK) - 1)
"""How often it reads a card as one certain other."""

_SUITS: Final = len(SUITS)

_UPHELD_ODDS: Final = 20_000.0
"""The shoe's word stands once it is so many times likelier than any other face."""

_LEAST_ODDS: Final = 1e-6
"""A face less likely by this than the stated one is none that was misread: two sensors, each by
itself, had to err alike."""


def upheld(shoe_card: Card, reading: Reading) -> bool:
    """Tell whether the looks, though one may have named another face, bear the shoe out.

    The other way round looks decide nothing by their number: what makes a camera take a card
    for another may last as long as the card lies there, and every look then errs alike.
    """
    meant = meant_by(shoe_card)
    others = max((p for face, p in reading.listed if face not in meant), default=0.0)
    return reading.p(shoe_card) * (1.0 - SHOE_MISREAD_P) >= _UPHELD_ODDS * others * READ_AS_P


def rivals(
    stated: Card,
    shoe_card: Card | None,
    reading: Reading | None,
    holds: Callable[[Card], bool],
    clinging: float = 1.0,
) -> dict[Card, float]:
    """Return what else a card may be, with the odds against what it is stated to be.

    Args:
        stated: what it is held to be.
        shoe_card: what the shoe read; ``None`` where it read nothing.
        reading: the camera's looks; ``None`` where they say nothing.
        holds: returns whether the shoe can still hold one more of a face.
        clinging: the share of the camera's errors that last from look to look.

    Returns:
        One face a rank, the likeliest, with the odds of all of that rank.
    """
    weights = list(zip(DECK, _weights(shoe_card, reading, clinging), strict=True))
    meant = meant_by(stated)
    own = sum((weight for face, weight in weights if face in meant), 0.0)
    others = [(face, weight) for face, weight in weights if face not in meant]
    if _SUITS * max(weight for _, weight in others) < _LEAST_ODDS * own:
        return {}
    odds = {face: weight / own for face, weight in others if holds(face)}
    found: dict[Card, float] = {}
    for rank in RANKS:
        alike = [face for face in odds if face.rank == rank]
        of_rank = sum((odds[face] for face in alike), 0.0)
        if alike and of_rank >= _LEAST_ODDS:
            found[max(alike, key=lambda face: odds[face])] = of_rank
    return found


def probability(stated: Card, shoe_card: Card | None, reading: Reading | None) -> float:
    """Return how sure it is that a card is what it is stated to be."""
    own = sum(_joint(face, shoe_card, reading) for face in meant_by(stated))
    if shoe_card is None:
        return own / (float(len(DECK)) if reading is None else reading.whole())
    meant = meant_by(shoe_card)
    others = float(len(DECK)) if reading is None else reading.whole()
    others -= sum(1.0 if reading is None else reading.share(face) for face in meant)
    return own / (others * READ_AS_P + sum(_joint(face, shoe_card, reading) for face in meant))


def _joint(face: Card, shoe_card: Card | None, reading: Reading | None) -> float:
    """Return how likely a face is by both sensors, but for a factor."""
    seen = 1.0 if reading is None else reading.share(face)
    if shoe_card is None:
        return seen
    return (1.0 - SHOE_MISREAD_P if face in meant_by(shoe_card) else READ_AS_P) * seen


def _weights(shoe_card: Card | None, reading: Reading | None, clinging: float) -> list[float]:
    """Return how likely each face of the deck is by both sensors, but for a factor."""
    seen = [1.0] * len(DECK) if reading is None else reading.shares(clinging)
    if shoe_card is None:
        return seen
    meant = meant_by(shoe_card)
    return [
        (1.0 - SHOE_MISREAD_P if face in meant else READ_AS_P) * share
        for face, share in zip(DECK, seen, strict=True)
    ]
