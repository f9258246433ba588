"""The simulator's camera reports as the shipped observer does on film.

One hand-dealt round is filmed with a deck that no network learnt from, and watched with the shipped
networks. What the observer emits there is the contract: which fields are set, in which order and
how often a card is reported, within which ranges, and when. The simulated camera that the noise
bench disturbs must fit it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import pytest

from models.events import CardGone, CardSighted
from simulation.dealing import deal_session, is_shoe_game
from simulation.filmed import as_filmed
from simulation.house import house
from simulation.ideal import ideal_observations
from simulation.session import Scene, Settings, prepare
from simulation.staging import stage
from simulation.table import Table
from tests.thoroughness import one_in
from tests.vision.painted import Painted
from vision.observer import MOST_LOOKS
from vision.reader import Reader
from vision.scenes.film import film, reference_points
from vision.scenes.look import Look
from vision.watch import Watcher

Report = tuple[int, CardSighted | CardGone]
SECOND_NS = 10**9
FILMS = one_in(2, (("pitch-double-deck", 2), ("kansas-shoe", 4)))
films = pytest.mark.parametrize(("rulebook", "seed"), FILMS)


@cache
def scene(rulebook: str, seed: int) -> Scene:
    settings = Settings(rulebook=rulebook, seed=seed, rounds=1, spots=(1, 3), look=Look())
    return prepare(settings)


@cache
def filmed(rulebook: str, seed: int) -> tuple[Report, ...]:
    """Return what the shipped observer emits, each with the time of its picture from the start."""
    played = scene(rulebook, seed)
    points = reference_points(played.layout, played.look)
    watcher = Watcher(Reader.load(), played.layout, points, "overhead")
    frame_ns, at_ns = round(SECOND_NS / played.look.fps), 0
    reports: list[Report] = []
    for index, image in enumerate(film(played.staged.performance, played.layout, played.look)):
        at_ns = index * frame_ns
        seen = watcher.see(Painted(index, at_ns, image))
        reports += [(at_ns, one) for one in seen if isinstance(one, CardSighted | CardGone)]
    last = watcher.finish()
    return (*reports, *((at_ns, o) for o in last if isinstance(o, CardSighted | CardGone)))


@cache
def simulated(rulebook: str, seed: int) -> tuple[Report, ...]:
    """Return what the simulated camera emits of the same round."""
    played = scene(rulebook, seed)
    ideal = ideal_observations(played.staged, played.layout, start_ns=0, table="T", seed=seed)
    observations = as_filmed(ideal, seed, start_ns=0)
    return tuple((at, one) for at, one in observations if isinstance(one, CardSighted | CardGone))


def evening(rulebook: str, seed: int) -> tuple[Report, ...]:
    """Return what the simulated camera emits of forty rounds."""
    rules, layout = house(rulebook).rules, scene(rulebook, seed).layout
    steps = deal_session(Table(rules, (1, 2, 3, 4, 5), seed), 40, seed)
    staged = stage(steps, layout, seed, shoe=is_shoe_game(rules))
    ideal = ideal_observations(staged, layout, start_ns=0, table="T", seed=seed)
    observations = as_filmed(ideal, seed, start_ns=0)
    return tuple((at, one) for at, one in observations if isinstance(one, CardSighted | CardGone))


def sightings(reports: Iterable[Report]) -> list[CardSighted]:
    return [one for _, one in reports if isinstance(one, CardSighted)]


def fields_set(one: CardSighted) -> frozenset[str]:
    """Return the fields that carry something, as far as a reader of the event depends on them."""
    names = ("at", "confidence", "card", "candidates", "single_look", "spread_mm", "frame")
    return frozenset(name for name in names if getattr(one, name))


def changes(reports: Sequence[Report]) -> dict[int, list[str]]:
    """Return what is reported of each track, in its order."""
    found: dict[int, list[str]] = {}
    for _, one in reports:
        kind = "gone" if isinstance(one, CardGone) else f"{one.change} {one.face}"
        found.setdefault(one.track, []).append(kind)
    return found


def within(value: float, low: float, high: float, slack: float) -> bool:
    return low - slack <= value <= high + slack


@pytest.mark.slow
@films
def test_a_face_and_a_back_set_the_fields_that_the_observer_sets(rulebook: str, seed: int) -> None:
    for face in ("up", "down"):
        real = {fields_set(one) for one in sightings(filmed(rulebook, seed)) if one.face == face}
        made = {fields_set(one) for one in sightings(simulated(rulebook, seed)) if one.face == face}
        assert real
        assert made <= real, face


@pytest.mark.slow
@films
def test_a_track_reports_a_card_in_the_observers_order(rulebook: str, seed: int) -> None:
    """It is new first and gone last, gone once, and only a face is read again."""
    for reports in (filmed(rulebook, seed), simulated(rulebook, seed)):
        for track, kinds in changes(reports).items():
            assert kinds[0].startswith("new"), track
            assert kinds.count("gone") <= 1, track
            assert "gone" not in kinds[:-1], track
            assert "read down" not in kinds, track
            assert len(kinds) <= MOST_LOOKS + 2, track
    real = Counter(kind for kinds in changes(filmed(rulebook, seed)).values() for kind in kinds)
    made = Counter(kind for kinds in changes(simulated(rulebook, seed)).values() for kind in kinds)
    assert set(made) <= set(real)


@films
def test_a_card_is_read_only_while_it_lies_there(rulebook: str, seed: int) -> None:
    """A simulated session is long enough for three looks at a card of a split that had moved."""
    many = evening("pitch-double-deck", 2)
    for reports in (filmed(rulebook, seed), simulated(rulebook, seed), many):
        went = {one.track: one.at or 0 for _, one in reports if isinstance(one, CardGone)}
        read = [one for one in sightings(reports) if one.change == "read"]
        assert read
        for one in read:
            assert (one.at or 0) <= went.get(one.track, one.at or 0), one.track


@films
def test_as_many_looks_a_card_as_the_observer_reports(rulebook: str, seed: int) -> None:
    """Half as many again at most, either way: some cards are covered before their second look."""

    def looks_a_face(reports: Sequence[Report]) -> float:
        faces = [one for one in sightings(reports) if one.face == "up"]
        return len(faces) / len({one.track for one in faces})

    real, made = looks_a_face(filmed(rulebook, seed)), looks_a_face(simulated(rulebook, seed))
    assert 1.0 < real < 3.0
    assert real / 1.5 < made < real * 1.5
    tracks = len(changes(filmed(rulebook, seed))), len(changes(simulated(rulebook, seed)))
    assert within(tracks[1], tracks[0], tracks[0], 4)


@films
def test_numbers_lie_in_the_ranges_that_the_observer_keeps(rulebook: str, seed: int) -> None:
    real, made = sightings(filmed(rulebook, seed)), sightings(simulated(rulebook, seed))
    backs = [one.confidence or 0.0 for one in real if one.face == "down"]
    for one in made:
        assert one.single_look
        assert one.seq is not None
        assert one.confidence is not None
        assert within(one.spread_mm, *_range(o.spread_mm for o in real), 0.5)
        assert one.crop[2] > 0
        assert one.crop[3] > 0
        if one.face == "down":
            assert within(one.confidence, min(backs), max(backs), 0.35)
            assert one.confidence < 0.9
        else:
            assert one.confidence >= 0.98
            assert one.confidence == max(one.candidates.values())
    assert {one.single_look for one in real} == {True}


@films
def test_reports_come_when_the_observer_would_send_them(rulebook: str, seed: int) -> None:
    """At a picture's time, half of them within two pictures of each other."""
    frame_ns = SECOND_NS // 15
    for reports in (filmed(rulebook, seed), simulated(rulebook, seed)):
        assert [at for at, _ in reports] == sorted(at for at, _ in reports)
        for at, one in reports:
            assert (one.at or 0) <= at
            assert abs(at * 15 / SECOND_NS - one.frame) < 0.01
    waits = [
        _middle([at - (one.at or 0) for at, one in reports if _is_new(one)])
        for reports in (filmed(rulebook, seed), simulated(rulebook, seed))
    ]
    assert abs(waits[0] - waits[1]) <= 2 * frame_ns
    gone = [
        max(at - (one.at or 0) for at, one in reports if isinstance(one, CardGone))
        for reports in (filmed(rulebook, seed), simulated(rulebook, seed))
    ]
    assert all(0 < wait_ns < 2 * SECOND_NS for wait_ns in gone)


def _is_new(one: CardSighted | CardGone) -> bool:
    return isinstance(one, CardSighted) and one.change == "new"


def _middle(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2]


def _range(values: Iterable[float]) -> tuple[float, float]:
    found = list(values)
    return min(found), max(found)
