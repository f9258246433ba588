"""Cards a hand may not take, cards it was owed, and the deck they come from."""

import pytest

from tests.settlement.table import codes, found, nets, one_round, only_hand

END = "show D TC; D 9S; close"

TOO_MANY = [
    pytest.param("5S", "6D", "double 1 1000; 1 2S; 1 3S", "extra_card_after_double", 2000),
    pytest.param("2S", "KD", "stand 1; 1 2C", "card_after_stand", 1000),
    pytest.param("2S", "KD", "1 9C; 1 2C", "card_after_stand", 1000, id="a-hand-of-21"),
    pytest.param("AS", "5D", "1 5C; 1 2C", "card_after_stand", 1000, id="soft-21"),
]


def _text(first: str, second: str, play: str) -> str:
    return f"bet 1 1000; 1 {first}; D 6C; 1 {second}; D TC down; {play}; "


@pytest.mark.parametrize(("first", "second", "play", "code", "net"), TOO_MANY)
def test_no_more_cards(first: str, second: str, play: str, code: str, net: int) -> None:
    text = _text(first, second, play) + END
    assert found(text) == [(code, 5 + len(play.split(";")))]
    assert nets(text) == [net]
    assert len(one_round(text).spots[0].hands[0].burned) == 1


ON_21 = [
    pytest.param("2S", "KD", "1 9C; hit 1; 1 9H; ", id="hard"),
    pytest.param("AS", "5D", "1 5C; hit 1; 1 9H; hit 1; 1 6H; ", id="soft"),
]
SPLIT = "bet 1 1000; 1 8S; D TH; 1 8D; D 7D down; say-split 1; split 1.1 1000; "
SEVENTEEN = "show D 7D; close"


@pytest.mark.parametrize(("first", "second", "play"), ON_21)
def test_a_hit_on_21_is_the_players_right(first: str, second: str, play: str) -> None:
    """The Kansas sheet: he "will take additional cards until breaking or … stand pat"."""
    for rulebook in ("kansas-shoe", "casino-shoe"):
        drawn = _text(first, second, play) + "show D TC; close"
        assert found(drawn, rulebook) == []
        assert only_hand(drawn, rulebook).outcome == "bust"
        assert only_hand(drawn, rulebook).burned == ()


def test_a_house_may_end_a_hand_at_21() -> None:
    drawn = _text("2S", "KD", "1 9C; hit 1; 1 9H") + END
    assert codes(drawn, "kansas-shoe", "hit_on_21=false") == ["card_after_stand"]
    assert nets(drawn, "kansas-shoe", "hit_on_21=false") == [1000]


def test_one_hit_on_21_is_one_card() -> None:
    text = _text("AS", "5D", "1 5C; hit 1; 1 5H; 1 5S; 1 2C") + END
    assert found(text) == [("card_after_stand", 10)]


def test_a_hit_on_21_that_is_not_dealt_is_missing() -> None:
    assert found(_text("2S", "KD", "1 9C; hit 1") + END) == [("missing_card", 7)]


def test_no_hit_opens_a_blackjack_or_a_hand_that_stood_on_21() -> None:
    natural = _text("AS", "KD", "hit 1; 1 5C") + "show D TC; close"
    assert codes(natural) == ["card_to_blackjack"]
    assert codes(_text("2S", "KD", "1 9C; stand 1; hit 1; 1 5C") + END) == ["card_after_stand"]
    tens = "bet 1 1000; 1 TS; D 6C; 1 TD; D TC down; say-split 1; split 1.1 1000; 1 AS; 1.1 9D; "
    counts = ("kansas-shoe", "split_ten_21_is_blackjack=true")
    asked = tens.replace("1 AS; ", "1 AS; hit 1; 1 5H; ") + END
    assert codes(asked) == []
    assert codes(asked, *counts) == ["card_after_stand"]


def test_a_split_hand_of_21_that_is_hit_and_breaks_is_taken() -> None:
    played = "1 3C; hit 1; 1 TD; hit 1; 1 5H; 1.1 TC; stand 1.1; "
    paid = "show D 7D; pay 1.1 1000; pay 1 -1000; close"
    assert found(SPLIT + played + paid) == []
    hands = one_round(SPLIT + played + paid).spots[0].hands
    assert [hand.outcome for hand in hands] == ["bust", "win"]


