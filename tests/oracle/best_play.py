"""The house edge of a rulebook under the best play; ``python -m lab.oracle.best_play`` prints it.

Every hand of a player and a dealer is counted from a fresh shoe, by the rulebook's own knobs and
pay table; no code of the engine takes part. The player takes the decision that gains most from all
the cards that he sees, and no insurance. The dealer looks for a blackjack first. A split hand is
played by its own cards, the up card and one other card of its pair.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from models.cards import SUITS, pack
from models.rulebook import Rulebook
from models.side_bet import Condition, HandAward
from settlement.rulebooks import overridden, parse

PUBLISHED: Final = Path(__file__).with_name("best_play.jsonl")
TOLERANCE_POINTS: Final = 0.02
"""Percentage points; a published edge is rounded to two decimals."""

Counts: TypeAlias = tuple[int, ...]
"""How many cards of each value, from the ace at 0 to the ten at 9."""
_VALUES: Final = range(10)
_NONE: Final[Counts] = (0,) * 10
_FULL: Final = 21
_NEVER_STANDS: Final = 11
"""No card breaks such a hand."""
_SUITS_ALIKE: Final = (SUITS, *SUITS)
"""Suits that tell lines of the pay table apart: mixed ones, and each alone."""
_RANKS: Final = "A23456789K"
"""A rank for each value. No line of a pay table may tell ranks of ten apart."""


class Published(msgspec.Struct, frozen=True):
    """A house edge that a document states."""

    rulebook: str
    settings: tuple[str, ...]
    edge_percent: float
    address: str


def published() -> tuple[Published, ...]:
    """Return every published edge that is compared."""
    lines = PUBLISHED.read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=Published) for line in lines)


def rules(one: Published) -> Rulebook:
    """Return the rulebook that a published edge is of."""
    path = Path("models/rulebooks") / f"{one.rulebook}.toml"
    return overridden(parse(path.read_text("utf-8"), path.name).rules, one.settings)


def total(hand: Counts) -> tuple[int, bool]:
    """Return a hand's total, and whether an ace counts 11."""
    low = sum((value + 1) * many for value, many in enumerate(hand))
    soft = hand[0] > 0 and low <= 11
    return (low + 10 if soft else low), soft


def _with(hand: Counts, value: int, many: int = 1) -> Counts:
    return (*hand[:value], hand[value] + many, *hand[value + 1 :])


class Dealer:
    """How the dealer's hands end, by the up card.

    Args:
        hits: whether he hits soft 17.
    """

    def __init__(self, *, hits: bool) -> None:
        self._hits = hits
        self._drawn: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]] = []
        for up in _VALUES:
            ends = self._ends(up)
            taken = np.array(list(ends), np.int64)
            ways = np.array([ways for ways, _ in ends.values()], np.float64)
            totals = np.array([end for _, end in ends.values()], np.int64)
            self._drawn.append((taken, ways, totals))

    def _ends(self, up: int) -> dict[Counts, tuple[int, int]]:
        """Return the orders and the total of each set of cards drawn, none for a blackjack."""
        ends: dict[Counts, tuple[int, int]] = {}
        open_: dict[Counts, int] = {_NONE: 1}
        while open_:
            longer: dict[Counts, int] = {}
            for drawn, ways in open_.items():
                for value in _VALUES:
                    more = _with(drawn, value)
                    made, soft = total(_with(more, up))
                    if sum(more) == 1 and made == _FULL:
                        continue
                    if made > 17 or (made == 17 and not (soft and self._hits)):
                        ends[more] = ends.get(more, (0, 0))[0] + ways, made
                    else:
                        longer[more] = longer.get(more, 0) + ways
            open_ = longer
        return ends

    def chances(self, up: int, left: Counts) -> NDArray[np.float64]:
        """Return the chances of totals 17 to 26 from the cards left, given no blackjack."""
        taken, ways, totals = self._drawn[up]
        most = int(taken.max()) + 1
        steps = np.array(left, np.float64)[:, None] - np.arange(most)
        falling = np.cumprod(np.hstack([np.ones((10, 1)), np.maximum(steps, 0)[:, :-1]]), axis=1)
        many = np.arange(taken.sum(1).max() + 1)
        orders = np.cumprod(np.hstack([[1.0], sum(left) - many[:-1]]))
        chance = ways * np.prod(falling[np.arange(10), taken], axis=1) / orders[taken.sum(1)]
        found = np.zeros(10)
        np.add.at(found, totals - 17, chance)
        chances: NDArray[np.float64] = found / found.sum()
        return chances


