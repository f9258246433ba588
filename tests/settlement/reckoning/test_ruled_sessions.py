"""Simulated rounds that the floor ruled on, as perfect sensors and its entries tell of them."""

from collections import Counter

import pytest

from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CardMoved,
    PaymentMade,
    RoundCalledOff,
    TrayCounted,
)
from models.judgements import ReviewRaised, RoundResult
from settlement.engine import Engine
from settlement.reckoning import Dealing, Reckoning
from simulation.dealing import is_shoe_game
from simulation.mistakes.catalogue import scene
from simulation.table import Table
from tests.settlement.felt_scene import rulebook
from tests.settlement.sessions import Session, compare, listened, reconciled, session
from tests.thoroughness import one_in

BOOKS = ("kansas-shoe", "casino-shoe", "pitch-double-deck", "casino-double-deck")
MS = 1_000_000
LOOKS_NS = (1_000 * MS, 3_000 * MS)
TRAY = 2_000_000
CASES = [(book, seed) for seed in range(6) for book in BOOKS]


def ruled(book: str, seed: int, mistake: str) -> Session:
    spots = (1, 2, 3, 4, 5) if is_shoe_game(rulebook(book)) else (1, 3, 4)
    return session(book, seed, spots=spots, mistake=mistake, looks_ns=LOOKS_NS)


def facts_of(played: Session) -> list[AnyFact]:
    """Return what is made of what the sensors told, which asks nothing and is as it happened."""
    said = reconciled(played, played.heard)
    found = compare(played, said)
    assert (found.exact, found.asked, found.wrong) == (2, (), ())
    return [one for one in said if not isinstance(one, ReviewRaised)]


def settled(played: Session, facts: list[AnyFact]) -> list[RoundResult]:
    """Settle facts between two counts of the tray, which differ by what was paid."""
    paid = sum(fact.amount for fact in facts if isinstance(fact, PaymentMade))
    counted = [TrayCounted(amount=TRAY), *facts, TrayCounted(amount=TRAY - paid)]
    engine = Engine(played.rules, patient=True)
    found = [result for seq, fact in enumerate(counted, 1) for result in engine.feed(fact, seq)]
    return [*found, *engine.finish()]


@pytest.mark.parametrize(("book", "seed"), one_in(3, CASES))
def test_a_misdeal_called_off_gives_every_wager_back_and_states_the_mistake_once(
    book: str, seed: int
) -> None:
    played = ruled(book, seed, "misdeal_called_off")
    facts = facts_of(played)
    (ruling,) = [fact for fact in facts if isinstance(fact, RoundCalledOff)]
    assert ruling.reason == "misdeal: the last spot was passed over"
    results = settled(played, facts)
    (off,) = [one for one in results if one.violations]
    assert [one.code for one in off.violations] == ["spot_skipped"]
    assert (off.status, off.net) == ("final", 0)
    assert {hand.outcome for spot in off.spots for hand in spot.hands} == {"void"}
    assert not any(one.violations for one in results if one is not off)


@pytest.mark.parametrize(("book", "seed"), one_in(3, CASES))
def test_a_card_offered_to_the_next_player_is_his_and_left_the_shoe_once(
    book: str, seed: int
) -> None:
    played = ruled(book, seed, "card_offered_to_next")
    facts = facts_of(played)
    (moved,) = [fact for fact in facts if isinstance(fact, CardMoved)]
    (won,) = [one for one in settled(played, facts) if one.violations]
    assert [one.code for one in won.violations] == ["extra_card_after_double"]
    giver, taker = (spot.hands[0] for spot in won.spots[:2])
    assert (len(giver.cards), giver.burned) == (3, ())
    assert taker.cards[2] is moved.card
    assert (taker.outcome, len(taker.cards)) == ("win", 3)
    assert left_of_each(played) == left_by(played)


def left_of_each(played: Session) -> Counter[str]:
    """Return how many of each face the decks may hold, by what the sensors told."""
    dealing: Dealing = "shoe" if is_shoe_game(played.rules) else "pitch"
    table = Reckoning(played.rules, played.layout, dealing)
    for at, observation in played.heard:
        table.feed(observation, at)
    table.finish()
    faces = {fact.card for fact in played.truth if isinstance(fact, CardMoved)}
    return Counter({str(card): table.left_of(card) for card in faces if card is not None})


def left_by(played: Session) -> Counter[str]:
    """Return how many of the moved card are left by the cards that left the decks in truth."""
    out: Counter[str] = Counter()
    for fact in played.truth:
        if type(fact).__name__ == "ShoeStarted":
            out.clear()
        elif isinstance(fact, CardDealt | CardExposed) and fact.card is not None:
            shown = isinstance(fact, CardExposed) and is_shoe_game(played.rules)
            out[str(fact.card)] += not shown
    faces = {str(fact.card) for fact in played.truth if isinstance(fact, CardMoved)}
    return Counter({face: played.rules.decks - out[face] for face in faces})


@pytest.mark.parametrize("seed", range(4))
def test_a_hand_dealt_round_called_off_over_an_exposed_card_ends_with_its_cards(seed: int) -> None:
    """Cards that their players held and nobody turned up were not missed by the camera."""
    book = rulebook("pitch-double-deck")
    table = Table(book, (1, 3, 4), seed)
    table.sit_down()
    round_ = scene(table)
    round_.open()
    round_.deal_pass(0)
    for spot in table.spots:
        round_.deal(spot, face="up" if spot == table.spots[0] else "down")
    round_.deal_own(1)
    round_.call_off("misdeal: an exposed card")
    scene(table).play()
    played = listened(book, table.steps, seed, looks_ns=LOOKS_NS)
    said = [one for one in reconciled(played, played.heard) if not isinstance(one, ReviewRaised)]
    off, following = settled(played, said)
    assert (off.net, {h.outcome for spot in off.spots for h in spot.hands}) == (0, {"void"})
    assert compare(played, said).wrong == ()
    assert following.status == "final"
