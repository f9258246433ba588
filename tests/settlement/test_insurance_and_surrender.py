"""Clauses 23 to 26: insurance, even money, surrender, and a dealer's blackjack."""

import pytest

from models.judgements import Possible
from tests.settlement.table import codes, found, nets, one_round, only_hand

ACE_UP = "bet 1 1000; 1 TS; D AC; 1 9D; D {} down; "
BLACKJACK, NONE = "KC", "7C"
HOME = "bet 1 1000; 1 {} down; D KC down; 1 {} down; D AC; "


def test_insurance_pays_two_to_one_against_a_blackjack() -> None:
    text = ACE_UP.format("KC") + "ins 1 500; peek yes; show D KC; payins 1 1000; pay 1 -1000; close"
    assert found(text) == []
    (spot,) = one_round(text).spots
    assert spot.insurance is not None
    assert (spot.insurance.stake, spot.insurance.net, spot.net) == (500, 1000, 0)


def test_insurance_is_lost_otherwise() -> None:
    text = ACE_UP.format("7C") + "ins 1 400; peek no; payins 1 -400; show D 7C; pay 1 1000; close"
    assert found(text) == []
    assert nets(text) == [600]


def test_insurance_above_half_is_capped() -> None:
    text = ACE_UP.format("KC") + "ins 1 600; peek yes; show D KC; close"
    assert found(text) == [("insurance_over_half", 6)]
    assert nets(text) == [0]
    assert nets(text, "kansas-shoe", "policy.insurance_over_half=as_placed") == [200]


def test_insurance_in_parts_is_their_sum() -> None:
    text = ACE_UP.format("KC") + "ins 1 300; ins 1 200; peek yes; show D KC; close"
    assert found(text) == []
    over = ACE_UP.format("KC") + "ins 1 300; ins 1 300; peek yes; show D KC; close"
    assert found(over) == [("insurance_over_half", 7)]


def test_insurance_of_exactly_half() -> None:
    text = HOME.format("TS", "9D") + "ins 1 {}; show D KC; close"
    assert found(text.format(500), "home") == []
    assert found(text.format(400), "home") == [("insurance_not_half", 6)]
    assert found(text.format(600), "home") == [("insurance_over_half", 6)]
    assert nets(text.format(400), "home") == [-200]


def test_insurance_is_offered_on_an_ace_alone() -> None:
    text = "bet 1 1000; 1 TS; D TC; 1 9D; D 7C down; ins 1 500; show D 7C; close"
    assert found(text) == [("insurance_not_offered", 6)]
    assert nets(text) == [500]
    assert nets(text, "kansas-shoe", "policy.illegal_option=void") == [1000]
    none = ACE_UP.format("7C") + "ins 1 500; show D 7C; close"
    assert codes(none, "kansas-shoe", "insurance=none") == ["insurance_not_offered"]


@pytest.mark.parametrize("before", ["stand 1", "1 2C", "peek no", "say-double 1"])
def test_insurance_comes_before_any_hand_acts(before: str) -> None:
    text = ACE_UP.format("7C") + f"{before}; ins 1 500; show D 7C; close"
    late = [code for code in codes(text) if code == "insurance_late"]
    assert late == ["insurance_late"]


def test_insurance_may_be_taken_back_while_it_is_open() -> None:
    text = ACE_UP.format("KC") + "ins 1 500; back 1 500 insurance; show D KC; close"
    assert found(text) == []
    assert nets(text) == [-1000]


def test_an_insured_blackjack_against_the_dealers() -> None:
    text = HOME.format("AS", "TD") + "ins 1 500; show D KC; close"
    assert nets(text, "home") == [1000]
    literal = ("home", "insured_blackjack_vs_dealer_blackjack=lose")
    assert nets(text, *literal) == [0]
    uninsured = HOME.format("AS", "TD") + "show D KC; close"
    assert nets(uninsured, *literal) == [0]


# --- even money ---------------------------------------------------------------------------

NATURAL = "bet 1 1000; 1 AS; D AC; 1 TD; D {} down; even_money 1; show D {}; close"


@pytest.mark.parametrize("hole", ["KC", "7C"])
def test_even_money_pays_the_wager_either_way(hole: str) -> None:
    text = NATURAL.format(hole, hole)
    assert found(text, "kansas-shoe", "even_money=true") == []
    assert nets(text, "kansas-shoe", "even_money=true") == [1000]
    assert found(text) == [("even_money_not_offered", 6)]
    assert nets(text) == [1000]


def test_even_money_is_for_a_blackjack_against_an_ace() -> None:
    text = NATURAL.format("7C", "7C").replace("D AC", "D TC")
    assert codes(text, "kansas-shoe", "even_money=true") == ["even_money_not_offered"]


def test_void_even_money_leaves_the_blackjack() -> None:
    text = NATURAL.format("7C", "7C")
    assert nets(text, "kansas-shoe", "policy.illegal_option=void") == [1500]