class BestPlay:
    """A game under its rulebook, from a fresh shoe, and what the best play gains in it."""

    def __init__(self, book: Rulebook) -> None:
        self._book = book
        self._dealer = Dealer(hits=book.dealer_soft17 == "hit")
        ranks = [card.points - 1 for card in pack(book.pack_without)]
        self._shoe: Counts = tuple(book.decks * ranks.count(value) for value in _VALUES)
        self._surrenders = book.surrender == "late"
        self._win = _price(book.win_payout)
        self._blackjack = _price(book.blackjack_payout)
        self._best = cache(self._best_of)
        self._stood = cache(self._stands)
        self._paid = cache(self._odds)
        self._ended = cache(self._dealer.chances)

    def edge_percent(self) -> float:
        """Return the share of the first wager that the house keeps."""
        gained, shoe = 0.0, self._shoe
        for up in _VALUES:
            left = _with(shoe, up, -1)
            for first in _VALUES:
                for second in range(first, 10):
                    hand = _with(_with(_NONE, first), second)
                    chance = _chance(shoe, up) * _chance(left, first)
                    chance *= _chance(_with(left, first, -1), second) * (1 + (first != second))
                    gained += chance * self._dealt(hand, up) if chance else 0.0
        return -100 * gained

    def _left(self, hand: Counts, up: int, also: int) -> Counts:
        """Return the cards unseen: without the hand, the up card, and the other of a split pair."""
        left = _with(self._shoe, up, -1)
        left = left if also < 0 else _with(left, also, -1)
        return tuple(many - gone for many, gone in zip(left, hand, strict=True))

    def _dealt(self, hand: Counts, up: int) -> float:
        """Return the gain of the first two cards against an up card."""
        left = self._left(hand, up, -1)
        completes = {0: 9, 9: 0}.get(up)
        loses = 0.0 if completes is None else _chance(left, completes)
        natural = total(hand)[0] == _FULL
        line = self._line(hand, SUITS, split=False, doubled=False) if natural else None
        pays = self._blackjack if line is None else _price(line.odds)
        if natural:
            return (pays if line is not None and line.wins else 0.0) * loses + pays * (1 - loses)
        return -loses + (1 - loses) * self._first_decision(hand, up)

    def _first_decision(self, hand: Counts, up: int) -> float:
        best = self._best(hand, up, -1)
        if self._surrenders:
            best = max(best, -0.5)
        if max(hand) == 2:
            best = max(best, self._split(hand.index(2), up))
        return best

    def _split(self, value: int, up: int) -> float:
        """Return the gain of a split pair: each hand in turn may be split again."""
        pair = _with(_NONE, value, 2)
        left, one = self._left(pair, up, -1), _with(_NONE, value)
        again = value != 0 or self._book.resplit_aces
        drawn = self._draws(left, up)
        others = [
            chance * self._parted(_with(one, card), up, value)
            for card, chance in enumerate(drawn)
            if card != value and chance
        ]
        stays = self._parted(pair, up, value)
        known = 1 - drawn[value]

        def gain(waiting: int, hands: int) -> float:
            if not waiting:
                return 0.0
            more = hands - 2
            scale = (sum(left) - more) / sum(left) if more else 1.0
            pairs = max(0.0, drawn[value] - more / sum(left)) / scale
            kept = stays + gain(waiting - 1, hands)
            if again and hands < self._book.max_hands:
                kept = max(kept, gain(waiting + 1, hands + 1))
            rest = sum(others) / known + gain(waiting - 1, hands)
            return pairs * kept + (1 - pairs) * rest

        return gain(2, 2)

    def _parted(self, hand: Counts, up: int, value: int) -> float:
        """Return the gain of a split hand of two cards."""
        if value == 0 and self._book.split_aces_cards == 1:
            return self._stood(hand, up, value, doubled=False)
        return self._best(hand, up, value)

    def _best_of(self, hand: Counts, up: int, also: int) -> float:
        """Return the most that a hand gains; ``also`` is the other card of a split pair, or -1."""
        made, _ = total(hand)
        if made > _FULL:
            return -1.0
        best = -1.0 if made <= _NEVER_STANDS else self._stood(hand, up, also, doubled=False)
        if made == _FULL:
            return best
        drawn = list(enumerate(self._draws(self._left(hand, up, also), up)))
        hits = sum(c * self._best(_with(hand, card), up, also) for card, c in drawn if c)
        best = max(best, hits)
        if self._may_double(hand, also):
            doubles = sum(c * self._doubled(_with(hand, card), up, also) for card, c in drawn if c)
            best = max(best, doubles)
        return best

    def _may_double(self, hand: Counts, also: int) -> bool:
        book, (made, soft) = self._book, total(hand)
        if also >= 0 and not (book.double_after_split and (also or book.double_split_aces)):
            return False
        if book.double_on == "any_number":
            return True
        least = {"any_two": 0, "9-11": 9, "10-11": 10, "none": 99}[book.double_on]
        low = made - 10 if soft and book.double_soft_as_low_total else made
        return sum(hand) == 2 and low >= least and (low <= 11 or not least)

    def _doubled(self, hand: Counts, up: int, also: int) -> float:
        if total(hand)[0] > _FULL:
            return -2.0
        stands = 2 * self._stood(hand, up, also, doubled=True)
        return max(stands, -1.0) if self._book.double_rescue else stands

    def _stands(self, hand: Counts, up: int, also: int, *, doubled: bool) -> float:
        """Return the gain for each chip of a hand that takes no more cards."""
        made, _ = total(hand)
        pays, wins = self._paid(hand, up, split=also >= 0, doubled=doubled)
        if wins:
            return pays
        ends = self._ended(up, self._left(hand, up, also))
        lower = float(ends[: max(0, made - 17)].sum())
        breaks = float(ends[5:].sum())
        if self._book.dealer_22 == "pushes":
            breaks -= float(ends[5])
        higher = float(ends[max(0, made - 16) : 5].sum())
        return pays * (lower + breaks) - higher

    def _draws(self, left: Counts, up: int) -> list[float]:
        """Return each card's chance, given that the hole card makes no blackjack."""
        completes = {0: 9, 9: 0}.get(up)
        if completes is None:
            return [many / sum(left) for many in left]
        cards, out = sum(left), left[completes]
        return [
            many * (cards - 1 - out + (value == completes)) / ((cards - 1) * (cards - out))
            for value, many in enumerate(left)
        ]

    def _odds(self, hand: Counts, up: int, *, split: bool, doubled: bool) -> tuple[float, bool]:
        """Return the mean odds that a hand is paid over its suits, and whether it wins anyway."""
        first, *others = [
            self._line(hand, suits, split=split, doubled=doubled) for suits in _SUITS_ALIKE
        ]
        if all(line is first for line in others):
            return (self._win, False) if first is None else (_price(first.odds), first.wins)
        mean, wins, ways = 0.0, True, 0
        cards = [value for value in _VALUES for _ in range(hand[value])]
        for above, *suits in product(SUITS, repeat=1 + len(cards)):
            line = self._line(hand, "".join(suits), split=split, doubled=doubled)
            out = Counter([(up, above)])
            each = 1
            for card in zip(cards, suits, strict=True):
                each *= self._shoe[card[0]] // len(SUITS) - out[card]
                out[card] += 1
            mean += each * (self._win if line is None else _price(line.odds))
            wins = wins and line is not None and line.wins
            ways += each
        return mean / ways, wins

    def _line(self, hand: Counts, suits: str, *, split: bool, doubled: bool) -> HandAward | None:
        """Find the first line of the pay table that a hand of these suits is of."""
        for line in self._book.pays:
            if all(_is(hand, suits, one, split=split, doubled=doubled) for one in line.when):
                return line
        return None


def _price(odds: object) -> float:
    return float(Fraction(str(odds).replace(":", "/")))


def _chance(left: Counts, value: int) -> float:
    return left[value] / sum(left)


def _is(hand: Counts, suits: str, asked: Condition, *, split: bool, doubled: bool) -> bool:
    made, cards = total(hand)[0], sum(hand)
    wanted = tuple((asked.ranks or "").count(rank) for rank in _RANKS)
    natural = cards == 2 and made == _FULL and not split
    return (
        (asked.ranks is None or wanted == hand)
        and (asked.suit is None or set(suits) == {asked.suit})
        and (not asked.same or len(set(suits)) == 1)
        and (asked.total is None or asked.total[0] <= made <= asked.total[1])
        and (asked.count is None or asked.count[0] <= cards <= asked.count[1])
        and asked.blackjack in (None, natural)
        and asked.doubled in (None, doubled)
        and asked.split in (None, split)
    )
