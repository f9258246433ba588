"""Clause 14 and the order of play: players clockwise, one split hand after another."""

import pytest

from tests.settlement.table import codes, found, nets

DEALT = "bet 1 1000; bet 2 1000; 1 2S; 2 9S; D TH; 1 3C; 2 2C; D 7C down; "
SPLIT = "bet 1 1000; 1 8S; D TH; 1 8D; D 7C down; say-split 1; split 1.1 1000; "
END = "show D 7C; close"


def test_players_act_from_the_dealers_left() -> None:
    assert found(DEALT + "1 TD; stand 1; 2 TC; " + END) == []


@pytest.mark.parametrize(
    ("play", "seq"),
    [
        pytest.param("2 3D; 1 TD; 1 5C", 9, id="cards-alone-show-it"),
        pytest.param("hit 2; 2 3D; stand 2; 1 TD; stand 1", 9, id="told-where-the-hit-was-asked"),
        pytest.param("1 2D; 2 3D; 1 TD", 10, id="went-on-to-the-next-and-came-back"),
    ],
)
def test_player_turn_order_violated_once(play: str, seq: int) -> None:
    assert found(DEALT + play + "; " + END) == [("player_turn_order", seq)]


def test_a_card_to_a_hand_that_stood_is_no_matter_of_turns() -> None:
    assert codes(DEALT + "1 TD; stand 1; 2 3D; 1 5C; " + END) == ["card_after_stand"]


def test_a_blackjack_does_not_wait_for_its_turn() -> None:
    text = "bet 1 1000; bet 2 1000; 1 AS; 2 9S; D 9H; 1 KC; 2 2C; D 8C down; 2 TC; show D 8C; "
    assert found(text + "pay 2 1000; pay 1 1500; close") == []


def test_split_hands_one_after_another() -> None:
    assert found(SPLIT + "1 3S; 1 TS; 1.1 TD; " + END) == []


@pytest.mark.parametrize(
    "order",
    [
        pytest.param("1 TS; 1.1 TD; 1.2 TH", id="in-order-of-creation"),
        pytest.param("1 TS; 1.2 TH; 1.1 TD", id="in-order-on-the-felt"),
    ],
)
def test_resplit_hands_may_be_finished_in_either_order(order: str) -> None:
    again = SPLIT + "1 8C; say-split 1; split 1.2 1000; "
    assert found(again + order + "; " + END) == []


@pytest.mark.parametrize(
    ("cards", "seq"),
    [
        pytest.param("1.1 3S; 1 TS", 8, id="second-hand-first"),
        pytest.param("1 3S; 1.1 TS; 1 2C", 9, id="second-hand-in-between"),
    ],
)
def test_split_hand_order_violated_once(cards: str, seq: int) -> None:
    text = SPLIT + cards + "; " + END
    assert found(text) == [("split_hand_order", seq)]


def test_split_aces_get_their_cards_in_any_order() -> None:
    aces = "bet 1 1000; 1 AS; D TH; 1 AD; D 7C down; say-split 1; split 1.1 1000; "
    assert found(aces + "1.1 9S; 1 8S; " + END) == []
    assert nets(aces + "1.1 9S; 1 8S; " + END) == [2000]
