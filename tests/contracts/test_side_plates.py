"""The plates of a simulated table report side bets as the driver of real plates reads them."""

from itertools import pairwise

import pytest

from devices.plates import Plates
from models.events import PaymentMade, PlateRead, WagerPlaced
from simulation.session import Settings, prepare
from simulation.wire import plate_reads


@pytest.mark.parametrize("bet", ["perfect-pairs-25-12-6", "buster-250-50-12-4-2"])
def test_circle_s_is_read_with_every_side_bet_as_it_was_laid_and_settled(bet: str) -> None:
    staged = prepare(Settings(rounds=4, seed=3, side_bet=bet)).staged
    driver = Plates()
    heard = [one for at, chunk in plate_reads(staged.plates, 3) for one in driver.feed(chunk, at)]
    read = [one for one in heard if isinstance(one, PlateRead) and one.circle == "S"]
    assert len(heard) == sum(isinstance(one, PlateRead) for one in heard)
    laid = [change for change in staged.plates if change.circle == "S"]
    assert [(one.spot, one.amount, one.chips) for one in read] == [
        (one.spot, one.amount, {str(chip): count for chip, count in one.chips.items()})
        for one in laid
    ]
    moved: dict[int, list[int]] = {}
    for spot in {one.spot for one in read}:
        amounts = [0, *(one.amount for one in read if one.spot == spot)]
        moved[spot] = [after - before for before, after in pairwise(amounts)]
    for fact in staged.facts:
        if isinstance(fact, WagerPlaced | PaymentMade) and fact.kind == "side":
            assert fact.amount in moved[fact.spot]
