"""Each shipped side bet has the published house edge, counted over every way to deal its cards."""

import pytest

from stream.library import side_bet_ids
from tests.oracle.side_bets import TOLERANCE, Published, edge, published

_MANY_DEALS = ("21+3", "in-between", "buster", "lucky-ladies")
"""Bets whose deals take seconds to count."""


def _cases() -> list[object]:
    return [
        pytest.param(
            one,
            id=f"{one.bet}, {one.decks} decks {one.soft17}".strip(),
            marks=pytest.mark.slow if one.bet.startswith(_MANY_DEALS) else (),
        )
        for one in published()
    ]


@pytest.mark.parametrize("stated", _cases())
def test_a_bet_has_the_published_house_edge(stated: Published) -> None:
    found = edge(stated.bet, stated.decks, stated.soft17)
    assert abs(found - stated.edge) <= TOLERANCE, f"{float(100 * found):.4f}%"


def test_every_shipped_bet_is_compared() -> None:
    assert {one.bet for one in published()} == set(side_bet_ids())