# --- surrender ----------------------------------------------------------------------------

SURRENDER = "bet 1 1000; 1 TS; D 9C; 1 6D; D 8S down; surrender 1; show D 8S; close"


def test_surrender_gives_up_half() -> None:
    assert found(SURRENDER, "casino-shoe") == []
    assert nets(SURRENDER, "casino-shoe") == [-500]


@pytest.mark.parametrize("name", ["kansas-shoe", "kansas-double-deck"])
def test_surrender_where_the_house_has_none(name: str) -> None:
    assert found(SURRENDER, name) == [("surrender_not_offered", 6)]
    assert nets(SURRENDER, name) == [-500]
    assert nets(SURRENDER, name, "policy.illegal_option=void") == [-1000]


def test_surrender_is_the_first_decision() -> None:
    text = SURRENDER.replace("1 6D", "1 2D").replace("surrender 1", "1 3D; surrender 1")
    assert found(text, "casino-shoe") == [("surrender_after_action", 7)]


@pytest.mark.parametrize("card", ["", "{0} 5C; "], ids=["no-second-card", "second-card"])
@pytest.mark.parametrize("spot", [1, 2])
@pytest.mark.parametrize("name", ["casino-shoe", "kansas-shoe"])
def test_surrender_before_the_second_card_is_not_offered(name: str, spot: int, card: str) -> None:
    """It is no decision "after action", and the spot is not skipped in the deal."""
    other = 3 - spot
    second = {spot: card.format(spot), other: f"{other} 6D; "}
    text = f"bet 1 1000; bet 2 1000; 1 TS; 2 TD; D AC; surrender {spot}; {second[1]}{second[2]}"
    text += f"D 8S down; ins {other} 500; stand {other}; show D 8S; close"
    assert found(text, name) == [("surrender_not_offered", 6)]
    result = one_round(text, name)
    assert result.spots[spot - 1].hands[0].outcome == "surrender"
    assert result.spots[spot - 1].net == -500


def test_surrender_is_for_unsplit_hands() -> None:
    text = (
        "bet 1 1000; 1 8S; D 9C; 1 8D; D 8H down; say-split 1; split 1.1 1000; "
        "1 8C; surrender 1; 1.1 TS; show D 8H; close"
    )
    assert found(text, "casino-shoe") == [("surrender_after_split", 9)]
    assert nets(text, "casino-shoe") == [500]
    assert codes(text, "casino-shoe", "surrender_after_split=true") == []


LATE_HOUSES = ("home", "casino-shoe", "casino-single-deck")
ACE_FIRST = "bet 1 1000; 1 TS; D AC; 1 6D; D TC down; {}surrender 1; {}show D TC; {}close"
HOLE_FIRST = (
    "bet 1 1000; 1 TS down; D TC down; 1 6D down; D AC; {}surrender 1; {}show D TC; {}close"
)
GIVEN_UP = {
    "home": HOLE_FIRST,
    "casino-shoe": ACE_FIRST,
    "casino-single-deck": ACE_FIRST.replace("1 TS", "1 TS down").replace("1 6D", "1 6D down"),
}
"""A surrender against an ace with a ten under it, dealt as each of these houses deals."""


@pytest.mark.parametrize("name", LATE_HOUSES)
@pytest.mark.parametrize("policy", ["as_played", "void"])
def test_a_late_surrender_against_a_blackjack_loses_the_whole_wager(name: str, policy: str) -> None:
    text, knob = GIVEN_UP[name].format("", "", ""), f"policy.illegal_option={policy}"
    assert nets(text, name, knob) == [-1000]
    assert found(text, name, knob) == [("surrender_vs_dealer_blackjack", 6)]
    hand = only_hand(text, name, knob)
    assert (hand.outcome, hand.clauses) == (
        "lose",
        ("surrender.dealer_blackjack", "dealer.blackjack"),
    )


@pytest.mark.parametrize("name", LATE_HOUSES)
def test_an_early_surrender_stands_against_a_blackjack(name: str) -> None:
    text = GIVEN_UP[name].format("", "", "")
    assert nets(text, name, "surrender=early") == [-500]
    assert found(text, name, "surrender=early") == []
    assert only_hand(text, name, "surrender=early").outcome == "surrender"


@pytest.mark.parametrize("name", LATE_HOUSES)
def test_the_dealer_who_returns_half_against_a_blackjack_pays_wrongly(name: str) -> None:
    refused = ("surrender_vs_dealer_blackjack", 6)
    whole = GIVEN_UP[name].format("", "", "pay 1 -1000; ")
    half = GIVEN_UP[name].format("", "", "pay 1 -500; ")
    assert found(whole, name) == [refused]
    assert found(half, name) == [refused, ("wrong_payout", 8)]
    assert found(half, name, "surrender=early") == []
    assert found(whole, name, "surrender=early") == [("wrong_payout", 8)]


