"""The value of a hand of cards."""

from collections.abc import Iterable, Sequence
from typing import Final

from models.cards import Card

UNKNOWN: Final = 65
"""An unknown card, in place of a card's index."""

FACES: Final[tuple[Card | None, ...]] = (*Card, None)
"""Every card by its index."""

_POINTS: Final = tuple(0 if card is None else card.points for card in FACES)

_MOST_NAMED: Final = 22
"""Cards. The longest hand of 21 that one shoe can make is 21 aces."""


class Counted:
    """A running count of cards: an ace is 11 unless that passes 21.

    An unknown card counts nothing; ask ``known`` first where it matters.
    """

    def __init__(self) -> None:
        self.cards: list[Card | None] = []
        self.low = 0
        """Points with every ace as 1."""
        self.ace = False
        self.unknown = 0

    def add(self, face: int) -> None:
        """Count one more card, by its index."""
        points = points_of(face)
        self.cards.append(FACES[face])
        self.low += points
        if points == 1:
            self.ace = True
        elif points == 0:
            self.unknown += 1

    def recount(self, cards: list[Card | None]) -> None:
        """Count these cards instead."""
        self.take_up()
        for card in cards:
            self.add(face_of(card))

    def take_up(self) -> None:
        """Reset the count to no cards."""
        self.cards.clear()
        self.low = self.unknown = 0
        self.ace = False

    def copy(self) -> "Counted":
        """Return an independent count of the same cards."""
        return counted(self.cards)

    def known(self) -> bool:
        """Whether every card's value is known."""
        return self.unknown == 0

    def soft(self) -> bool:
        """Whether an ace counts 11."""
        return self.ace and self.low <= 11

    def total(self) -> int:
        """Return the best total."""
        return self.low + 10 if self.soft() else self.low

    def natural(self) -> bool:
        """Whether the hand is an ace and a ten, and nothing else."""
        return len(self.cards) == 2 and self.unknown == 0 and self.total() == 21

    def busted(self) -> bool:
        """Whether the known cards already pass 21."""
        return self.low > 21

    def words(self) -> str:
        """Write the total for people: ``soft 17``, ``hard 17``, ``unknown``."""
        if self.unknown:
            return "unknown"
        return f"{'soft' if self.soft() else 'hard'} {self.total()}"


def counted(cards: Iterable[Card | None]) -> Counted:
    """Return the count of these cards."""
    count = Counted()
    count.recount(list(cards))
    return count


def counted_faces(faces: Iterable[int]) -> Counted:
    """Return the count of these cards, given by their indices."""
    count = Counted()
    for face in faces:
        count.add(face)
    return count


def points_of(face: int) -> int:
    """Return the points of a card, by its index: an ace 1, an unknown card 0."""
    return _POINTS[face]


def face_of(card: Card | None) -> int:
    """Return a card's index."""
    return UNKNOWN if card is None else card.index


def total(cards: Iterable[Card | None]) -> tuple[int, bool]:
    """Return ``(points, soft)``: an ace counts 11 unless that passes 21.

    An unknown card counts nothing.
    """
    low, ace = 0, False
    for card in cards:
        if card is not None:
            low += card.points
            ace = ace or card.points == 1
    soft = ace and low <= 11
    return (low + 10 if soft else low), soft


def natural(cards: Sequence[Card | None]) -> bool:
    """Return whether the hand is an ace and a ten, and nothing else."""
    return len(cards) == 2 and None not in cards and total(cards)[0] == 21


def busted(cards: Iterable[Card | None]) -> bool:
    """Return whether the known cards already pass 21."""
    return total(cards)[0] > 21


def matched(one: Card | None, other: Card | None, by: str) -> bool | None:
    """Return whether two cards pair ``by`` ``"value"`` or ``"rank"``; ``None`` if unknown."""
    if one is None or other is None:
        return None
    if by == "value":
        return one.points == other.points
    return one.rank == other.rank


def named(cards: Sequence[Card | None]) -> str:
    """Write cards for people: ``TS 7H``, an unknown one as ``??``."""
    words = ["??" if card is None else str(card) for card in cards[:_MOST_NAMED]]
    return " ".join(words) + (f" … {len(cards)} cards" if len(cards) > _MOST_NAMED else "")


def count(cards: Iterable[Card | None]) -> str:
    """Write a total for people: ``soft 17``, ``hard 17``, ``unknown``."""
    return counted(cards).words()