def test_play_elsewhere_before_a_hit_on_21_is_out_of_turn() -> None:
    """A player who goes on to ask for a card had not finished, whatever his total."""
    early = SPLIT + "1 3C; 1 TD; 1.1 TC; hit 1; 1 5H; stand 1.1; " + SEVENTEEN
    assert codes(early) == ["split_hand_order"]
    two = "bet 1 1000; bet 2 1000; 1 5S; 2 TS; D TH; 1 6D; 2 5D; D 7D down; 1 TD; 2 3D; "
    assert codes(two + "hit 1; 1 5H; stand 2; " + SEVENTEEN) == ["player_turn_order"]
    assert codes(two + "stand 2; " + SEVENTEEN) == []
    assert codes(two + "stand 2; stand 1; " + SEVENTEEN) == []
    shown = two.replace("2 3D", "stand 2") + "show D 7D; hit 1; 1 5H; close"
    assert codes(shown) == ["player_turn_order", "hole_card_exposed"]


def test_no_more_cards_after_breaking() -> None:
    text = _text("TS", "KD", "1 2C; 1 3C") + "show D TC; close"
    assert found(text) == [("card_after_breaking", 7)]
    assert nets(text) == [-1000]


def test_no_more_cards_to_a_blackjack() -> None:
    text = _text("AS", "KD", "1 2C") + "show D TC; close"
    assert found(text) == [("card_to_blackjack", 6)]
    assert nets(text) == [1500]


def test_a_split_ace_gets_one_card() -> None:
    aces = "bet 1 1000; 1 AS; D 6C; 1 AD; D TC down; say-split 1; split 1.1 1000; 1 TS; 1.1 5D; "
    assert found(aces + END) == []
    assert found(aces + "1.1 3C; " + END) == [("extra_card_on_split_ace", 10)]
    assert codes(aces + "1.1 3C; " + END, "kansas-shoe", "split_aces_cards=any") == []


def test_an_extra_card_counts_where_the_policy_keeps_it() -> None:
    text = _text("2S", "KD", "stand 1; 1 TH") + "show D TC; close"
    assert nets(text, "kansas-shoe", "policy.extra_player_card=keep") == [-1000]


@pytest.mark.parametrize(
    ("play", "seq"),
    [
        pytest.param("double 1 1000", 6, id="a-double-without-its-card"),
        pytest.param("hit 1", 6, id="a-hit-without-a-card"),
    ],
)
def test_a_card_due_is_missing(play: str, seq: int) -> None:
    text = _text("5S", "6D", play) + END
    assert found(text) == [("missing_card", seq)]
    hand = one_round(text).spots[0].hands[0]
    assert (hand.outcome, hand.net) == ("pending", None)


def test_a_split_hand_without_its_card_is_missing_it() -> None:
    text = "bet 1 1000; 1 8S; D 6C; 1 8D; D TC down; say-split 1; split 1.1 1000; 1 TS; " + END
    assert found(text) == [("missing_card", 6)]
    assert [hand.outcome for hand in one_round(text).spots[0].hands] == ["win", "pending"]


def test_a_card_due_is_dealt() -> None:
    assert found(_text("5S", "6D", "hit 1; 1 3C; stand 1") + END) == []


ONE_DECK = ("kansas-shoe", "decks=1")
ROUND = "bet 1 1000; 1 TS; D TC; 1 TD; D 8S down; show D 8S; close; "


def test_no_more_of_a_card_than_the_decks_hold() -> None:
    assert codes("shoe 2; " + ROUND + ROUND, "kansas-double-deck") == []
    assert found("shoe 1; " + ROUND + ROUND, *ONE_DECK) == [
        ("impossible_card", seq) for seq in (10, 11, 12, 13)
    ]
    assert codes("shoe 1; " + ROUND + "shoe 1; " + ROUND, *ONE_DECK) == []


