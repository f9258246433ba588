"""The outline of a card shown alone is where its edges are, however an index told its size."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.cards import DECK
from tests.thoroughness import examples
from tests.vision.snapshots import aslant, outline, snapshot
from vision.decks.outline import on_own_edges, outlined
from vision.scenes.decks import load_deck

NAME = "casino-standard"


def misjudged(
    quad: NDArray[np.float32], size: float, turn_rad: float, off: float
) -> NDArray[np.float32]:
    middle = quad.mean(0)
    c, s = np.cos(turn_rad) * size, np.sin(turn_rad) * size
    width = np.linalg.norm(quad[1] - quad[0])
    moved = (quad - middle) @ np.array([[c, s], [-s, c]]) + middle + off * width
    return np.asarray(moved, np.float32)


@settings(max_examples=examples(40))
@given(
    number=st.integers(0, 51),
    size=st.floats(0.92, 1.1),
    turn_rad=st.floats(-0.03, 0.03),
    off=st.floats(-0.02, 0.02),
)
def test_a_misjudged_outline_moves_onto_the_card_s_edges(
    number: int, size: float, turn_rad: float, off: float
) -> None:
    deck = load_deck(NAME)
    true = outline(deck, number)
    told = misjudged(true, size, turn_rad, off)
    found = outlined(snapshot(deck, DECK[number], number), told)
    assert np.abs(found - true).max() < 3.0


@pytest.mark.parametrize("cloth", [0, 128, 250])
def test_where_no_edge_shows_the_outline_stays(cloth: int) -> None:
    bare = np.full((480, 640, 3), cloth, np.uint8)
    told = outline(load_deck(NAME), 3)
    assert (outlined(bare, told) == told).all()


def test_edges_of_what_has_not_a_card_s_proportions_are_not_followed() -> None:
    told = outline(load_deck(NAME), 3)
    picture = np.full((480, 640, 3), 40, np.uint8)
    squat = told.copy()
    squat[2:] -= 0.065 * (told[2:] - told[[1, 0]])
    squat[:2] += 0.065 * (told[2:] - told[[1, 0]])[::-1]
    cv2.fillConvexPoly(picture, squat.round().astype(np.int32), (230, 230, 230))
    assert (outlined(picture, told) == told).all()


@pytest.mark.parametrize("number", [0, 17, 38])
@pytest.mark.parametrize("size", [0.94, 1.08])
def test_the_outline_of_a_card_seen_aslant_moves_onto_its_edges(number: int, size: float) -> None:
    deck = load_deck(NAME)
    picture, true = aslant(deck, DECK[number])
    told = as_two_indices_tell(true, size)
    assert np.abs(told - true).max() > 6.0
    assert np.abs(outlined(picture, told) - true).max() < 3.0


def as_two_indices_tell(true: NDArray[np.float32], size: float) -> NDArray[np.float32]:
    """The outline that a card's two indices give: without perspective, of another size."""
    middle, across, down = true.mean(0), true[[1, 2]] - true[[0, 3]], true[[3, 2]] - true[[0, 1]]
    right, below = across.mean(0) * size / 2, down.mean(0) * size / 2
    told = [middle - right - below, middle + right - below]
    return np.array([*told, middle + right + below, middle - right + below], np.float32)


def backs(*lefts_tops: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw backs 58 pixels wide, each upon the one before."""
    image = np.full((240, 240, 3), (80, 70, 65), np.uint8)
    for left, top in lefts_tops:
        cv2.rectangle(image, (left, top), (left + 57, top + 80), (235, 235, 235), -1)
        cv2.rectangle(image, (left + 3, top + 3), (left + 54, top + 77), (150, 90, 40), -1)
    return image


def box(left: float, top: float, right: float, bottom: float) -> NDArray[np.float32]:
    return np.array([[[left, top], [right, top], [right, bottom], [left, bottom]]], np.float32)


def test_a_back_has_edges_of_its_own() -> None:
    edged, own = on_own_edges(backs((100, 80)), box(98, 77, 160, 163), 58.0)
    assert own.all()
    assert np.abs(edged - box(100, 80, 158, 161)).max() < 2


def test_two_backs_found_as_one_have_not() -> None:
    image, found = backs((86, 90), (100, 80)), box(90, 79, 157, 170)
    assert on_own_edges(image, found, None)[1].all()
    assert not on_own_edges(image, found, 58.0)[1].any()
