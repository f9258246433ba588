"""The house edge of each shipped side bet beside the published one, by exact enumeration.

Every way to deal, from a fresh shoe, the cards that a bet looks at is counted in integers. The pay
table is read from the bet's file.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Final

import msgspec

from models.cards import DECK
from models.side_bet import SideBet
from settlement.hands import points_of
from settlement.pay_tables import side_bets
from settlement.side_cards import Bet, Seen
from stream.library import side_bet_text

PUBLISHED: Final = Path(__file__).with_name("side_bets.jsonl")
TOLERANCE: Final = Fraction(1, 10_000)
"""A hundredth of a percentage point."""

_FACES: Final = tuple(card.index for card in DECK)


class Published(msgspec.Struct, frozen=True):
    """A house edge that a document states."""

    bet: str
    decks: int
    edge_percent: str
    address: str
    soft17: str = ""
    """The dealer's rule, where the edge depends on it."""

    @property
    def edge(self) -> Fraction:
        """The edge as a share of the stake."""
        return Fraction(self.edge_percent) / 100


class End(msgspec.Struct, frozen=True):
    """How a dealer's hand ends."""

    cards: int
    total: int
    blackjack: bool


def published() -> tuple[Published, ...]:
    """Return every published edge that is compared."""
    lines = PUBLISHED.read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=Published) for line in lines)


@cache
def shipped(name: str) -> SideBet:
    """Return a shipped side bet."""
    return side_bets({name: {"extends": name}}, "a house", "test", side_bet_text)[name]


def edge(name: str, decks: int, soft17: str) -> Fraction:
    """Return the share of the stake that the house keeps, from a fresh shoe."""
    gained, ways = Fraction(0), 0
    for cards, gain in _table(name):
        many = _ways(cards, decks)
        ways += many
        gained += many * (_mean(name, cards, decks, soft17) if gain is None else gain)
    return -gained / ways


@cache
def _bet(name: str) -> Bet:
    return Bet(name, shipped(name), 1, up=False)


@cache
def _table(name: str) -> tuple[tuple[tuple[int, ...], Fraction | None], ...]:
    """Return the gain for the player's two cards and the up card, as far as the bet sees them.

    ``None`` where it depends on the dealer's hand.
    """
    bet = _bet(name)
    pairs = tuple(combinations_with_replacement(_FACES, 2)) if bet.sees_player else ((),)
    ups = tuple((up,) for up in _FACES) if bet.sees_dealer else ((),)
    dealt = [pair + up for pair in pairs for up in ups]
    return tuple((cards, _gain_of_cards(bet, cards)) for cards in dealt)


def _gain_of_cards(bet: Bet, cards: tuple[int, ...]) -> Fraction | None:
    gains = {_gain(bet, cards, end) for end in _UNLIKE}
    return gains.pop() if len(gains) == 1 else None


_UNLIKE: Final = (
    End(8, 26, blackjack=False),
    End(2, 21, blackjack=True),
    End(2, 17, blackjack=False),
)


def _ways(cards: tuple[int, ...], decks: int) -> int:
    """Count the ways to deal the player's two cards in any order, and an up card, if any."""
    pair, up = cards[:2], cards[2:]
    many = 1
    if pair:
        many = decks * (decks - 1) // 2 if pair[0] == pair[1] else decks * decks
    return many * (decks - pair.count(up[0])) if up else many


def _mean(name: str, cards: tuple[int, ...], decks: int, soft17: str) -> Fraction:
    """Return the mean gain over the dealer's hands."""
    out = tuple(sorted(points_of(card) for card in cards))
    each = (chance * _gain(_bet(name), cards, end) for end, chance in ends(decks, soft17, out))
    return sum(each, Fraction(0))


def _gain(bet: Bet, cards: tuple[int, ...], end: End) -> Fraction:
    seen = Seen(list(cards[:2]), list(cards[2:]), 0 if len(cards) > 2 else -1)
    seen.dealer = [0] * end.cards
    seen.total, seen.busted, seen.blackjack = end.total, end.total > 21, end.blackjack
    (won,) = bet.prizes(seen)
    price = bet.price(won)
    return Fraction(price.pays, price.per) if won else Fraction(-1)


@cache
def ends(decks: int, soft17: str, out: tuple[int, ...]) -> tuple[tuple[End, Fraction], ...]:
    """Return how the dealer's hand ends without the cards ``out``, each with its chance."""
    shoe = [0, *([4 * decks] * 9), 16 * decks]
    for points in out:
        shoe[points] -= 1
    found: dict[End, int] = {}
    _draw(shoe, (), 1, soft17 == "hit", found)
    return tuple(
        (end, Fraction(many, _orders(sum(shoe), end.cards))) for end, many in found.items()
    )


def _orders(cards: int, drawn: int) -> int:
    many = 1
    for gone in range(drawn):
        many *= cards - gone
    return many


def _draw(
    shoe: list[int], hand: tuple[int, ...], ways: int, hits: bool, found: dict[End, int]
) -> None:
    """Draw the hand out in every order; the aces are the ones of ``hand``."""
    low = sum(hand)
    soft = 1 in hand and low <= 11
    total = low + 10 if soft else low
    if len(hand) >= 2 and (total > 17 or (total == 17 and not (soft and hits))):
        end = End(len(hand), total, blackjack=len(hand) == 2 and total == 21)
        found[end] = found.get(end, 0) + ways
        return
    for points in range(1, 11):
        left = shoe[points]
        if left:
            shoe[points] -= 1
            _draw(shoe, (*hand, points), ways * left, hits, found)
            shoe[points] += 1
