"""Several looks at one card: more than one look, less than as many independent ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.evidence import Evidence, agreement, candidates


def reading(**p: float) -> NDArray[np.float64]:
    row = np.zeros(52)
    for code, value in p.items():
        row[DECK.index(Card(code.lstrip("_")))] = value
    return row


def after(*looks: NDArray[np.float64]) -> Evidence:
    evidence = Evidence()
    for look in looks:
        evidence.add(look)
    return evidence


def test_nothing_read_is_no_card() -> None:
    assert after().best() == (None, 0.0)
    assert after(reading()).best() == (None, 0.0)


def test_one_look_stands_as_it_is() -> None:
    card, p = after(reading(_8S=0.6, _6S=0.4)).best()
    assert card is Card("8S")
    assert p == pytest.approx(0.6)


def test_agreeing_looks_are_as_sure_as_the_surest_of_them() -> None:
    card, p = after(*[reading(_8S=0.8, _6S=0.2)] * 10, reading(_8S=0.9, _6S=0.1)).best()
    assert card is Card("8S")
    assert p == pytest.approx(0.9)  # ten independent looks would say 0.9999999


def test_a_look_that_shows_less_takes_nothing_away() -> None:
    assert after(reading(_8S=0.998), *[reading(_8S=0.8)] * 6).best()[1] == pytest.approx(0.998)


def test_a_look_that_says_nothing_changes_next_to_nothing() -> None:
    sure, nothing = reading(_8S=0.995), np.full(52, 1 / 53)
    assert after(sure, nothing, nothing).best()[1] == pytest.approx(0.995, abs=0.01)


def test_looks_that_contradict_each_other_leave_doubt() -> None:
    evidence = after(reading(AS=0.999), reading(AC=0.999))
    assert evidence.best()[1] < 0.6
    assert set(candidates(evidence.card_p, 4, 0.1)) == {"AS", "AC"}


def test_five_looks_alike_do_not_outvote_a_sure_one_that_contradicts_them() -> None:
    evidence = after(*[reading(AS=0.99)] * 5, reading(AC=0.99))
    assert evidence.best()[1] < 0.6
    assert set(candidates(evidence.card_p, 4, 0.1)) == {"AS", "AC"}


def test_a_look_in_doubt_leaves_a_sure_one_sure() -> None:
    sure, doubt = reading(AS=0.9995, AC=0.0005), reading(AC=0.6, AS=0.4)
    for looks in ((sure, doubt), (doubt, sure), (doubt, doubt, sure, doubt)):
        card, p = after(*looks).best()
        assert card is Card.AS
        assert p > 0.999


def test_a_look_at_something_else_leaves_doubt() -> None:
    assert after(reading(AS=0.9999), reading(KH=0.9, QH=0.099)).best()[1] < 0.95


@given(st.lists(st.lists(st.floats(0, 1), min_size=52, max_size=52), min_size=1, max_size=6))
def test_probabilities_stay_probabilities(rows: list[list[float]]) -> None:
    looks = [np.array(row) / max(1.0, sum(row)) for row in rows]
    total = float(after(*looks).card_p.sum())
    assert 0 <= total <= 1 + 1e-9


def test_candidates_are_the_likeliest_first_and_none_that_is_hopeless() -> None:
    told = candidates(reading(_8S=0.7, _6S=0.25, AS=0.04, KD=0.004), 3, 0.01)
    assert list(told.items()) == [("8S", 0.7), ("6S", 0.25), ("AS", 0.04)]


def test_agreement_is_sure_only_where_both_are() -> None:
    assert agreement(reading(AS=0.99), reading(AS=0.9)) == pytest.approx(0.891)
    assert agreement(reading(AS=0.5, AC=0.5), reading(AS=1.0)) == pytest.approx(0.5)
    assert agreement(reading(AS=1.0), reading()) == 0.0
