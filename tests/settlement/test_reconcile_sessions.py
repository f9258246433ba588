"""Whole simulated sessions: what the sensors say settles as what happened, or a person is asked."""

from random import Random

import pytest

from models.errors import OperatorError
from models.events import AnyFact
from models.judgements import ReviewRaised
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from settlement.reconcile import with_reviews
from simulation.mistakes import known, mistake_for
from tests.settlement import noise
from tests.settlement.felt_scene import rulebook
from tests.settlement.noise import Noise, renumbered
from tests.settlement.sessions import compare, reconciled, session
from tests.thoroughness import one_in

SHOE_GAMES = ("kansas-shoe", "kansas-double-deck", "casino-shoe")
PITCH_GAMES = ("pitch-double-deck", "casino-double-deck", "casino-single-deck", "home")

ONLY_A_PERSON_CAN_TELL = {
    "foreign_card": "a card that is not what the shoe said: misread, or not of this shoe",
    "stake_increased_after_deal": "chips beside a wager, no card: raised, or a double forgotten",
    "wager_on_no_hand": "chips in the box of a hand that the spot does not have",
}

BORNE = (
    noise.shoe_frames_break,
    noise.shoe_repeats,
    noise.line_noise,
    noise.camera_half_reads,
    noise.camera_cannot_read,
    noise.camera_sees_double,
)
"""Noise that one sensor makes good for the other: nobody need be asked."""

CALLS_FOR_A_PERSON = (
    noise.shoe_misreads,
    noise.shoe_misses_a_number,
    noise.shoe_misses_unnoticed,
    noise.camera_misreads,
    noise.camera_is_late,
    noise.camera_misses,
    noise.camera_sees_ghosts,
    noise.cards_not_seen_going,
    noise.plates_break,
    noise.everything_at_once,
)

PITCH_NOISE = (
    noise.camera_half_reads,
    noise.camera_cannot_read,
    noise.cards_not_seen_going,
    noise.plates_break,
)
"""What one camera by itself can be expected to notice of its own errors."""


@pytest.mark.parametrize("keeps_tracks", [True, False], ids=["tracks-kept", "tracks-broken"])
@pytest.mark.parametrize("rules", SHOE_GAMES)
def test_perfect_sensors_of_a_shoe_game_leave_nothing_open(rules: str, keeps_tracks: bool) -> None:
    for seed in range(6):
        played = session(rules, seed, rounds=3, keeps_tracks=keeps_tracks)
        found = compare(played, reconciled(played, played.heard))
        assert (found.exact, found.asked, found.wrong) == (3, (), ())


def test_a_dealer_without_a_hole_card_is_followed() -> None:
    for seed in range(4):
        played = session("kansas-shoe", seed, knobs=("dealer_second_card=after_players",))
        found = compare(played, reconciled(played, played.heard))
        assert (found.exact, found.asked, found.wrong) == (2, (), ())


def test_a_continuous_shuffler_deals_the_same_cards_round_after_round() -> None:
    knobs = ("shoe=continuous", "decks=1")
    played = session("kansas-shoe", 0, rounds=6, spots=(1, 2, 3), knobs=knobs)
    found = compare(played, reconciled(played, played.heard))
    assert (found.exact, found.asked, found.wrong) == (6, (), ())


@pytest.mark.parametrize("felt", ["four-spots", "six-spots", "seven-spots"])
def test_every_felt_tells_its_spots_apart(felt: str) -> None:
    spots = tuple(range(1, {"four-spots": 5, "six-spots": 7, "seven-spots": 8}[felt]))
    for seed in range(3):
        played = session("kansas-shoe", seed, spots=spots, felt=felt)
        found = compare(played, reconciled(played, played.heard))
        assert (found.exact, found.asked, found.wrong) == (2, (), ())


