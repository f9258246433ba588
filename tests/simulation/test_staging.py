from collections import Counter, defaultdict
from itertools import pairwise
from math import hypot

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import PitwatchError
from models.events import CardBurned, CardDealt, PaymentMade, RoundClosed
from models.layout import inside
from simulation.mistakes import known
from simulation.session import Scene, Settings, prepare
from simulation.staging import Staged
from tests.simulation.tables import LAYOUTS, RULEBOOKS
from tests.thoroughness import examples
from vision.scenes.performance import CardMove, Place

SEEDS = st.integers(0, 10**6)
SESSIONS = st.builds(
    Settings,
    rulebook=st.sampled_from(RULEBOOKS),
    layout=st.sampled_from(LAYOUTS),
    seed=SEEDS,
    rounds=st.just(2),
    peek=st.booleans(),
)


def histories(staged: Staged) -> dict[int, list[CardMove]]:
    found: dict[int, list[CardMove]] = defaultdict(list)
    for move in staged.performance.cards:
        found[move.card_id].append(move)
    return found


def resting(staged: Staged) -> list[tuple[int, int, int, Place]]:
    """Every stay of a card at a place: from, until, card, place."""
    stays = []
    for card_id, moves in histories(staged).items():
        for number, move in enumerate(moves):
            if move.end is not None:
                later = moves[number + 1].from_ns if number + 1 < len(moves) else 10**18
                stays.append((move.until_ns, later, card_id, move.end))
    return stays


def on_felt(scene: Scene, place: Place) -> bool:
    layout = scene.layout
    return abs(place.x_mm) <= layout.width_mm / 2 and 0 <= place.y_mm <= layout.depth_mm


def crowded(scene: Scene) -> list[tuple[int, int]]:
    """Cards that lie in the same place at the same time."""
    stays = [stay for stay in resting(scene.staged) if on_felt(scene, stay[3])]
    found = []
    for at, (start, end, card, place) in enumerate(stays):
        for other_start, other_end, other, there in stays[at + 1 :]:
            together = start < other_end and other_start < end and card != other
            if together and hypot(place.x_mm - there.x_mm, place.y_mm - there.y_mm) < 5:
                found.append((card, other))
    return found


def broken_paths(staged: Staged) -> list[tuple[CardMove, CardMove]]:
    """Movements that do not begin where, when and as the one before ended."""
    return [
        (before, after)
        for moves in histories(staged).values()
        for before, after in pairwise(moves)
        if after.start != before.end
        or after.face_before != before.face_after
        or not before.from_ns < before.until_ns <= after.from_ns
    ]


@settings(max_examples=examples(12), deadline=None)
@given(SESSIONS)
def test_no_two_cards_rest_in_the_same_place(played: Settings) -> None:
    assert crowded(prepare(played)) == []


@settings(max_examples=examples(12), deadline=None)
@given(SESSIONS)
def test_a_card_goes_on_from_where_it_lay_and_shows_what_it_showed(played: Settings) -> None:
    assert broken_paths(prepare(played).staged) == []
    for moves in histories(prepare(played).staged).values():
        assert moves[0].start is None
        assert moves[-1].end is None


@settings(max_examples=examples(12), deadline=None)
@given(SESSIONS)
def test_every_dealt_card_comes_to_rest_at_the_time_of_its_fact(played: Settings) -> None:
    staged = prepare(played).staged
    dealt = Counter(fact.at for fact in staged.facts if isinstance(fact, CardDealt))
    rests = Counter(moves[0].until_ns for moves in histories(staged).values())
    assert dealt <= rests


@settings(max_examples=examples(12), deadline=None)
@given(SESSIONS)
def test_every_card_of_a_shoe_game_passes_its_mouth_as_it_sets_out(played: Settings) -> None:
    staged = prepare(played).staged
    cards = [moment for moment in staged.shoe if moment.what not in ("cut", "fresh")]
    if not staged.shoe:
        return
    sets_out = [(moves[0].from_ns, moves[0].card) for moves in histories(staged).values()]
    assert [(moment.at_ns, moment.what) for moment in cards] == sorted(
        sets_out, key=lambda out: out[0]
    )


@settings(max_examples=examples(12), deadline=None)
@given(SESSIONS)
def test_facts_are_in_the_order_of_their_time(played: Settings) -> None:
    times = [fact.at for fact in prepare(played).staged.facts if fact.at is not None]
    assert times == sorted(times)


@settings(max_examples=examples(12), deadline=None)
@given(SESSIONS)
def test_players_cards_lie_in_their_spots_zone(played: Settings) -> None:
    scene = prepare(played)
    places = {moves[0].until_ns: moves[0].end for moves in histories(scene.staged).values()}
    for fact in scene.staged.facts:
        if isinstance(fact, CardDealt) and fact.at is not None:
            place = places[fact.at]
            assert place is not None
            zone = (
                scene.layout.dealer_cards
                if fact.to == "dealer"
                else scene.layout.spot(fact.to).cards
            )
            assert inside((place.x_mm, place.y_mm), zone)


@settings(max_examples=examples(12), deadline=None)
@given(SESSIONS)
def test_every_round_leaves_the_felt_empty_of_cards(played: Settings) -> None:
    staged = prepare(played).staged
    closings = [fact.at for fact in staged.facts if isinstance(fact, RoundClosed)]
    for closing in closings:
        assert closing is not None
        lying = [stay for stay in resting(staged) if stay[0] < closing < stay[1]]
        assert lying == []


@settings(max_examples=examples(12), deadline=None)
@given(SESSIONS)
def test_a_plate_rests_before_the_cards_of_its_hand_are_taken(played: Settings) -> None:
    staged = prepare(played).staged
    taken = sorted(moves[-1].from_ns for moves in histories(staged).values())
    for fact in staged.facts:
        if isinstance(fact, PaymentMade) and fact.kind == "main" and fact.at is not None:
            assert not any(fact.at < moment < fact.at + 300_000_000 for moment in taken)


@settings(max_examples=6, deadline=None)
@given(SESSIONS)
def test_the_same_settings_stage_the_same_session(played: Settings) -> None:
    assert prepare(played).staged == prepare(played).staged


@pytest.mark.parametrize("code", known())
def test_a_mistake_is_staged_as_tidily_as_anything_else(code: str) -> None:
    scene = prepare(Settings(rulebook=_house_for(code), seed=4, rounds=2, mistakes=(code,)))
    assert crowded(scene) == []
    assert broken_paths(scene.staged) == []


def _house_for(code: str) -> str:
    for rulebook in RULEBOOKS:
        try:
            prepare(Settings(rulebook=rulebook, rounds=2, mistakes=(code,)))
        except PitwatchError:
            continue
        return rulebook
    raise AssertionError(code)


def test_a_burned_card_goes_to_the_rack() -> None:
    scene = prepare(Settings(rounds=1, knobs=("burn_after_shuffle=2",)))
    burned = [fact for fact in scene.staged.facts if isinstance(fact, CardBurned)]
    assert len(burned) == 2
    racked = [
        move.end
        for move in scene.staged.performance.cards
        if move.end is not None
        and inside((move.end.x_mm, move.end.y_mm), scene.layout.discard_rack)
    ]
    assert len(racked) == 2
