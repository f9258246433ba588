"""A card's map that was misplaced is put right by saying how."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vision.corners import (
    ANCHOR_MM,
    CARD_WIDTH_MM,
    anchor_points,
    bend_between,
    card_corners,
    other_hand,
    unbent,
)


def card_map(px_per_mm: float, turn: float, x: float, y: float) -> NDArray[np.float64]:
    c, s = np.cos(turn) * px_per_mm, np.sin(turn) * px_per_mm
    return np.array([[c, -s, x], [s, c, y]])


maps = st.builds(
    card_map,
    st.floats(0.5, 4),
    st.floats(0, 2 * np.pi),
    st.floats(-500, 500),
    st.floats(-500, 500),
)


@given(maps, maps, st.booleans())
def test_a_map_bent_by_what_lies_between_two_maps_is_the_other(
    told: NDArray[np.float64], true: NDArray[np.float64], right_hand: bool
) -> None:
    bend = bend_between(told, true, right_hand)
    again = unbent(np.asarray([told], np.float32), bend[None], np.array([right_hand]))
    assert np.abs(card_corners(again) - card_corners(np.asarray([true], np.float32))).max() < 0.5


@given(maps, st.booleans())
def test_a_map_in_its_place_has_no_bend(onto: NDArray[np.float64], right_hand: bool) -> None:
    assert np.abs(bend_between(onto, onto, right_hand)).max() < 1e-6


@given(maps, st.booleans())
def test_an_index_of_the_other_hand_stays_on_its_spot(
    onto: NDArray[np.float64], right_hand: bool
) -> None:
    other = other_hand(onto, right_hand)
    spots = [
        anchor_points(np.asarray([each], np.float32), np.array([hand]))
        for each, hand in ((onto, right_hand), (other, not right_hand))
    ]
    assert np.abs(spots[0] - spots[1]).max() < 0.1


def test_anchors_stand_in_the_upper_corners() -> None:
    flat = np.array([[[1, 0, 0], [0, 1, 0]]] * 2, np.float32)
    points = anchor_points(flat, np.array([False, True]))
    assert points[0] == pytest.approx(ANCHOR_MM)
    assert points[1] == pytest.approx((CARD_WIDTH_MM - ANCHOR_MM[0], ANCHOR_MM[1]))
