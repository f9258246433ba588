"""Heat maps are decoded to points, directions and sizes in pixels."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.finder import NOMINAL_PX, decode, join


def answer(cells: int = 20) -> NDArray[np.float32]:
    return np.zeros((14, cells, cells), np.float32)


@pytest.mark.parametrize(("channel", "right_hand"), [(0, False), (1, True)])
def test_a_peak_is_an_index_at_its_cell_and_offset(channel: int, right_hand: bool) -> None:
    net = answer()
    net[channel, 7, 5] = 0.9
    net[channel, 7, 6] = 0.6
    net[3:9, 7, 5] = [0.25, -0.25, 0.0, -1.0, 1.0, 0.0]
    found = decode(net)
    assert found.anchors.tolist() == [[(5.5 + 0.25) * 4, (7.5 - 0.25) * 4]]
    assert found.ups.tolist() == [[0.0, -NOMINAL_PX]]
    assert found.rights.tolist() == [[NOMINAL_PX, 0.0]]
    assert found.right_hand.tolist() == [right_hand]
    assert found.heat.tolist() == [pytest.approx(0.9)]


@pytest.mark.parametrize("angle", [0.3, -1.2, 1.5])
def test_a_back_is_told_by_its_double_angle_width_and_way_to_its_middle(angle: float) -> None:
    net = answer()
    net[2, 10, 10] = 0.8
    net[9:14, 10, 10] = [np.cos(2 * angle), np.sin(2 * angle), np.log(0.5), 0.25, -0.5]
    found = decode(net)
    assert found.back_middles[0] == pytest.approx([42 + 16, 42 - 32])
    up = found.back_ups[0]
    assert np.hypot(*up) == pytest.approx(NOMINAL_PX / 2, rel=1e-5)
    assert np.tan(np.arctan2(up[1], up[0])) == pytest.approx(np.tan(angle), rel=1e-3)
    assert up @ found.back_rights[0] == pytest.approx(0, abs=1e-3)


def test_faint_heat_is_nothing() -> None:
    net = answer()
    net[:3, 5, 5] = 0.2
    found = decode(net)
    assert len(found.anchors) == len(found.back_middles) == 0


def test_finds_move_with_their_picture_and_join_in_order() -> None:
    net = answer()
    net[0, 2, 3] = net[2, 8, 8] = 0.9
    found = decode(net)
    moved = found.moved(2.0, np.array([10, 20], np.float32))
    assert moved.anchors[0] == pytest.approx((found.anchors[0] + 0.5) * 2 - 0.5 + [10, 20])
    both = join([found, moved])
    assert len(both.anchors) == len(both.back_middles) == 2
    assert both.anchors[1] == pytest.approx(moved.anchors[0])
