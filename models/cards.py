"""Playing cards as the house, the shoe and the camera name them."""

from collections.abc import Collection
from enum import Enum
from typing import Final

RANKS: Final = "A23456789TJQK"
SUITS: Final = "SHDC"


class Card(Enum):
    """One card face, written rank then suit: ``AS``, ``TD``, ``9C``.

    A reader that reports ranks but not suits gives ``A?``; such a member has ``suit`` ``"?"``. A
    wholly unknown card is ``None``, never a member.
    """

    rank: str
    suit: str
    points: int
    """Value at blackjack with the ace as 1; the hand decides whether an ace counts 11."""
    index: int
    """Index among the 65 faces: five to a rank, the one without a suit last."""

    def __init__(self, code: str) -> None:
        self.rank, self.suit = code[0], code[1]
        self.index = 5 * RANKS.index(self.rank) + f"{SUITS}?".index(self.suit)
        self.points = 10 if self.rank in "TJQK" else RANKS.index(self.rank) + 1

    @property
    def suited(self) -> bool:
        """Whether the suit is known."""
        return self.suit != "?"

    def __repr__(self) -> str:
        return str(self.value)

    __str__ = __repr__
    __hash__ = object.__hash__
    """An enum's own hashes the name at each look-up. Equal members are one object here, too."""

    AS, AH, AD, AC, ANY_A = "AS", "AH", "AD", "AC", "A?"
    TWO_S, TWO_H, TWO_D, TWO_C, ANY_2 = "2S", "2H", "2D", "2C", "2?"
    THREE_S, THREE_H, THREE_D, THREE_C, ANY_3 = "3S", "3H", "3D", "3C", "3?"
    FOUR_S, FOUR_H, FOUR_D, FOUR_C, ANY_4 = "4S", "4H", "4D", "4C", "4?"
    FIVE_S, FIVE_H, FIVE_D, FIVE_C, ANY_5 = "5S", "5H", "5D", "5C", "5?"
    SIX_S, SIX_H, SIX_D, SIX_C, ANY_6 = "6S", "6H", "6D", "6C", "6?"
    SEVEN_S, SEVEN_H, SEVEN_D, SEVEN_C, ANY_7 = "7S", "7H", "7D", "7C", "7?"
    EIGHT_S, EIGHT_H, EIGHT_D, EIGHT_C, ANY_8 = "8S", "8H", "8D", "8C", "8?"
    NINE_S, NINE_H, NINE_D, NINE_C, ANY_9 = "9S", "9H", "9D", "9C", "9?"
    TS, TH, TD, TC, ANY_T = "TS", "TH", "TD", "TC", "T?"
    JS, JH, JD, JC, ANY_J = "JS", "JH", "JD", "JC", "J?"
    QS, QH, QD, QC, ANY_Q = "QS", "QH", "QD", "QC", "Q?"
    KS, KH, KD, KC, ANY_K = "KS", "KH", "KD", "KC", "K?"


DECK: Final = tuple(Card(rank + suit) for suit in SUITS for rank in RANKS)
"""The 52 faces, in the order the networks number them."""


def pack(without: Collection[str]) -> tuple[Card, ...]:
    """Return the cards of one deck, from which the house takes every card of some ranks."""
    return tuple(card for card in DECK if card.rank not in without)
