"""What a player may do with a hand, asked without a round."""

import pytest

from models.cards import Card
from settlement.houserules import HouseRules
from settlement.play import (
    DEAD,
    LIVE,
    closed_to_cards,
    double_fault,
    finished,
    hand_with,
    live,
    split_fault,
    surrender_fault,
)
from settlement.state import Hand
from tests.simulation.tables import rules_of


def hand(text: str, *, split: bool = False, added: int = 0) -> Hand:
    return hand_with(map(Card, text.split()), split=split, stake=1000, added=added)


def house(name: str) -> HouseRules:
    return HouseRules(rules_of(name))


def code(fault: tuple[str, str] | None) -> str:
    return fault[0] if fault else ""


@pytest.mark.parametrize(
    ("cards", "rulebook", "fault"),
    [
        ("6S 5D", "pitch-double-deck", ""),
        ("6S 2D", "pitch-double-deck", "double_total_not_allowed"),
        ("AS 8D", "pitch-double-deck", "double_total_not_allowed"),
        ("6S 2D", "kansas-shoe", ""),
        ("AS KD", "kansas-shoe", "double_on_blackjack"),
        ("2S 3D 4C", "kansas-shoe", "double_not_first_two"),
        ("2S 3D 4C", "spanish-21", ""),
    ],
)
def test_a_hand_is_doubled_where_the_house_doubles_it(
    cards: str, rulebook: str, fault: str
) -> None:
    assert code(double_fault(hand(cards), house(rulebook))) == fault


def test_a_king_and_a_queen_are_a_pair_only_by_value() -> None:
    assert split_fault(hand("KS QD"), house("kansas-shoe")) is None
    assert code(split_fault(hand("KS QD"), house("home"))) == "split_unequal_rank"
    assert split_fault(hand("KS KD"), house("home")) is None


def test_a_pair_is_split_until_the_spot_has_all_its_hands() -> None:
    rules = house("kansas-shoe")
    eights = hand("8S 8D", split=True)
    assert split_fault(eights, rules, rules.max_hands - 1) is None
    assert code(split_fault(eights, rules, rules.max_hands)) == "too_many_hands"


def test_split_aces_get_one_card_and_are_split_again_where_the_house_lets_them() -> None:
    again, once = house("kansas-shoe"), house("home")
    assert again.resplit_aces
    assert not once.resplit_aces
    assert closed_to_cards(hand("AS 7D", split=True), once) == "extra_card_on_split_ace"
    assert not finished(hand("AS AD", split=True), again)
    assert finished(hand("AS AD", split=True), once)


def test_a_doubled_hand_is_given_up_only_where_the_house_rescues_it() -> None:
    doubled = hand("6S 5D 2C", added=1000)
    assert surrender_fault(doubled, house("spanish-21")) is None
    assert code(surrender_fault(doubled, house("casino-shoe"))) != ""


def test_a_hand_of_21_wins_at_once_where_the_pay_table_says_so() -> None:
    assert live(hand("7S 7D 7C"), house("spanish-21")) == DEAD
    assert live(hand("7S 7D 7C"), house("kansas-shoe")) == LIVE
