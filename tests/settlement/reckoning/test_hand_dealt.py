"""What happened at a table that is dealt by hand, as one camera reports it."""

from collections.abc import Callable, Iterable, Sequence

import pytest
from msgspec.structs import replace

from models.events import (
    AnyFact,
    AnyObservation,
    CardDealt,
    CardExposed,
    CardGone,
    CardSighted,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
)
from models.judgements import ReviewRaised, RoundResult
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from tests.sensors import noise
from tests.settlement.noise import renumbered
from tests.settlement.sessions import Session, compare, reconciled, session

MS = 1_000_000
BOOK = "pitch-double-deck"
SPOTS = (1, 3, 4)
LOOKS_NS = (1_000 * MS, 3_000 * MS)
"""A camera looks again at a card that lies as it lay."""

Said = tuple[AnyFact | ReviewRaised, ...]
Timed = tuple[int, AnyObservation]


def changed(
    played: Session, change: Callable[[CardSighted | CardGone], CardSighted | CardGone | None]
) -> list[Timed]:
    """Return what was heard, with the camera's reports changed, or left out."""
    heard: list[Timed] = []
    for at, one in played.heard:
        if not isinstance(one, CardSighted | CardGone):
            heard.append((at, one))
        elif (kept := change(one)) is not None:
            heard.append((at, kept))
    return renumbered(heard)


def asked(said: Iterable[AnyFact | ReviewRaised]) -> list[str]:
    return [one.review.what for one in said if isinstance(one, ReviewRaised)]


def paid(played: Session, facts: Iterable[AnyFact]) -> list[tuple[int, int | None]]:
    """Return what every spot is paid; cards of one hand that nobody told apart may be exchanged."""
    return [(spot.spot, spot.net) for result in results(played, facts) for spot in result.spots]


def backs(played: Session) -> list[CardSighted]:
    """Return the sightings of cards as they were dealt face down, in the order of the deal."""
    return [
        one
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.change == "new" and one.face == "down"
    ]


@pytest.mark.parametrize("which", range(6))
def test_a_back_that_nobody_saw_lie_is_inferred_from_the_deal(which: int) -> None:
    played = session(BOOK, 1, rounds=1, spots=SPOTS)
    lost = backs(played)[which].track
    heard = changed(
        played,
        lambda one: None if one.track == lost else one,
    )
    said = reconciled(played, heard)
    assert asked(said) == []
    assert paid(played, (one for one in said if not isinstance(one, ReviewRaised))) == paid(
        played, played.truth
    )


@pytest.mark.parametrize("which", range(6))
def test_a_back_that_is_read_as_a_face_in_doubt_is_a_back(which: int) -> None:
    played = session(BOOK, 1, rounds=1, spots=SPOTS)
    first = backs(played)[which]
    doubt = {"7D": 0.48, "2D": 0.16, "7H": 0.12, "2H": 0.04}

    def misread(one: CardSighted | CardGone) -> CardSighted | CardGone:
        if not isinstance(one, CardSighted) or (one.track, one.face) != (first.track, "down"):
            return one
        return replace(one, face="up", confidence=0.48, candidates=doubt)

    said = reconciled(played, changed(played, misread))
    facts = [one for one in said if not isinstance(one, ReviewRaised)]
    assert asked(said) == []
    assert codes_of(played, facts) == set()
    assert paid(played, facts) == paid(played, played.truth)


def test_a_card_of_the_deal_seen_after_the_next_one_keeps_its_turn() -> None:
    played = session(BOOK, 1, rounds=1, spots=SPOTS)
    late = backs(played)[1].track
    heard = [
        (at + 1_200 * MS, replace(one, at=(one.at or 0) + 1_200 * MS))
        if isinstance(one, CardSighted) and one.track == late and one.change == "new"
        else (at, one)
        for at, one in played.heard
    ]
    said = reconciled(played, renumbered(heard))
    dealt = [one.to for one in said if isinstance(one, CardDealt)]
    assert dealt[:8] == [1, 3, 4, "dealer", 1, 3, 4, "dealer"]
    assert asked(said) == []


