"""What a record shows is judged, when it shows it; what it breaks off before is left open."""

import pytest

from tests.settlement.table import codes, found, nets, one_round, only_hand

TWO = "bet 1 1000; bet 2 1000; 1 TC; 2 4H; D 8H; 1 9C; 2 KC; D QS down; "


@pytest.mark.parametrize(
    ("told", "outcomes"),
    [
        pytest.param("", ["pending", "pending"], id="nobody-has-played"),
        pytest.param("stand 1", ["win", "pending"], id="the-second-has-still-to-play"),
        pytest.param("stand 1; 2 5S", ["win", "pending"], id="he-may-draw-again"),
        pytest.param("stand 1; 2 5S; stand 2", ["win", "win"], id="both-have-stood"),
        pytest.param("2 5S", ["win", "pending"], id="play-went-on-past-the-first"),
        pytest.param("stand 1; 2 TS", ["win", "bust"], id="the-second-broke"),
        pytest.param("show D QS", ["win", "lose"], id="the-hole-card-was-turned"),
        pytest.param("close", ["win", "lose"], id="the-round-was-closed"),
    ],
)
def test_a_hand_that_may_still_act_is_open_where_the_record_breaks_off(
    told: str, outcomes: list[str]
) -> None:
    result = one_round(TWO + told)
    assert [spot.hands[0].outcome for spot in result.spots] == outcomes
    assert result.violations == ()
    assert result.status == ("pending" if "pending" in outcomes else "final")


def test_the_dealers_third_card_shows_that_the_players_are_done() -> None:
    """Nobody told that the hole card was turned, nor that the round was closed."""
    dealt = "bet 1 1000; bet 2 1000; 1 TC; 2 4H; D 8H; 1 9C; 2 KC; D 4S down; "
    assert [spot.hands[0].outcome for spot in one_round(dealt).spots] == ["pending", "pending"]
    assert [spot.hands[0].outcome for spot in one_round(dealt + "D 6C").spots] == ["win", "lose"]


def test_a_hand_that_play_went_on_from_is_over() -> None:
    split = "bet 1 1000; 1 8S; D 6H; 1 8D; D TS down; say-split 1; split 1.1 1000; 1 TC; "
    open_ = one_round(split).spots[0].hands
    assert [hand.outcome for hand in open_] == ["pending", "pending"]
    assert only_hand("bet 1 1000; 1 8S; D 6H; 1 8D; D TS down; peek no").outcome == "pending"
    gone_on = one_round(split + "1.1 5S; stand 1.1; show D TS; D 9C").spots[0].hands
    assert [hand.outcome for hand in gone_on] == ["win", "win"]


def test_what_is_never_done_is_told_where_the_round_closes() -> None:
    short = "tray 90000; bet 1 1000; 1 TS; D TH; 1 9C; D 5C down; stand 1; show D 5C; close"
    assert found(short + "; tray 90000") == [("dealer_stood_below_17", 9)]
    unpaid = "tray 90000; bet 1 1000; bet 2 1000; 1 TS; 2 TD; D TH; 1 9C; 2 9D; D 8C down; "
    unpaid += "stand 1; stand 2; show D 8C; pay 2 1000; close; tray 89000"
    assert found(unpaid) == [("payment_missing", 14)]


def test_a_break_settled_in_its_turn_is_in_no_pass_wherever_the_hole_card_lies() -> None:
    text = "bet 1 1000; bet 2 1000; 1 TS; 2 9S; D TC; 1 6D; 2 9D; D 8S down; "
    text += "show D 8S; 1 KS; pay 1 -1000; pay 2 0; close"
    assert found(text) == [("hole_card_exposed", 9)]


def test_only_the_card_boxed_last_is_the_one_just_boxed() -> None:
    text = "shoe 6; bet 1 1000; boxed 4H; 1 TS; D 6C; 1 9C; D TC down; show D TC; boxed {}; D 4H; "
    assert codes(text.format("QD") + "close") == []
    assert found(text.format("4H") + "close") == [("face_up_card_used", 10)]


def test_whether_a_double_is_void_may_hang_on_an_unread_card() -> None:
    text = "bet 1 1000; 1 5S; D 6C; 1 ??; D TC down; double 1 1000; 1 2C; show D TC; D 9S; close"
    hand = only_hand(text, "kansas-shoe", "double_on=9-11", "policy.illegal_option=void")
    assert isinstance(hand.possible, tuple)
    assert {way.net for way in hand.possible} == {1000, 2000}
    assert nets(text, "kansas-shoe") == [2000]


def test_a_split_hand_that_may_be_an_ace_is_one_where_it_is_filled_with_it() -> None:
    text = "bet 1 1000; 1 ??; D 6C; 1 ??; D TC down; say-split 1; split 1.1 1000; "
    text += "1 TS; 1.1 TH; show D TC; D 2S; close"
    ways = ("split_ace_21_is_blackjack=true", "split_ten_21_is_blackjack=false")
    for hand in one_round(text, "kansas-shoe", *ways).spots[0].hands:
        assert isinstance(hand.possible, tuple)
        named = {way.outcome: way.condition for way in hand.possible}
        assert named["blackjack"] == "the hand's unknown card is an ace"
        assert "an ace" not in named["win"]
