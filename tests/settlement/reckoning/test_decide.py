"""A round settled in every way it may have gone: when it is stated, and when a person is asked."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    PaymentMade,
    RoundClosed,
    RoundOpened,
    TrayCounted,
    WagerPlaced,
)
from models.judgements import Change
from settlement.reckoning.decide import Decided, Edit, Hypothesis, decide
from settlement.reckoning.odds import ASKED_FROM, MISTAKE
from settlement.reconcile.draws import Composition
from settlement.reconcile.weighing import Weighing
from tests.settlement.felt_scene import RULES

SEVENTEEN = 5
"""Place of the dealer's turned card in :func:`played`."""


def played(paid: int = 1000, *, dealers: str = "7C") -> list[AnyFact]:
    """Ten and nine for 10 against the dealer's ten and another card."""
    return [
        RoundOpened(round=1),
        WagerPlaced(spot=1, kind="main", amount=1000),
        CardDealt(to=1, card=Card("TS")),
        CardDealt(to="dealer", card=Card("TD")),
        CardDealt(to=1, card=Card("9H")),
        CardDealt(to="dealer", card=Card(dealers), face="down"),
        CardExposed(to="dealer", card=Card(dealers)),
        PaymentMade(spot=1, amount=paid),
        RoundClosed(),
    ]


def holes(record: list[AnyFact], **odds: float) -> list[Edit]:
    """Return by each card that the dealer turned up that one."""
    found = []
    for name, p in odds.items():
        card = Card(name.removeprefix("c"))
        dealt = CardDealt(to="dealer", card=card, face="down")
        shown = CardExposed(to="dealer", card=card)
        changes = [Change(SEVENTEEN, 1, (dealt,)), Change(SEVENTEEN + 1, 1, (shown,))]
        found.append(Edit(log(p), "camera", changes))
    return found


def decided(record: list[AnyFact], edits: list[Edit], *, cards_matter: bool = False) -> Decided:
    weighing = Weighing(RULES, Composition(RULES.decks).room)
    stated = Hypothesis(0.0, record, {}, edits)
    return decide(
        stated, [], lambda facts: weighing.outcome(facts, record), cards_matter=cards_matter
    )


def test_what_settles_alike_need_not_be_known() -> None:
    record = played()
    found = decided(record, holes(record, c8C=0.2), cards_matter=True)
    assert not found.open
    assert found.alike == pytest.approx(0.2)


def test_a_count_of_the_tray_is_no_mistake_of_another_account() -> None:
    record = [*played(), TrayCounted(amount=500_000)]
    weighing = Weighing(RULES, Composition(RULES.decks).room)
    for paid in (1000, 500, 1000):
        account = [*played(paid), TrayCounted(amount=500_000)]
        codes = {code for code, _, _ in weighing.outcome(account, record).mistakes}
        assert codes == (set() if paid == 1000 else {"wrong_payout"})


def test_an_account_that_wants_a_wrong_payout_gives_way_to_one_that_wants_none() -> None:
    record = played()
    assert not decided(record, holes(record, cTC=0.2)).open


def test_a_payout_that_is_wrong_as_stated_and_right_by_another_account_is_for_a_person() -> None:
    record = played(-1000)
    found = decided(record, holes(record, cTC=0.2))
    assert found.open
    assert found.rivals[0].odds == pytest.approx(0.2 / MISTAKE)


def test_two_errors_of_the_sensors_explain_what_neither_does_alone() -> None:
    """By one hidden face the dealer has 20, by the other the player 20 as well: a push is right."""
    record = played(0)
    nine = record.index(CardDealt(to=1, card=Card("9H")))
    ten = Edit(log(0.2), "camera", [Change(nine, 1, (CardDealt(to=1, card=Card("TH")),))])
    alone = decided(record, holes(record, cTC=0.2))
    both = decided(record, [ten, *holes(record, cTC=0.2)])
    assert all(rival.outcome.mistakes for rival in alone.rivals)
    assert both.rivals[0].odds == pytest.approx(0.04 / MISTAKE)
    assert not both.rivals[0].outcome.mistakes


def test_the_odds_of_accounts_that_settle_alike_are_summed() -> None:
    record = played(-1000)
    found = decided(record, holes(record, cTC=0.2, cJC=0.1))
    assert found.rivals[0].odds == pytest.approx(0.3 / MISTAKE)


@given(odds=st.floats(1e-9, 0.5))
def test_a_person_is_asked_as_the_odds_reach_the_threshold(odds: float) -> None:
    unpaid: list[AnyFact] = [fact for fact in played() if not isinstance(fact, PaymentMade)]
    found = decided(unpaid, holes(unpaid, cTC=odds))
    assert found.wrong == pytest.approx(odds, abs=1e-6)
    assert found.open == (found.wrong > ASKED_FROM)


def test_no_other_account_is_no_question() -> None:
    found = decided(played(), [])
    assert not found.open
    assert found.rivals == []
