"""Rounds of the simulated table settle as someone reckons who knows only the sheet's own words."""

import pytest

from models.judgements import HandResult, RoundResult, SpotResult
from settlement.engine import Engine
from simulation.dealing import deal_session
from simulation.table import Table
from tests.settlement.plain.reckoning import Hand, best, dealer_draws, owed
from tests.settlement.table import IDS, rules


def _hand(spot: SpotResult, hand: HandResult) -> Hand:
    """See a settled hand as the reckoner does; a double or split met no dealer's blackjack."""
    return Hand(
        spot=spot.spot,
        number=hand.hand,
        stake=hand.stake,
        cards=[card for card in hand.cards if card],
        blackjack_counts=len(spot.hands) == 1,
        surrendered=hand.outcome == "surrender",
    )


def _played(name: str, seed: int) -> list[RoundResult]:
    engine = Engine(rules(name))
    steps = deal_session(Table(rules(name), (1, 2, 4, 5), seed), 25, seed)
    return [result for step in steps for result in engine.feed(step.fact)] + list(engine.finish())


@pytest.mark.parametrize("name", IDS)
def test_simulated_rounds_settle_as_reckoned_by_hand(name: str) -> None:
    """With the dealer looking under his ace or ten, no double or split meets his blackjack."""
    results = _played(name, 11)
    assert len(results) == 25
    for result in results:
        assert (result.status, result.violations) == ("final", ())
        dealer = [card for card in result.dealer.cards if card]
        for spot in result.spots:
            for hand in spot.hands:
                due = owed(_hand(spot, hand), dealer, rules(name), insured=False)
                assert (hand.outcome, hand.net) == due


@pytest.mark.parametrize("name", IDS)
def test_a_simulated_dealer_ends_as_his_sheet_says(name: str) -> None:
    for result in _played(name, 12):
        dealer = [card for card in result.dealer.cards if card]
        assert result.dealer.total == best(dealer)
        assert result.dealer.burned == ()
        if result.dealer.outcome == "stand":
            assert best(dealer) <= 21
            assert not dealer_draws(dealer, rules(name))
