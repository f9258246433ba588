from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.cards import DECK, Card
from models.errors import OperatorError
from models.layout import middle
from tests.thoroughness import examples
from tests.vision.stage import MS, PLAIN, alike, laid, layout, performance, rectified
from vision.scenes.decks import deck_ids, load_deck
from vision.scenes.film import film, frame_count, reference_points, still
from vision.scenes.lens import Lens
from vision.scenes.look import Look, varied_look
from vision.scenes.performance import CardMove, ChipMove, Gesture, Performance, Place

SMALL = Look(width_px=480, height_px=270, fps=10, seed=3)
DEALT = Place(0.0, 700.0, 4.0)
FACES = load_deck("casino-jumbo").faces


def busy() -> Performance:
    """Something of everything: cards dealt, slid under, turned and taken, chips, gestures."""
    up, under = Place(-150.0, 285.0, 2.0), Place(-120.0, 285.0, -1.0)
    beside = Place(-80.0, 285.0)
    cards = (
        CardMove(0, 500 * MS, 1, Card.AS, None, DEALT, "up", "up", "dealer"),
        CardMove(600 * MS, 1100 * MS, 2, Card.TD, None, up, "up", "up", "dealer"),
        CardMove(1200 * MS, 1700 * MS, 3, Card.KC, None, under, "down", "down", "dealer", 2),
        CardMove(1900 * MS, 2400 * MS, 3, Card.KC, under, beside, "down", "up", "dealer"),
        CardMove(2500 * MS, 2900 * MS, 1, Card.AS, DEALT, None, "up", "down", "dealer"),
    )
    bet = ChipMove(0, 300 * MS, 1, {500: 3, 2500: 2}, None, (0.0, 995.0), "player:3")
    paid = ChipMove(2500 * MS, 2700 * MS, 2, {500: 3}, None, (30.0, 975.0), "dealer")
    tap = Gesture(1300 * MS, 2300 * MS, 534.0, 720.0, "player:2", "tap")
    return performance(*cards, chips=(bet, paid), gestures=(tap,), ms=3050)


def test_a_film_lasts_as_long_as_the_performance() -> None:
    assert len(list(film(busy(), layout(), SMALL))) == frame_count(busy(), SMALL) == 31


@pytest.mark.parametrize(("fps", "frames"), [(15, 46), (29.97, 92), (12.5, 39), (1, 4)])
def test_the_last_frame_is_the_last_that_begins_in_time(fps: float, frames: int) -> None:
    assert frame_count(busy(), replace(SMALL, fps=fps)) == frames


def test_the_same_film_is_shot_twice() -> None:
    again = film(busy(), layout(), SMALL)
    assert all(np.array_equal(one, next(again)) for one in film(busy(), layout(), SMALL))


def test_another_seed_is_another_film() -> None:
    one, other = (still(busy(), 0, layout(), replace(SMALL, seed=seed)) for seed in (3, 4))
    assert not np.array_equal(one, other)


def test_every_frame_is_what_a_still_of_its_moment_shows() -> None:
    for index, frame in enumerate(film(busy(), layout(), SMALL)):
        if index % 5 == 0:
            at_ns = index * 100 * MS
            assert np.array_equal(frame, still(busy(), at_ns, layout(), SMALL))


def test_frames_are_not_changed_after_they_are_handed_over() -> None:
    frames = film(busy(), layout(), replace(SMALL, noise_sigma=0))
    first = next(frames)
    kept = first.copy()
    for _ in range(4):
        next(frames)
    assert np.array_equal(first, kept)


@pytest.mark.parametrize("angle", [0.0, 37.0, 90.0, 180.0, -68.0])
@pytest.mark.parametrize("card", [Card.NINE_H, Card.KS])
def test_a_card_at_rest_looks_like_its_face(card: Card, angle: float) -> None:
    place = Place(-40.0, 690.0, angle)
    picture = still(performance(laid(card, place)), 900 * MS, layout(), PLAIN)
    scores = {face: alike(rectified(picture, place, PLAIN), FACES[face]) for face in DECK}
    assert max(scores, key=scores.__getitem__) is card
    assert scores[card] > 0.9


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(
    x_mm=st.floats(-600, 600),
    y_mm=st.floats(450, 800),
    angle=st.floats(-180, 180),
    tilt=st.floats(-5, 5),
    distortion=st.sampled_from([0.0, -0.05, 0.04]),
)
def test_a_card_lies_where_it_was_put(
    x_mm: float, y_mm: float, angle: float, tilt: float, distortion: float
) -> None:
    look = replace(PLAIN, tilt_deg=(tilt, -tilt), distortion=distortion, shadow=0.0)
    place = Place(x_mm, y_mm, angle)
    empty = still(performance(), 900 * MS, layout(), look)
    picture = still(performance(laid(Card.TWO_C, place)), 900 * MS, layout(), look)
    cover = cv2.absdiff(picture, empty).max(axis=2).astype(np.float64)
    weight = np.minimum(cover / 60, 1)
    seen = np.array([(weight * axis).sum() / weight.sum() for axis in np.mgrid[0:720, 0:1280]])
    due = Lens(layout(), look).project(np.array([[x_mm, y_mm]]))[0]
    assert np.hypot(*(seen[::-1] - due)) < 0.5


