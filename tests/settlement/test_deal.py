"""Clauses 1 to 3: the initial deal, its order and faces; resynchronised after one mistake."""

import pytest

from tests.settlement.table import IDS, codes, found, nets, one_round

TWO = "bet 1 1000; bet 2 1000; "
END = "show D 7C; close"
IN_ORDER = TWO + "1 TS; 2 9S; D TH; 1 9C; 2 8C; D 7C down; "

UP_THEN_DOWN = "bet 1 1000; 1 TS {0}; D TH; 1 9C {0}; D 7C down; show 1 TS; show 1 9C; "
FACES = {
    "kansas-shoe": UP_THEN_DOWN.format("up"),
    "kansas-double-deck": UP_THEN_DOWN.format("up"),
    "casino-shoe": UP_THEN_DOWN.format("up"),
    "casino-double-deck": UP_THEN_DOWN.format("down"),
    "casino-single-deck": UP_THEN_DOWN.format("down"),
    "pitch-double-deck": UP_THEN_DOWN.format("down"),
    "home": "bet 1 1000; 1 TS down; D 7C down; 1 9C down; D TH; ",
    "spanish-21": UP_THEN_DOWN.format("up").replace(" T", " K"),
}


def test_deal_order_accepted() -> None:
    assert found(IN_ORDER + END) == []


@pytest.mark.parametrize(
    ("deal", "seq"),
    [
        pytest.param("2 9S; 1 TS; D TH; 1 9C; 2 8C; D 7C down", 3, id="second-spot-first"),
        pytest.param("1 TS; 2 9S; D TH; 2 8C; 1 9C; D 7C down", 6, id="swapped-in-second-pass"),
        pytest.param("1 TS; D TH; 2 9S; 1 9C; 2 8C; D 7C down", 4, id="dealer-before-a-spot"),
        pytest.param("1 TS; 1 9C; 2 9S; 2 8C; D TH; D 7C down", 4, id="two-cards-at-a-time"),
        pytest.param("1 TS; 2 9S; 1 9C; 2 8C; D TH; D 7C down", 5, id="dealer-forgets-himself"),
    ],
)
def test_deal_order_violated_once(deal: str, seq: int) -> None:
    text = TWO + deal + "; " + END
    assert found(text) == [("deal_order", seq)]
    assert nets(text) == [1000, 0]


def test_deal_order_violated_in_both_passes_is_two_mistakes() -> None:
    three = "bet 1 1000; bet 2 1000; bet 3 1000; 2 9S; 1 TS; 3 TD; D TH; "
    text = three + "1 9C; 3 9D; 2 8C; D 7C down; " + END
    assert codes(text) == ["deal_order", "deal_order"]


def test_the_same_wrong_order_in_both_passes_is_one_mistake() -> None:
    text = TWO + "2 9S; 1 TS; D TH; 2 8C; 1 9C; D 7C down; " + END
    assert codes(text) == ["deal_order"]


def test_a_dealer_who_takes_his_second_card_after_the_players_is_out_of_order() -> None:
    text = "bet 1 1000; 1 TS; D TH; 1 2C; 1 7C; D 7C down; " + END
    assert found(text) == [("deal_order", 5)]
    assert nets(text) == [1000]


def test_a_spot_never_dealt_in_is_skipped() -> None:
    text = TWO + "2 9S; D TH; 2 8C; D 7C down; " + END
    assert found(text) == [("spot_skipped", 3)]
    (violation,) = one_round(text).violations
    assert violation.spot == 1
    assert nets(text) == [None, 0]


def test_a_skipped_spot_may_get_its_card_after_the_others() -> None:
    text = TWO + "1 2S; 2 9S; D TH; 2 8C; D 7C down; 1 TS; 1 9C; " + END
    assert found(text) == [("spot_skipped", 6)]
    assert nets(text) == [1000, 0]


def test_a_spot_skipped_twice_is_told_once_and_may_get_both_cards_late() -> None:
    text = TWO + "2 9S; D TH; 2 8C; D 7C down; 1 TS; 1 9C; stand 1; " + END
    assert found(text) == [("spot_skipped", 3)]
    assert nets(text) == [1000, 0]
    assert codes(text.replace("stand 1", "stand 1; 1 5C")) == ["spot_skipped", "card_after_stand"]


def test_a_card_to_an_empty_spot_is_burned() -> None:
    text = "bet 1 1000; 1 TS; 2 9S; D TH; 1 9C; 2 3C; D 7C down; " + END
    assert found(text) == [("card_to_empty_spot", 3)]
    assert nets(text) == [1000]


@pytest.mark.parametrize("name", IDS)
def test_each_house_deals_its_own_faces(name: str) -> None:
    assert codes(FACES[name] + END, name) == []


def test_a_players_card_with_the_wrong_side_up_is_told_once_a_hand() -> None:
    text = "bet 1 1000; 1 TS down; D TH; 1 9C down; D 7C down; " + END
    assert found(text) == [("deal_face", 2)]
    pitched = "bet 1 1000; 1 TS; D TH; 1 9C down; D 7C down; " + END
    assert found(pitched, "pitch-double-deck") == [("deal_face", 2)]


@pytest.mark.parametrize(
    ("dealer", "name", "code", "seq"),
    [
        pytest.param("D TH down; 1 9C; D 7C", "kansas-shoe", "deal_face", 3, id="reversed"),
        pytest.param("D TH down; 1 9C; D 7C down", "kansas-shoe", "deal_face", 3, id="both-down"),
        pytest.param("D TH; 1 9C; D 7C", "kansas-shoe", "hole_card_exposed", 5, id="both-up"),
    ],
)
def test_the_dealers_faces(dealer: str, name: str, code: str, seq: int) -> None:
    text = f"bet 1 1000; 1 TS; {dealer}; show D 7C; close"
    assert found(text, name) == [(code, seq)]


def test_the_home_game_deals_the_hole_card_first() -> None:
    reversed_deal = "bet 1 1000; 1 TS down; D TH; 1 9C down; D 7C down; " + END
    assert found(reversed_deal, "home") == [("deal_face", 3)]
    exposed = "bet 1 1000; 1 TS down; D TH; 1 9C down; D 7C; " + END
    assert found(exposed, "home") == [("hole_card_exposed", 3)]


def test_without_wagers_observed_the_spots_are_those_that_got_cards() -> None:
    text = "1 TS; 2 9S; D TH; 1 9C; 2 8C; D 7C down; " + END
    assert found(text) == []
    outcomes = [spot.hands[0].outcome for spot in one_round(text).spots]
    assert outcomes == ["win", "push"]
    assert nets(text) == [0, 0]
