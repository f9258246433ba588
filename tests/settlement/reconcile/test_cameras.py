"""Several cameras over one table: each is one more witness, and none makes a card."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from models.cards import Card
from models.events import (
    AnyFact,
    AnyObservation,
    CardDealt,
    CardGone,
    CardSighted,
    PlayerActed,
    RoundClosed,
)
from models.judgements import ReviewRaised
from settlement.reckoning import going
from settlement.reconcile.cameras import GONE_HOLD_NS, Cameras, Witnesses
from settlement.reconcile.looks import Reading
from settlement.reconcile.sightings import Sight
from settlement.reconcile.timing import SECOND
from simulation.dealing import deal_session, is_shoe_game
from simulation.filmed import as_filmed
from simulation.ideal import LEFT, OVERHEAD, Eye, ideal_observations
from simulation.staging import stage
from simulation.table import Table
from tests.settlement.felt_scene import FELT, START_NS, rulebook
from tests.settlement.noise import renumbered
from tests.settlement.sessions import Session, compare, reconciled

MS = 1_000_000
SECOND_EYE = Eye("camera:second")
SPOTS = (1, 3, 4)
GAMES = ("kansas-shoe", "pitch-double-deck")
Timed = tuple[int, AnyObservation]
games = pytest.mark.parametrize("rules", GAMES)


@cache
def session(rules: str, eyes: tuple[Eye, ...], *, filmed: bool = False) -> Session:
    book = rulebook(rules)
    steps = deal_session(Table(book, SPOTS, 5), 2, 5)
    staged = stage(steps, FELT, 5, shoe=is_shoe_game(book))
    heard = ideal_observations(staged, FELT, start_ns=START_NS, table="T", seed=5, eyes=eyes)
    if filmed:
        heard = as_filmed(heard, 5, start_ns=START_NS)
    return Session(book, FELT, staged.facts, heard)


def facts(said: Sequence[AnyFact | ReviewRaised]) -> list[AnyFact]:
    """Return the facts, whatever observations they rest on, and however sure they are."""
    stated = [one for one in said if not isinstance(one, ReviewRaised)]
    return [
        replace(one, evidence=(), probability=None)
        if isinstance(one, CardDealt)
        else replace(one, evidence=())
        for one in stated
    ]


def second(
    played: Session, change: Callable[[int, CardSighted | CardGone], Timed | None]
) -> list[Timed]:
    """Return what was heard, with the second camera's reports changed, or left out."""
    heard: list[Timed] = []
    for at, one in played.heard:
        if not isinstance(one, CardSighted | CardGone) or one.source != SECOND_EYE.source:
            heard.append((at, one))
        elif (kept := change(at, one)) is not None:
            heard.append(kept)
    return renumbered(heard)


@games
def test_two_like_cameras_tell_the_facts_of_one(rules: str) -> None:
    one, two = session(rules, (OVERHEAD,)), session(rules, (OVERHEAD, SECOND_EYE))
    by_one = reconciled(one, one.heard)
    by_two = reconciled(two, two.heard)
    assert facts(by_two) == facts(by_one)
    assert compare(two, by_two).asked == compare(one, by_one).asked


@games
@pytest.mark.parametrize("eyes", [(OVERHEAD,), (OVERHEAD, LEFT)])
def test_cameras_as_filmed_settle_every_round(rules: str, eyes: tuple[Eye, ...]) -> None:
    """Cards of a split come into view at their new places before they are gone from the old."""
    played = session(rules, eyes, filmed=True)
    found = compare(played, reconciled(played, played.heard))
    assert (found.exact, found.asked, found.wrong) == (2, (), ())


def test_a_second_card_of_a_split_hand_that_no_camera_saw_is_asked_about() -> None:
    """A camera misses a face in a hundred; a dealer leaves out a card far more rarely."""
    played = session("pitch-double-deck", (OVERHEAD,), filmed=True)
    missed = {
        (one.source, one.track)
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.card is Card("9C")
    }
    heard = [
        (at, one)
        for at, one in played.heard
        if not isinstance(one, CardSighted | CardGone) or (one.source, one.track) not in missed
    ]
    said = reconciled(played, renumbered(heard))
    asked = [one.review.what for one in said if isinstance(one, ReviewRaised)]
    assert "Which card is the first card of spot 3, hand 2? Nobody read it." in asked
    assert compare(played, said).wrong == ()


def misread(which: int) -> Callable[[int, CardSighted | CardGone], Timed]:
    """Return a second camera that takes one card for another, at every look."""
    tracks: list[int] = []

    def change(at: int, one: CardSighted | CardGone) -> Timed:
        if isinstance(one, CardSighted) and one.face == "up" and one.track not in tracks:
            tracks.append(one.track)
        wrong = tracks[which : which + 1]
        if isinstance(one, CardSighted) and one.face == "up" and [one.track] == wrong:
            other = Card("4C") if one.card is not Card("4C") else Card("9D")
            one = replace(one, card=other, candidates={other.value: 0.9995})
        return at, one

    return change


