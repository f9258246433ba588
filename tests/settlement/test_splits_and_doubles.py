"""Clauses 15 to 22: what may be split and doubled, how often, and for how much."""

import pytest

from tests.settlement.table import codes, found, nets, one_round, only_hand

END = "show D TC; D 9S; close"
"""The dealer's 6 and ten break."""

SPLIT = "bet 1 1000; 1 {}; D 6C; 1 {}; D TC down; say-split 1; split 1.1 {}; "
FACE_DOWN = "bet 1 1000; 1 {} down; D 6C; 1 {} down; D TC down; say-split 1; split 1.1 {}; "
AT_HOME = "bet 1 1000; 1 {} down; D TC down; 1 {} down; D 6C; say-split 1; split 1.1 {}; "
BY_RANK = {"pitch-double-deck": FACE_DOWN, "home": AT_HOME}
DOUBLE = "bet 1 1000; 1 {}; D 6C; 1 {}; D TC down; {}; "


@pytest.mark.parametrize("name", ["kansas-shoe", "kansas-double-deck", "casino-shoe"])
def test_king_and_queen_may_be_split_by_value(name: str) -> None:
    text = SPLIT.format("KS", "QD", 1000) + "1 TS; 1.1 5D; " + END
    assert found(text, name) == []
    assert nets(text, name) == [2000]


@pytest.mark.parametrize("name", BY_RANK)
def test_king_and_queen_may_not_be_split_by_rank(name: str) -> None:
    text = BY_RANK[name].format("KS", "QD", 1000) + "1 TS; 1.1 5D; " + END
    assert found(text, name) == [("split_unequal_rank", 6)]
    assert nets(text, name) == [2000]
    pair = BY_RANK[name].format("KS", "KD", 1000) + "1 TS; 1.1 5D; " + END
    assert found(pair, name) == []


def test_only_a_pair_is_split() -> None:
    text = SPLIT.format("KS", "9D", 1000) + "1 TS; 1.1 5D; " + END
    assert found(text) == [("split_not_pair", 6)]
    three = "bet 1 1000; 1 2S; D 6C; 1 2D; D TC down; 1 2H; say-split 1; split 1.1 1000; "
    assert found(three + "1.1 9C; " + END) == [("split_not_pair", 7)]


def test_a_split_carries_an_equal_wager() -> None:
    text = SPLIT.format("8S", "8D", 600) + "1 TS; 1.1 TD; " + END
    assert found(text) == [("split_wager_mismatch", 7)]
    assert nets(text) == [1600]
    in_parts = SPLIT.format("8S", "8D", 600) + "split 1.1 400; 1 TS; 1.1 TD; " + END
    assert found(in_parts) == []


def test_a_split_is_shown_by_its_chips_and_card_as_well() -> None:
    text = "bet 1 1000; 1 8S; D 6C; 1 8D; D TC down; split 1.1 1000; 1.1 TS; 1 TD; " + END
    assert [hand.cards for hand in one_round(text).spots[0].hands] == [
        hand.cards
        for hand in one_round(
            "bet 1 1000; 1 8S; D 6C; 1 8D; D TC down; say-split 1; split 1.1 1000; 1 TD; 1.1 TS; "
            + END
        )
        .spots[0]
        .hands
    ]


def test_chips_laid_before_the_split_is_said_count() -> None:
    text = "bet 1 1000; 1 8S; D 6C; 1 8D; D TC down; split 1.1 1000; say-split 1; 1 TS; 1.1 TD; "
    assert found(text + END) == []
    assert nets(text + END) == [2000]


FOUR = (
    SPLIT.format("8S", "8D", 1000)
    + "1 8C; say-split 1; split 1.2 1000; 1 8H; say-split 1; split 1.3 1000; "
)


def test_up_to_four_hands() -> None:
    text = FOUR + "1 TS; 1.1 TD; 1.2 TH; 1.3 TC; " + END
    assert found(text) == []
    assert nets(text) == [4000]