def test_a_rank_read_without_suit_is_counted_too() -> None:
    fives = "bet 1 1000; 1 5?; D TC; 1 5?; D TD down; 1 5?; 1 5?; 1 A?; show D TD; close"
    assert codes("shoe 1; " + fives, *ONE_DECK) == []
    assert found("shoe 1; " + fives.replace("A?", "5?"), *ONE_DECK) == [("impossible_card", 9)]


def test_without_a_shoes_start_only_one_round_is_counted() -> None:
    assert codes(ROUND + ROUND, "home", "dealer_first_card=up", "player_cards=up") == []
    twice = ROUND.replace("1 TD", "1 TS")
    assert codes(twice, "home", "dealer_first_card=up", "player_cards=up") == ["impossible_card"]


def test_the_card_turned_up_is_the_card_dealt() -> None:
    assert codes(ROUND) == []
    assert found(ROUND.replace("show D 8S", "show D 9S")) == [("foreign_card", 6)]


def test_a_foreign_card_in_a_players_hand_is_not_the_hole_card() -> None:
    text = "bet 1 1000; 1 TS; D 6C; 1 KD; D TC down; show 1 QH; stand 1; show D TC; D 5H; close"
    assert found(text) == [("foreign_card", 6)]


def test_a_rank_is_completed_by_the_card_seen() -> None:
    text = ROUND.replace("D 8S down", "D 8? down")
    assert codes(text) == []
    assert [str(card) for card in one_round(text).dealer.cards] == ["TC", "8S"]


def test_cards_are_burned_after_the_shuffle() -> None:
    settings = ("kansas-shoe", "burn_after_shuffle=1")
    assert codes("shoe 6; burn ??; " + ROUND, *settings) == []
    assert found("shoe 6; " + ROUND + ROUND, *settings) == [("burn_missing", 3)]
    assert codes(ROUND, *settings) == []


def test_a_boxed_card_is_put_aside() -> None:
    aside = ROUND.replace("D TC", "boxed 9C; D TC")
    assert codes(aside) == []
    assert codes(ROUND.replace("D TC", "boxed TC; burn TC; D TC")) == []
    assert found(ROUND.replace("D TC", "boxed TC; D TC")) == [("face_up_card_used", 4)]


@pytest.mark.parametrize("start", ["", "shoe 6; "])
def test_a_boxed_card_is_not_the_first_of_the_round(start: str) -> None:
    text = start + ROUND.replace("1 TS", "boxed TS; 1 TS")
    assert codes(text) == ["face_up_card_used"]


def test_a_boxed_card_brought_back_later_is_used_too() -> None:
    text = "shoe 1; bet 1 1000; boxed 2C; 1 TS; D TC; 1 {}; D 8S down; show D 8S; close"
    assert codes(text.format("3C"), *ONE_DECK) == []
    assert found(text.format("2C"), *ONE_DECK) == [("face_up_card_used", 6)]
    assert codes(text.format("3C") + "; burn 2C; burn 4C", *ONE_DECK) == []


def test_a_foreign_card_is_not_counted_as_dealt() -> None:
    text = "shoe 1; " + ROUND.replace("show D 8S", "show D TS")
    assert codes(text, *ONE_DECK) == []


def test_a_boxed_card_is_counted_once() -> None:
    text = "shoe 1; boxed 2C; burn 2C; " + ROUND
    assert codes(text, *ONE_DECK) == []
    assert found(text.replace("1 TD", "1 2C"), *ONE_DECK) == [("impossible_card", 7)]


def test_a_boxed_card_that_is_used_is_one_mistake() -> None:
    text = "bet 1 1000; 1 TS down; D TC; boxed 9C; 1 9C; D 7S down; show D 7S; close"
    assert found(text, "pitch-double-deck") == [("face_up_card_used", 5)]


def test_the_cut_card_ends_the_shoe() -> None:
    last = "shoe 6; " + ROUND.replace("show", "cut; show")
    assert codes(last) == []
    assert codes(last + "shoe 6; " + ROUND) == []
    assert found(last + ROUND + ROUND) == [("dealt_past_cut_card", 11), ("dealt_past_cut_card", 18)]
    between = "shoe 6; " + ROUND + "cut; " + ROUND
    assert codes(between) == ["dealt_past_cut_card"]
