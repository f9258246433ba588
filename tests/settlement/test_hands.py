"""Clauses 4 to 6: card values, the ace, what a blackjack is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cards import DECK, Card
from settlement.hands import busted, count, matched, named, natural, total


def hand(text: str) -> tuple[Card | None, ...]:
    return tuple(None if code == "??" else Card(code) for code in text.split())


@pytest.mark.parametrize(
    ("cards", "points", "soft"),
    [
        pytest.param("4C", 4, False, id="face-value"),
        pytest.param("TS JH", 20, False, id="tens-and-pictures-count-ten"),
        pytest.param("QD KC", 20, False, id="queen-and-king-too"),
        pytest.param("AS 6D", 17, True, id="ace-counts-eleven"),
        pytest.param("AS 6D TC", 17, False, id="ace-falls-to-one"),
        pytest.param("AS AD", 12, True, id="only-one-ace-counts-eleven"),
        pytest.param("AS AD 9C", 21, True, id="eleven-and-one-and-nine"),
        pytest.param("AS TD 9C", 20, False, id="ace-one-at-twenty"),
        pytest.param("AS TD TC", 21, False, id="hard-21-with-an-ace"),
        pytest.param("A? T?", 21, True, id="a-shoe-that-reads-no-suit"),
        pytest.param("AS AD AC AH 7S", 21, True, id="ace-as-eleven-at-exactly-21"),
        pytest.param("AS AD AC AH 8S", 12, False, id="ace-as-eleven-would-be-22"),
    ],
)
def test_a_hand_counts(cards: str, points: int, soft: bool) -> None:
    assert total(hand(cards)) == (points, soft)


@pytest.mark.parametrize(
    ("cards", "is_natural"),
    [
        pytest.param("AS KD", True, id="ace-and-picture"),
        pytest.param("TS AD", True, id="ten-and-ace"),
        pytest.param("AS 9D", False, id="twenty"),
        pytest.param("7S 7D 7C", False, id="three-card-21"),
        pytest.param("AS 5D 5C", False, id="three-cards-with-an-ace"),
        pytest.param("AS ??", False, id="unknown-second-card"),
    ],
)
def test_a_blackjack_is_two_cards_of_21(cards: str, is_natural: bool) -> None:
    assert natural(hand(cards)) is is_natural


def test_a_hand_breaks_past_21() -> None:
    assert not busted(hand("TS 9D 2C"))
    assert busted(hand("TS 9D 3C"))
    assert busted(hand("TS 9D ?? 3C"))
    assert not busted(hand("TS 9D ??"))


@pytest.mark.parametrize(
    ("one", "other", "by_value", "by_rank"),
    [("KS", "QD", True, False), ("9S", "9D", True, True), ("9S", "8S", False, False)],
)
def test_cards_match_by_value_or_rank(one: str, other: str, by_value: bool, by_rank: bool) -> None:
    assert matched(Card(one), Card(other), "value") is by_value
    assert matched(Card(one), Card(other), "rank") is by_rank
    assert matched(Card(one), None, "rank") is None


def test_hands_are_named_for_people() -> None:
    assert named(hand("TS ??")) == "TS ??"
    assert count(hand("AS 6D")) == "soft 17"
    assert count(hand("TS 7D")) == "hard 17"
    assert count(hand("TS ??")) == "unknown"


@given(st.lists(st.sampled_from(DECK), min_size=1, max_size=12))
def test_a_total_is_the_best_that_does_not_pass_21(cards: list[Card]) -> None:
    low = sum(card.points for card in cards)
    aces = sum(card.points == 1 for card in cards)
    reachable = [low + 10 * high for high in range(aces + 1)]
    best = max((points for points in reachable if points <= 21), default=low)
    points, soft = total(cards)
    assert points == best
    assert soft == (best != low)


def test_a_hand_is_named_up_to_the_longest_that_one_shoe_can_make() -> None:
    assert named(hand("TS ?? 7H")) == "TS ?? 7H"
    assert named(hand("AS " * 22)) == "AS " * 21 + "AS"
    assert named(hand("AS " * 23)) == "AS " * 22 + "… 23 cards"
