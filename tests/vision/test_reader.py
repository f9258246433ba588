"""Cards on a felt are read for what they are, wherever they lie and however they are turned."""

from functools import cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.backs import backs_of, not_backs
from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.finder import Found
from vision.letters import SessionReader
from vision.reader import Reader
from vision.scenes.decks import PX_PER_MM, load_deck
from vision.sightings import Sightings

PX_A_MM = 0.95
CARD_PX = CARD_WIDTH_MM * PX_A_MM
Placed = tuple[str | None, float, float, float]
"""Card or ``None`` for a back, middle in pixels, turn in degrees clockwise."""


@cache
def the_reader() -> Reader:
    return Reader.load()


def felt(
    *cards: Placed, size: tuple[int, int] = (480, 360), deck: str = "casino-jumbo"
) -> NDArray[np.uint8]:
    """A green felt with cards laid one after another, in the camera's usual resolution."""
    fine = 4
    picture = np.full((size[1] * fine, size[0] * fine, 3), (60, 105, 30), np.float32)
    for card in cards:
        lay(picture, card, deck, fine)
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    rng = np.random.default_rng(5)
    noisy = np.clip(small + rng.normal(0, 2.5, small.shape), 0, 255)
    return np.asarray(noisy, np.uint8)


def lay(picture: NDArray[np.float32], card: Placed, deck: str, fine: int) -> None:
    name, x, y, turn = card
    art = load_deck(deck).back if name is None else load_deck(deck).faces[Card(name)]
    onto = cv2.getRotationMatrix2D(
        (art.shape[1] / 2, art.shape[0] / 2), -turn, PX_A_MM * fine / PX_PER_MM
    )
    shift = np.array([x * fine - art.shape[1] / 2, y * fine - art.shape[0] / 2])
    onto = np.column_stack([onto[:, :2], onto[:, 2] + shift])
    laid = cv2.warpAffine(art, onto, picture.shape[1::-1])
    laid = np.asarray(laid, np.float32)
    share = laid[..., 3:] / np.float32(255)
    picture += np.asarray(share * (laid[..., :3] - picture), np.float32)


def read(picture: NDArray[np.uint8]) -> Sightings:
    return the_reader().read(picture, card_width_px=CARD_PX)


def called(seen: Sightings) -> set[str]:
    rows = seen.card_p[seen.face_up]
    sure = rows[rows.max(1) >= the_reader().confident_p] if len(rows) else rows
    return {str(DECK[int(row.argmax())]) for row in sure}


@pytest.mark.parametrize("turn", [0, 90, 133, 180, 271])
@pytest.mark.parametrize("card", ["AS", "9H", "6D", "QC", "TS"])
def test_a_lone_card_is_read_however_it_is_turned(card: str, turn: int) -> None:
    seen = read(felt((card, 240, 180, turn)))
    assert called(seen) == {card}
    assert len(seen) == 1


@pytest.mark.parametrize("turn", [0, 40, 90, 200])
def test_corners_are_told_clockwise_from_the_top_left_to_four_millimetres(turn: int) -> None:
    seen = read(felt(("7D", 240, 180, turn)))
    half = np.array([CARD_WIDTH_MM, CARD_HEIGHT_MM]) / 2 * PX_A_MM
    outline = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    true = outline @ np.array([[c, s], [-s, c]]) + [240, 180]
    ways = [true, np.roll(true, 2, axis=0)]
    worst = min(float(np.hypot(*(seen.corners_px[0] - way).T).max()) for way in ways)
    assert worst < 4.0 * PX_A_MM


def test_every_card_of_a_cascade_is_read_by_the_one_index_that_shows() -> None:
    hand = [("5H", 200.0, 200.0), ("8C", 217.0, 192.0), ("2D", 234.0, 184.0)]
    seen = read(felt(*[(card, x, y, 3.0) for card, x, y in hand]))
    assert called(seen) == {"5H", "8C", "2D"}


def test_a_sideways_card_on_a_pair_is_read_with_the_pair_beneath_it() -> None:
    seen = read(felt(("6S", 200, 190, 0), ("5D", 217, 182, 0), ("KH", 246, 176, 90)))
    assert called(seen) == {"6S", "5D", "KH"}


