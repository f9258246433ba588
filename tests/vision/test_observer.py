"""What is told: news only, and a card's name only beyond doubt."""

import numpy as np
import pytest

from models.cards import DECK, Card
from models.events import CardGone, CardSighted
from tests.vision.painted import SIZE, felt
from vision.felt import Pose
from vision.observer import MOST_LOOKS, Observer
from vision.tracker import Change, Kind, Seen, Track

POSE = Pose(-100, 300, 5)


def observer() -> Observer:
    return Observer("camera:overhead", 0.98, felt(), SIZE)


def track(**p: float) -> Track:
    made = Track(1, POSE, "up", 5, 0.9, 5)
    see(made, **p)
    return made


def see(made: Track, **p: float) -> None:
    row = np.zeros(52)
    for code, value in p.items():
        row[DECK.index(Card(code.lstrip("_")))] = value
    made.see(Seen(POSE, "up", 0.9, row, 5), 5)


def report(by: Observer, kind: Kind, made: Track) -> list[CardSighted | CardGone]:
    return list(by.report([Change(kind, made, 7)], frame=3))


def test_a_card_beyond_doubt_is_named() -> None:
    (event,) = report(observer(), "new", track(_7H=0.99))
    assert isinstance(event, CardSighted)
    assert (event.card, event.confidence) == (Card("7H"), 0.99)
    assert (event.source, event.at, event.frame) == ("camera:overhead", 7, 3)
    assert (event.x_mm, event.y_mm, event.angle_deg) == (-100, 300, 5)


def test_a_card_in_doubt_has_candidates_and_no_name() -> None:
    (event,) = report(observer(), "new", track(_8S=0.6, _6S=0.39))
    assert isinstance(event, CardSighted)
    assert event.card is None
    assert event.candidates == {"8S": 0.6, "6S": 0.39}


def test_a_back_has_neither() -> None:
    (event,) = report(observer(), "new", Track(1, POSE, "down", 5, 0.9, 5))
    assert isinstance(event, CardSighted)
    assert (event.face, event.card, event.candidates) == ("down", None, {})


def test_each_look_is_told_by_itself() -> None:
    by, made = observer(), track(_8S=0.6, _6S=0.39)
    report(by, "new", made)
    see(made, _8S=0.3, _6S=0.6)
    (event,) = report(by, "read", made)
    assert isinstance(event, CardSighted)
    assert event.single_look
    assert event.candidates == {"6S": 0.6, "8S": 0.3}


def test_a_doubtful_look_that_says_the_same_is_no_news() -> None:
    by, made = observer(), track(_8S=0.6, _6S=0.39)
    report(by, "new", made)
    see(made, _8S=0.7, _6S=0.2)
    assert report(by, "read", made) == []


def test_a_certain_look_that_says_the_same_is_told_once() -> None:
    by, made = observer(), track(_7H=0.99)
    report(by, "new", made)
    told = 0
    for _ in range(5):
        see(made, _7H=0.995)
        told += len(report(by, "read", made))
    assert told == 1


def test_a_look_that_becomes_certain_or_names_another_face_is_news() -> None:
    by, made = observer(), track(_8S=0.6, _6S=0.39)
    report(by, "new", made)
    report(by, "read", made)
    see(made, _8S=0.999)
    (settled,) = report(by, "read", made)
    assert isinstance(settled, CardSighted)
    assert settled.card is Card("8S")
    see(made, _6S=0.7, _8S=0.2)
    (doubted,) = report(by, "read", made)
    assert isinstance(doubted, CardSighted)
    assert (doubted.card, doubted.candidates) == (None, {"6S": 0.7, "8S": 0.2})


