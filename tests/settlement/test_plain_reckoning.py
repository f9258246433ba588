"""Rounds of random players settle as someone reckons who knows only the sheet's own words.

The reckoning here shares no line with the engine: it looks at the cards a round ended with,
counts them its own way and pays by the sheet's odds.
"""

from fractions import Fraction

import pytest

from models.cards import Card
from models.judgements import HandResult, RoundResult, SpotResult
from models.rulebook import Rulebook
from settlement.engine import Engine
from simulation.dealing import deal_session
from simulation.table import Table
from tests.settlement.table import IDS, rules


def _best(cards: tuple[Card | None, ...]) -> int:
    values = [min(10, "A23456789TJQK".index(card.rank) + 1) for card in cards if card]
    high = sum(values) + 10 * (1 in values)
    return high if high <= 21 else sum(values)


def _natural(cards: tuple[Card | None, ...]) -> bool:
    return {10, 1} == {min(10, "A23456789TJQK".index(c.rank) + 1) for c in cards if c} and (
        len(cards) == 2
    )


def _reckoned(spot: SpotResult, hand: HandResult, result: RoundResult, book: Rulebook) -> Fraction:
    stake, own = Fraction(hand.stake), hand.cards
    if hand.outcome == "surrender":
        return -stake / 2
    if _best(own) > 21:
        return -stake
    natural = _natural(own) and len(spot.hands) == 1
    if _natural(result.dealer.cards):
        return Fraction(0) if natural else -stake
    if natural:
        return stake * Fraction(book.blackjack_payout.pays, book.blackjack_payout.per)
    house = _best(result.dealer.cards)
    if house > 21 or _best(own) > house:
        return stake
    return Fraction(0) if _best(own) == house else -stake


def _played(name: str, seed: int) -> list[RoundResult]:
    engine = Engine(rules(name))
    steps = deal_session(Table(rules(name), (1, 2, 4, 5), seed), 25, seed)
    return [result for step in steps for result in engine.feed(step.fact)] + list(engine.finish())


@pytest.mark.parametrize("name", IDS)
def test_random_rounds_settle_as_reckoned_by_hand(name: str) -> None:
    """With the dealer looking under his ace or ten, no double or split meets his blackjack."""
    results = _played(name, 11)
    assert len(results) == 25
    for result in results:
        assert (result.status, result.violations) == ("final", ())
        for spot in result.spots:
            for hand in spot.hands:
                assert hand.net == _reckoned(spot, hand, result, rules(name))


@pytest.mark.parametrize("name", IDS)
def test_a_random_dealer_ends_as_his_sheet_says(name: str) -> None:
    soft = rules(name).dealer_soft17
    for result in _played(name, 12):
        dealer = result.dealer
        assert dealer.total == _best(dealer.cards)
        assert dealer.burned == ()
        if dealer.outcome == "stand":
            assert 17 <= dealer.total <= 21
            assert (dealer.total, dealer.soft) != (17, True) or soft == "stand"