def test_a_turned_card_shows_its_back_and_then_its_face() -> None:
    there, beside = Place(0.0, 600.0), Place(80.0, 600.0)
    down = CardMove(0, 100 * MS, 1, Card.NINE_H, None, there, "down", "down", None)
    turned = CardMove(600 * MS, 900 * MS, 1, Card.NINE_H, there, beside, "down", "up", None)
    score = performance(down, turned)
    before = still(score, 300 * MS, layout(), PLAIN)
    after = still(score, 1200 * MS, layout(), PLAIN)
    assert colour_apart(rectified(before, there, PLAIN), load_deck("casino-jumbo").back) < 12
    assert colour_apart(rectified(before, there, PLAIN), FACES[Card.NINE_H]) > 40
    assert alike(rectified(after, beside, PLAIN), FACES[Card.NINE_H]) > 0.9
    assert alike(rectified(after, there, PLAIN), FACES[Card.NINE_H]) < 0.5


def colour_apart(seen: NDArray[np.uint8], art: NDArray[np.uint8]) -> float:
    """How much redder or less red the middle of a cut-out is than of a card's art."""
    means = [image[80:280, 60:200, :3].mean(axis=(0, 1)) for image in (seen, art)]
    return float(abs((means[0][2] - means[0][1]) - (means[1][2] - means[1][1])))


def test_a_card_slid_under_another_leaves_it_whole() -> None:
    up, hole = Place(-150.0, 285.0), Place(-120.0, 285.0)
    score = performance(
        laid(Card.NINE_H, up, card_id=1), laid(Card.KS, hole, at_ms=300, card_id=2, under=1)
    )
    picture = still(score, 900 * MS, layout(), PLAIN)
    assert alike(rectified(picture, up, PLAIN), FACES[Card.NINE_H]) > 0.9
    assert alike(rectified(picture, hole, PLAIN), FACES[Card.KS]) < 0.7


def test_the_later_card_covers_the_earlier() -> None:
    low, high = Place(0.0, 700.0), Place(18.0, 692.0)
    score = performance(
        laid(Card.KS, low, card_id=1), laid(Card.NINE_H, high, at_ms=300, card_id=2)
    )
    picture = still(score, 900 * MS, layout(), PLAIN)
    assert alike(rectified(picture, high, PLAIN), FACES[Card.NINE_H]) > 0.9


def test_a_card_taken_up_leaves_the_felt_as_it_was() -> None:
    taken = CardMove(300 * MS, 500 * MS, 1, Card.KS, DEALT, None, "up", "down", "player:3")
    look = replace(PLAIN, width_px=640, height_px=360)
    after = still(performance(laid(Card.KS, DEALT), taken), 900 * MS, layout(), look)
    assert np.array_equal(after, still(performance(), 900 * MS, layout(), look))


def test_the_dealer_collects_cards_in_the_rack() -> None:
    taken = CardMove(300 * MS, 500 * MS, 1, Card.KS, DEALT, None, "up", "down", "dealer")
    look = replace(PLAIN, width_px=640, height_px=360)
    after = still(performance(laid(Card.KS, DEALT), taken), 1900 * MS, layout(), look)
    changed = cv2.absdiff(after, still(performance(), 1900 * MS, layout(), look)).max(axis=2) > 24
    rack = Lens(layout(), look).project(np.array([middle(layout().discard_rack)]))[0]
    y, x = np.nonzero(changed)
    assert np.hypot(x.mean() - rack[0], y.mean() - rack[1]) < 4