def test_a_look_in_doubt_is_told_where_it_leaves_half_the_doubt() -> None:
    """A jack read at 0.95 was read at 0.99 half a second later, and nobody was told (9306)."""
    by, made = observer(), track(_JD=0.95, _QD=0.03)
    report(by, "new", made)
    see(made, _JD=0.96, _QD=0.02)
    assert not report(by, "read", made)
    see(made, _JD=0.976, _QD=0.01)
    (event,) = report(by, "read", made)
    assert isinstance(event, CardSighted)
    assert (event.card, event.candidates) == (None, {"JD": 0.976, "QD": 0.01})
    assert not report(by, "read", made)


def test_a_card_that_cannot_be_read_is_not_told_of_for_ever() -> None:
    by, made = observer(), track(_8S=0.5)
    told = len(report(by, "new", made))
    for number in range(50):
        see(made, **{"_6S" if number % 2 else "_8S": 0.5})
        told += len(report(by, "read", made))
    assert told == MOST_LOOKS
    see(made, _8S=0.5)
    assert len(report(by, "moved", made)) == 1


def test_a_card_squared_up_beneath_another_was_not_looked_at() -> None:
    by, made = observer(), track(_7H=0.99)
    report(by, "new", made)
    (event,) = report(by, "squared", made)
    assert isinstance(event, CardSighted)
    assert (event.change, event.card, event.candidates) == ("squared", None, {})


def test_the_error_of_a_place_is_stated_in_millimetres() -> None:
    (event,) = report(observer(), "new", track(_7H=0.99))
    assert isinstance(event, CardSighted)
    px = event.spread_mm * felt().px_per_mm(-100, 300)
    assert px == pytest.approx(1.5, abs=0.05)


def test_a_card_is_gone_once() -> None:
    by, made = observer(), track(_7H=0.99)
    report(by, "new", made)
    assert report(by, "gone", made) == [CardGone(source="camera:overhead", at=7, track=1, frame=3)]
    assert report(by, "gone", made) == []


@pytest.mark.parametrize("place", [Pose(-100, 300, 5), Pose(-1000, 0, 30), Pose(1000, 1110, 90)])
def test_the_crop_holds_the_card_and_stays_in_the_picture(place: Pose) -> None:
    made = Track(1, place, "down", 5, 0.9, 5)
    (event,) = report(observer(), "new", made)
    assert isinstance(event, CardSighted)
    left, top, width, height = event.crop
    assert 0 <= left < left + width <= SIZE[0]
    assert 0 <= top < top + height <= SIZE[1]
    corners = np.clip(felt().to_px(place.corners_mm), 0, SIZE)
    assert (corners >= (left, top)).all()
    assert (corners <= (left + width, top + height)).all()


@pytest.mark.parametrize(
    ("place", "told_deg"),
    [
        pytest.param(Pose(645, 320, -66), -66, id="towards-the-dealer"),
        pytest.param(Pose(645, 320, 114), -66, id="read-upside-down"),
        pytest.param(Pose(-660, 286, -113), 67, id="at-last-base"),
        pytest.param(Pose(0, 740, 539), -1, id="once-round"),
    ],
)
def test_of_two_like_ends_the_one_nearer_the_dealer_is_the_top(
    place: Pose, told_deg: float
) -> None:
    (event,) = report(observer(), "new", Track(1, place, "down", 5, 0.9, 5))
    assert isinstance(event, CardSighted)
    assert event.angle_deg == pytest.approx(told_deg)


def test_a_face_named_surely_at_last_is_told_however_many_looks_were_in_doubt() -> None:
    by, made = observer(), track(_8S=0.6, _6S=0.39)
    report(by, "new", made)
    for _ in range(MOST_LOOKS):
        see(made, _6S=0.6, _8S=0.39)
        report(by, "read", made)
        see(made, _8S=0.6, _6S=0.39)
        report(by, "read", made)
    see(made, _8S=0.99)
    (event,) = report(by, "read", made)
    assert isinstance(event, CardSighted)
    assert event.card is Card("8S")
    see(made, _6S=0.6, _8S=0.39)
    assert report(by, "read", made) == []
