"""A card in flight that two like pictures show is no card that lies there, and accuses nobody.

A camera that shows the picture of a card in mid-air a second time made it look at rest: a round
without a mistake was found to have four.
"""

from collections.abc import Iterator
from functools import cache
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from models.events import AnyObservation, CardGone, CardSighted
from simulation.ideal import ideal_observations
from simulation.session import START_NS, Scene, Settings, prepare
from tests.settlement.noise import renumbered
from tests.settlement.sessions import Compared, Session, compare, reconciled
from tests.thoroughness import one_in
from tests.vision.painted import Painted
from tests.vision.truth_reader import TruthReader
from vision.felt import locate_felt
from vision.repeats import MOST_STILL
from vision.scenes.film import film, reference_points
from vision.scenes.look import Look
from vision.watch import Observed, Watcher

pytestmark = pytest.mark.slow

FPS = 15
FRAME_NS = 1_000_000_000 // FPS
SHARE = 0.12
"""Of the pictures, those that show the one before."""
ENCODED = 1.0
"""What an encoder changes of a picture shown again: a standard deviation in grey levels."""
SETTINGS = Settings(seed=9, rounds=1, spots=(1, 3), look=Look(width_px=960, height_px=540, fps=FPS))


@cache
def scene() -> Scene:
    return prepare(SETTINGS)


@cache
def pictures() -> tuple[NDArray[np.uint8], ...]:
    return tuple(film(scene().staged.performance, scene().layout, scene().look))


def again(index: int, number: int, sigma: float) -> NDArray[np.uint8]:
    """Picture ``index`` as the encoder changed it, for the ``number``-th picture of the film."""
    change = np.random.default_rng(number).normal(0, sigma, pictures()[index].shape[:2])
    return np.clip(pictures()[index] + change.round()[..., None], 0, 255).astype(np.uint8)


def seen(repeated: frozenset[int], sigma: float) -> Iterator[tuple[int, Observed]]:
    """What a flawless reader's camera reports where some pictures show the one before.

    ``sigma`` is how far an encoder changes a picture that is shown again.
    """
    points, performance = reference_points(scene().layout, scene().look), scene().staged.performance
    reader = TruthReader(performance, locate_felt(points, where="overhead"))
    watcher = Watcher(reader, scene().layout, points, "overhead")
    shown = at_ns = 0
    for index in range(len(pictures())):
        at_ns = index * FRAME_NS
        shown = shown if index in repeated else index
        reader.now_ns = shown * FRAME_NS
        encoded = again(shown, index, sigma) if sigma and shown != index else pictures()[shown]
        events = watcher.see(Painted(index, at_ns, encoded))
        yield from ((at_ns, one) for one in events)
    yield from ((at_ns, one) for one in watcher.finish())


def judged(repeated: frozenset[int], sigma: float = 0) -> Compared:
    """How the round of this camera and perfect ports compares."""
    staged, layout = scene().staged, scene().layout
    observations: list[tuple[int, AnyObservation]] = [
        (at_ns, one)
        for at_ns, one in ideal_observations(staged, layout, start_ns=START_NS, table="T")
        if not isinstance(one, CardSighted | CardGone)
    ]
    observations += [
        (START_NS + at_ns, replace(one, at=START_NS + (one.at or 0), table="T"))
        for at_ns, one in seen(repeated, sigma)
    ]
    played = Session(scene().house.rules, layout, staged.facts, tuple(renumbered(observations)))
    return compare(played, reconciled(played, played.heard))


def in_flight(share: float, in_a_row: int) -> frozenset[int]:
    """The pictures that show every card again as it was so far along its way, so many in a row."""
    cards = (move for move in scene().staged.performance.cards if move.end is not None)
    shown = (
        int((move.from_ns + share * (move.until_ns - move.from_ns)) / FRAME_NS) for move in cards
    )
    return frozenset(n + i for n in shown for i in range(1, in_a_row + 1))


@pytest.mark.parametrize("chosen", one_in(3, ("0 9 1", "0 9 2", "1 9 3")))
def test_cards_that_repeated_pictures_show_in_mid_air_are_no_mistakes(chosen: str) -> None:
    chance = Random(chosen)
    repeated = frozenset(n for n in range(5, len(pictures())) if chance.random() < SHARE)
    assert judged(repeated, ENCODED) == Compared(exact=1, asked=(), wrong=())


@pytest.mark.parametrize(
    ("share", "sigma"), one_in(2, ((0.35, ENCODED), (0.35, 0.0), (0.6, 0.0), (0.6, ENCODED)))
)
def test_nor_is_any_card_that_is_shown_again_in_mid_air(share: float, sigma: float) -> None:
    repeated = in_flight(share, MOST_STILL - 1)
    assert judged(repeated, sigma) == Compared(exact=1, asked=(), wrong=())


def tracks(repeated: frozenset[int]) -> int:
    """How many cards the camera tells of."""
    return len({one.track for _, one in seen(repeated, 0) if isinstance(one, CardSighted)})


def test_without_the_protection_the_camera_would_tell_of_more_cards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = Random("0 9 1")
    repeated = frozenset(n for n in range(5, len(pictures())) if chance.random() < SHARE)
    told = tracks(repeated)
    assert told <= tracks(frozenset())
    monkeypatch.setattr("vision.repeats.MOST_STILL", 1)
    assert tracks(repeated) > told