@games
@pytest.mark.parametrize("which", [0, 2, 5])
def test_a_camera_that_misreads_a_card_makes_none(rules: str, which: int) -> None:
    played = session(rules, (OVERHEAD, SECOND_EYE))
    said = reconciled(played, second(played, misread(which)))
    dealt = [(one.to, one.hand) for one in facts(said) if isinstance(one, CardDealt)]
    due = [(one.to, one.hand) for one in played.truth if isinstance(one, CardDealt)]
    assert sorted(map(str, dealt)) == sorted(map(str, due))
    splits = [o for o in facts(said) if isinstance(o, PlayerActed) and o.action == "split"]
    assert len(splits) == sum(
        isinstance(one, PlayerActed) and one.action == "split" for one in played.truth
    )
    assert sum(isinstance(one, RoundClosed) for one in facts(said)) == 2
    assert compare(played, said).wrong == ()


@games
@pytest.mark.parametrize("kind", ["late by arrival", "late by its clock", "stops", "sees no going"])
def test_a_camera_that_lags_or_stops_changes_nothing(rules: str, kind: str) -> None:
    played = session(rules, (OVERHEAD, SECOND_EYE))
    stops_ns = START_NS + 12_000 * MS

    def change(at: int, one: CardSighted | CardGone) -> Timed | None:
        if kind == "stops":
            return (at, one) if at < stops_ns else None
        if kind == "sees no going":
            return None if isinstance(one, CardGone) else (at, one)
        late_ns = 700 * MS
        seen_ns = (one.at or 0) + (late_ns if kind == "late by its clock" else 0)
        return at + late_ns, replace(one, at=seen_ns)

    said = reconciled(played, second(played, change))
    found = compare(played, said)
    assert (found.exact, found.asked, found.wrong) == (2, (), ())


# --- the cameras by themselves ---------------------------------------------------------------


def sighted(source: str, track: int, *, x_mm: float = 0.0, **fields: Any) -> CardSighted:
    seen = CardSighted(
        source=source,
        at=1_000,
        track=track,
        change="new",
        face="up",
        card=Card("7H"),
        candidates={"7H": 0.9995},
        single_look=True,
        x_mm=x_mm,
        y_mm=300.0,
        angle_deg=0.0,
        frame=1,
        crop=(0, 0, 1, 1),
    )
    return msgspec.structs.replace(seen, **fields)


def only(told: Sequence[Sight | CardGone]) -> Sight:
    (one,) = told
    assert isinstance(one, Sight)
    return one


@pytest.mark.parametrize("rules", ["kansas-shoe", "pitch-double-deck"])
def test_one_camera_is_passed_on_as_it_is(rules: str) -> None:
    cameras = Cameras()
    for _, one in session(rules, (OVERHEAD,)).heard:
        if isinstance(one, CardSighted):
            assert only(cameras.sighted(one)) == Sight.alone(one)
        elif isinstance(one, CardGone):
            assert cameras.gone(one) == (one,)
    assert cameras.due(2**62) == ()


def test_places_are_weighed_by_each_cameras_error() -> None:
    cameras = Cameras()
    cameras.sighted(sighted("camera:a", 1, spread_mm=1.0))
    told = only(cameras.sighted(sighted("camera:b", 1, x_mm=5.0, spread_mm=2.0)))
    assert told.track == ("camera:a", 1)
    assert told.seen.x_mm == pytest.approx(1.0)
    assert told.seen.change == "read"


def test_a_card_beside_it_is_another() -> None:
    cameras = Cameras()
    cameras.sighted(sighted("camera:a", 1, spread_mm=1.5))
    eight = {"8S": 0.9995}
    beside = sighted("camera:b", 1, x_mm=19.7, spread_mm=1.5, card=Card("8S"), candidates=eight)
    told = only(cameras.sighted(beside))
    assert told.track == ("camera:b", 1)


@pytest.mark.parametrize(("later_ms", "is_one"), [(0, True), (290, True), (310, False)])
def test_a_face_that_two_cameras_see_come_at_once_is_one_card(later_ms: int, is_one: bool) -> None:
    """One of them errs about its place; two cards are never dealt so fast."""
    cameras = Cameras()
    first = sighted("camera:a", 1, spread_mm=1.5)
    cameras.sighted(first)
    at = (first.at or 0) + later_ms * MS
    other = only(cameras.sighted(sighted("camera:b", 1, at=at, x_mm=19.7, spread_mm=1.5)))
    assert (other.track == ("camera:a", 1)) is is_one