@pytest.mark.parametrize("keeps_tracks", [True, False], ids=["tracks-kept", "tracks-broken"])
@pytest.mark.parametrize("rules", PITCH_GAMES)
def test_a_perfect_camera_alone_follows_a_pitch_game(rules: str, keeps_tracks: bool) -> None:
    for seed in range(4):
        played = session(rules, seed, rounds=1, spots=(1, 3, 4), keeps_tracks=keeps_tracks)
        found = compare(played, reconciled(played, played.heard))
        assert (found.exact, found.asked, found.wrong) == (1, (), ())


@pytest.mark.parametrize("disturb", PITCH_NOISE)
def test_noise_in_a_pitch_game_is_never_settled_wrongly(disturb: Noise) -> None:
    for seed in one_in(3, range(6), first=1):  # a camera with whole tracks and one with broken
        played = session("casino-double-deck", seed, spots=(1, 3, 4), keeps_tracks=seed % 2 == 0)
        heard = renumbered(disturb(played.heard, Random(seed)))
        assert compare(played, reconciled(played, heard)).wrong == ()


def mistakes_of(rules: str) -> list[tuple[str, str]]:
    return [(rules, code) for code in known() if _possible(rules, code)]


def _possible(rules: str, code: str) -> bool:
    try:
        mistake_for(code, rulebook(rules), 5)
    except OperatorError:
        return False
    return True


@pytest.mark.parametrize(
    ("rules", "code"), [*mistakes_of("kansas-shoe"), *mistakes_of("casino-shoe")]
)
def test_a_mistake_comes_through_as_it_happened(rules: str, code: str) -> None:
    played = session(rules, 1, mistake=code)
    found = compare(played, reconciled(played, played.heard))
    assert found.wrong == ()
    if code not in ONLY_A_PERSON_CAN_TELL:
        assert found.asked == ()


@pytest.mark.parametrize("disturb", BORNE)
def test_noise_of_one_sensor_is_made_good_by_the_other(disturb: Noise) -> None:
    for seed in range(8):
        played = session("kansas-shoe", seed, keeps_tracks=seed % 2 == 0)
        heard = renumbered(disturb(played.heard, Random(seed)))
        found = compare(played, reconciled(played, heard))
        assert (found.exact, found.wrong) == (2, ())


@pytest.mark.parametrize("disturb", CALLS_FOR_A_PERSON)
def test_noise_that_cannot_be_made_good_is_never_settled_wrongly(disturb: Noise) -> None:
    for seed in range(8):
        played = session("kansas-shoe", seed, keeps_tracks=seed % 2 == 0)
        heard = renumbered(disturb(played.heard, Random(seed)))
        assert compare(played, reconciled(played, heard)).wrong == ()


def test_the_same_observations_give_the_same_facts() -> None:
    played = session("kansas-shoe", 3)
    assert reconciled(played, played.heard) == reconciled(played, played.heard)


def test_a_frame_without_news_changes_nothing_but_the_hour_of_telling() -> None:
    played = session("kansas-shoe", 4)
    table = Reckoning(played.rules, played.layout)
    said: list[AnyFact | ReviewRaised] = []
    last = played.heard[0][0]
    for at, heard in played.heard:
        while last + 66_000_000 < at:
            last += 66_000_000
            said += table.advance(last)
        said += table.feed(heard, at)
    assert (*said, *table.finish()) == reconciled(played, played.heard)


def test_a_round_with_an_open_item_has_the_status_review() -> None:
    played = session("kansas-shoe", 1)
    heard = renumbered(noise.shoe_misreads(played.heard, Random(1)))
    said = reconciled(played, heard)
    reviews = [item for item in said if isinstance(item, ReviewRaised)]
    assert reviews
    engine = Engine(played.rules)
    facts = [item for item in said if not isinstance(item, ReviewRaised)]
    results = [result for n, fact in enumerate(facts, 1) for result in engine.feed(fact, n)]
    open_rounds = {item.round for item in reviews if not item.settles_alike}
    for result in (*results, *engine.finish()):
        shown = with_reviews(result, reviews)
        assert (shown.status == "review") is (result.round in open_rounds)
        assert bool(shown.reviews) is (result.round in {item.round for item in reviews})
