"""A whole simulated round, filmed with hands, chips and light, and watched."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from models.events import CameraFault, CardGone, CardSighted
from simulation.session import Scene, Settings, prepare
from tests.vision.painted import Painted
from tests.vision.scoring import Event, left_lying, score
from tests.vision.truth_reader import TruthReader
from vision.felt import locate_felt
from vision.scenes.film import film, reference_points
from vision.scenes.look import Look
from vision.watch import Observed, Watcher

LOOK = Look(width_px=960, height_px=540, fps=10, tilt_deg=(3, -2), rotation_deg=1)


@cache
def scene() -> Scene:
    return prepare(Settings(seed=5, rounds=1, spots=(1, 3, 5), look=LOOK))


@cache
def pictures() -> tuple[NDArray[np.uint8], ...]:
    """The film, ten pictures a second."""
    return tuple(film(scene().staged.performance, scene().layout, scene().look))


@cache
def watched(missed: float, doubted: float) -> tuple[tuple[int, Event], ...]:
    """What a watcher says whose reader overlooks and doubts so large a share of the cards."""
    staged, layout = scene().staged, scene().layout
    points = reference_points(layout, LOOK)
    felt = locate_felt(points, where="overhead")
    reader = TruthReader(staged.performance, felt, missed=missed, doubted=doubted)
    watcher = Watcher(reader, layout, points, "overhead")
    events: list[tuple[int, Event]] = []
    for index, image in enumerate(pictures()):
        reader.now_ns = at_ns = index * 100_000_000
        events += [(at_ns, event) for event in watcher.see(Painted(index, at_ns, image))]
    return (*events, *((at_ns, event) for event in watcher.finish()))


@pytest.mark.slow
@pytest.mark.parametrize(("missed", "doubted"), [(0.0, 0.0), (0.1, 0.2)])
def test_every_card_is_sighted_once_where_it_lies_and_read_right(
    missed: float, doubted: float
) -> None:
    found = score(watched(missed, doubted), scene().staged.performance, scene())
    assert found.notes == []
    assert found.counts["first WRONG"] == found.counts["final WRONG"] == 0
    assert found.counts["final right"] >= found.counts["first right"]
    assert max(found.place_mm) < 8
    assert max(found.late_ms) < 2000


def test_a_card_taken_up_is_gone_and_no_other() -> None:
    events = [event for _, event in watched(0.0, 0.0)]
    gone = [event.track for event in events if isinstance(event, CardGone)]
    laid = {event.track for event in events if isinstance(event, CardSighted)}
    assert sorted(gone) == sorted(laid)


@pytest.mark.parametrize("start_s", range(3, 15, 2))
def test_a_camera_that_starts_amid_a_round_knows_that_the_felt_is_empty_again(start_s: int) -> None:
    """An arm that moved over the felt at the start must not be taken for the felt."""
    assert left_lying(scene(), pictures(), start_s * 10, 10) == 0


def test_nothing_is_told_before_it_happened() -> None:
    for told_ns, event in watched(0.0, 0.0):
        assert event.at is not None
        assert 0 <= event.at <= told_ns


# --- the camera is knocked ----------------------------------------------------------------


def knocked_from(second: float) -> tuple[list[tuple[int, Observed]], list[tuple[int, Observed]]]:
    """Watch a camera that is knocked; three seconds later, take over what it proposes."""
    staged, layout = scene().staged, scene().layout
    before, after = LOOK, replace(LOOK, shift_px=(9.0, -5.0), rotation_deg=1.8)
    points = reference_points(layout, before)
    reader = TruthReader(staged.performance, locate_felt(points, where="overhead"))
    watcher = Watcher(reader, layout, points, "overhead")
    films = zip(
        film(staged.performance, layout, before),
        film(staged.performance, layout, after),
        strict=True,
    )
    held: list[tuple[int, Observed]] = []
    resumed: list[tuple[int, Observed]] = []
    for index, (straight, knocked) in enumerate(films):
        reader.now_ns = at_ns = index * 100_000_000
        frame = Painted(index, at_ns, straight if at_ns < second * 1e9 else knocked)
        told = [(at_ns, event) for event in watcher.see(frame)]
        (resumed if at_ns >= (second + 3) * 1e9 else held).extend(told)
        moved = [e for _, e in held if isinstance(e, CameraFault) and e.proposed is not None]
        if at_ns == (second + 3) * 1e9 and moved:
            assert moved[-1].proposed is not None
            watcher.recalibrate(moved[-1].proposed)
            reader.felt = watcher.felt
    return held, resumed


@pytest.mark.slow
def test_nothing_is_read_through_a_knocked_camera_until_it_is_calibrated_anew() -> None:
    second = 6.0
    held, resumed = knocked_from(second)
    since = [(at_ns, event) for at_ns, event in held if at_ns >= second * 1e9]
    (at_ns, fault), *others = since
    assert isinstance(fault, CameraFault)
    assert fault.kind == "moved"
    assert at_ns <= (second + 1) * 1e9
    assert others == []
    before = {event.track for _, event in held if isinstance(event, CardSighted)}
    gone = {event.track for _, event in resumed if isinstance(event, CardGone)}
    assert before
    assert before <= gone
    assert not any(isinstance(event, CameraFault) for _, event in resumed)
