"""What is published is whole: every card and payment stands between a round's opening and end."""

from collections.abc import Sequence

import pytest

from models.events import AnyFact, CardDealt, PaymentMade, RoundClosed, RoundOpened
from settlement.reckoning.reckoning import Published
from tests.sensors.noise import Plan, Rates, heard, played, published

ROUNDS = 6
FLOODED = Plan("kansas-shoe", Rates().times(10), ROUNDS, 2, clinging=False, show=True, dead="shoe")
"""A dead shoe and a camera with ten times the noise: accounts are often given up late."""

GIVEN_UP = 500013
"""The account that was published of round 1 is given up once round 2 has begun."""


def out_of_round(facts: Sequence[Published]) -> list[AnyFact]:
    """Return the cards and payments that no round holds."""
    found: list[AnyFact] = []
    in_play = 0
    for fact in facts:
        if isinstance(fact, RoundOpened):
            in_play = fact.round
        elif isinstance(fact, RoundClosed):
            in_play = 0
        elif isinstance(fact, CardDealt | PaymentMade) and not in_play:
            found.append(fact)
    return found


def opened(facts: Sequence[Published]) -> list[int]:
    return [fact.round for fact in facts if isinstance(fact, RoundOpened)]


def test_a_round_is_opened_after_one_whose_published_account_was_given_up() -> None:
    facts = published(heard(GIVEN_UP, FLOODED), until_round=2)
    assert opened(facts) == [1, 2]
    assert out_of_round(facts) == []


def test_a_round_after_one_that_was_given_up_is_settled_as_it_was_dealt() -> None:
    _, lines = played(GIVEN_UP, FLOODED, until_round=3)
    of_first, of_second = ([one for one in lines if f"round {number} " in one] for number in (1, 2))
    assert "It did not go on as its first facts were stated." in of_first[0]
    assert not of_second


@pytest.mark.parametrize("seed", range(500000, 500004))
def test_every_round_is_opened_and_closed_in_turn(seed: int) -> None:
    facts = published(heard(seed, FLOODED))
    bounds = [fact for fact in facts if isinstance(fact, RoundOpened | RoundClosed)]
    assert all(isinstance(fact, RoundOpened) for fact in bounds[::2])
    assert all(isinstance(fact, RoundClosed) for fact in bounds[1::2])
    assert opened(facts) == list(range(1, len(bounds[::2]) + 1))
    assert len(bounds) > 2
    assert out_of_round(facts) == []
