"""What a shoe can still hold, where cards are counted anew."""

import pytest

from models.cards import Card
from settlement.reconcile.draws import Composition

NINE = Card("9S")
TEN = Card("TD")


@pytest.fixture
def decks() -> Composition:
    """Return six decks of which a nine left in a round that is over."""
    counted = Composition(6)
    counted.left_shoe(NINE, sure=False)
    counted.round_over()
    return counted


def test_cards_of_the_round_in_play_are_taken_back(decks: Composition) -> None:
    decks.left_shoe(NINE)
    decks.left_shoe(TEN)
    decks.take_back()
    assert (decks.room(NINE), decks.room(TEN)) == (5, 6)


def test_cards_are_counted_anew_after_they_were_taken_back(decks: Composition) -> None:
    decks.left_shoe(NINE)
    decks.take_back()
    decks.left_shoe(TEN)
    assert (decks.room(NINE), decks.room(TEN)) == (5, 5)


def test_what_a_round_dealt_returns_to_a_continuous_shuffler() -> None:
    counted = Composition(6, continuous=True)
    counted.left_shoe(NINE, sure=False)
    assert counted.room(NINE) == 5
    counted.round_over()
    counted.left_shoe(TEN)
    counted.take_back()
    assert (counted.room(NINE), counted.room(TEN)) == (6, 6)
    assert not counted.disproved(NINE)


def test_a_card_that_was_disproved_stays_so_when_others_are_taken_back(
    decks: Composition,
) -> None:
    assert decks.disproved(NINE)
    decks.take_back()
    assert decks.room(NINE) == 6
    assert not decks.disproved(NINE)


def test_a_doubtful_card_of_the_round_in_play_is_not_disproved() -> None:
    counted = Composition(6)
    counted.left_shoe(NINE, sure=False)
    assert not counted.disproved(NINE)


def test_what_lies_on_the_felt_stays_out_when_the_discards_are_shuffled(
    decks: Composition,
) -> None:
    decks.left_shoe(TEN)
    decks.reshuffled([TEN])
    assert (decks.room(NINE), decks.room(TEN)) == (6, 5)
    assert not decks.miscounts(NINE)
    assert not decks.disproved(NINE)
