"""Side bets on the plates' circle S: simulated sessions, and chips that move at any time."""

import pytest
from msgspec.structs import replace

from models.events import AnyFact, PaymentMade, TrayCounted
from models.judgements import ReviewRaised, RoundResult
from settlement.engine import Engine
from simulation.dealing import deal_session, is_shoe_game
from simulation.house import house
from simulation.table import Table
from tests.settlement.felt_scene import Scene
from tests.settlement.sessions import Session, compare, listened, reconciled
from tests.thoroughness import one_in

MS = 1_000_000
LOOKS_NS = (1_000 * MS, 3_000 * MS)
TRAY = 2_000_000
BOOKS = ("kansas-shoe", "casino-double-deck")
BETS = (
    "perfect-pairs-25-12-6",
    "lucky-ladies-1000-125-19-9-4",
    "buster-250-50-12-4-2",
    "over-13",
)
CASES = [(book, bet, seed) for seed in range(4) for bet in BETS for book in BOOKS]
PAIRS = house("kansas-shoe", (), "perfect-pairs-25-12-6").rules


def played(book: str, bet: str, seed: int, *mistakes: str) -> Session:
    rules = house(book, (), bet).rules
    table = Table(rules, (1, 2, 3, 4, 5) if is_shoe_game(rules) else (1, 3, 4), seed)
    return listened(rules, deal_session(table, 2, seed, mistakes=mistakes), seed, looks_ns=LOOKS_NS)


def settled(rules_of: Session, facts: list[AnyFact]) -> list[RoundResult]:
    """Settle facts between two counts of the tray, which differ by what was paid."""
    paid = sum(fact.amount for fact in facts if isinstance(fact, PaymentMade))
    counted = [TrayCounted(amount=TRAY), *facts, TrayCounted(amount=TRAY - paid)]
    engine = Engine(rules_of.rules, patient=True)
    found = [result for seq, fact in enumerate(counted, 1) for result in engine.feed(fact, seq)]
    return [*found, *engine.finish()]


@pytest.mark.parametrize(("book", "bet", "seed"), one_in(3, CASES))
def test_side_bets_are_laid_paid_and_settled_as_they_happened(
    book: str, bet: str, seed: int
) -> None:
    session = played(book, bet, seed)
    said = reconciled(session, session.heard)
    found = compare(session, said)
    assert (found.exact, found.asked, found.wrong) == (2, (), ())
    facts = [one for one in said if not isinstance(one, ReviewRaised)]
    results = settled(session, facts)
    sides = [one for result in results for spot in result.spots for one in spot.side or ()]
    assert sides
    assert all(one.bet == bet and one.paid == (one.net or None) for one in sides)
    assert not any(result.violations for result in results)


@pytest.mark.parametrize(("book", "bet", "seed"), one_in(3, CASES, first=1))
def test_a_side_bet_paid_wrongly_is_found_once(book: str, bet: str, seed: int) -> None:
    session = played(book, bet, seed, "wrong_payout")
    said = reconciled(session, session.heard)
    found = compare(session, said)
    assert (found.exact, found.asked, found.wrong) == (2, (), ())
    facts = [one for one in said if not isinstance(one, ReviewRaised)]
    (wrong,) = [one for result in settled(session, facts) for one in result.violations]
    assert (wrong.code, wrong.spot) == ("wrong_payout", 1)
    assert wrong.detail.startswith(f"side bet {bet}: due ")


@pytest.mark.parametrize("mistake", ["misdeal_called_off", "card_offered_to_next"])
def test_side_bets_go_back_with_a_round_called_off_and_stand_in_others(mistake: str) -> None:
    session = played("kansas-shoe", "perfect-pairs-25-12-6", 1, mistake)
    said = reconciled(session, session.heard)
    found = compare(session, said)
    assert (found.exact, found.asked, found.wrong) == (2, (), ())


def paid_of(scene: Scene) -> list[int]:
    """Return what was paid for side bets, by the facts that are published."""
    paid = [fact for fact in scene.facts() if isinstance(fact, PaymentMade)]
    return [fact.amount for fact in paid if fact.kind == "side"]


def dealt(cards: str) -> Scene:
    """Deal spot 1, which has a side bet, and the dealer, who has 17."""
    scene = Scene(PAIRS).chips(1, 0, 1000).chips(1, "S", 500)
    return scene.deal_round(cards).wait(1500)


def ended(scene: Scene, hole: str) -> Scene:
    """The dealer shows 17 and takes the main wager and the cards."""
    scene.turn_hole(hole).wait(800).chips(1, 0, -1000).take(1)
    return scene


@pytest.mark.parametrize(("cards", "moved"), [("8S 7D 8S TD", 12500), ("8S 7D 7H TD", -500)])
def test_a_side_bet_settled_right_after_the_deal_is_no_wager(cards: str, moved: int) -> None:
    scene = dealt(cards).chips(1, "S", moved).wait(1000)
    ended(scene, "TD").take("dealer").wait(3000)
    assert paid_of(scene) == [moved]


def test_chips_added_to_a_side_bet_during_the_deal_are_a_wager() -> None:
    scene = Scene(PAIRS).chips(1, 0, 1000).chips(1, "S", 500)
    scene.deal(1, "8S").wait(1500).chips(1, "S", 500).deal("dealer", "7D").deal(1, "7H")
    scene.deal("dealer", "TD", face="down").wait(1500)
    ended(scene, "TD").chips(1, "S", -1000).take("dealer").wait(3000)
    assert paid_of(scene) == [-1000]


def test_chips_laid_once_the_bet_is_settled_are_for_the_next_round() -> None:
    scene = ended(dealt("8S 7D 7H TD"), "TD").chips(1, "S", -500).wait(500).chips(1, "S", 1000)
    scene.take("dealer").wait(3000)
    assert paid_of(scene) == [-500]


def test_a_bet_that_goes_back_is_the_players_to_take() -> None:
    """A push of the hand returns this house's bet; its player takes it as the hand is settled."""
    returned = replace(PAIRS.side_bets["perfect-pairs-25-12-6"], main_push="returns")
    rules = replace(PAIRS, side_bets={"pairs": returned})
    scene = Scene(rules).chips(1, 0, 1000).chips(1, "S", 500)
    scene.deal_round("TS 7D 7H TD").wait(1500).turn_hole("TD").wait(800).take(1).wait(600)
    scene.chips(1, "S", -500).wait(600).take("dealer").wait(3000)
    assert paid_of(scene) == []
    assert [one for one in scene.said() if isinstance(one, ReviewRaised)] == []
