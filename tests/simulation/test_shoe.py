from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cards import DECK, Card
from simulation.shoe import Shoe, fits


@given(decks=st.integers(1, 8), seed=st.integers(0, 999))
def test_a_shoe_holds_its_decks_and_nothing_else(decks: int, seed: int) -> None:
    shoe = Shoe(decks, Random(seed))
    drawn = Counter(shoe.draw() for _ in range(52 * decks))
    assert drawn == dict.fromkeys(DECK, decks)
    assert len(shoe) == 0


@pytest.mark.parametrize(
    ("card", "wish", "granted"),
    [
        ("7H", "7H", True),
        ("7H", "7S", False),
        ("7H", "7", True),
        ("KD", "X", True),
        ("TD", "X", True),
        ("AD", "X", False),
        ("6C", "L", True),
        ("7C", "L", False),
        ("AC", "L", False),
        ("AC", "*", True),
    ],
)
def test_a_wish_is_a_card_a_rank_or_a_kind(card: str, wish: str, granted: bool) -> None:
    assert fits(Card(card), wish) is granted


@given(seed=st.integers(0, 999), wish=st.sampled_from(["A", "X", "7", "L", "*"]))
def test_a_granted_wish_takes_no_card_twice(seed: int, wish: str) -> None:
    shoe = Shoe(1, Random(seed))
    drawn = Counter(shoe.draw(wish if n < 4 else "*") for n in range(52))
    assert set(drawn.values()) == {1}


def test_a_named_card_that_has_run_out_is_one_too_many() -> None:
    shoe = Shoe(1, Random(1))
    assert [shoe.draw("2S") for _ in range(2)] == [Card("2S"), Card("2S")]
    assert shoe.out[Card("2S")] == 2


def test_the_cut_card_is_reported_once() -> None:
    shoe = Shoe(1, Random(1), penetration=0.5)
    due = []
    for _ in range(52):
        due.append(shoe.cut_card_due())
        shoe.draw()
    assert sum(due) == 1
    assert due.index(True) == 26


def test_a_shoe_whose_cut_card_is_next_starts_no_further_round() -> None:
    shoe = Shoe(1, Random(1), penetration=0.5)
    for _ in range(25):
        shoe.draw()
    assert not shoe.finished
    shoe.draw()
    assert shoe.finished
