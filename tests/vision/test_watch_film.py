"""A whole simulated round, filmed with hands, chips and light, and watched."""

from functools import cache

import pytest

from models.events import CardGone, CardSighted
from simulation.session import Scene, Settings, prepare
from tests.bench.watching import Event, score
from tests.vision.painted import Painted
from tests.vision.truth_reader import TruthReader
from vision.felt import locate_felt
from vision.scenes.film import film, reference_points
from vision.scenes.look import Look
from vision.watch import Watcher

LOOK = Look(width_px=960, height_px=540, fps=10, tilt_deg=(3, -2), rotation_deg=1)


@cache
def scene() -> Scene:
    return prepare(Settings(seed=5, rounds=1, spots=(1, 3, 5), look=LOOK))


@cache
def watched(missed: float, doubted: float) -> tuple[tuple[int, Event], ...]:
    """What a watcher says whose reader overlooks and doubts so large a share of the cards."""
    staged, layout, look = scene().staged, scene().layout, scene().look
    points = reference_points(layout, look)
    felt = locate_felt(points, where="overhead")
    reader = TruthReader(staged.performance, felt, missed=missed, doubted=doubted)
    watcher = Watcher(reader, layout, points, "overhead")
    events: list[tuple[int, Event]] = []
    for index, image in enumerate(film(staged.performance, layout, look)):
        reader.now_ns = at_ns = index * 100_000_000
        events += [(at_ns, event) for event in watcher.see(Painted(index, at_ns, image))]
    return (*events, *((at_ns, event) for event in watcher.finish()))


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


def test_nothing_is_told_before_it_happened() -> None:
    for told_ns, event in watched(0.0, 0.0):
        assert event.at is not None
        assert 0 <= event.at <= told_ns
