"""A card that nobody knows: what does not hang on it settles, the rest says what would decide."""

import pytest

from models.judgements import Possible
from tests.settlement.table import codes, found, nets, one_round, only_hand

HOLE_UNKNOWN = "bet 1 1000; 1 {}; D {}; 1 {}; D ?? down; close"


def _ways(text: str, name: str = "kansas-shoe", *settings: str) -> tuple[Possible, ...]:
    possible = only_hand(text, name, *settings).possible
    assert isinstance(possible, tuple)
    return possible


def _possible(text: str, name: str = "kansas-shoe", *settings: str) -> dict[str, int | None]:
    return {way.outcome: way.net for way in _ways(text, name, *settings)}


def test_a_condition_names_no_card_that_changes_nothing() -> None:
    """The dealer's nine makes no blackjack with any hole card."""
    (blackjack,) = [
        way for way in _ways(HOLE_UNKNOWN.format("TS", "9D", "??")) if way.outcome == "blackjack"
    ]
    assert blackjack.condition == "the hand's unknown card is an ace"


def test_an_unknown_hole_card_leaves_the_possible_outcomes() -> None:
    text = HOLE_UNKNOWN.format("TS", "TC", "9D")
    hand = only_hand(text)
    assert (hand.outcome, hand.net) == ("unknown", None)
    assert hand.possible == (
        Possible("lose", -1000, "the dealer's unknown card is an ace or a ten"),
        Possible("win", 1000, "the dealer's unknown card is 7 or 8"),
        Possible("push", 0, "the dealer's unknown card is 9"),
        Possible("pending", None, "the dealer's unknown card is 2, 3, 4, 5 or 6"),
    )
    result = one_round(text)
    assert (result.status, result.net, result.dealer.outcome) == ("pending", None, "unknown")
    assert result.dealer.total is None
    assert found(text) == []


def test_the_dealers_look_rules_out_a_blackjack() -> None:
    text = HOLE_UNKNOWN.format("TS", "TC", "TD").replace("close", "peek no; close")
    assert _possible(text) == {"win": 1000, "push": 0, "pending": None}
    text = text.replace("peek no", "peek yes")
    assert nets(text) == [-1000]


@pytest.mark.parametrize(
    ("text", "net"),
    [
        pytest.param(HOLE_UNKNOWN.format("AS", "9C", "KD"), 1500, id="blackjack-against-a-nine"),
        pytest.param(
            "bet 1 1000; 1 TS; D TC; 1 6D; D ?? down; 1 9C; close", -1000, id="a-broken-hand"
        ),
        pytest.param(
            "bet 1 1000; 1 TS; D TC; 1 6D; D ?? down; surrender 1; close", -500, id="surrendered"
        ),
    ],
)
def test_what_does_not_hang_on_the_card_settles(text: str, net: int) -> None:
    assert nets(text) == [net]
    assert one_round(text).status == "final"


def test_a_blackjack_against_a_ten_hangs_on_the_hole_card() -> None:
    assert _possible(HOLE_UNKNOWN.format("AS", "TC", "KD")) == {"blackjack": 1500, "push": 0}


def test_an_unknown_card_of_the_players() -> None:
    text = "bet 1 1000; 1 ??; D TC; 1 9D; D 8C down; show D 8C; close"
    assert _possible(text) == {"win": 1000, "lose": -1000, "push": 0}
    assert nets(text.replace("D TC", "D 6C").replace("show D 8C", "show D 8C; D TS")) == [1000]


STOOD = "bet 1 1000; 1 ??; D TC; 1 9D; D 8C down; stand 1; {}show D 8C; close"


def test_a_card_burned_after_a_hand_stood_leaves_its_unknown_card_to_decide() -> None:
    assert found(STOOD.format("1 5C; ")) == [("card_after_stand", 7)]
    assert only_hand(STOOD.format("1 5C; ")).possible == only_hand(STOOD.format("")).possible
    assert _possible(STOOD.format("1 ??; ")) == _possible(STOOD.format(""))


def test_two_unknown_cards_may_be_a_blackjack() -> None:
    text = "bet 1 1000; 1 ??; D TC; 1 ??; D 8C down; show D 8C; close"
    assert _possible(text)["blackjack"] == 1500


def test_a_split_that_hangs_on_an_unknown_card_leaves_its_new_hand_open() -> None:
    """Chips and a card for a new hand split the pair, if it is one."""
    (spot,) = one_round(
        "bet 1 1000; 1 4S; D 6C; 1 ??; D TC down; split 1.1 1000; 1.1 QC; 1 KC; "
        "show D TC; D 9S; close"
    ).spots
    assert [hand.net for hand in spot.hands] == [1000, None]
    assert spot.hands[1].possible == (
        Possible("win", 1000, "the hand's unknown card is 4"),
        Possible("pending", None, SPLIT_OF_NO_PAIR),
    )


SPLIT_OF_NO_PAIR = "the hand's unknown card is an ace, 2, 3, 5, 6, 7, 8, 9 or a ten"


def test_many_unknown_cards_stay_few_outcomes() -> None:
    hits = "1 ??; " * 8
    text = f"bet 1 1000; 1 ??; D TC; 1 ??; D 8C down; {hits}show D 8C; close"
    assert set(_possible(text)) == {"win", "lose", "push", "bust", "blackjack"}


