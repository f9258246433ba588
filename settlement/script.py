"""What the record of a round shows before it is judged: which card each was, who was to come.

A card dealt face down is judged by what it was, though it was turned up only later; and a
card to the next hand is out of order only if the hand before it went on afterwards.
"""

from bisect import insort
from collections.abc import Sequence
from typing import Final

from models.cards import Card
from settlement.facts import FOREIGN, HOLE, OPEN, ReadFact
from settlement.hands import FACES, UNKNOWN


def _may_be(known: Card | None, seen: Card | None) -> bool:
    """Tell whether a card known so far may be the card now seen."""
    if known is None or seen is None or known is seen:
        return True
    return known.rank == seen.rank and not (known.suited and seen.suited)


_ALIKE: Final = tuple(
    tuple(known for known, one in enumerate(FACES) if _may_be(one, other)) for other in FACES
)
"""For each card seen, the cards that it may turn out to be, by index."""


def _says_more(known: int, seen: int) -> bool:
    """Return whether the card seen adds to what is known, or contradicts it."""
    if seen in (UNKNOWN, known):
        return False
    card, shown = FACES[known], FACES[seen]
    assert shown is not None, "an unknown card says nothing"
    return card is None or card.rank != shown.rank or shown.suited


class Script:
    """The record of one hand, as far as it has been read.

    Attributes:
        last_turn: place of the last fact by which it was played on, before it stood; -1 for none.
    """

    def __init__(self) -> None:
        self._lying: list[ReadFact] = []
        self.begin()

    def begin(self) -> None:
        """Start the record of a round."""
        self.last_turn = -1
        self._ended = False
        self._lying.clear()
        self._places: _Places | None = None

    def turn(self, index: int) -> bool:
        """Note that the hand is played on; return whether it still may be."""
        if not self._ended:
            self.last_turn = index
        return not self._ended

    def end(self) -> None:
        """Note that its player wants no more cards."""
        self._ended = True

    def lay(self, card: ReadFact) -> None:
        """Add a card."""
        self._lying.append(card)
        if self._places is not None:
            self._places.add(card)

    def splits(self) -> bool:
        """Tell whether there are cards to be parted."""
        return len(self._lying) >= 2

    def part(self) -> ReadFact:
        """Take the second card off."""
        second = self._lying.pop(1)
        if self._places is not None:
            self._places.remove(second)
        return second

    def turn_up(self, shown: ReadFact, record: Sequence[ReadFact]) -> None:
        """Find the card that ``shown`` turns up: the same face lying down, else one it may be.

        Args:
            shown: the fact; learns what it turned.
            record: the round's facts, by their place.
        """
        if self._places is None:
            self._places = _Places(self._lying)
        place = self._places.match(shown.read)
        if place < 0:
            shown.turned = FOREIGN
            return
        card = record[place]
        self._places.remove(card)
        _turn(shown, card)
        self._places.add(card)


def _turn(shown: ReadFact, card: ReadFact) -> None:
    """Turn a card up; what it shows is what it was from the first."""
    known, seen = card.card, shown.read
    shown.turned = HOLE if card.lies_down else OPEN
    card.lies_down = False
    if _says_more(known, seen):
        card.card = seen
        if known not in _ALIKE[seen]:
            shown.turned = FOREIGN


class _Places:
    """Where in a round's record the cards of one hand are, by their face."""

    def __init__(self, lying: list[ReadFact]) -> None:
        self._down: dict[int, list[int]] = {}
        self._up: dict[int, list[int]] = {}
        for card in lying:
            self.add(card)

    def add(self, card: ReadFact) -> None:
        """Put a card in its place."""
        insort((self._down if card.lies_down else self._up).setdefault(card.card, []), card.index)

    def remove(self, card: ReadFact) -> None:
        """Take a card out."""
        (self._down if card.lies_down else self._up)[card.card].remove(card.index)

    def match(self, seen: int) -> int:
        """Return the place of the card that a card seen must be, -1 for none."""
        if seen != UNKNOWN:
            same = _first(self._down, (seen,))
            if same >= 0:
                return same
        alike = _first(self._down, _ALIKE[seen])
        if alike < 0:
            alike = _first(self._up, _ALIKE[seen])
        return _first(self._down, _ALIKE[UNKNOWN]) if alike < 0 else alike


def _first(places: dict[int, list[int]], faces: tuple[int, ...]) -> int:
    """Return the first place of any of ``faces``, -1 where none lies."""
    first = -1
    for face in faces:
        lying = places.get(face)
        if lying and (first < 0 or lying[0] < first):
            first = lying[0]
    return first