def test_half_taken_at_once_and_half_when_the_blackjack_shows_is_the_whole() -> None:
    text = GIVEN_UP["casino-shoe"].format("", "pay 1 -500; ", "pay 1 -500; ")
    assert found(text, "casino-shoe") == [("surrender_vs_dealer_blackjack", 6)]


def test_a_surrender_after_the_dealer_found_his_blackjack_does_not_stand_either() -> None:
    text = GIVEN_UP["casino-shoe"].format("peek yes; ", "", "")
    assert nets(text, "casino-shoe") == [-1000]
    assert found(text, "casino-shoe") == [("surrender_vs_dealer_blackjack", 7)]


def test_a_surrender_after_a_look_that_missed_the_blackjack_came_in_its_time() -> None:
    text = GIVEN_UP["casino-shoe"].format("peek no; ", "", "")
    assert nets(text, "casino-shoe") == [-1000]
    assert found(text, "casino-shoe") == [("hole_card_misread", 6)]


def test_insurance_is_paid_beside_a_surrender_that_does_not_stand() -> None:
    text = GIVEN_UP["casino-shoe"].format("ins 1 500; ", "", "payins 1 1000; pay 1 -1000; ")
    assert nets(text, "casino-shoe") == [0]
    assert found(text, "casino-shoe") == [("surrender_vs_dealer_blackjack", 7)]
    assert nets(text, "casino-shoe", "surrender=early") == [500]


def test_a_surrendered_split_hand_loses_what_a_blackjack_collects() -> None:
    text = SPLIT.replace("1.1 TD", "surrender 1; 1.1 TD")
    late = ("casino-shoe", "surrender_after_split=true")
    assert nets(text, *late) == [-1000]
    assert nets(text, *late, "dealer_blackjack_collects=all_wagers") == [-2000]
    assert codes(text, *late) == ["surrender_vs_dealer_blackjack"]


def test_a_late_surrender_hangs_on_a_hole_card_that_nobody_saw() -> None:
    text = "bet 1 1000; 1 TS; D TC; 1 6D; D ?? down; {}surrender 1; close"
    possible = only_hand(text.format(""), "casino-shoe").possible
    assert possible == (
        Possible("lose", -1000, "the dealer's unknown card is an ace"),
        Possible("surrender", -500, "the dealer's unknown card is 2, 3, 4, 5, 6, 7, 8, 9 or a ten"),
    )
    assert nets(text.format("peek no; "), "casino-shoe") == [-500]
    assert nets(text.replace("D TC", "D 9C").format(""), "casino-shoe") == [-500]
    assert nets(text.format(""), "casino-shoe", "surrender=early") == [-500]


def test_a_surrender_that_no_rule_offers_stands_as_it_was_played() -> None:
    """Only a house with late surrender says that a blackjack undoes it."""
    text = GIVEN_UP["casino-shoe"].format("", "", "")
    assert nets(text) == [-500]
    assert found(text) == [("surrender_not_offered", 6)]


def test_half_of_an_odd_wager_follows_the_rounding() -> None:
    text = SURRENDER.replace("1000", "1025")
    assert nets(text, "casino-shoe") == [-513]
    assert nets(text, "casino-shoe", "payout_rounding=up") == [-512]
    assert nets(text, "casino-shoe", "payout_unit=100") == [-525]


# --- the dealer's blackjack ---------------------------------------------------------------

DOUBLED = "bet 1 1000; 1 5S; D TC; 1 6D; D AS down; double 1 1000; 1 9C; show D AS; close"
SPLIT = (
    "bet 1 1000; 1 8S; D TC; 1 8D; D AS down; say-split 1; split 1.1 1000; "
    "1 TS; 1.1 TD; show D AS; close"
)


@pytest.mark.parametrize("text", [DOUBLED, SPLIT], ids=["doubled", "split"])
def test_a_dealer_blackjack_collects_the_original_wager_only(text: str) -> None:
    assert found(text) == []
    assert nets(text) == [-1000]
    assert nets(text, "kansas-shoe", "dealer_blackjack_collects=all_wagers") == [-2000]


def test_a_break_is_settled_before_the_dealer_plays() -> None:
    text = DOUBLED.replace("1 5S", "1 TS").replace("1 9C", "1 JC")
    assert nets(text) == [-2000]
    assert one_round(text).spots[0].hands[0].outcome == "bust"


def test_a_blackjack_beats_an_ordinary_21_both_ways() -> None:
    players = "bet 1 1000; 1 AS; D 7C; 1 KD; D 7D down; show D 7D; D 7S; close"
    assert nets(players) == [1500]
    dealers = "bet 1 1000; 1 7S; D AC; 1 7D; D KD down; 1 7C; show D KD; close"
    assert nets(dealers) == [-1000]


def test_two_blackjacks_push() -> None:
    text = "bet 1 1000; 1 AS; D AC; 1 KD; D KC down; show D KC; close"
    assert nets(text) == [0]
    assert one_round(text).spots[0].hands[0].outcome == "push"
