"""What the whole record of a round shows before judging: each card's face, and who plays on.

A card dealt face down is judged by its face, even where it is turned up only later. A card to the
next hand is out of order only if the hand before it continued afterwards.
"""

from bisect import insort
from collections.abc import Sequence
from typing import Final

from models.cards import Card
from settlement.facts import DEALER, FOREIGN, HOLE, OPEN, UNDISPUTED, ReadFact
from settlement.hands import FACES, UNKNOWN


def _may_be(known: Card | None, seen: Card | None) -> bool:
    """Return whether a partly known card may be the card now seen."""
    if known is None or seen is None or known is seen:
        return True
    return known.rank == seen.rank and not (known.suited and seen.suited)


_ALIKE: Final = tuple(
    tuple(known for known, one in enumerate(FACES) if _may_be(one, other)) for other in FACES
)
"""For each card seen, the partly known cards that it may be, by index."""

_LESS_KNOWN: Final = tuple(
    tuple(known for known in alike if known != seen) for seen, alike in enumerate(_ALIKE)
)
"""Of these, those of which less is known than of the card seen."""


def _adds_to(known: int, seen: int) -> bool:
    """Return whether the card seen, which may be the known one, says more of it."""
    if seen in (UNKNOWN, known):
        return False
    shown = FACES[seen]
    assert shown is not None, "an unknown card says nothing"
    return known == UNKNOWN or shown.suited


class Script:
    """The record of one hand, as far as it has been read.

    Attributes:
        last_turn: index of its last fact of play before it stood; -1 for none.
        last_hit: index of its last hit before it stood; -1 for none.
    """

    def __init__(self) -> None:
        self._lying: list[ReadFact] = []
        self.begin()

    def begin(self) -> None:
        """Start the record of a round."""
        self.last_turn = self.last_hit = -1
        self._ended = False
        self._lying.clear()
        self._places: _Places | None = None

    def turn(self, index: int) -> bool:
        """Note play on the hand; return whether it may continue."""
        if not self._ended:
            self.last_turn = index
        return not self._ended

    def hit(self, index: int) -> None:
        """Note that its player asks for a card."""
        if not self._ended:
            self.last_hit = index

    def end(self) -> None:
        """Note that its player wants no more cards."""
        self._ended = True

    def lay(self, card: ReadFact) -> None:
        """Add a card."""
        self._lying.append(card)
        if self._places is not None:
            self._places.add(card)

    def splits(self) -> bool:
        """Whether there are cards to split."""
        return len(self._lying) >= 2

    def part(self) -> ReadFact:
        """Remove and return the second card."""
        second = self._lying.pop(1)
        if self._places is not None:
            self._places.remove(second)
        return second

    def take_away(self, seen: int) -> int:
        """Remove the card that must be the one seen; return its index, -1 where none can be it.

        Of equal cards it is the last one. A card that nobody read is one of which least is known.
        """
        card = _last_like(self._lying, (seen,)) or _last_like(self._lying, _LESS_KNOWN[seen])
        if card is None and seen == UNKNOWN and len(self._lying) == 1:
            card = self._lying[0]
        if card is None:
            return -1
        self._lying.remove(card)
        if self._places is not None:
            self._places.remove(card)
        card.lies_down = False
        if _adds_to(card.card, seen):
            card.card = seen
        return card.index

    def turn_up(self, shown: ReadFact, record: Sequence[ReadFact]) -> None:
        """Find the card that ``shown`` turns up: the same face lying down, else a possible one.

        Args:
            shown: the fact; receives the card that it turned.
            record: the round's facts, by index.
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

    def disputed(self, shown: ReadFact) -> list[ReadFact]:
        """Return the cards of which a fact may speak that gives a face that none of them has.

        It is one that lies face down; else of a player's the one of that rank, of which nothing but
        the suit is in doubt; else one that was turned up before, else any.
        """
        down = [card for card in self._lying if card.lies_down]
        turned = [card for card in self._lying if card.down or card.read == UNKNOWN]
        if down and self._places is not None:
            self._places.remove(down[0])
            down[0].lies_down = False
            self._places.add(down[0])
        rank = shown.read // 5
        alike = [card for card in self._lying if card.card // 5 == rank and shown.spot != DEALER]
        return down or alike or turned or self._lying.copy()


class Dispute:
    """A face that no card of its hand has, and the cards of which it may have been stated."""

    def __init__(self, face: int, cards: list[ReadFact]) -> None:
        self.face = face
        self.cards = cards

    def doubted(self, shown: Sequence[ReadFact]) -> list[ReadFact]:
        """Return the cards that it leaves in doubt.

        Args:
            shown: every card turned up in the round. It clears a card that shows it as dealt.
        """
        faces = [other.read for other in shown if other.turned != FOREIGN]
        doubted = [card for card in self.cards if card.read == UNKNOWN or card.read not in faces]
        return doubted or self.cards


def dispute(card: ReadFact, face: int) -> None:
    """Leave open whether a card has the face that it had so far, or another one."""
    if card.between is UNDISPUTED:
        card.between = (card.card,)
        card.card = UNKNOWN
    if not any(other in _ALIKE[face] for other in card.between):
        card.between = (*card.between, face)


def _turn(shown: ReadFact, card: ReadFact) -> None:
    """Turn a card up; its face then holds from the start of the round."""
    shown.turned = HOLE if card.lies_down else OPEN
    card.lies_down = False
    if _adds_to(card.card, shown.read):
        card.card = shown.read


def _last_like(lying: list[ReadFact], faces: tuple[int, ...]) -> ReadFact | None:
    """Return the last card of any of ``faces``."""
    for card in reversed(lying):
        if card.card in faces:
            return card
    return None


class _Places:
    """The positions of one hand's cards in a round's record, by face."""

    def __init__(self, lying: list[ReadFact]) -> None:
        self._down: dict[int, list[int]] = {}
        self._up: dict[int, list[int]] = {}
        for card in lying:
            self.add(card)

    def add(self, card: ReadFact) -> None:
        """Add a card."""
        insort((self._down if card.lies_down else self._up).setdefault(card.card, []), card.index)

    def remove(self, card: ReadFact) -> None:
        """Remove a card."""
        (self._down if card.lies_down else self._up)[card.card].remove(card.index)

    def match(self, seen: int) -> int:
        """Return the position of the card that must be the one seen, -1 for none."""
        if seen != UNKNOWN:
            same = _first(self._down, (seen,))
            if same >= 0:
                return same
        alike = _first(self._down, _ALIKE[seen])
        if alike < 0:  # a card that lies open is shown because it was not wholly read
            alike = _first(self._up, _LESS_KNOWN[seen])
        return _first(self._up, (seen,)) if alike < 0 else alike


def _first(places: dict[int, list[int]], faces: tuple[int, ...]) -> int:
    """Return the first position of any of ``faces``, -1 for none."""
    first = -1
    for face in faces:
        lying = places.get(face)
        if lying and (first < 0 or lying[0] < first):
            first = lying[0]
    return first
