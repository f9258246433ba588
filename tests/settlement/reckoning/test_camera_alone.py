"""Games dealt by hand, where the camera alone misread, missed, or saw a card late."""

from collections.abc import Callable
from functools import cache

import pytest
from msgspec.structs import replace

from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CardGone,
    CardSighted,
    ConsoleEntry,
    PlayerActed,
    RoundOpened,
)
from models.judgements import ReviewRaised
from tests.settlement.felt_scene import START_NS
from tests.settlement.noise import renumbered
from tests.settlement.reckoning.test_hand_dealt import (
    Timed,
    asked,
    changed,
    codes_of,
    results,
)
from tests.settlement.sessions import Session, compare, reconciled, session

MS = 1_000_000
BOOK = "pitch-double-deck"
LOOKS_NS = (400 * MS,)
"""A camera looks again once, soon after."""


@cache
def first(holds: Callable[[tuple[AnyFact, ...]], bool], spots: tuple[int, ...]) -> Session:
    """Return the first session of one round of which something holds."""
    for seed in range(1, 200):
        played = session(BOOK, seed, rounds=1, spots=spots, looks_ns=LOOKS_NS)
        if holds(played.truth):
            return played
    raise AssertionError("no such round")


def after_the_deal(truth: tuple[AnyFact, ...]) -> list[CardDealt]:
    """Return the cards dealt after the dealer's face-down card."""
    dealt = [one for one in truth if isinstance(one, CardDealt)]
    hole = [one.to for one in dealt].index("dealer", [one.to for one in dealt].index("dealer") + 1)
    return dealt[hole + 1 :]


def nobody_draws(truth: tuple[AnyFact, ...]) -> bool:
    shown = any(isinstance(one, CardExposed) and one.to == "dealer" for one in truth)
    return shown and not after_the_deal(truth)


def last_spot_draws(truth: tuple[AnyFact, ...]) -> bool:
    drawn = [one.to for one in after_the_deal(truth)]
    shown = any(isinstance(one, CardExposed) and one.to == "dealer" for one in truth)
    return shown and 3 in drawn and "dealer" not in drawn


def splits(truth: tuple[AnyFact, ...]) -> bool:
    return any(isinstance(one, PlayerActed) and one.action == "split" for one in truth)


def stands_on_two(truth: tuple[AnyFact, ...]) -> bool:
    """Tell whether the dealer stands on his two cards, of which the first is no ace."""
    up = next(one for one in truth if isinstance(one, CardDealt) and one.to == "dealer")
    drew = any(one.to == "dealer" for one in after_the_deal(truth))
    shown = any(isinstance(one, CardExposed) and one.to == "dealer" for one in truth)
    return shown and not drew and up.card is not None and up.card.rank in "789T"


def stated(said: tuple[AnyFact | ReviewRaised, ...]) -> list[AnyFact]:
    return [one for one in said if not isinstance(one, ReviewRaised)]


def test_a_card_that_every_look_misread_accuses_nobody_without_a_question() -> None:
    """The dealer seems to have stood below 17: as likely his up card was misread."""
    played = first(stands_on_two, (1, 3))
    up = next(one for one in played.truth if isinstance(one, CardDealt) and one.to == "dealer")
    other = Card("2S")
    heard = changed(
        played,
        lambda one: (
            replace(one, card=other, candidates={other.value: 0.9999})
            if isinstance(one, CardSighted) and one.card is up.card
            else one
        ),
    )
    said = reconciled(played, heard)
    assert codes_of(played, stated(said))
    assert asked(said)
    assert compare(played, said).wrong == ()


def test_a_hole_card_missed_as_it_lay_face_down_was_not_dealt_face_up() -> None:
    played = first(nobody_draws, (1, 3))
    turned = next(
        one.track
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.change == "turned"
    )

    def missed(one: CardSighted | CardGone) -> CardSighted | CardGone | None:
        if not isinstance(one, CardSighted) or one.track != turned:
            return one
        if one.face == "down":
            return None
        return replace(one, change="new") if one.change == "turned" else one

    said = reconciled(played, changed(played, missed))
    assert codes_of(played, stated(said)) == set()
    assert compare(played, said).wrong == ()
    assert asked(said) == []


def test_a_card_seen_after_the_dealer_turned_his_came_in_its_spots_turn() -> None:
    played = first(last_spot_draws, (1, 3))
    last = after_the_deal(played.truth)[-1]
    shown = next(
        one.at or 0
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.change == "turned"
    )
    late = next(
        one.track
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.card is last.card and one.change == "new"
    )
    heard: list[Timed] = []
    for at, one in played.heard:
        if isinstance(one, CardSighted) and one.track == late:
            if one.change == "new":
                heard.append((shown + 300 * MS, replace(one, at=shown + 250 * MS)))
        else:
            heard.append((at, one))
    said = reconciled(played, renumbered(sorted(heard, key=lambda timed: timed[0])))
    assert codes_of(played, stated(said)) == set()
    assert compare(played, said).wrong == ()