@pytest.mark.parametrize("early_ms", [0, 34, 250])
def test_two_cards_of_the_deal_seen_at_one_time_keep_their_turns(early_ms: int) -> None:
    """The second spot's report comes after the first's, and its look was a moment earlier."""
    played = session(BOOK, 1, rounds=1, spots=SPOTS)
    first, second = backs(played)[:2]
    seen_at = (second.at or 0) + early_ms * MS
    heard: list[Timed] = []
    for at, one in played.heard:
        if one == first:
            heard.append((seen_at, replace(first, at=seen_at)))
        else:
            heard.append((max(at, seen_at + 1) if one == second else at, one))
    said = reconciled(played, renumbered(heard))
    dealt = [one.to for one in said if isinstance(one, CardDealt)]
    assert dealt[:8] == [1, 3, 4, "dealer", 1, 3, 4, "dealer"]
    assert asked(said) == []


def test_cameras_number_their_tracks_each_by_itself() -> None:
    """A second camera sees one card again, on a track that is another card's of the first."""
    played = session(BOOK, 1, rounds=1, spots=SPOTS)
    up = next(
        one
        for _, one in played.heard
        if isinstance(one, CardSighted) and one.face == "up" and one.change == "new"
    )
    other = backs(played)[0].track
    heard: list[Timed] = []
    for at, one in played.heard:
        heard.append((at, one))
        if isinstance(one, CardSighted | CardGone) and one.track == up.track:
            heard.append((at + 200 * MS, replace(one, source="camera:left", track=other)))
    found = compare(played, reconciled(played, renumbered(heard)))
    assert (found.exact, found.asked, found.wrong) == (1, (), ())


def results(played: Session, facts: Iterable[AnyFact]) -> list[RoundResult]:
    engine = Engine(played.rules)
    found = [result for seq, fact in enumerate(facts, 1) for result in engine.feed(fact, seq)]
    return [*found, *engine.finish()]


def codes_of(played: Session, facts: Iterable[AnyFact]) -> set[str]:
    return {found.code for result in results(played, facts) for found in result.violations}


@pytest.mark.parametrize(
    "mistake",
    [
        "dealer_hit_18_plus",
        "dealer_hit_hard_17",
        "dealer_stood_below_17",
        "card_after_stand",
        "double_total_not_allowed",
        "extra_card_after_double",
    ],
)
def test_a_mistake_that_the_camera_saw_is_stated(mistake: str) -> None:
    played = session(BOOK, 3, rounds=1, spots=SPOTS, mistake=mistake, looks_ns=LOOKS_NS)
    said = reconciled(played, played.heard)
    stated = [one for one in said if not isinstance(one, ReviewRaised)]
    due = codes_of(played, played.truth)
    assert due
    assert codes_of(played, stated) == due
    assert asked(said) == []


def test_a_face_that_money_hangs_on_is_left_to_a_person_where_it_was_not_read() -> None:
    played = session(BOOK, 1, rounds=1, spots=SPOTS)
    shown = next(
        one.card for one in played.truth if isinstance(one, CardExposed) and one.to != "dealer"
    )
    other = "2C" if str(shown) != "2C" else "TC"
    doubtful = changed(
        played,
        lambda one: (
            replace(one, card=None, candidates={other: 0.5, str(shown): 0.5})
            if isinstance(one, CardSighted) and one.card is shown
            else one
        ),
    )
    found = compare(played, reconciled(played, doubtful))
    assert found.wrong == ()
    assert len(found.asked) == 1


def test_facts_do_not_depend_on_how_fast_observations_come() -> None:
    played = session(BOOK, 2, rounds=2, spots=SPOTS)
    last = played.heard[-1][0]
    assert facts(played, [at for at, _ in played.heard]) == facts(
        played, [at for at, _ in played.heard[1:]] + [last]
    )