def test_a_fifth_hand_is_one_too_many_and_stands_as_played() -> None:
    text = FOUR + "1 8S; say-split 1; split 1.4 1000; 1 TS; 1.1 TD; 1.2 TH; 1.3 TC; 1.4 JS; " + END
    assert found(text) == [("too_many_hands", 15)]
    assert nets(text) == [5000]


def test_a_fifth_hands_wager_goes_back_where_the_policy_voids_it() -> None:
    text = FOUR + "1 8S; say-split 1; split 1.4 1000; 1 TS; 1.1 TD; 1.2 TH; 1.3 TC; 1.4 JS; " + END
    assert nets(text, "kansas-shoe", "policy.illegal_option=void") == [4000]


ACES = SPLIT.format("AS", "AD", 1000)


def test_a_21_on_split_aces_is_no_blackjack() -> None:
    text = ACES + "1 TS; 1.1 TD; " + END
    assert nets(text) == [2000]
    assert nets(text, "kansas-shoe", "split_ace_21_is_blackjack=true") == [3000]


def test_an_ace_on_a_split_ten_is_no_blackjack() -> None:
    text = SPLIT.format("TS", "TD", 1000) + "1 AS; 1.1 9D; " + END
    assert nets(text) == [2000]
    assert nets(text, "kansas-shoe", "split_ten_21_is_blackjack=true") == [2500]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kansas-shoe", []),
        ("casino-shoe", []),
        ("kansas-double-deck", [("resplit_aces_not_allowed", 9)]),
    ],
)
def test_aces_again(name: str, expected: list[tuple[str, int]]) -> None:
    text = ACES + "1 AC; say-split 1; split 1.2 1000; 1 3C; 1.1 5D; 1.2 9C; " + END
    assert found(text, name) == expected
    assert nets(text, name) == [3000]


# --- doubles ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "allowed"),
    [
        pytest.param("5S", "3D", False, id="8"),
        pytest.param("5S", "4D", True, id="9"),
        pytest.param("5S", "5D", True, id="10"),
        pytest.param("5S", "6D", True, id="11"),
        pytest.param("5S", "7D", False, id="12"),
        pytest.param("AS", "8D", False, id="ace-and-8-counts-19"),
        pytest.param("AS", "9D", False, id="ace-and-9-counts-20"),
    ],
)
def test_doubling_on_9_to_11_only(first: str, second: str, allowed: bool) -> None:
    text = FACE_DOWN.format(first, second, 0).partition("say-split")[0]
    text += "double 1 1000; 1 2C; " + END
    expected = [] if allowed else [("double_total_not_allowed", 6)]
    assert found(text, "pitch-double-deck") == expected


def test_ace_and_8_may_count_9_for_doubling() -> None:
    text = DOUBLE.format("AS", "8D", "double 1 1000; 1 2C") + END
    settings = ("kansas-shoe", "double_on=9-11", "double_soft_as_low_total=true")
    assert codes(text, *settings) == []


def test_any_two_cards_may_be_doubled() -> None:
    text = DOUBLE.format("TS", "4D", "double 1 1000; 1 2C") + END
    assert found(text) == []
    assert nets(text) == [2000]


@pytest.mark.parametrize(
    ("first", "play", "code"),
    [
        pytest.param("4D", "1 2C; double 1 1000; 1 2S", "double_not_first_two", id="three-cards"),
        pytest.param("4D", "double 1 1300; 1 2S", "double_over_original", id="for-more"),
    ],
)
def test_double_violated(first: str, play: str, code: str) -> None:
    assert codes(DOUBLE.format("5S", first, play) + END) == [code]


def test_double_for_less() -> None:
    text = DOUBLE.format("5S", "6D", "say-double 1; double 1 300; 1 2S") + END
    assert found(text) == []
    assert nets(text) == [1300]
    strict = ("kansas-shoe", "double_for_less=false")
    assert found(text, *strict) == [("double_for_less_not_allowed", 7)]
    in_parts = text.replace("double 1 300", "double 1 300; double 1 700")
    assert found(in_parts, *strict) == []