BACK: dict[str, Any] = {"face": "down", "card": None, "candidates": {}}


@pytest.mark.parametrize(("later_ms", "is_one"), [(0, True), (290, True), (310, False)])
def test_a_back_that_two_cameras_see_come_at_once_is_one_card(later_ms: int, is_one: bool) -> None:
    cameras = Cameras()
    first = sighted("camera:a", 1, spread_mm=1.5, **BACK)
    cameras.sighted(first)
    at = (first.at or 0) + later_ms * MS
    other = only(cameras.sighted(sighted("camera:b", 1, at=at, x_mm=19.7, spread_mm=1.5, **BACK)))
    assert (other.track == ("camera:a", 1)) is is_one


def test_a_face_that_one_camera_does_not_read_surely_comes_at_once_with_the_others() -> None:
    cameras = Cameras()
    cameras.sighted(sighted("camera:a", 1, spread_mm=1.5))
    unsure = {"7H": 0.7, "7D": 0.2}
    other = sighted("camera:b", 1, x_mm=17.0, spread_mm=1.5, card=None, candidates=unsure)
    assert only(cameras.sighted(other)).track == ("camera:a", 1)


def test_the_first_look_of_a_further_camera_is_passed_on() -> None:
    cameras = Cameras()
    assert not only(cameras.sighted(sighted("camera:a", 1, **BACK))).further
    seen = only(cameras.sighted(sighted("camera:b", 1, x_mm=2.0, **BACK)))
    assert seen.further
    assert seen.track == ("camera:a", 1)
    assert seen.seen.x_mm == pytest.approx(1.0)
    assert cameras.sighted(sighted("camera:b", 1, x_mm=2.0, change="read", **BACK)) == ()


def seen_by(cameras: Cameras, sources: Sequence[str], track: int, at: int, **fields: Any) -> None:
    for source in sources:
        cameras.sighted(sighted(source, track, at=at, **fields))


def gone_by(cameras: Cameras, sources: Sequence[str], track: int, at: int) -> None:
    for source in sources:
        cameras.gone(CardGone(source=source, at=at, track=track, frame=9))


def test_cameras_that_see_other_cards_thereabouts_are_witnesses_of_a_card() -> None:
    cameras, both, all_three = (
        Cameras(),
        ("camera:a", "camera:b"),
        ("camera:a", "camera:b", "camera:c"),
    )
    seen_by(cameras, all_three, 1, 1_000)
    seen_by(cameras, both, 2, 2_000, x_mm=60.0, card=Card("8S"))
    seen_by(cameras, all_three, 3, 3_000, x_mm=120.0, card=Card("9S"))
    gone_by(cameras, both, 2, 4_000)
    witnesses = cameras.witnesses(("camera:a", 2))
    assert witnesses is not None
    assert (witnesses.saw, witnesses.lacked) == (frozenset(both), frozenset({"camera:c"}))


@pytest.mark.parametrize(("later_ns", "lacked"), [(5 * SECOND, {"b", "c"}), (SECOND, set())])
def test_a_camera_that_saw_a_card_under_a_later_track_lacked_the_first(
    later_ns: int, lacked: set[str]
) -> None:
    """A back where a card comes to lie only later is no sight of that card."""
    first = Witnesses(frozenset("a"), frozenset("bc"), 0)
    later = Witnesses(frozenset("abc"), frozenset(), later_ns)
    assert going.lacked((first, later)) == lacked


@pytest.mark.parametrize("why", ["it stopped", "it sees none there", "it saw none for long"])
def test_a_camera_that_could_not_see_a_card_is_no_witness(why: str) -> None:
    cameras, both = Cameras(), ("camera:a", "camera:b")
    far = 900.0 if why == "it sees none there" else 0.0
    seen_by(cameras, ["camera:c"], 1, 1_000, x_mm=far)
    later = 700 * SECOND if why == "it saw none for long" else 0
    seen_by(cameras, both, 2, later + 2_000, x_mm=60.0, card=Card("8S"))
    if why != "it stopped":
        seen_by(cameras, ["camera:c"], 3, later + 3_000, x_mm=far or -900.0, card=Card("9S"))
    gone_by(cameras, both, 2, later + 4_000)
    witnesses = cameras.witnesses(("camera:a", 2))
    assert witnesses is not None
    assert witnesses.lacked == set()


@pytest.mark.parametrize(("later_ns", "is_another"), [(2 * SECOND, False), (4 * SECOND, True)])
def test_a_card_that_a_camera_lacked_for_long_is_another_one(
    later_ns: int, *, is_another: bool
) -> None:
    """What one camera sighted where a card comes to lie only later is not that card."""
    cameras = Cameras()
    seen_by(cameras, ["camera:b"], 1, 1_000, x_mm=60.0, face="down", card=None, candidates={})
    cameras.sighted(sighted("camera:a", 2, at=2_000))
    told = only(cameras.sighted(sighted("camera:b", 3, at=2_000 + later_ns)))
    assert told.track == (("camera:b", 3) if is_another else ("camera:a", 2))


