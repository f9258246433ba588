"""The finder's targets: what shows of a back, and scenes turned by quarters."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="the training extra is not installed")

import torch
from numpy.typing import NDArray

from vision.finder import decode
from vision.training.loop import turned_again
from vision.training.samples import Sample, Targets, quarter_turned
from vision.training.scenes import Lain, _on_it

pytestmark = pytest.mark.slow

CELLS = 32


def sample_of(*backs: Lain) -> Sample:
    targets = Targets(CELLS)
    for back in backs:
        targets.add_back(back)
    return Sample(
        torch.zeros((3, 4 * CELLS, 4 * CELLS), dtype=torch.uint8),
        *(torch.from_numpy(part) for part in (targets.heat, targets.values)),
        *(torch.from_numpy(part) for part in (targets.index_cells, targets.back_cells)),
    )


def upright(x: float, y: float) -> NDArray[np.float64]:
    """The map of a card 63.5 px wide with its middle at a place."""
    return np.array([[1.0, 0.0, x - 31.75], [0.0, 1.0, y - 44.45]])


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_sample_shows_the_turned_scene(turns: int) -> None:
    strip = Lain(upright(60, 50), None, (0.1,), False, np.array([31.0, 52.0]))
    turned = quarter_turned(sample_of(strip), turns)
    found = decode(torch.cat([turned.heat, turned.values]).numpy())
    point, middle, up = strip.middle, np.array([60.0, 50.0]), np.array([0.0, -1.0])
    for _ in range(turns):
        point, middle = (np.array([4 * CELLS - p[1], p[0]]) for p in (point, middle))
        up = np.array([-up[1], up[0]])
    assert found.back_points[0] == pytest.approx(point, abs=1e-3)
    assert found.back_middles[0] == pytest.approx(middle, abs=1e-3)
    assert abs(up @ found.back_ups[0]) == pytest.approx(63.5, abs=1e-3)


def test_a_back_is_found_where_it_shows_though_its_middle_is_covered() -> None:
    shows = np.zeros((40, 40), bool)
    shows[5:35, 5:8] = shows[32:35, 5:35] = True  # two strips beside the card on top of it
    x, y = _on_it(*np.nonzero(shows))
    assert shows[int(y), int(x)]


def test_each_batch_comes_once_in_every_turn_it_has_time_for() -> None:
    fresh = [sample_of() for _ in range(12)]
    for number, batch in enumerate(fresh):
        batch.heat[0, 0, 0] = number / 100
    marks = []
    for batch in turned_again(fresh, 4):
        corners = [(0, 0), (0, -1), (-1, -1), (-1, 0)]
        turn = next((t for t, (r, c) in enumerate(corners) if batch.heat[0, r, c] > 0), 0)
        marks.append((round(float(batch.heat[0].max()) * 100), turn))
    plain = [number for number, turn in marks if turn == 0 and number]
    assert plain == sorted(plain) == list(range(1, 12))
    assert [turn for number, turn in marks if number == 3] == [0, 1, 2, 3]
