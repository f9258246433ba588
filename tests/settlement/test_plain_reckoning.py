"""Rounds of the simulated table settle as someone reckons who knows only the sheet's own words."""

from collections import Counter
from typing import TypeAlias

import pytest

from models.events import WagerPlaced
from models.judgements import HandResult, RoundResult, SpotResult
from settlement.engine import Engine
from simulation.dealing import deal_session
from simulation.table import Table
from tests.settlement.plain.reckoning import Hand, best, dealer_draws, owed
from tests.settlement.table import IDS, rules


def _hand(spot: SpotResult, hand: HandResult, added: int) -> Hand:
    """See a settled hand as the reckoner does; a double or split met no dealer's blackjack."""
    return Hand(
        spot=spot.spot,
        number=hand.hand,
        stake=hand.stake - added,
        added=added,
        split=len(spot.hands) > 1,
        cards=[card for card in hand.cards if card],
        blackjack_counts=len(spot.hands) == 1,
        surrendered=hand.outcome == "surrender",
    )


Added: TypeAlias = Counter[tuple[int, int]]
"""The chips that doubled a hand, by spot and hand."""


def _played(name: str, seed: int) -> list[tuple[RoundResult, Added]]:
    """Return what a simulated session settles to, each round with its doubles."""
    engine, added = Engine(rules(name)), Added()
    played: list[tuple[RoundResult, Added]] = []
    for step in deal_session(Table(rules(name), (1, 2, 4, 5), seed), 25, seed):
        for result in engine.feed(step.fact):
            played.append((result, added))
            added = Added()
        if isinstance(step.fact, WagerPlaced) and step.fact.kind == "double":
            added[step.fact.spot, step.fact.hand] += step.fact.amount
    return played + [(result, added) for result in engine.finish()]


@pytest.mark.parametrize("name", IDS)
def test_simulated_rounds_settle_as_reckoned_by_hand(name: str) -> None:
    """With the dealer looking under his ace or ten, no double or split meets his blackjack."""
    results = _played(name, 11)
    assert len(results) == 25
    for result, added in results:
        assert (result.status, result.violations) == ("final", ())
        dealer = [card for card in result.dealer.cards if card]
        for spot in result.spots:
            for hand in spot.hands:
                its = _hand(spot, hand, added[spot.spot, hand.hand])
                due = owed(its, dealer, rules(name), insured=False)
                assert (hand.outcome, hand.net) == due


@pytest.mark.parametrize("name", IDS)
def test_a_simulated_dealer_ends_as_his_sheet_says(name: str) -> None:
    for result, _ in _played(name, 12):
        dealer = [card for card in result.dealer.cards if card]
        assert result.dealer.total == best(dealer)
        assert result.dealer.burned == ()
        if result.dealer.outcome == "stand":
            assert best(dealer) <= 21
            assert not dealer_draws(dealer, rules(name))
