"""The outline belongs to the index, the size to the card: an index of any deck places its card."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.deck_index import LEAST, MIDDLE, USUAL_AT, DeckIndex, Shape, shape_of
from vision.felt import Points, Pose, point_of

CARD = Pose(120, 300, 25)
LARGE = Shape(1.45, (0.16, 0.24))
RIGHT_HAND = (1 - USUAL_AT[0], USUAL_AT[1])


def by_index(card: Pose, shape: Shape, held_at: tuple[float, float] = USUAL_AT) -> Points:
    """The corners that a reader infers from one index, by the proportions of usual decks."""
    at = shape.at if held_at == USUAL_AT else (1 - shape.at[0], shape.at[1])
    true = card.corners_mm
    return point_of(true, at) + shape.size * (true - point_of(true, held_at))


def learnt(shape: Shape) -> DeckIndex:
    index = DeckIndex()
    for _ in range(LEAST):
        index.learn(shape)
    return index


@given(
    st.floats(0.7, 1.6),
    st.floats(0.06, 0.2),
    st.floats(0.1, 0.3),
    st.sampled_from([USUAL_AT, RIGHT_HAND]),
    st.floats(-180, 180),
)
def test_a_lone_index_of_a_known_deck_places_its_card(
    size: float, across: float, down: float, held_at: tuple[float, float], angle_deg: float
) -> None:
    card, shape = Pose(120, 300, angle_deg), Shape(size, (across, down))
    pose, misfit_mm = learnt(shape).pose(by_index(card, shape, held_at), held_at)
    assert pose.distance_mm(card) < 1e-6
    assert pose.turn_deg(card) < 1e-6
    assert misfit_mm < 1e-6


def test_before_a_deck_is_known_its_index_counts_as_a_usual_one() -> None:
    index = DeckIndex()
    index.learn(LARGE)
    index.learn(LARGE)
    assert index.shape == Shape()
    _, misfit_mm = index.pose(by_index(CARD, LARGE), USUAL_AT)
    assert misfit_mm == pytest.approx(0.45 * 68.4, abs=0.5)


def test_one_index_beside_a_finger_does_not_change_what_a_deck_is() -> None:
    index = learnt(LARGE)
    index.learn(Shape(0.8, (0.3, 0.1)))
    assert index.shape == LARGE


def test_a_card_found_by_both_ends_has_its_own_size() -> None:
    pose, misfit_mm = learnt(LARGE).pose(CARD.corners_mm, MIDDLE)
    assert pose.distance_mm(CARD) < 1e-6
    assert misfit_mm < 1e-6


def test_a_card_whose_edges_show_teaches_its_index() -> None:
    middle = point_of(CARD.corners_mm, MIDDLE)
    ends = point_of(CARD.corners_mm, LARGE.at) - middle
    usual = point_of(CARD.corners_mm, USUAL_AT) - middle
    scale, turn = (
        np.hypot(*ends) / np.hypot(*usual),
        np.arctan2(*ends[::-1]) - np.arctan2(*usual[::-1]),
    )
    spin = scale * np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    read = middle + (CARD.corners_mm - middle) @ spin
    shape = shape_of(read, CARD.corners_mm, LARGE.size)
    assert shape.size == LARGE.size
    assert shape.at == pytest.approx(LARGE.at)