def facts(played: Session, through: Sequence[int]) -> list[AnyFact]:
    table = Reckoning(played.rules, played.layout)
    said: list[AnyFact | ReviewRaised] = []
    for (_, one), now in zip(played.heard, through, strict=True):
        said += table.feed(one, now)
    said += table.finish()
    return [one for one in said if not isinstance(one, ReviewRaised)]


def test_a_table_that_starts_again_knows_what_left_the_decks() -> None:
    played = session("casino-single-deck", 1, rounds=2, spots=SPOTS)
    known = [one for one in played.truth if isinstance(one, ShoeStarted | CardDealt | CardExposed)]
    table = Reckoning(played.rules, played.layout)
    table.recall(known)
    seen = next(one.card for one in known if isinstance(one, CardExposed) and one.card)
    assert table.left_of(seen) == 0


def test_a_review_is_raised_in_the_round_that_is_in_play() -> None:
    """Facts of a noisy round went on otherwise than the story that closed it in the end."""
    plan = noise.Plan(BOOK, noise.Rates(), 50, 10, clinging=False, show=False)
    told = noise.heard(1, plan)
    table, in_play, closed = Reckoning(told.rules, told.layout, told.dealing), 0, list[int]()
    for at, one in told.spoilt[:900]:
        for said in table.feed(one, at):
            if isinstance(said, RoundOpened):
                in_play = said.round
            elif isinstance(said, ReviewRaised):
                assert said.round == in_play
                assert not any("seq=" in one for one in said.review.candidates), (
                    "written for people"
                )
            elif isinstance(said, RoundClosed):
                closed.append(in_play)
    assert closed == list(range(1, len(closed) + 1))
    assert len(closed) >= 6


def between_accounts() -> ReviewRaised:
    """Return the first item of a round in which a hand that won is not paid.

    The camera looked but once at the cards that make it win.
    """
    played = session(
        "casino-single-deck",
        1,
        rounds=1,
        spots=SPOTS,
        mistake="payment_missing",
        looks_ns=LOOKS_NS,
    )
    return next(one for one in reconciled(played, played.heard) if isinstance(one, ReviewRaised))


def test_the_accounts_that_remain_are_told_with_odds_outcomes_and_senses() -> None:
    accounts = between_accounts().accounts
    assert accounts
    stated, rival, *_ = accounts
    assert (stated.odds, stated.mistakes) == (1.0, ("payment_missing at spot 1",))
    assert (stated.hands[0].outcome, rival.hands[0].outcome) == ("win", "push")
    assert rival.mistakes == ()
    senses = {one.sense: one.odds for one in rival.witnesses}
    assert senses["camera"] < 1 < senses["play"]
    # The other card of the hand may be the one that was misread: both settle alike.
    assert rival.odds == pytest.approx(2 * senses["camera"] * senses["play"], rel=0.1)


def test_a_person_is_offered_the_face_that_the_round_speaks_for_first() -> None:
    item = between_accounts()
    assert item.accounts
    stated, rival, *_ = item.accounts
    offered = item.review.candidates
    assert stated.tells.startswith(offered[0])
    assert rival.tells.startswith(offered[1])


@pytest.mark.parametrize("mistake", ["deal_face", "surrender_after_split"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_mistake_of_the_deal_or_of_play_is_stated_alone(mistake: str, seed: int) -> None:
    played = session(
        "casino-single-deck", seed, rounds=1, spots=SPOTS, mistake=mistake, looks_ns=LOOKS_NS
    )
    said = reconciled(played, played.heard)
    stated = [one for one in said if not isinstance(one, ReviewRaised)]
    assert codes_of(played, stated) == {mistake}
    assert asked(said) == []


@pytest.mark.parametrize("mistake", ["dealer_drew_on_blackjack", "dealer_drew_no_live_hands"])
def test_a_card_in_the_dealers_row_is_not_taken_for_none(mistake: str) -> None:
    played = session(
        "casino-single-deck", 1, rounds=1, spots=SPOTS, mistake=mistake, looks_ns=LOOKS_NS
    )
    said = reconciled(played, played.heard)
    stated = [one for one in said if not isinstance(one, ReviewRaised)]
    assert codes_of(played, stated) == {mistake}
