"""Games dealt by hand: cards that the rules require, and that the camera saw late or never."""

import pytest
from msgspec.structs import replace

from models.events import AnyFact, CardDealt, CardExposed, CardGone, CardSighted, PlayerActed
from tests.settlement.noise import renumbered
from tests.settlement.reckoning.test_camera_alone import (
    MS,
    after_the_deal,
    first,
    nobody_draws,
    stated,
)
from tests.settlement.reckoning.test_hand_dealt import Timed, asked, changed, codes_of
from tests.settlement.sessions import Session, compare, reconciled


def seen_late(played: Session, late: CardDealt, after: CardDealt, by_ms: int) -> list[Timed]:
    """Return what was heard, one card first seen so long after another."""
    rested = next(
        one
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.card is after.card and one.change == "new"
    )
    track = next(
        one.track
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.card is late.card and one.change == "new"
    )
    heard: list[Timed] = []
    for at, one in played.heard:
        if isinstance(one, CardSighted) and one.track == track:
            if one.change == "new":
                seen = (rested.at or 0) + by_ms * MS
                heard.append((seen + 50 * MS, replace(one, at=seen)))
        else:
            heard.append((at, one))
    return renumbered(sorted(heard, key=lambda timed: timed[0]))


def doubles_then_another_draws(truth: tuple[AnyFact, ...]) -> bool:
    """Tell whether spot 1 doubles, and spot 3 draws after it."""
    doubled = {one.spot for one in truth if isinstance(one, PlayerActed) and one.action == "double"}
    drawn = [one.to for one in after_the_deal(truth)]
    return 1 in doubled and drawn[:2] == [1, 3]


def splits_last(truth: tuple[AnyFact, ...]) -> bool:
    """Tell whether the last spot splits, its last hand stands on two, and the dealer draws."""
    split = [one.spot for one in truth if isinstance(one, PlayerActed) and one.action == "split"]
    drawn = [(one.to, one.hand) for one in after_the_deal(truth)]
    return split == [3] and drawn.count((3, 1)) == 1 and drawn[-1][0] == "dealer"


@pytest.mark.parametrize("by_ms", [300, 1_900])
def test_a_doubles_card_seen_after_the_next_spots_card_came_in_its_turn(by_ms: int) -> None:
    played = first(doubles_then_another_draws, (1, 3))
    double, other = after_the_deal(played.truth)[:2]
    said = reconciled(played, seen_late(played, double, other, by_ms))
    assert codes_of(played, stated(said)) == set()
    assert compare(played, said).wrong == ()
    assert asked(said) == []


@pytest.mark.parametrize("by_ms", [300, 1_500])
def test_a_split_hands_card_seen_after_the_dealers_came_in_its_turn(by_ms: int) -> None:
    played = first(splits_last, (1, 3))
    last = [one for one in after_the_deal(played.truth) if (one.to, one.hand) == (3, 1)][-1]
    dealers = [one for one in after_the_deal(played.truth) if one.to == "dealer"][-1]
    said = reconciled(played, seen_late(played, last, dealers, by_ms))
    assert codes_of(played, stated(said)) == set()
    assert compare(played, said).wrong == ()
    assert asked(said) == []


def test_a_hand_never_read_is_asked_about_where_the_session_ends_with_its_round() -> None:
    """The camera missed a hand as it was shown; by the odds its cards may still lie there."""
    played = first(nobody_draws, (1, 3))
    shown = [one.card for one in played.truth if isinstance(one, CardExposed) and one.to == 1]
    lost = {
        one.track for _, one in played.heard if isinstance(one, CardSighted) and one.card in shown
    }
    heard = changed(
        played,
        lambda one: (
            None if one.track in lost and (isinstance(one, CardGone) or one.face == "up") else one
        ),
    )
    said = reconciled(played, heard)
    assert compare(played, said).wrong == ()
    assert "Which card is the second card of spot 1? Nobody read it." in asked(said)