def test_a_double_in_parts_is_the_sum_of_its_chips() -> None:
    text = DOUBLE.format("5S", "6D", "double 1 600; double 1 600; 1 2S") + END
    assert found(text) == [("double_over_original", 7)]


def test_a_blackjack_is_not_doubled_but_a_double_granted_stands_as_played() -> None:
    text = DOUBLE.format("AS", "TD", "double 1 1000; 1 2C") + END
    assert found(text) == [("double_on_blackjack", 6)]
    assert nets(text) == [2000]


def test_a_void_double_leaves_the_blackjack() -> None:
    text = DOUBLE.format("AS", "TD", "double 1 1000; 1 2C") + "show D TC; close"
    settings = ("kansas-shoe", "policy.illegal_option=void")
    assert found(text, *settings) == [("double_on_blackjack", 6)]
    assert nets(text, *settings) == [1500]


def test_double_after_split() -> None:
    text = SPLIT.format("8S", "8D", 1000) + "1 3S; double 1 1000; 1 TS; 1.1 TD; " + END
    assert found(text) == []
    assert nets(text) == [3000]
    strict = ("kansas-shoe", "double_after_split=false")
    assert found(text, *strict) == [("double_after_split_not_allowed", 9)]


def test_split_aces_may_not_double() -> None:
    text = ACES + "1 9S; double 1 1000; 1 TS; 1.1 TD; " + END
    assert found(text) == [("double_split_aces", 9)]
    assert codes(text, "kansas-shoe", "double_split_aces=true") == []


# --- what goes back where an option granted in error is void -------------------------------

VOID = "policy.illegal_option=void"
OVER = "bet 1 1000; 1 5S; D 7C; 1 6D; D TC down; double 1 {}; 1 9C; show D TC; pay 1 {}; close"


def test_the_excess_of_a_double_goes_back() -> None:
    text = OVER.format(1500, 2000)
    assert found(text, "kansas-shoe", VOID) == [("double_over_original", 6)]
    hand = only_hand(text, "kansas-shoe", VOID)
    assert (hand.stake, hand.net, hand.outcome) == (2000, 2000, "win")
    played = only_hand(OVER.format(1500, 2500))
    assert (played.stake, played.net) == (2500, 2500)


def test_the_excess_of_a_double_goes_back_whatever_it_was_laid_in() -> None:
    text = OVER.format(800, 2000).replace("double 1 800", "double 1 800; double 1 700")
    assert found(text, "kansas-shoe", VOID) == [("double_over_original", 7)]
    assert nets(text, "kansas-shoe", VOID) == [2000]


def test_a_broken_double_loses_no_excess() -> None:
    text = OVER.format(1500, -2000).replace("1 6D", "1 9D").replace("1 9C", "1 KC")
    assert found(text, "kansas-shoe", VOID) == [("double_over_original", 6)]
    assert nets(text, "kansas-shoe", VOID) == [-2000]


def test_a_double_for_less_that_is_not_allowed_is_a_hit() -> None:
    """The chips go back, the card stays, and no other may follow it."""
    house = ("kansas-shoe", "double_for_less=false", VOID)
    text = OVER.format(400, 1000)
    assert found(text, *house) == [("double_for_less_not_allowed", 6)]
    hand = only_hand(text, *house)
    assert (hand.stake, hand.net, len(hand.cards)) == (1000, 1000, 3)
    more = text.replace("1 9C;", "1 2C; 1 3C;")
    assert codes(more, *house) == [
        "double_for_less_not_allowed",
        "extra_card_after_double",
        "wrong_payout",
    ]


def test_a_double_that_is_not_allowed_gives_back_all_its_chips() -> None:
    text = OVER.format(1000, 1000)
    house = ("kansas-shoe", "double_on=none", "double_after_split=false", VOID)
    assert found(text, *house) == [("double_total_not_allowed", 6)]
    hand = only_hand(text, *house)
    assert (hand.stake, hand.net, len(hand.cards)) == (1000, 1000, 3)
