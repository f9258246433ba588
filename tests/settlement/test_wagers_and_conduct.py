"""Clauses 27 to 32: limits, seats, entry, side wagers, chips after the deal, signals, hands."""

import pytest

from tests.settlement.table import IDS, codes, found, nets, one_round

PLAY = "1 TS; D TC; 1 TD; D 8S down; show D 8S; close"
PITCH = "1 TS down; D TC; 1 TD down; D 8S down; show D 8S; close"
END = "show D 8S; close"


def test_wagers_lie_between_minimum_and_maximum() -> None:
    settings = ("kansas-shoe", "table_max=50000")
    assert found("bet 1 500; " + PLAY, *settings) == []
    assert found("bet 1 50000; " + PLAY, *settings) == []
    assert found("bet 1 499; " + PLAY, *settings) == [("below_table_min", 1)]
    assert found("bet 1 50001; " + PLAY, *settings) == [("above_table_max", 1)]


def test_a_wager_in_parts_is_judged_when_it_stands() -> None:
    assert found("bet 1 300; bet 1 200; " + PLAY) == []
    assert found("bet 1 900; back 1 500; " + PLAY) == [("below_table_min", 1)]


def _spots(count: int, stake: int) -> str:
    ranks = "23456"
    bets = "".join(f"bet {spot} {stake}; " for spot in range(1, count + 1))
    one = "".join(
        f"{spot} T{suit}; " for spot, suit in zip(range(1, count + 1), "SHDC", strict=False)
    )
    two = "".join(f"{spot} {ranks[spot]}S; " for spot in range(1, count + 1))
    seats = ",".join(str(spot) for spot in range(1, count + 1))
    return f"seat ANN {seats}; {bets}{one}D 9C; {two}D 9D down; show D 9D; close"


@pytest.mark.parametrize(
    ("count", "stake", "expected"),
    [
        pytest.param(2, 1000, [], id="two-at-twice"),
        pytest.param(2, 500, ["multi_spot_minimum"], id="two-at-once"),
        pytest.param(3, 2500, [], id="three-at-five-times"),
        pytest.param(3, 1000, ["multi_spot_minimum"], id="three-at-twice"),
        pytest.param(4, 2500, ["too_many_spots"], id="four"),
    ],
)
def test_several_spots_of_one_player(count: int, stake: int, expected: list[str]) -> None:
    assert codes(_spots(count, stake)) == expected
    assert codes(_spots(count, stake), "casino-shoe") == []


def test_spots_of_different_players_are_not_one_players() -> None:
    text = _spots(2, 500).replace("seat ANN 1,2", "seat ANN 1; seat BOB 2")
    assert codes(text) == []


def test_a_player_who_left_a_spot_holds_it_no_more() -> None:
    text = _spots(2, 500).replace("seat ANN 1,2", "seat ANN 1,2; leave ANN 2; seat BOB 2")
    assert codes(text) == []


ONE, BOTH = "bet 1 1000; ", "bet 1 1000; bet 2 1000; "
PLAY_ONE = "1 TS; D TC; 1 TD; D 8S down; show D 8S; close; "
PLAY_BOTH = "1 TS; 2 9S; D TC; 1 TD; 2 9D; D 8S down; show D 8S; close; "


def test_nobody_enters_in_the_middle_of_a_shoe() -> None:
    text = "shoe 2; " + ONE + PLAY_ONE + BOTH + PLAY_BOTH
    assert found(text, "kansas-double-deck") == [("mid_shoe_entry", 10)]
    assert codes(text.replace("shoe 2", "shoe 6")) == []


def test_who_sat_out_waits_for_the_shuffle() -> None:
    text = "shoe 6; " + BOTH + PLAY_BOTH + ONE + PLAY_ONE
    name = ("kansas-shoe", "mid_shoe_entry=false")
    assert codes(text, *name) == []
    assert codes(text + BOTH + PLAY_BOTH, *name) == ["mid_shoe_entry"]
    assert codes(text + "shoe 6; " + BOTH + PLAY_BOTH, *name) == []


def test_a_late_entry_is_told_once() -> None:
    text = "shoe 6; " + ONE + PLAY_ONE + BOTH + PLAY_BOTH + BOTH + PLAY_BOTH
    assert codes(text, "kansas-shoe", "mid_shoe_entry=false") == ["mid_shoe_entry"]


def test_a_second_spot_of_a_player_in_the_game_is_no_entry() -> None:
    text = "shoe 2; seat ANN 1,2; " + ONE + PLAY_ONE + BOTH + PLAY_BOTH
    assert codes(text, "kansas-double-deck") == []


def test_without_a_shoes_start_only_a_newcomer_enters_late() -> None:
    name = ("kansas-shoe", "mid_shoe_entry=false")
    assert codes(ONE + PLAY_ONE + BOTH + PLAY_BOTH, *name) == []
    assert codes(ONE + PLAY_ONE + "seat BOB 2; " + BOTH + PLAY_BOTH, *name) == ["mid_shoe_entry"]


def test_a_player_who_takes_a_second_spot_is_no_newcomer() -> None:
    text = "seat ANN 1; " + ONE + PLAY_ONE + "seat ANN 2; " + BOTH + PLAY_BOTH
    assert codes(text, "kansas-shoe", "mid_shoe_entry=false") == []


def test_side_wagers_where_prohibited() -> None:
    text = "bet 1 1000; side 1 500; "
    assert found(text + PITCH, "pitch-double-deck") == [("side_wager_prohibited", 2)]
    assert found(text + PLAY) == []


