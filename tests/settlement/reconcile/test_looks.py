"""What several looks at one card say together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cards import DECK, Card
from settlement.reconcile.identity import probability, rivals, upheld
from settlement.reconcile.looks import Reading

SURE = 0.9999


def look(card: str, p: float = SURE) -> Reading:
    reading = Reading.of(Card(card), {card: p})
    assert reading is not None
    return reading


def looks(cards: str) -> Reading:
    first, *others = cards.split()
    reading = look(first)
    for other in others:
        reading = reading.and_look(look(other))
    return reading


@given(st.sampled_from(DECK), st.integers(1, 40))
def test_equal_looks_at_a_card_that_lies_still_count_once(card: Card, times: int) -> None:
    again = looks(" ".join([str(card)] * times))
    assert again.p(card) == look(str(card)).p(card)
    assert again.looks == times


def test_an_equal_look_after_the_card_was_turned_is_evidence_of_its_own() -> None:
    once, other = look("KD"), Card("7H")
    assert once.and_look(once, afresh=True).p(other) < once.p(other) / 1_000


@pytest.mark.parametrize("seen", ["KD 7H", "7H KD"])
def test_one_look_that_agrees_with_the_shoe_outweighs_one_that_does_not(seen: str) -> None:
    assert upheld(Card("7H"), looks(seen))


@given(st.integers(1, 40))
def test_no_number_of_looks_alone_overrules_the_shoe_or_upholds_it(times: int) -> None:
    against = looks(" ".join(["KD"] * times))
    assert not upheld(Card("7H"), against)
    odds = rivals(Card("7H"), Card("7H"), against, lambda _: True)
    assert 0.1 < odds[Card("KD")] < 1


def test_two_sensors_that_agree_leave_no_rival() -> None:
    assert rivals(Card("7H"), Card("7H"), look("7H"), lambda _: True) == {}


def test_a_face_that_the_shoe_cannot_hold_any_more_is_no_rival() -> None:
    odds = rivals(Card("7H"), Card("7H"), look("KD"), lambda card: card is not Card("KD"))
    assert all(face.rank != "K" or p < 0.001 for face, p in odds.items())


@pytest.mark.parametrize(
    ("said", "seen", "least", "most"),
    [
        pytest.param("7H", "7H", 0.999999, 1.0, id="both-agree"),
        pytest.param("7H", None, 0.998, 0.9995, id="the-shoe-alone"),
        pytest.param(None, "7H", 0.99, 0.996, id="the-camera-alone"),
        pytest.param("7H", "KD", 0.7, 0.9, id="they-disagree"),
    ],
)
def test_how_sure_a_card_is(said: str | None, seen: str | None, least: float, most: float) -> None:
    shoe = None if said is None else Card(said)
    reading = None if seen is None else look(seen)
    assert least <= probability(Card("7H"), shoe, reading) <= most


@given(st.lists(st.sampled_from(["7H", "KD", "2S"]), min_size=1, max_size=50))
def test_probabilities_never_leave_their_bounds(seen: list[str]) -> None:
    reading = looks(" ".join(seen))
    assert 0 < reading.other < 1
    assert sum(p for _, p in reading.listed) <= 1.0 + 1e-9
    assert 0 <= probability(Card("7H"), Card("7H"), reading) <= 1