def test_a_card_of_a_pair_first_seen_as_it_lies_apart_was_turned_up_before_the_split() -> None:
    played = first(splits, (1, 3))
    split = next(one for one in played.truth if isinstance(one, PlayerActed))
    pair = [one.card for one in played.truth if isinstance(one, CardExposed)][:2]
    entered = next(
        at
        for at, one in played.heard
        if isinstance(one, ConsoleEntry) and isinstance(one.fact, PlayerActed)
    )
    heard = [
        (at, one)
        for at, one in played.heard
        if not (isinstance(one, CardSighted) and one.card is pair[0] and at < entered)
    ]
    assert split.action == "split"
    said = reconciled(played, renumbered(heard))
    assert compare(played, said).wrong == ()
    assert codes_of(played, stated(said)) == set()


@pytest.mark.parametrize("which", range(2))
def test_a_back_missed_is_the_card_turned_up_where_it_was_due(which: int) -> None:
    """A back that nobody saw lie is no card the player drew when he turns it up."""
    played = first(last_spot_draws, (1, 3))
    tracks = [
        one.track
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.change == "new" and one.face == "down"
    ]
    lost = tracks[1 + which * 2]
    said = reconciled(
        played,
        changed(
            played,
            lambda one: (
                None
                if isinstance(one, CardSighted) and one.track == lost and one.face == "down"
                else one
            ),
        ),
    )
    assert codes_of(played, stated(said)) == set()
    assert asked(said) == []
    assert compare(played, said).wrong == ()


def draws_once_from_below_17(truth: tuple[AnyFact, ...]) -> bool:
    drawn = [one for one in after_the_deal(truth) if one.to == "dealer"]
    shown = [one for one in truth if isinstance(one, CardExposed) and one.to == "dealer"]
    up = next(one for one in truth if isinstance(one, CardDealt) and one.to == "dealer")
    two = [card for card in (up.card, *(one.card for one in shown)) if card is not None]
    points = sum(card.points for card in two)
    return len(drawn) == 1 and len(two) == 2 and points < 17 and all(c.rank != "A" for c in two)


def test_a_dealers_card_that_the_camera_missed_accuses_him_not_without_a_question() -> None:
    played = first(draws_once_from_below_17, (1, 3))
    drawn = next(one for one in after_the_deal(played.truth) if one.to == "dealer")
    lost = next(
        one.track
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.card is drawn.card
    )
    heard = changed(
        played, lambda one: None if isinstance(one, CardSighted) and one.track == lost else one
    )
    said = reconciled(played, heard)
    assert "dealer_stood_below_17" in codes_of(played, stated(said))
    assert any("id the dealer get a card that no sensor saw?" in one for one in asked(said))


def a_hit_decides(truth: tuple[AnyFact, ...]) -> bool:
    """Tell whether spot 3 drew one card and stood, and the dealer showed his."""
    drawn = [one for one in after_the_deal(truth) if one.to == 3]
    return last_spot_draws(truth) and len(drawn) == 1


def test_a_payment_that_a_drawn_card_unseen_would_explain_is_asked_about() -> None:
    played = first(a_hit_decides, (1, 3))
    drawn = next(one for one in after_the_deal(played.truth) if one.to == 3)
    lost = next(
        one.track
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.card is drawn.card
    )
    heard = changed(
        played, lambda one: None if isinstance(one, CardSighted) and one.track == lost else one
    )
    said = reconciled(played, heard)
    assert compare(played, said).wrong == ()
    assert not codes_of(played, stated(said)) or asked(said)


def test_a_card_too_many_is_asked_about_where_an_earlier_one_was_in_doubt() -> None:
    """The dealer's 9S was misread as a third KH of two decks; nothing in its round shows it."""
    played = session(BOOK, 143, rounds=5, spots=(1, 3), looks_ns=LOOKS_NS)
    _, next_round = [one.at or 0 for one in played.truth if isinstance(one, RoundOpened)][:2]
    over, other = START_NS + next_round, Card("KH")

    def misread(one: CardSighted | CardGone) -> CardSighted | CardGone:
        if isinstance(one, CardSighted) and one.card is Card("9S") and (one.at or 0) < over:
            return replace(one, card=other, candidates={other.value: 0.9999})
        return one

    said = reconciled(played, changed(played, misread))
    accused = {
        result.round
        for result in results(played, stated(said))
        if any(found.code == "impossible_card" for found in result.violations)
    }
    assert accused
    assert accused <= {one.round for one in said if isinstance(one, ReviewRaised)}
