"""A table's cards: shuffled from a seed, and rigged where a scene requires it."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from models.cards import DECK, Card


def fits(card: Card, wish: str) -> bool:
    """Return whether ``card`` matches ``wish``.

    A wish is a card (``7H``), a rank (``7``), ``X`` for any ten-valued card, ``L`` for two
    to six, or ``*`` for any card.
    """
    if wish == "*":
        return True
    if wish == "X":
        return card.points == 10
    if wish == "L":
        return 2 <= card.points <= 6
    return card.value == wish if len(wish) == 2 else card.rank == wish


class Shoe:
    """One shuffled stack of decks. Drawing with a wish swaps the wished card to the top."""

    def __init__(
        self,
        decks: int,
        random: Random,
        *,
        deck: Sequence[Card] = DECK,
        penetration: float = 0.75,
    ) -> None:
        self.decks = decks
        self._cards = [card for _ in range(decks) for card in deck]
        random.shuffle(self._cards)
        self._cut = round(len(self._cards) * (1 - penetration))
        self._cut_seen = False
        self.out: Counter[Card] = Counter()
        """The number of each face that has left it."""

    def __len__(self) -> int:
        return len(self._cards)

    def draw(self, wish: str = "*") -> Card:
        """Take the top card, or the next one that fits ``wish`` where there is one.

        A named face that has run out is drawn nevertheless: the shoe then holds one more than its
        decks, which produces a surplus card.
        """
        card = self._take(wish)
        self.out[card] += 1
        return card

    def _take(self, wish: str) -> Card:
        for at in range(len(self._cards) - 1, -1, -1):
            if fits(self._cards[at], wish):
                self._cards[at], self._cards[-1] = self._cards[-1], self._cards[at]
                return self._cards.pop()
        if len(wish) == 2:
            return Card(wish)
        return self._cards.pop()

    def cut_card_due(self) -> bool:
        """Return, once, whether the cut card has come to the mouth."""
        if self._cut_seen or len(self._cards) > self._cut:
            return False
        self._cut_seen = True
        return True

    def bring_cut(self, cards: int) -> None:
        """Put the cut card so that ``cards`` more cards come before it."""
        self._cut = len(self._cards) - cards

    @property
    def finished(self) -> bool:
        """Whether the cut card is out, or comes next: no further round starts here."""
        return self._cut_seen or len(self._cards) <= self._cut

    def left(self, wish: str) -> int:
        """Count the cards left that fit ``wish``."""
        return sum(fits(card, wish) for card in self._cards)
