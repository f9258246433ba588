"""Read a whole round once before judging it: which card each was, and who was to come.

A card dealt face down is judged by what it was, though it was turned up only later; and a
card to the next hand is out of order only if the hand before it went on afterwards.
"""

from collections.abc import Sequence
from typing import Final

from models.cards import Card
from models.events import CardDealt, CardExposed, Dealt, PlayerActed, WagerPlaced
from settlement.state import Noted, Script

_ENDS: Final = ("stand", "surrender")
_TURNS: Final = ("hit", "stand", "double", "split", "surrender")

DEALER_HAND: Final = ("dealer", 0)


def read(facts: Sequence[Noted]) -> Script:
    """Return what the record of one round tells of each of its facts."""
    reader = _Reader()
    for index, noted in enumerate(facts):
        reader.read(index, noted.fact)
    return Script(
        cards=reader.cards,
        turned=reader.turned,
        last_turn=reader.last_turn,
        dealt_in=reader.dealt_in,
        order=tuple(reader.order),
        draws=tuple(reader.dealer[2:]),
    )


class _Reader:
    def __init__(self) -> None:
        self.cards: dict[int, Card | None] = {}
        self.turned: dict[int, str] = {}
        self.last_turn: dict[tuple[int, int], int] = {}
        self.dealt_in: dict[Dealt, int] = {}
        self.order: list[Dealt] = []
        self.dealer: list[int] = []
        self._lying: dict[tuple[Dealt, int], list[int]] = {}
        self._down: set[int] = set()
        self._ended: set[tuple[int, int]] = set()

    def read(self, index: int, fact: object) -> None:
        if isinstance(fact, CardDealt):
            self._dealt(index, fact)
        elif isinstance(fact, CardExposed):
            self._exposed(index, fact)
        elif isinstance(fact, PlayerActed):
            self._acted(index, fact)
        elif isinstance(fact, WagerPlaced) and fact.kind == "double":
            self._turn(index, fact.spot, fact.hand)

    def _dealt(self, index: int, fact: CardDealt) -> None:
        self.cards[index] = fact.card
        if fact.face == "down":
            self._down.add(index)
        hand = 0 if fact.to == "dealer" else fact.hand
        self._lying.setdefault((fact.to, hand), []).append(index)
        if len(self.dealer) < 2 and hand == 0:
            self.dealt_in[fact.to] = self.dealt_in.get(fact.to, 0) + 1
            self.order.append(fact.to)
        if fact.to == "dealer":
            self.dealer.append(index)
        else:
            self._turn(index, fact.to, hand)

    def _turn(self, index: int, spot: int, hand: int) -> None:
        if (spot, hand) not in self._ended:
            self.last_turn[spot, hand] = index

    def _acted(self, index: int, fact: PlayerActed) -> None:
        if fact.action in _TURNS:
            self._turn(index, fact.spot, fact.hand)
        if fact.action in _ENDS:
            self._ended.add((fact.spot, fact.hand))
        elif fact.action == "split":
            self._split(fact.spot, fact.hand)

    def _split(self, spot: int, hand: int) -> None:
        lying = self._lying.get((spot, hand), [])
        if len(lying) >= 2:
            new = max(number for to, number in self._lying if to == spot) + 1
            self._lying[spot, new] = [lying.pop(1)]

    def _exposed(self, index: int, fact: CardExposed) -> None:
        hand = 0 if fact.to == "dealer" else fact.hand
        lying = self._lying.get((fact.to, hand), [])
        found = self._match(lying, fact.card)
        if found is None:
            self.turned[index] = "foreign"
            return
        hole = fact.to == "dealer" and found in self._down
        self.turned[index] = "hole" if hole else "open"
        self._down.discard(found)
        known = self.cards[found]
        if fact.card is not None and not _says(known, fact.card):
            self.cards[found] = fact.card
            if not _may_be(known, fact.card):
                self.turned[index] = "foreign"

    def _match(self, lying: Sequence[int], card: Card | None) -> int | None:
        """Choose the card meant: the same face lying down, else one that may be it."""
        down = [index for index in lying if index in self._down]
        up = [index for index in lying if index not in self._down]
        for index in down:
            if card is not None and self.cards[index] is card:
                return index
        for index in (*down, *up):
            if _may_be(self.cards[index], card):
                return index
        return down[0] if down else None


def _says(known: Card | None, seen: Card) -> bool:
    """Tell whether ``known`` already says all that ``seen`` does."""
    return known is seen or (known is not None and known.rank == seen.rank and not seen.suited)


def _may_be(known: Card | None, seen: Card | None) -> bool:
    """Tell whether a card known so far may be the card now seen."""
    if known is None or seen is None or known is seen:
        return True
    return known.rank == seen.rank and not (known.suited and seen.suited)
