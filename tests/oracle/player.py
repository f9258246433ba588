"""A table of players who all follow one fixed strategy, and a dealer who follows his rule.

Play is reported only as the facts that a table's sensors would report: every
decision is taken from the cards that were dealt here. Facts are frozen, so each that can occur is
made once and reported again and again.
"""

from random import Random
from typing import Final

from models.cards import DECK
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    HoleCardChecked,
    PlayerActed,
    RoundClosed,
    ShoeStarted,
    WagerPlaced,
)
from tests.oracle.rule_sets import ROWS, STAGES, UP_CARDS, RuleSet

WAGER: Final = 1000
"""Cents: a 3:2 or 6:5 blackjack and half a wager come out without odd cents."""

HIT: Final = 0
STAND: Final = 1
DOUBLE: Final = 2
SPLIT: Final = 3
SURRENDER: Final = 4

_LETTERS: Final = {"H": HIT, "S": STAND, "D": DOUBLE, "P": SPLIT, "R": SURRENDER}
_POINTS: Final = [card.points for card in DECK]

_COLUMNS: Final = len(UP_CARDS)
_SOFT: Final = 22
"""Where a strategy's soft rows begin; hard ones stand at their total."""
_PAIRS: Final = 44
"""Where its pairs begin; each stands at its cards' value."""


def _table(rule_set: RuleSet, stage: int) -> list[int]:
    """Lay one stage of the strategy out flat: row by row, a decision an up card."""
    flat = [STAND] * ((_PAIRS + 11) * _COLUMNS)
    for row in ROWS:
        start = {"h": 0, "s": _SOFT, "p": _PAIRS}[row[0]] + int(row[1:])
        for column, letter in enumerate(rule_set.td[row][stage]):
            flat[start * _COLUMNS + column] = _LETTERS[letter]
    return flat


class DeckRanOut(Exception):
    """A round needed more cards than the shoe holds."""


