"""A European deal: the dealer takes his second card only when the players have finished."""

import pytest

from models.errors import InputRefused
from settlement.rulebooks import parse
from tests.settlement.table import (
    IDS,
    RULEBOOKS,
    codes,
    found,
    nets,
    one_round,
    only_hand,
    rules,
)

EUROPEAN = ("kansas-shoe", "dealer_second_card=after_players")
DEALT = "bet 1 1000; bet 2 1000; 1 TS; 2 9S; D {}; 1 8C; 2 7C; "
PLAYED = DEALT + "stand 1; 2 3C; stand 2; D {}; "


def test_a_second_card_after_the_players_is_no_mistake_where_the_house_deals_so() -> None:
    text = PLAYED.format("6H", "TC") + "D 9D; pay 2 1000; pay 1 1000; close"
    assert found(text, *EUROPEAN) == []
    assert nets(text, *EUROPEAN) == [1000, 1000]
    assert one_round(text, *EUROPEAN).dealer.outcome == "bust"


def test_it_is_one_where_the_house_deals_a_hole_card() -> None:
    text = PLAYED.format("6H", "TC") + "D 9D; pay 2 1000; pay 1 1000; close"
    assert codes(text) != []


def test_a_dealer_who_takes_his_second_card_before_the_players_finish_is_too_soon() -> None:
    text = DEALT.format("6H") + "D TC; stand 1; 2 3C; stand 2; D 9D; close"
    assert found(text, *EUROPEAN) == [("dealer_acted_before_players", 8)]


def test_the_one_card_of_the_deal_lies_face_up() -> None:
    text = PLAYED.format("6H down", "TC") + "show D 6H; D 9D; close"
    assert found(text, *EUROPEAN) == [("deal_face", 5)]


def test_a_dealer_who_takes_no_second_card_stood_short() -> None:
    text = DEALT.format("6H") + "stand 1; stand 2; close"
    result = one_round(text, *EUROPEAN)
    assert [one.code for one in result.violations] == ["dealer_stood_below_17"]
    assert [spot.hands[0].outcome for spot in result.spots] == ["pending", "pending"]


def test_with_every_hand_broken_no_second_card_is_due() -> None:
    text = "bet 1 1000; 1 TS; D TC; 1 6C; 1 KC; pay 1 -1000; close"
    assert found(text, *EUROPEAN) == []
    assert nets(text, *EUROPEAN) == [-1000]


BLACKJACK = "bet 1 1000; 1 AS; D {}; 1 KC; {}close"


def test_a_blackjack_against_an_ace_or_a_ten_waits_for_the_second_card() -> None:
    assert nets(BLACKJACK.format("TC", "D AD; pay 1 0; "), *EUROPEAN) == [0]
    assert nets(BLACKJACK.format("TC", "D 9D; pay 1 1500; "), *EUROPEAN) == [1500]
    assert only_hand(BLACKJACK.format("TC", ""), *EUROPEAN).outcome == "pending"
    assert found(BLACKJACK.format("TC", "pay 1 1500; D 9D; "), *EUROPEAN) == [
        ("blackjack_paid_early", 5)
    ]
    assert found(BLACKJACK.format("9C", "pay 1 1500; "), *EUROPEAN) == []


def test_insurance_waits_for_the_second_card_too() -> None:
    text = (
        "bet 1 1000; 1 TS; D AC; 1 9C; ins 1 500; stand 1; D TD; payins 1 1000; pay 1 -1000; close"
    )
    assert found(text, *EUROPEAN) == []
    assert nets(text, *EUROPEAN) == [0]


def test_doubles_and_splits_are_lost_to_a_blackjack_as_the_house_says() -> None:
    text = "bet 1 1000; 1 5S; D TC; 1 6C; double 1 1000; 1 9D; D AD; close"
    assert nets(text, *EUROPEAN, "dealer_blackjack_collects=all_wagers") == [-2000]
    assert nets(text, *EUROPEAN) == [-1000]


def test_a_late_surrender_falls_without_a_mistake_where_nobody_could_look() -> None:
    late = (*EUROPEAN, "surrender=late", "signals.surrender=hand")
    text = "bet 1 1000; 1 TS; D TC; 1 6C; surrender 1; {}close"
    assert found(text.format("D AD; pay 1 -1000; "), *late) == []
    assert found(text.format("D AD; pay 1 -500; "), *late) == [("wrong_payout", 7)]
    assert nets(text.format("D 9D; pay 1 -500; "), *late) == [-500]
    assert only_hand(text.format(""), *late).outcome == "pending"
    assert nets(text.format("").replace("D TC", "D 9C"), *late) == [-500]


def test_the_order_of_the_deal_is_judged_in_both_passes() -> None:
    first = "bet 1 1000; bet 2 1000; 2 9S; 1 TS; D 6H; 1 8C; 2 7C; D TC; D 9D; close"
    assert found(first, *EUROPEAN) == [("deal_order", 3)]
    both = "bet 1 1000; bet 2 1000; 2 9S; 1 TS; D 6H; 2 7C; 1 8C; D TC; D 9D; close"
    assert found(both, *EUROPEAN) == [("deal_order", 3)]


@pytest.mark.parametrize("name", IDS)
def test_every_shipped_sheet_deals_the_second_card_with_the_deal(name: str) -> None:
    assert rules(name).dealer_second_card == "with_deal"


def test_a_dealer_without_a_hole_card_has_no_first_card_face_down() -> None:
    text = (RULEBOOKS / "home.toml").read_text("utf-8")
    with pytest.raises(InputRefused) as refused:
        parse(text.replace('value = "with_deal"', 'value = "after_players"'), "site.toml")
    assert refused.value.field == "knobs.dealer_first_card"
    assert refused.value.expected == "up, as dealer_second_card is after_players"
