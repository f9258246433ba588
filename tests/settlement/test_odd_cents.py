"""What the smallest chip cannot pay goes as the rulebook says, and is seen in the settlement."""

import json

import msgspec
import pytest

from models.judgements import OddCents
from tests.settlement.table import one_round, only_hand

BLACKJACK = "bet 1 {}; 1 AS; D 9C; 1 KD; D 8H down; show D 8H; close"
CHIPS = ("payout_unit=100", "payout_rounding={}")


@pytest.mark.parametrize(("rounding", "paid"), [("down", 1500), ("up", 1600)])
def test_a_blackjack_is_paid_in_whole_chips(rounding: str, paid: int) -> None:
    unit, way = CHIPS
    hand = only_hand(BLACKJACK.format(1025), "kansas-shoe", unit, way.format(rounding))
    assert (hand.net, hand.odd_cents) == (paid, OddCents(exact=(3075, 2), paid=paid))
    assert hand.clauses == ("blackjack.pays", "payout.rounding")


def test_what_is_paid_to_the_cent_says_nothing_of_odd_cents() -> None:
    result = one_round(BLACKJACK.format(1000), "kansas-shoe", "payout_unit=100")
    (hand,) = json.loads(msgspec.json.encode(result))["spots"][0]["hands"]
    assert "odd_cents" not in hand
    assert hand["clauses"] == ["blackjack.pays"]


def test_half_a_wager_given_back_is_paid_in_whole_chips() -> None:
    text = "bet 1 525; 1 TS; D TH; 1 6C; D 7D down; surrender 1; show D 7D; close"
    hand = only_hand(text, "casino-shoe", "payout_unit=100")
    assert (hand.net, hand.odd_cents) == (-325, OddCents(exact=(525, 2), paid=200))


def test_a_won_insurance_is_paid_in_whole_chips() -> None:
    text = "bet 1 1000; 1 TS; D AC; 1 9D; D KC down; ins 1 {}; show D KC; close"
    odd = one_round(text.format(325), "kansas-shoe", "payout_unit=100").spots[0].insurance
    assert odd is not None
    assert (odd.net, odd.odd_cents) == (600, OddCents(exact=(650, 1), paid=600))
    even = one_round(text.format(500), "kansas-shoe", "payout_unit=100").spots[0].insurance
    assert even is not None
    assert (even.net, even.odd_cents) == (1000, msgspec.UNSET)
