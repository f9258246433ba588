"""A continuous shuffler: a card may come again in another round, but not in the same one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cards import DECK, Card
from tests.settlement.table import codes, found

ROUND = "bet 1 1000; 1 TS; D TC; 1 TD; D 8S down; show D 8S; close; "
ONE_DECK = ("kansas-shoe", "decks=1", "shoe=continuous")
DEALT_OUT = ("kansas-shoe", "decks=1")
_DEAL = "bet 1 1000; 1 {0}; D {1}; 1 {2}; D {3} down; show D {3}; close; "
TWICE = ROUND.replace("1 TD", "1 TS")


@pytest.mark.parametrize("start", ["shoe 1; ", ""])
def test_a_card_comes_again_in_another_round(start: str) -> None:
    assert codes(start + ROUND * 3, *ONE_DECK) == []
    assert codes(start + ROUND * 3, *DEALT_OUT) == (["impossible_card"] * 8 if start else [])


def test_a_card_comes_once_in_a_round() -> None:
    again = [("impossible_card", 5), ("impossible_card", 12)]
    assert found("shoe 1; " + TWICE * 2, *ONE_DECK) == again
    assert codes("shoe 2; " + TWICE, "kansas-shoe", "decks=2", "shoe=continuous") == []


@pytest.mark.parametrize("out", ["burn TS; ", "boxed TS; burn TS; "])
def test_a_card_put_aside_in_the_round_stays_out_until_it_is_over(out: str) -> None:
    before_the_deal = ROUND.replace("1 TS", out + "1 TS", 1)
    assert codes("shoe 1; " + before_the_deal, *ONE_DECK) == ["impossible_card"]
    later = ROUND.replace("show", out.replace("TS", "5C") + "show")
    assert codes("shoe 1; " + later + ROUND.replace("1 TD", "1 5C"), *ONE_DECK) == []


@pytest.mark.parametrize("out", ["burn TS; ", "boxed TS; ", "boxed TS; burn TS; "])
def test_a_card_put_aside_between_rounds_may_have_been_returned(out: str) -> None:
    assert codes("shoe 1; " + out + ROUND + out + ROUND, *ONE_DECK) == []


def test_a_boxed_card_of_the_round_is_not_used() -> None:
    boxed = "shoe 1; " + ROUND.replace("1 TS", "boxed TS; 1 TS")
    assert found(boxed, *ONE_DECK) == [("face_up_card_used", 4)]


def test_cards_of_a_broken_hand_return_with_the_round() -> None:
    broken = "bet 1 1000; bet 2 1000; 1 TS; 2 9S; D TC; 1 6D; 2 {}; D 8S down; hit 1; 1 KD; "
    broken += "hit 2; 2 {}; show D 8S; close; "
    assert codes(broken.format("2D", "3D") * 2, *ONE_DECK) == []
    assert codes(broken.format("2D", "6D"), *ONE_DECK) == ["impossible_card"]


def test_the_cut_card_and_the_burn_mean_nothing_and_anybody_may_come_in() -> None:
    settings = (*ONE_DECK, "burn_after_shuffle=1", "mid_shoe_entry=false")
    both = ROUND.replace("bet 1 1000; ", "bet 1 1000; bet 2 1000; ")
    both = both.replace("D TC; ", "2 9S; D TC; ").replace("D 8S down", "2 9D; D 8S down")
    told = (
        "shoe 1; seat ANN 1; "
        + ROUND
        + "cut; seat BOB 2; "
        + both
        + both.replace("show", "cut; show")
    )
    assert codes(told + ROUND, *settings) == []
    dealt_out = set(codes(told + ROUND, *settings, "shoe=dealt_out"))
    assert dealt_out == {"burn_missing", "dealt_past_cut_card", "mid_shoe_entry", "impossible_card"}


def test_it_is_loaded_with_the_decks_of_the_house() -> None:
    assert codes("shoe 2; " + ROUND, *ONE_DECK) == ["wrong_deck_count"]
    assert codes("shoe 2; " + TWICE, *ONE_DECK) == ["wrong_deck_count"]


@given(st.lists(st.lists(st.sampled_from(DECK), min_size=4, max_size=4), min_size=1, max_size=6))
def test_every_round_is_judged_as_if_it_were_the_first(deals: list[list[Card]]) -> None:
    told = [_DEAL.format(*(card.value for card in deal)) for deal in deals]
    alone = [codes("shoe 1; " + one, *ONE_DECK) for one in told]
    assert codes("shoe 1; " + "".join(told), *ONE_DECK) == [code for one in alone for code in one]
    surplus = [len(deal) - len(set(deal)) for deal in deals]
    assert [one.count("impossible_card") for one in alone] == surplus