def test_a_hole_card_under_the_up_card_shows_as_a_back() -> None:
    seen = read(felt((None, 268, 180, 180), ("9S", 240, 180, 180)))
    assert called(seen) == {"9S"}
    assert (~seen.face_up).sum() == 1
    assert not seen.card_p[~seen.face_up].any()


def test_an_empty_felt_shows_nothing() -> None:
    assert len(read(felt())) == 0


def test_the_same_picture_gives_the_same_sightings() -> None:
    picture = felt(("5H", 200, 200, 0), ("8C", 217, 192, 0), (None, 400, 100, 20))
    one, other = read(picture), read(picture)
    assert one.corners_px.tobytes() == other.corners_px.tobytes()
    assert one.card_p.tobytes() == other.card_p.tobytes()
    assert len(one) == 3


def test_a_region_is_read_alone_and_told_in_the_whole_picture() -> None:
    picture = felt(("5H", 120, 180, 0), ("KC", 360, 180, 0))
    seen = the_reader().read(picture, card_width_px=CARD_PX, region=(240, 60, 240, 240))
    assert called(seen) == {"KC"}
    assert np.abs(seen.corners_px[0].mean(0) - [360, 180]).max() < 3


def test_without_a_known_width_cards_of_any_size_are_read() -> None:
    picture = felt(("5H", 160, 180, 10), ("KC", 320, 180, 60))
    for scale in (1.0, 2.2):
        sized = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        seen = the_reader().read(np.asarray(sized, np.uint8), card_width_px=None)
        assert called(seen) == {"5H", "KC"}


def test_an_index_found_at_several_sizes_is_told_once() -> None:
    reader = the_reader()
    sized = cv2.resize(felt(("5H", 160, 180, 10)), None, fx=1.6, fy=1.6)
    picture = np.asarray(sized, np.uint8)
    found = reader.find(picture, None)
    assert len(found.heat) > 2  # a card has two indices
    looks = reader.read_found(picture, found, None)
    assert called(reader.weigh(looks, reader.faces(picture, looks))) == {"5H"}
    assert len(looks.cards) == 1


@pytest.mark.parametrize("side", [0, 1])
def test_a_region_without_pixels_shows_nothing(side: int) -> None:
    picture = felt(("5H", 120, 180, 0))
    assert len(the_reader().read(picture, card_width_px=60.0, region=(10, 10, side, side))) == 0


def test_chances_of_a_card_sum_to_at_most_one() -> None:
    seen = read(felt(("5H", 200, 200, 0), ("8C", 217, 192, 0), ("2D", 234, 184, 90)))
    assert len(seen) >= 3
    assert (seen.card_p.sum(1) <= 1 + 1e-5).all()


@pytest.mark.parametrize("deck", ["casino-jumbo", "casino-standard"])
@pytest.mark.parametrize("card", ["4H", "6C"])
def test_the_pips_of_a_card_seen_close_up_are_no_backs(card: str, deck: str) -> None:
    art = load_deck(deck).faces[Card(card)]
    close = cv2.resize(art, None, fx=420 / art.shape[1], fy=420 / art.shape[1])
    picture = np.full((close.shape[0] + 200, 620, 3), (120, 150, 170), np.float32)
    share = close[..., 3:] / np.float32(255)
    place = picture[100:-100, 100:-100]
    place += share * (close[..., :3] - place)
    blurred = np.asarray(cv2.GaussianBlur(picture, (0, 0), 3), np.uint8)
    seen = the_reader().read(blurred, card_width_px=None)
    assert [str(DECK[int(row.argmax())]) for row in seen.card_p] == [card]


def backs_found(*backs: tuple[float, float, float, float], least: float = 0.6) -> Found:
    """Finds of upright backs 60 px wide: the middle of each, and the visible point found.

    Their heats fall from 0.9 to ``least``.
    """
    middles = np.array([back[:2] for back in backs], np.float32).reshape(-1, 2)
    count = len(backs)
    none = np.zeros((0, 2), np.float32)
    return Found(
        anchors=none,
        ups=none,
        rights=none,
        right_hand=np.zeros(0, bool),
        heat=np.zeros(0, np.float32),
        back_points=np.array([back[2:] for back in backs], np.float32).reshape(-1, 2),
        back_middles=middles,
        back_ups=np.tile(np.array([0, -60], np.float32), (count, 1)),
        back_rights=np.tile(np.array([60, 0], np.float32), (count, 1)),
        back_heat=np.linspace(0.9, least, count, dtype=np.float32),
    )


