from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from models.events import (
    AnyObservation,
    CardDealt,
    CardGone,
    CardSighted,
    ConsoleEntry,
    PlateRead,
    ReaderFault,
    ShoeCardRead,
    WagerPlaced,
)
from simulation.ideal import Timed, ideal_observations
from simulation.session import START_NS, Scene, Settings, prepare
from tests.simulation.tables import RULEBOOKS
from tests.thoroughness import examples

SESSIONS = st.builds(
    Settings,
    rulebook=st.sampled_from(RULEBOOKS),
    seed=st.integers(0, 10**6),
    rounds=st.just(2),
)


def observed(scene: Scene, *, keeps_tracks: bool = True) -> tuple[Timed, ...]:
    return ideal_observations(
        scene.staged, scene.layout, start_ns=START_NS, table="BJ-01", keeps_tracks=keeps_tracks
    )


def only(timed: tuple[Timed, ...], kind: type[AnyObservation]) -> list[AnyObservation]:
    return [one for _, one in timed if isinstance(one, kind)]


@settings(max_examples=examples(10), deadline=None)
@given(SESSIONS)
def test_observations_are_numbered_in_the_order_of_their_arrival(played: Settings) -> None:
    timed = observed(prepare(played))
    assert [one.seq for _, one in timed] == list(range(1, len(timed) + 1))
    assert [at_ns for at_ns, _ in timed] == sorted(at_ns for at_ns, _ in timed)
    assert all(one.at is not None and one.at <= at_ns for at_ns, one in timed)


@settings(max_examples=examples(10), deadline=None)
@given(SESSIONS)
def test_every_dealt_card_is_sighted_where_it_came_to_rest(played: Settings) -> None:
    scene = prepare(played)
    new = Counter(
        one.at for _, one in observed(scene) if isinstance(one, CardSighted) and one.change == "new"
    )
    dealt = Counter(
        START_NS + (fact.at or 0) for fact in scene.staged.facts if isinstance(fact, CardDealt)
    )
    assert dealt <= new


@settings(max_examples=examples(10), deadline=None)
@given(SESSIONS)
def test_every_track_that_appears_is_taken_up_again(played: Settings) -> None:
    timed = observed(prepare(played), keeps_tracks=False)
    new = {one.track for _, one in timed if isinstance(one, CardSighted)}
    gone = [one.track for _, one in timed if isinstance(one, CardGone)]
    assert set(gone) == new
    assert len(gone) == len(new)


@settings(max_examples=examples(10), deadline=None)
@given(SESSIONS)
def test_the_shoe_reads_every_card_in_its_order(played: Settings) -> None:
    scene = prepare(played)
    timed = observed(scene)
    read = [one.card for _, one in timed if isinstance(one, ShoeCardRead)]
    out = [moment.what for moment in scene.staged.shoe if moment.what not in ("cut", "fresh")]
    assert read == out
    assert only(timed, ReaderFault) == []


@settings(max_examples=examples(10), deadline=None)
@given(SESSIONS)
def test_the_plates_report_what_lies_there_before_the_first_card(played: Settings) -> None:
    scene = prepare(played)
    first_card = next(fact.at for fact in scene.staged.facts if isinstance(fact, CardDealt))
    assert first_card is not None
    amounts: dict[int, int] = {}
    for at_ns, plate in observed(scene):
        if isinstance(plate, PlateRead) and at_ns < START_NS + first_card:
            amounts[plate.spot] = plate.amount
    wagered = {
        fact.spot: fact.amount
        for fact in scene.staged.facts
        if isinstance(fact, WagerPlaced) and (fact.at or 0) < first_card
    }
    assert amounts == wagered


def test_the_floor_enters_what_no_sensor_reports() -> None:
    scene = prepare(Settings(rounds=1, include=("split",)))
    entered = [one.fact for one in only(observed(scene), ConsoleEntry) if hasattr(one, "fact")]
    kinds = Counter(type(fact).__name__ for fact in entered)
    assert kinds["PlayerActed"] == 1
    assert kinds["ShoeStarted"] == 1
    assert kinds["PlayerSeated"] >= 3
