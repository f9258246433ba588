"""The camera of the noise bench is late as often, and by as much, as the rates say."""

from dataclasses import replace

import msgspec
import pytest

from models.events import CardSighted
from models.layout import TableLayout
from stream.library import layout_text
from tests.sensors.film_noise import FAULTLESS, LATER_S, spoilt

SECOND_NS = 10**9
CARDS = 4_000


def back(track: int) -> tuple[int, CardSighted]:
    at = track * SECOND_NS
    seen = CardSighted(
        source="overhead",
        at=at,
        table="BJ-01",
        track=track,
        change="new",
        face="down",
        card=None,
        x_mm=0.0,
        y_mm=300.0,
        angle_deg=0.0,
        frame=track,
        crop=(0, 0, 10, 10),
    )
    return at, seen


@pytest.mark.parametrize("late_by", [(8 / 9, 6 / 9, 2 / 9), (0.3, 0.05, 0.05), (0.5, 0.0, 0.0)])
def test_cards_are_late_by_as_much_as_on_films(late_by: tuple[float, ...]) -> None:
    rates = replace(FAULTLESS, late=0.5, late_by=late_by)
    layout = msgspec.toml.decode(layout_text("five-spots"), type=TableLayout)
    told = spoilt([back(track) for track in range(CARDS)], rates, 1, layout)
    late_ns = [at - one.track * SECOND_NS for at, one in told if isinstance(one, CardSighted)]
    late = [by for by in late_ns if by]
    assert len(late_ns) == CARDS
    assert len(late) == pytest.approx(CARDS / 2, rel=0.05)
    assert min(late) >= SECOND_NS // 2
    for second, share in zip(LATER_S, late_by, strict=True):
        later = sum(by > second * SECOND_NS for by in late) / len(late)
        assert later == pytest.approx(share, abs=0.03)