OUTLINE = np.array([[-30, -42], [30, -42], [30, 42], [-30, 42]], np.float32)


def count_of_backs(found: Found, *faces: tuple[float, float], face_p: float = 1.0) -> int:
    quads = np.array([OUTLINE + face for face in faces], np.float32).reshape(-1, 4, 2)
    return len(backs_of(found, quads, np.full(len(faces), face_p))[0])


def test_a_strip_beside_a_back_is_a_back_beneath_it() -> None:
    assert count_of_backs(backs_found((100, 100, 100, 100), (109, 102, 134, 101))) == 2


def test_a_back_found_twice_by_what_lies_on_it_is_one() -> None:
    assert count_of_backs(backs_found((100, 100, 100, 100), (109, 102, 120, 110))) == 1


def test_a_strip_found_by_two_of_its_parts_is_one() -> None:
    strip = backs_found((127, 100, 148, 96), (134, 112, 149, 120))
    assert count_of_backs(strip, (100, 100)) == 1


def test_a_back_found_on_a_face_is_that_face_and_a_strip_beside_it_is_not() -> None:
    assert count_of_backs(backs_found((103, 98, 104, 96)), (100, 100)) == 0
    assert count_of_backs(backs_found((110, 100, 135, 100)), (100, 100)) == 1


def test_a_faint_back_counts_where_another_card_lies_on_it_and_not_alone() -> None:
    assert count_of_backs(backs_found((100, 100, 100, 100), (400, 100, 400, 100), least=0.4)) == 1
    assert count_of_backs(backs_found((100, 100, 100, 100), (118, 100, 142, 100), least=0.4)) == 2
    assert count_of_backs(backs_found((600, 0, 600, 0), (118, 100, 142, 100), least=0.4)) == 1
    hole_card = backs_found((600, 0, 600, 0), (118, 100, 142, 100), least=0.4)
    assert count_of_backs(hole_card, (100, 100)) == 2


@pytest.mark.parametrize(("face_p", "is_back"), [(0.4, True), (0.95, False)])
def test_what_is_a_back_more_surely_than_a_face_is_that_back(face_p: float, is_back: bool) -> None:
    found = backs_found((103, 98, 104, 96))
    assert count_of_backs(found, (100, 100), face_p=face_p) == is_back
    faces, backs = OUTLINE[None] + 100, OUTLINE[None] + (103, 98)
    (shown,) = not_backs(faces, np.array([face_p]), backs, found.back_heat)
    assert shown == (not is_back)


@pytest.mark.parametrize("deck", ["casino-jumbo", "anglo_poker"])
def test_a_dark_deck_is_read_like_a_light_one(deck: str) -> None:
    hand: list[Placed] = [("5H", 150, 180, 10), ("KC", 330, 180, 60)]
    bright = felt(*hand, deck=deck)
    dark = np.where((felt(size=(480, 360)) == bright), bright, 255 - bright)
    seen = read(np.asarray(dark, np.uint8))
    assert called(seen) == {"5H", "KC"}
    assert len(seen) == 2


def half_dark(*light: Placed, dark: Placed) -> NDArray[np.uint8]:
    """A felt with a card of a dark deck beside what lies there of a light one."""
    negative = felt(dark)
    picture = felt(*light)
    lies = negative != felt()
    return np.where(lies, 255 - negative, picture).astype(np.uint8)


def test_a_dark_card_is_looked_for_beside_a_light_back() -> None:
    seen = read(half_dark((None, 360, 180, 0), dark=("5H", 150, 180, 10)))
    assert called(seen) == {"5H"}
    assert len(seen) == 2


def test_once_a_deck_is_dark_its_cards_are_looked_for_in_every_picture() -> None:
    session = SessionReader(the_reader())
    mixed = half_dark(("KC", 360, 180, 0), dark=("5H", 150, 180, 10))
    assert called(session.read(mixed, card_width_px=CARD_PX)) == {"KC"}
    session.read(half_dark(dark=("9S", 240, 180, 0)), card_width_px=CARD_PX)
    assert called(session.read(mixed, card_width_px=CARD_PX)) == {"KC", "5H"}
