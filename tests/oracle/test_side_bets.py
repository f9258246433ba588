"""Each shipped side bet has the published house edge, counted over every way to deal its cards."""

from collections.abc import Iterator

import pytest

from stream.library import side_bet_ids
from tests.oracle.side_bets import TOLERANCE, Published, edge, published
from tests.thoroughness import one_in

MANY_DEALS = ("21+3", "in-between", "buster", "lucky-ladies")
"""Bets whose deals take seconds to count: a pay table of each, and all of them before a release."""


def cases() -> Iterator[object]:
    for bet in ("", *MANY_DEALS):
        own = [one for one in published() if one.bet.startswith(MANY_DEALS) is bool(bet)]
        own = [one for one in own if one.bet.startswith(bet)]
        for one in one_in(3 if bet else 1, own):
            name = f"{one.bet}, {one.decks} decks {one.soft17}".strip()
            yield pytest.param(one, id=name, marks=pytest.mark.slow if bet else ())


@pytest.mark.parametrize("stated", [*cases()])
def test_a_bet_has_the_published_house_edge(stated: Published) -> None:
    found = edge(stated.bet, stated.decks, stated.soft17)
    assert abs(found - stated.edge) <= TOLERANCE, f"{float(100 * found):.4f}%"


def test_every_shipped_bet_is_compared() -> None:
    assert {one.bet for one in published()} == set(side_bet_ids())