def test_insurance_is_no_side_wager() -> None:
    text = "bet 1 1000; 1 TS down; D AC; 1 TD down; D 8S down; ins 1 500; show D 8S; close"
    assert codes(text, "pitch-double-deck") == []


# --- after the first card -----------------------------------------------------------------

DEALT = "bet 1 1000; 1 TS; D TC; 1 TD; D 8S down; "


@pytest.mark.parametrize(
    ("chips", "code"),
    [
        ("bet 1 500", "stake_increased_after_deal"),
        ("back 1 500", "stake_reduced_after_deal"),
        ("bet 2 500", "wager_after_deal"),
        ("side 1 500", "wager_after_deal"),
    ],
)
def test_a_wager_stands_from_the_first_card(chips: str, code: str) -> None:
    text = DEALT + chips + "; " + END
    assert found(text) == [(code, 6)]
    assert nets(text) == [1000]


def test_a_late_wager_that_is_dealt_in_plays() -> None:
    text = "bet 1 1000; 1 TS; bet 2 1000; 2 8C; D TC; 1 TD; 2 8D; D 8S down; " + END
    assert found(text) == [("wager_after_deal", 3)]
    assert nets(text) == [1000, -1000]


def test_chips_of_a_double_stand_once_its_card_lies() -> None:
    double = "bet 1 1000; 1 6S; D TC; 1 5D; D 8S down; double 1 1000; "
    before = double + "back 1 500 double; 1 TC; " + END
    after = double + "1 TC; back 1 500 double; " + END
    assert found(before) == []
    assert nets(before) == [1500]
    assert found(after) == [("stake_reduced_after_deal", 8)]
    assert nets(after) == [2000]


def test_a_double_taken_back_before_its_card_is_none() -> None:
    double = "bet 1 1000; 1 2S; D TC; 1 5D; D 8S down; double 1 1000; back 1 1000 double; "
    text = double + "1 3C; 1 TC; " + END
    assert found(text) == []
    assert nets(text) == [1000]


# --- conduct ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "act", "accepted"),
    [
        ("kansas-shoe", "stand 1 hand", True),
        ("kansas-shoe", "stand 1 verbal", False),
        ("kansas-shoe", "stand 1", True),
        ("kansas-double-deck", "say-double 1 verbal", True),
        ("kansas-shoe", "say-double 1 verbal", False),
        ("casino-shoe", "surrender 1 hand", False),
        ("casino-shoe", "surrender 1 verbal", True),
    ],
)
def test_decisions_are_shown_as_the_house_accepts(name: str, act: str, accepted: bool) -> None:
    text = f"bet 1 1000; 1 5S; D TC; 1 6D; D 8S down; {act}; show D 8S; close"
    told = [code for code in codes(text, name) if code == "signal_not_accepted"]
    assert told == ([] if accepted else ["signal_not_accepted"])


def test_standing_by_tucking() -> None:
    text = "bet 1 1000; 1 TS down; D TC; 1 TD down; D 8S down; stand 1 {}; show D 8S; close"
    assert codes(text.format("tuck"), "pitch-double-deck") == []
    assert codes(text.format("hand"), "pitch-double-deck") == ["signal_not_accepted"]


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("manner", ["one_hand", "two_hands"])
def test_players_touch_cards_as_the_house_allows(name: str, manner: str) -> None:
    allowed = {
        "kansas-shoe": (),
        "kansas-double-deck": (),
        "casino-shoe": (),
        "spanish-21": (),
        "home": ("one_hand", "two_hands"),
    }.get(name, ("one_hand",))
    (violation,) = one_round(f"touch 1 {manner}; bet 1 1000; close", name).violations or (None,)
    assert (violation is None) == (manner in allowed)
    if violation is not None:
        assert (violation.code, violation.spot) == ("player_touched_cards", 1)


# --- a wager and a shoe that the game does not have ---------------------------------------


def test_a_main_wager_on_a_hand_that_does_not_exist_counts_for_none() -> None:
    text = "bet 1 1000; bet 1.1 500; " + PLAY
    assert found(text) == [("wager_on_no_hand", 2)]
    assert one_round(text).spots[0].hands[0].stake == 1000
    (told,) = one_round(text).violations
    assert (told.spot, told.hand, told.clause) == (1, 1, "wager.own_hand")
    assert told.detail == "wager of 5.00 on hand 2, which does not exist; it does not count"


def test_a_spot_whose_only_wager_lies_on_no_hand_is_told_once() -> None:
    result = one_round(
        "bet 2 1000; bet 1.1 500; 1 TS; 2 9S; D TC; 2 9D; D 8S down; show D 8S; close"
    )
    assert [one.code for one in result.violations] == ["wager_on_no_hand"]
    assert [spot.spot for spot in result.spots] == [2]


def test_chips_added_to_a_split_hand_are_on_a_hand() -> None:
    text = (
        "bet 1 1000; 1 8S; D 6C; 1 8D; D TC down; say-split 1; split 1.1 1000; 1 TS; 1.1 TD; "
        "bet 1.1 500; bet 1.2 500; show D TC; D 9S; close"
    )
    assert found(text) == [("stake_increased_after_deal", 10), ("wager_on_no_hand", 11)]


def test_a_shoe_of_other_decks_than_the_house_says() -> None:
    text = "shoe 8; bet 1 1000; " + PLAY
    assert found(text) == [("wrong_deck_count", 1)]
    assert found(text, "kansas-shoe", "decks=8") == []
    (told,) = one_round(text).violations
    assert told.detail == "a shoe of 8 decks was started; this game is dealt from 6 decks"