def test_hands_pass_over_cards() -> None:
    lying = laid(Card.TWO_C, Place(0.0, 400.0))
    dealt = CardMove(500 * MS, 1100 * MS, 2, Card.AS, None, DEALT, "up", "up", "dealer")
    score = performance(lying, dealt, ms=3000)
    covered = rectified(still(score, 1050 * MS, layout(), PLAIN), Place(0.0, 400.0), PLAIN)
    free = rectified(still(score, 2500 * MS, layout(), PLAIN), Place(0.0, 400.0), PLAIN)
    assert alike(covered, FACES[Card.TWO_C]) < 0.6
    assert alike(free, FACES[Card.TWO_C]) > 0.9


@pytest.mark.parametrize("name", ["four-spots", "five-spots", "six-spots", "seven-spots"])
def test_reference_points_map_the_felt_to_the_picture(name: str) -> None:
    look = varied_look(11, decks=("casino-jumbo",))
    points = reference_points(layout(name), look)
    assert len(points) >= 6
    felt = np.array([(point.x_mm, point.y_mm) for point in points])
    seen = np.array([(point.x_px, point.y_px) for point in points])
    fitted, _ = cv2.findHomography(felt, seen)
    zones = np.array([corner for spot in layout(name).spots for corner in spot.cards])
    mapped = cv2.perspectiveTransform(zones.reshape(-1, 1, 2), fitted).reshape(-1, 2)
    apart = np.hypot(*(mapped - Lens(layout(name), look).project(zones)).T)
    assert apart.max() < 0.5


def test_circles_are_printed_where_the_reference_points_say() -> None:
    look = replace(PLAIN, felt="burgundy", tilt_deg=(2.0, -1.0))
    picture = still(performance(), 0, layout(), look)
    for spot, point in zip(layout().spots, reference_points(layout(), look), strict=False):
        reach = round((spot.circle.radius_mm + 6) * Lens(layout(), look).px_per_mm)
        left, top = round(point.x_px) - reach, round(point.y_px) - reach
        part = picture[top : top + 2 * reach + 1, left : left + 2 * reach + 1]
        white = cv2.threshold(part.min(axis=2), 90, 255, cv2.THRESH_BINARY)[1]
        (x, y), _ = cv2.minEnclosingCircle(np.argwhere(white)[:, ::-1].astype(np.float32))
        assert np.hypot(left + x - point.x_px, top + y - point.y_px) < 1.5


@pytest.mark.parametrize("deck", deck_ids())
def test_every_shipped_deck_can_be_filmed(deck: str) -> None:
    look = replace(PLAIN, deck=deck)
    picture = still(performance(laid(Card.QH, DEALT)), 900 * MS, layout(), look)
    assert alike(rectified(picture, DEALT, look), load_deck(deck).faces[Card.QH]) > 0.85


def test_an_unknown_deck_is_the_operators_error() -> None:
    with pytest.raises(OperatorError, match="no deck 'tarot'"):
        still(performance(), 0, layout(), replace(SMALL, deck="tarot"))


@pytest.mark.parametrize(
    ("field", "value"),
    [("width_px", 0), ("fps", 0), ("fps", 500), ("zoom", -1), ("glare", 1.5), ("noise_sigma", -1)],
)
def test_a_look_that_no_camera_has_is_refused(field: str, value: float) -> None:
    with pytest.raises(OperatorError, match=f"{field}: a film cannot be shot with {value}"):
        replace(SMALL, **{field: value})  # type: ignore[arg-type]


def test_an_unknown_felt_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"felt: .* tartan.* Choose one of green, blue"):
        Look(felt="tartan")  # type: ignore[arg-type]


@pytest.mark.slow
@settings(max_examples=examples(10), deadline=None)
@given(seed=st.integers(0, 10_000), dealing=st.sampled_from(["shoe", "pitch"]))
def test_any_look_can_be_filmed(seed: int, dealing: str) -> None:
    look = varied_look(seed, decks=deck_ids())
    look = replace(look, width_px=480, height_px=270, fps=4, dealing=dealing)  # type: ignore[arg-type]
    for frame in film(busy(), layout("seven-spots"), look):
        assert frame.shape == (270, 480, 3)
        assert 20 < frame.mean() < 235


def test_a_move_without_duration_is_a_jump() -> None:
    jump = CardMove(300 * MS, 300 * MS, 1, Card.KS, DEALT, Place(200.0, 600.0), "up", "up", None)
    picture = still(performance(laid(Card.KS, DEALT), jump), 900 * MS, layout(), PLAIN)
    assert alike(rectified(picture, Place(200.0, 600.0), PLAIN), FACES[Card.KS]) > 0.9
