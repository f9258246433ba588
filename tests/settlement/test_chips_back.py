"""Clause 27, wager.stands: chips come back only before they are played for."""

import pytest

from tests.settlement.table import codes, found, nets, one_round

DOUBLED = "bet 1 1000; 1 5S; D 6H; 1 6C; D TC down; double 1 1000; {} show D TC; D 9S; close"
SPLIT = "bet 1 1000; 1 8S; D 6H; 1 8C; D TC down; say-split 1; split 1.1 1000; {} "
SPLIT += "show D TC; D 9S; close"
INSURED = "bet 1 1000; 1 8S; D AH; 1 8C; D 9C down; ins 1 500; {} show D 9C; close"


def test_a_wager_may_shrink_or_go_before_the_deal() -> None:
    text = "bet 1 1000; bet 2 1000; back 1 400; back 2 1000; 1 TS; D 6H; 1 9C; D TC down; "
    assert found(text + "show D TC; D 9S; close") == []
    assert nets(text + "show D TC; D 9S; close") == [600]


def test_more_than_lay_there_leaves_no_wager() -> None:
    text = "bet 1 1000; bet 2 1000; back 2 3000; 1 TS; D 6H; 1 9C; D TC down; show D TC; D 9S; "
    assert found(text + "close") == []
    assert nets(text + "close") == [1000]


def test_a_double_may_shrink_until_its_card_comes() -> None:
    text = DOUBLED.format("back 1 400 double; 1 9D;")
    assert found(text) == []
    assert nets(text) == [1600]
    strict = ("kansas-shoe", "double_for_less=false")
    assert found(text, *strict) == [("double_for_less_not_allowed", 7)]


@pytest.mark.parametrize("back", [1000, 3000])
def test_a_double_taken_back_whole_is_none(back: int) -> None:
    text = DOUBLED.format(f"back 1 {back} double; 1 2D; 1 5D;")
    assert found(text) == []
    assert nets(text) == [1000]


def test_a_void_double_taken_back_excuses_no_further_card() -> None:
    text = "bet 1 1000; 1 AS; D 6H; 1 TC; D TC down; double 1 1000; back 1 1000 double; 1 9D; "
    settings = ("kansas-shoe", "policy.illegal_option=void")
    told = found(text + "show D TC; close", *settings)
    assert told == [("double_on_blackjack", 6), ("card_to_blackjack", 8)]


def test_a_double_chips_back_is_owed_no_card() -> None:
    text = DOUBLED.format("back 1 1000 double; stand 1;")
    assert found(text) == []
    assert nets(text) == [1000]


def test_after_its_card_a_doubles_chips_stay() -> None:
    text = DOUBLED.format("1 2D; back 1 1000 double;")
    assert found(text) == [("stake_reduced_after_deal", 8)]
    assert nets(text) == [2000]


def test_chips_laid_on_a_double_that_has_its_card_do_not_count() -> None:
    text = DOUBLED.format("1 2D; double 1 500;")
    assert found(text) == [("stake_increased_after_deal", 8)]
    assert nets(text) == [2000]


def test_a_split_wager_may_be_laid_anew_until_the_hand_has_two_cards() -> None:
    assert found(SPLIT.format("back 1.1 300 split; split 1.1 300; 1 TS; 1.1 3D;")) == []


@pytest.mark.parametrize(("back", "net"), [(300, 1700), (3000, 1000)])
def test_a_split_wager_taken_back_does_not_match(back: int, net: int) -> None:
    text = SPLIT.format(f"back 1.1 {back} split; 1 TS; 1.1 3D;")
    assert found(text) == [("split_wager_mismatch", 8)]
    assert nets(text) == [net]


def test_a_split_hand_of_two_cards_keeps_its_wager() -> None:
    for late, code in (
        ("back 1.1 300 split", "stake_reduced_after_deal"),
        ("split 1.1 300", "stake_increased_after_deal"),
    ):
        text = SPLIT.format(f"1 TS; 1.1 3D; {late};")
        assert found(text) == [(code, 10)]
        assert nets(text) == [2000]
        (violation,) = one_round(text).violations
        assert (violation.spot, violation.hand) == (1, 1)


def test_a_first_hand_has_no_split_wager() -> None:
    added = "bet 1 1000; 1 8S; D 6H; 1 8C; D TC down; split 1.0 500; show D TC; D 9S; close"
    assert found(added) == [("stake_increased_after_deal", 6)]
    assert nets(added) == [1000]
    (violation,) = one_round(added).violations
    assert violation.detail == "5.00 added to a wager in play; it counts as it was"
    reduced = added.replace("split 1.0", "back 1").replace("500", "500 split")
    assert found(reduced) == [("stake_reduced_after_deal", 6)]


def test_insurance_may_shrink_before_the_look() -> None:
    text = INSURED.format("back 1 200 insurance; peek no;")
    assert found(text) == []
    assert nets(text) == [-1300]
    assert nets(INSURED.format("back 1 900 insurance; peek no;")) == [-1000]


@pytest.mark.parametrize("began", ["peek no", "stand 1"])
def test_insurance_stays_once_play_has_begun(began: str) -> None:
    text = INSURED.format(f"{began}; back 1 200 insurance;")
    assert found(text) == [("stake_reduced_after_deal", 8)]
    assert nets(text) == [-1500]


@pytest.mark.parametrize(
    "began",
    ["stand 1", "peek no", "show D 9C", "split 1.1 1000", "double 1 1000", "1 2D"],
)
def test_insurance_is_late_once_play_has_begun(began: str) -> None:
    text = INSURED.format("").replace("ins 1 500;", f"{began}; ins 1 500;")
    assert "insurance_late" in codes(text)
