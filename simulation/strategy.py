"""Basic strategy of a total-dependent player, fitted to the options a house offers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from models.cards import Card
from models.events import Action
from settlement.hands import total

# One letter an up card, 2 … 9, ten, ace. H hit, S stand, D double else hit, E double else
# stand, P split, Q split where doubling a split hand is allowed else hit, R surrender else hit.
_HARD: Final = {
    8: "HHHHHHHHHH",
    9: "HDDDDHHHHH",
    10: "DDDDDDDDHH",
    11: "DDDDDDDDDD",
    12: "HHSSSHHHHH",
    13: "SSSSSHHHHH",
    14: "SSSSSHHHHH",
    15: "SSSSSHHHRH",
    16: "SSSSSHHRRR",
    17: "SSSSSSSSSS",
}
_SOFT: Final = {
    13: "HHHDDHHHHH",
    14: "HHHDDHHHHH",
    15: "HHDDDHHHHH",
    16: "HHDDDHHHHH",
    17: "HDDDDHHHHH",
    18: "EEEEESSHHH",
    19: "SSSSESSSSS",
    20: "SSSSSSSSSS",
}
_PAIRS: Final = {
    "A": "PPPPPPPPPP",
    "2": "QQPPPPHHHH",
    "3": "QQPPPPHHHH",
    "4": "HHHQQHHHHH",
    "6": "QPPPPHHHHH",
    "7": "PPPPPPHHHH",
    "8": "PPPPPPPPPP",
    "9": "PPPPPSPPSS",
}


@dataclass(frozen=True, slots=True)
class Options:
    """The house's options for this hand now."""

    double: bool = False
    split: bool = False
    surrender: bool = False
    double_after_split: bool = False
    """Whether a split hand of 11 may double."""


def choose(cards: Sequence[Card], up: Card, options: Options) -> Action:
    """Return basic strategy's action for a hand against the dealer's up card."""
    column = (up.points - 2) % 10
    if options.split:
        letter = _PAIRS.get(cards[0].rank, "HHHHHHHHHH")[column]
        if letter == "P" or (letter == "Q" and options.double_after_split):
            return "split"
    points, soft = total(cards)
    return _played(_letter(points, soft, column), options)


def _letter(points: int, soft: bool, column: int) -> str:
    if soft:
        return _SOFT[min(max(points, 13), 20)][column]
    return _HARD[min(max(points, 8), 17)][column]


def _played(letter: str, options: Options) -> Action:
    if letter == "R":
        return "surrender" if options.surrender else "hit"
    if letter in "DE":
        if options.double:
            return "double"
        return "hit" if letter == "D" else "stand"
    return "hit" if letter == "H" else "stand"
