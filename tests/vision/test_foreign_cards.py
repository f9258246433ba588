"""A card of another deck on the felt is told once, and never for want of a clear view."""

from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
import pytest
from numpy.typing import NDArray

from models.cards import Card
from models.events import CardSighted, ForeignCardSighted
from tests.vision.painted import LAYOUT, POINTS, Lying, Moment, TruthReader, film
from vision.change import Rect
from vision.decks.cover import open_cards, open_corners
from vision.felt import Pose
from vision.observer import foreign as is_a_foreign_card
from vision.sightings import Sightings
from vision.tracker import Seen, Track
from vision.watch import Observed, Watcher

ACE = Lying(Card.AS, Pose(-100, 300, 3))
KING = Lying(Card.KD, Pose(120, 300, 5))
BACK = Lying(Card.TWO_C, Pose(120, 300, 0), face_up=False)


@dataclass
class FittingReader:
    """Knows what lies where, and says how well each look at a card fits the deck in use."""

    truth: TruthReader
    fits: dict[int, list[float]]
    """By the place in the moment's cards: the fit of each look in turn, the last ever after."""
    confident_p: float = 0.99
    looks: dict[int, int] = field(default_factory=dict)

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        seen = self.truth.read(image, card_width_px=card_width_px, region=region)
        return replace(seen, deck_fit=np.array([self._fit(q) for q in seen.corners_px], np.float32))

    def _fit(self, quad: NDArray[np.float32]) -> float:
        which = int(quad[:, 0].mean() > 480)
        at = self.looks[which] = self.looks.get(which, -1) + 1
        return self.fits[which][min(at, len(self.fits[which]) - 1)]


def observed(*cards: Lying, fits: dict[int, list[float]], until_s: float = 5) -> list[Observed]:
    reader = FittingReader(TruthReader(), fits)
    watcher = Watcher(reader, LAYOUT, POINTS, "overhead")
    events: list[Observed] = []
    for frame, moment in film([(0, Moment()), (0.8, Moment(cards))], 15, until_s):
        reader.truth.moment = moment
        events += watcher.see(frame)
    return [*events, *watcher.finish()]


def foreign(events: list[Observed]) -> list[ForeignCardSighted]:
    return [event for event in events if isinstance(event, ForeignCardSighted)]


def test_a_face_that_fits_no_deck_in_use_is_told_once() -> None:
    events = observed(ACE, KING, fits={0: [0.9], 1: [0.3]})
    (event,) = foreign(events)
    king = next(e for e in events if isinstance(e, CardSighted) and e.card is Card.KD)
    assert (event.track, event.face, event.card) == (king.track, "up", Card.KD)
    assert event.deck_fit == 0.3
    assert (event.x_mm, event.y_mm) == (king.x_mm, king.y_mm)


def test_a_back_that_fits_no_deck_in_use_is_told() -> None:
    (event,) = foreign(observed(ACE, BACK, fits={0: [0.9], 1: [0.1]}))
    assert (event.face, event.card) == ("down", None)


def test_a_card_that_fits_at_a_second_look_is_not_told() -> None:
    assert foreign(observed(ACE, KING, fits={0: [0.9], 1: [0.3, 0.9]})) == []


@pytest.mark.parametrize(
    ("looks", "is_foreign"),
    [
        ([(0.0, 0.3), (0.07, 0.3)], False),
        ([(0.0, 0.3), (0.07, 0.3), (0.4, 0.3)], True),
        ([(0.0, 0.3), (0.07, 0.3), (0.4, 0.9)], False),
        ([(0.0, 0.3), (0.4, nan)], False),
    ],
)
def test_a_card_is_foreign_once_it_has_misfitted_for_longer_than_a_hand_lays_it(
    looks: list[tuple[float, float]], is_foreign: bool
) -> None:
    track = Track(1, BACK.pose, "down", 0, 0.9, 0)
    for at_s, fit in looks:
        at_ns = round(at_s * 1e9)
        track.see(Seen(BACK.pose, "down", 0.9, np.zeros(52), at_ns, fit), at_ns)
    assert is_a_foreign_card(track) is is_foreign


def test_where_it_cannot_be_told_how_a_card_fits_nothing_is_told() -> None:
    assert foreign(observed(ACE, KING, fits={0: [0.9], 1: [float("nan")]})) == []


def test_where_no_deck_is_known_nothing_is_foreign() -> None:
    reader = TruthReader()
    watcher = Watcher(reader, LAYOUT, POINTS, "overhead")
    events: list[Observed] = []
    for frame, moment in film([(0, Moment()), (0.8, Moment((ACE,)))], 15, 3):
        reader.moment = moment
        events += watcher.see(frame)
    assert foreign(events) == []


def quad(x: float, y: float, size: float = 1.0) -> NDArray[np.float32]:
    outline = np.array([[0, 0], [63.5, 0], [63.5, 88.9], [0, 88.9]]) * size
    return np.asarray(outline + np.array([x, y]), np.float32)


def test_of_two_cards_that_overlap_the_corners_that_neither_can_cover_are_open() -> None:
    pair = np.stack([quad(0, 0), quad(17, -9)])
    assert not open_cards(pair).any()
    assert open_corners(pair)[0].tolist() == [True, False, False, True]
    assert open_corners(pair)[1].tolist() == [False, True, True, False]


def test_print_on_a_card_that_was_taken_for_a_small_one_covers_nothing() -> None:
    pair = np.stack([quad(0, 0), quad(20, 30, 0.3)])
    assert open_cards(pair).tolist() == [True, False]
    assert open_corners(pair)[0].all()
