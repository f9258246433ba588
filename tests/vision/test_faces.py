"""Whole faces are read by their pips where no index can be, and say little where little shows."""

from functools import cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.faces import FACE_PX, cut_faces, nudged, read_faces, unread
from vision.networks import Network, load_network
from vision.scenes.decks import PX_PER_MM, load_deck

PIPS = [card for card in DECK if card.rank not in "AJQK"]
PX_A_MM = 0.95
INDEX_MM = (12.0, 28.0)


@cache
def network() -> Network:
    return load_network("face")


def shown(face: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A face on a green felt as a ceiling camera sees it, and the card's map to the picture."""
    turn, middle = np.radians(20), np.array([75.0, 80.0])
    c, s = np.cos(turn) * PX_A_MM, np.sin(turn) * PX_A_MM
    linear = np.array([[c, -s], [s, c]])
    onto = np.column_stack([linear, middle - linear @ [CARD_WIDTH_MM / 2, CARD_HEIGHT_MM / 2]])
    fine = 4
    place = onto * fine
    place[:, :2] /= PX_PER_MM
    place[:, 2] += (fine - 1) / 2
    laid = np.asarray(cv2.warpAffine(face, place, (150 * fine, 160 * fine)), np.float32)
    share = laid[..., 3:] / 255
    picture = np.full((*laid.shape[:2], 3), (60, 105, 30), np.float32)
    picture += share * (laid[..., :3] - picture)
    small = cv2.resize(picture, (150, 160), interpolation=cv2.INTER_AREA)
    return np.asarray(np.clip(small, 0, 255), np.uint8), onto.astype(np.float32)


def without_indices(face: NDArray[np.uint8]) -> NDArray[np.uint8]:
    bare = face.copy()
    wide, tall = (round(mm * PX_PER_MM) for mm in INDEX_MM)
    paper = np.median(bare[..., :3], axis=(0, 1))
    bare[:tall, :wide, :3] = bare[-tall:, -wide:, :3] = paper
    return bare


def under(over: NDArray[np.uint8], face: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A face of which another card leaves a strip at the left and one below."""
    covered = face.copy()
    right, up = round(17 * PX_PER_MM), round(8 * PX_PER_MM)
    covered[:-up, right:, :3] = over[up:, :-right, :3]
    return covered


def chances(face: NDArray[np.uint8]) -> NDArray[np.float64]:
    """What is thought of each of the 52, and last of none."""
    picture, onto = shown(face)
    logs = read_faces(network(), picture, onto[None]).weighted(1.0, 1.0)[0]
    return np.asarray(np.exp(logs), np.float64)


@pytest.mark.parametrize("deck", ["casino-jumbo", "casino-standard", "anglo_poker", "tigullio"])
def test_cards_of_unseen_decks_are_read_by_their_pips_alone(deck: str) -> None:
    faces = load_deck(deck).faces
    told = [DECK[int(chances(without_indices(faces[card]))[:52].argmax())] for card in PIPS]
    right = sum(one is card for one, card in zip(told, PIPS, strict=True))
    assert right >= 0.9 * len(PIPS)


@pytest.mark.parametrize("deck", ["casino-jumbo", "casino-standard", "anglo_poker", "tigullio"])
def test_a_card_of_which_a_strip_shows_and_no_index_stays_in_doubt(deck: str) -> None:
    faces = load_deck(deck).faces
    over = faces[Card("8D")]
    hidden = [chances(under(over, without_indices(faces[card]))) for card in PIPS]
    best = np.array([row[:52].max() for row in hidden])
    right = np.array(
        [DECK[int(row.argmax())] is card for row, card in zip(hidden, PIPS, strict=True)]
    )
    assert best.mean() < 0.8
    assert best[~right].max() < 0.99


def test_a_card_cut_by_its_map_fills_the_cut() -> None:
    picture, onto = shown(load_deck("anglo_poker").faces[Card("TS")])
    (cut,) = cut_faces(picture, onto[None])
    assert cut.shape == (FACE_PX[1], FACE_PX[0], 3)
    assert cut[6:-6, 6:-6].min(axis=(0, 1)).max() < 120  # ink
    assert np.median(cut[6:-6, 6:-6]) > 200  # on paper
    assert np.abs(cut[50, 0].astype(int) - [60, 105, 30]).max() < 12  # and the felt beside it


def test_a_nudge_moves_a_card_on_itself_and_grows_it_round_its_middle() -> None:
    onto = shown(load_deck("anglo_poker").faces[Card("TS")])[1].astype(np.float64)
    (moved,) = nudged(onto[None].astype(np.float32), 2.0, -3.0, 1.1)
    middle = np.array([CARD_WIDTH_MM / 2, CARD_HEIGHT_MM / 2])
    went = onto[:, :2] @ (middle + np.array([2.0, -3.0])) + onto[:, 2]
    assert moved[:, :2] @ middle + moved[:, 2] == pytest.approx(went, abs=1e-3)
    assert moved[:, :2] == pytest.approx(1.1 * onto[:, :2], abs=1e-5)


def test_no_card_is_no_face() -> None:
    picture, onto = shown(load_deck("anglo_poker").faces[Card("TS")])
    assert not len(read_faces(network(), picture, onto[None][:0]).ranks)


def test_a_face_that_was_not_read_favours_no_card() -> None:
    assert not unread(2).weighted(1.0, 1.0).any()