def test_a_face_that_no_camera_holds_likely_is_another_card_sooner() -> None:
    cameras = Cameras()
    seen_by(cameras, ["camera:b"], 1, 1_000, x_mm=60.0, face="down", card=None, candidates={})
    cameras.sighted(sighted("camera:a", 2, at=2_000, card=None, candidates={"JC": 0.58}))
    at = 2_000 + 5 * SECOND // 2
    told = only(cameras.sighted(sighted("camera:b", 3, at=at, card=Card("4C"))))
    assert told.track == ("camera:b", 3)


@pytest.mark.parametrize("by", ["its journal", "what it kept"])
def test_a_table_that_starts_again_knows_where_each_camera_sees(by: str) -> None:
    before, cameras = Cameras(), Cameras()
    seen = sighted("camera:c", 1, at=1_000)
    before.sighted(seen)
    if by == "its journal":
        cameras.recall([seen])
    else:
        cameras.go_on(before.learned())
    assert cameras.learned() == before.learned()
    seen_by(cameras, ["camera:a", "camera:c"], 3, SECOND, x_mm=-900.0)
    seen_by(cameras, ["camera:a"], 2, SECOND, card=Card("8S"))
    seen_by(cameras, ["camera:c"], 4, 2 * SECOND, x_mm=-800.0)
    gone_by(cameras, ["camera:a"], 2, 3 * SECOND)
    witnesses = cameras.witnesses(("camera:a", 2))
    assert witnesses is not None
    assert witnesses.lacked == {"camera:c"}


def test_two_like_faces_that_each_camera_sees_are_two_cards() -> None:
    cameras = Cameras()
    tracks = {
        only(cameras.sighted(sighted(source, track, x_mm=x_mm))).track
        for source in ("camera:a", "camera:b")
        for track, x_mm in ((1, 0.0), (2, 20.0))
    }
    assert tracks == {("camera:a", 1), ("camera:a", 2)}


def test_a_card_is_gone_when_both_say_so_or_one_has_waited() -> None:
    cameras = Cameras()
    for source in ("camera:a", "camera:b"):
        cameras.sighted(sighted(source, 1))
    gone = CardGone(source="camera:b", at=5_000, track=1, frame=9)
    assert cameras.gone(gone) == ()
    assert cameras.due(5_000 + GONE_HOLD_NS - 1) == ()
    (held,) = cameras.due(5_000 + GONE_HOLD_NS)
    assert (held.source, held.track, held.at) == ("camera:a", 1, 5_000)
    assert cameras.gone(CardGone(source="camera:a", at=9_000, track=1, frame=9)) == ()


def test_a_later_look_keeps_a_card_that_the_other_lost() -> None:
    cameras = Cameras()
    for source in ("camera:a", "camera:b"):
        cameras.sighted(sighted(source, 1))
    cameras.gone(CardGone(source="camera:b", at=5_000, track=1, frame=9))
    only(cameras.sighted(sighted("camera:a", 1, change="read", at=6_000)))
    assert cameras.due(2**62) == ()


def test_a_back_where_another_reads_a_face_says_nothing() -> None:
    cameras = Cameras()
    cameras.sighted(sighted("camera:a", 1))
    back = sighted("camera:b", 1, face="down", card=None, candidates={})
    assert cameras.sighted(back) == ()


def test_a_face_where_another_saw_a_back_turns_the_card() -> None:
    cameras = Cameras()
    cameras.sighted(sighted("camera:a", 1, face="down", card=None, candidates={}))
    told = only(cameras.sighted(sighted("camera:b", 1)))
    assert (told.track, told.seen.change) == (("camera:a", 1), "turned")
    again = only(cameras.sighted(sighted("camera:a", 1, change="turned")))
    assert again.seen.change == "read"


def test_looks_of_two_cameras_multiply_and_those_of_one_do_not() -> None:
    def look(camera: str, face: str) -> Reading:
        found = Reading.of(None, {face: 0.9}, camera=camera)
        assert found is not None
        return found

    first = look("camera:a", "7H")
    same = first.and_look(look("camera:a", "7H"))
    other = first.and_look(look("camera:b", "7H"))
    assert same.p(Card("7H")) == pytest.approx(first.p(Card("7H")))
    assert other.p(Card("7H")) > 0.98
    against = first.and_look(look("camera:b", "7S"))
    assert against.p(Card("7H")) == pytest.approx(against.p(Card("7S")))