def test_a_hand_that_may_have_broken_is_never_paid_against_an_unfinished_dealer() -> None:
    text = "bet 1 1000; 1 TS; D TC; 1 6D; D 2C down; 1 ??; show D 2C; close"
    assert _possible(text) == {"bust": -1000, "pending": None}
    assert found(text) == []


def test_a_rank_without_suit_is_enough() -> None:
    assert nets("bet 1 1000; 1 T?; D T?; 1 9?; D 8? down; show D 8?; close") == [1000]


def test_cards_shown_later_are_judged_as_what_they_were() -> None:
    text = (
        "bet 1 1000; 1 ?? down; D 6C; 1 ?? down; D TC down; 1 2S; "
        "show D TC; D 5D; show 1 TH; show 1 9D; close"
    )
    assert codes(text, "casino-double-deck") == []
    assert nets(text, "casino-double-deck") == [0]
    doubled = text.replace("1 2S", "double 1 1000; 1 2S")
    assert codes(doubled, "casino-double-deck", "double_on=9-11") == ["double_total_not_allowed"]


def test_a_draw_on_an_unknown_total_is_not_judged() -> None:
    text = "bet 1 1000; 1 TS; D TC; 1 9D; D ?? down; D 2C; close"
    assert found(text) == []
    assert found(text.replace("close", "show D 7C; close")) == [("dealer_hit_hard_17", 6)]


def test_an_insurance_waits_for_the_hole_card() -> None:
    text = HOLE_UNKNOWN.format("TS", "AC", "9D").replace("close", "ins 1 500; close")
    (spot,) = one_round(text).spots
    assert spot.insurance is not None
    assert spot.insurance.net is None
    assert nets(text.replace("close", "peek no; stand 1; show D 8C; close")) == [-500]
    broken = text.replace("1 9D", "1 6D").replace("ins 1 500", "ins 1 500; 1 KC")
    result = one_round(broken)
    assert (result.spots[0].hands[0].net, result.status, result.net) == (-1000, "pending", None)


# --- what the deck can no longer hold -----------------------------------------------------

ONE_DECK = ("kansas-shoe", "decks=1")
ACES_OUT = "shoe 1; burn AS; burn AH; burn AD; {}"
HOLE = "bet 1 1000; 1 TS; D TC; 1 9S; D ?? down; stand 1; close"


def test_a_hole_card_is_none_that_the_deck_cannot_hold_any_more() -> None:
    three, four = ACES_OUT.format("") + HOLE, ACES_OUT.format("burn AC; ") + HOLE
    assert _possible(three, *ONE_DECK) == {"win": 1000, "lose": -1000, "push": 0, "pending": None}
    assert _possible(four, *ONE_DECK) == {**_possible(three, *ONE_DECK), "lose": -1000}
    conditions = {one.outcome: one.condition for one in _ways(four, *ONE_DECK)}
    assert conditions["lose"] == "the dealer's unknown card is a ten"
    assert "an ace" not in " ".join(conditions.values())
    assert "an ace" in " ".join(one.condition for one in _ways(three, *ONE_DECK))


def test_what_every_card_left_comes_to_is_settled() -> None:
    """Only an ace under the ten could have beaten the blackjack, and all four are out."""
    text = "burn AH; burn AD; burn AC; bet 1 1000; 1 AS; D TC; 1 KD; D ?? down; close"
    assert nets("shoe 1; " + text, *ONE_DECK) == [1500]
    assert nets("shoe 1; " + text.replace("burn AC; ", ""), *ONE_DECK) == [None]
    assert nets("shoe 2; " + text, "kansas-shoe", "decks=2") == [None]


def test_two_unknown_cards_are_not_both_the_last_of_their_value() -> None:
    """With one ace left a pair of aces is out of the question, in one hand or in two."""
    hand = "bet 1 1000; 1 ??; D 9C; 1 ??; D 8C down; stand 1; show D 8C; close"
    twelve = {one.outcome for one in _ways(ACES_OUT.format("") + hand, *ONE_DECK)}
    assert "blackjack" in twelve
    assert "blackjack" not in {
        one.outcome for one in _ways(ACES_OUT.format("burn AC; ") + hand, *ONE_DECK)
    }
    both = "bet 1 1000; 1 KS; D KC; 1 ??; D ?? down; stand 1; close"
    assert "push" in {one.outcome for one in _ways("shoe 1; " + both, *ONE_DECK)}
    pushes = [
        one.condition
        for one in _ways(ACES_OUT.format("") + both, *ONE_DECK)
        if one.outcome == "push"
    ]
    assert all("ace" not in condition for condition in pushes)


def test_a_record_that_shows_more_cards_than_there_are_rules_nothing_out() -> None:
    burned = "".join(f"burn {rank}{suit}; " for rank in "A23456789TJQK" for suit in "SHDC")
    assert _possible("shoe 1; " + burned + HOLE, *ONE_DECK) == _possible(HOLE, *ONE_DECK)


def test_a_shoe_whose_start_nobody_saw_counts_the_round_alone() -> None:
    text = "burn AS; burn AH; burn AD; burn AC; " + HOLE
    conditions = " ".join(one.condition for one in _ways(text, *ONE_DECK))
    assert "an ace" in conditions