class Table:
    """Deals first rounds of fresh shoes, and plays them by a rule set's strategy.

    Args:
        rule_set: the game and the strategy.
        spots: how many spots are played.
        seed: decides every card.
    """

    def __init__(self, rule_set: RuleSet, spots: int, seed: str) -> None:
        self._spots = spots
        self._hits_soft17 = rule_set.soft17 == "H17"
        self._peeks = rule_set.peek
        self._max_hands = rule_set.max_hands
        self._resplits_aces = rule_set.rsa
        self._double_from = {"any2": 0, "9-11": 9, "10-11": 10}[rule_set.double]
        self._double_soft = rule_set.double_soft
        self._first, self._later, self._parted = (
            _table(rule_set, stage) for stage in range(STAGES)
        )
        self._random = Random(seed).random
        self._shoe = list(range(len(DECK))) * rule_set.decks
        self._out = 0
        self._column = 0
        self._facts: list[AnyFact] = []
        self._make_facts(rule_set.decks, spots, rule_set.max_hands)

    def _make_facts(self, decks: int, spots: int, hands: int) -> None:
        """Make every fact that may have to be reported."""
        numbers = range(1, spots + 1)
        self._opening: list[AnyFact] = [ShoeStarted(decks=decks)]
        for spot in numbers:
            self._opening.append(WagerPlaced(spot=spot, kind="main", amount=WAGER))
        self._to_hand: list[list[list[AnyFact]]] = [
            [[CardDealt(to=spot, hand=hand, card=card) for card in DECK] for hand in range(hands)]
            for spot in numbers
        ]
        self._splits: list[list[AnyFact]] = [
            [PlayerActed(spot=spot, hand=hand, action="split") for hand in range(hands)]
            for spot in numbers
        ]
        self._split_wagers: list[list[AnyFact]] = [
            [WagerPlaced(spot=spot, hand=hand, kind="split", amount=WAGER) for hand in range(hands)]
            for spot in numbers
        ]
        self._doubles: list[list[AnyFact]] = [
            [
                WagerPlaced(spot=spot, hand=hand, kind="double", amount=WAGER)
                for hand in range(hands)
            ]
            for spot in numbers
        ]
        self._surrenders: list[AnyFact] = [
            PlayerActed(spot=spot, action="surrender") for spot in numbers
        ]
        self._to_dealer: list[AnyFact] = [CardDealt(to="dealer", card=card) for card in DECK]
        self._face_down: list[AnyFact] = [
            CardDealt(to="dealer", card=card, face="down") for card in DECK
        ]
        self._turned: list[AnyFact] = [CardExposed(to="dealer", card=card) for card in DECK]
        self._no_blackjack: AnyFact = HoleCardChecked(blackjack=False)
        self._blackjack: AnyFact = HoleCardChecked(blackjack=True)
        self._closed: AnyFact = RoundClosed()

    def deal(self) -> list[AnyFact]:
        """Play one round from a fresh shoe and return its facts, from shuffle to close.

        Raises:
            DeckRanOut: the round needed more cards than there are.
        """
        self._out = 0
        facts = self._facts = self._opening.copy()
        firsts = [self._to_spot(spot) for spot in range(self._spots)]
        up = self._draw()
        facts.append(self._to_dealer[up])
        seconds = [self._to_spot(spot) for spot in range(self._spots)]
        hole = self._draw()
        facts.append(self._face_down[hole])
        up_points, hole_points = _POINTS[up], _POINTS[hole]
        blackjack = up_points * hole_points == 10 and up_points + hole_points == 11
        self._column = (up_points + 8) % 10
        if self._peeks and (up_points == 10 or up_points == 1):
            facts.append(self._blackjack if blackjack else self._no_blackjack)
        live = False
        if not (blackjack and self._peeks):
            for spot in range(self._spots):
                if self._plays(spot, firsts[spot], seconds[spot]):
                    live = True
        facts.append(self._turned[hole])
        if live and not blackjack:
            self._draws(up_points + hole_points, up_points == 1 or hole_points == 1)
        facts.append(self._closed)
        return facts

    def _draw(self) -> int:
        """Take a card from what is left of the shoe, each as likely as the others."""
        shoe, out = self._shoe, self._out
        left = len(shoe) - out
        if left == 0:
            raise DeckRanOut
        at = out + int(self._random() * left)
        card = shoe[at]
        shoe[at] = shoe[out]
        shoe[out] = card
        self._out = out + 1
        return card

    def _to_spot(self, spot: int) -> int:
        """Deal a card of the initial deal; return its points."""
        card = self._draw()
        self._facts.append(self._to_hand[spot][0][card])
        return _POINTS[card]

    def _to(self, spot: int, hand: int) -> int:
        """Deal a card of play; return its points."""
        card = self._draw()
        self._facts.append(self._to_hand[spot][hand][card])
        return _POINTS[card]

    def _plays(self, spot: int, first: int, second: int) -> bool:
        """Play one spot; return whether a hand of it waits for the dealer."""
        if first + second == 11 and (first == 1 or second == 1):
            return False
        decision = self._decides(self._first, first, second)
        if decision == SPLIT:
            return self._splits_up(spot, first)
        if decision == SURRENDER:
            self._facts.append(self._surrenders[spot])
            return False
        return self._goes_on(spot, 0, decision, first, second)

    def _decides(self, table: list[int], first: int, second: int) -> int:
        """Look up what to do with two cards, pairs by their own row."""
        if first == second:
            return table[(_PAIRS + first) * _COLUMNS + self._column]
        if first == 1 or second == 1:
            return table[(_SOFT + first + second + 10) * _COLUMNS + self._column]
        return table[(first + second) * _COLUMNS + self._column]

    def _splits_up(self, spot: int, points: int) -> bool:
        """Split a pair, and again as long as it may be; play each hand before the next."""
        live = False
        hands = self._parts(spot, 0, 1)
        hand = 0
        while hand < hands:
            second = self._to(spot, hand)
            while second == points and self._may_part(points, hands):
                hands = self._parts(spot, hand, hands)
                second = self._to(spot, hand)
            if points == 1:
                live = True
            else:
                decision = self._decides(self._parted, points, second)
                if self._goes_on(spot, hand, decision, points, second):
                    live = True
            hand += 1
        return live

    def _may_part(self, points: int, hands: int) -> bool:
        return hands < self._max_hands and (points != 1 or self._resplits_aces)

    def _parts(self, spot: int, hand: int, hands: int) -> int:
        self._facts.append(self._splits[spot][hand])
        self._facts.append(self._split_wagers[spot][hands])
        return hands + 1

    def _goes_on(self, spot: int, hand: int, decision: int, first: int, second: int) -> bool:
        """Play a hand of two cards to its end; return whether it waits for the dealer."""
        points, ace = first + second, first == 1 or second == 1
        if decision == DOUBLE and self._may_double(points, ace):
            self._facts.append(self._doubles[spot][hand])
            return points + self._to(spot, hand) <= 21
        while decision != STAND:
            card = self._to(spot, hand)
            points += card
            ace = ace or card == 1
            if points > 21:
                return False
            if ace and points <= 11:
                decision = self._later[(_SOFT + points + 10) * _COLUMNS + self._column]
            else:
                decision = self._later[points * _COLUMNS + self._column]
        return True

    def _may_double(self, points: int, ace: bool) -> bool:
        if self._double_from == 0:
            return True
        return self._double_from <= points <= 11 and (self._double_soft or not ace)

    def _draws(self, points: int, ace: bool) -> None:
        """Draw the dealer's cards to 17."""
        while points < 17:
            if ace and 7 <= points <= 11 and not (points == 7 and self._hits_soft17):
                return
            card = self._draw()
            self._facts.append(self._to_dealer[card])
            points += _POINTS[card]
            ace = ace or card in _ACES


_ACES: Final = frozenset(index for index, points in enumerate(_POINTS) if points == 1)
