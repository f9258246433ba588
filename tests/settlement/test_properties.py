"""What always holds, whatever happens at the table."""

from collections import Counter
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import events as ev
from models.cards import DECK, Card
from models.events import AnyFact
from models.judgements import RoundResult
from settlement.engine import settle, settle_read
from settlement.facts import read_once
from settlement.ledger import post
from tests.settlement.table import IDS, facts, one_round, rules
from tests.thoroughness import examples

CARDS = st.sampled_from([*DECK, Card("A?"), Card("T?"), Card("5?"), None])
SPOTS = st.integers(1, 3)
HANDS = st.integers(0, 2)
CENTS = st.sampled_from([0, 1, 500, 1000, 1025, 10**12])
FACES = st.sampled_from(["up", "down"])
WAGERS = st.sampled_from(["main", "double", "split", "insurance", "side"])
ACTIONS = st.sampled_from(["hit", "stand", "double", "split", "surrender", "even_money"])
TO = st.one_of(SPOTS, st.just("dealer"))
NAMES = st.sampled_from([None, "ANN", "BOB"])
KINDS = st.sampled_from(get_args(ev.WagerKind))
PAID = st.sampled_from(get_args(ev.PaidKind))
BY = st.sampled_from(["player", "floor"])
PLACES = st.one_of(st.just("rack"), st.builds(ev.HandPlace, to=TO, hand=HANDS))

FACTS = st.one_of(
    st.builds(ev.WagerPlaced, spot=SPOTS, hand=HANDS, kind=WAGERS, amount=CENTS),
    st.builds(ev.WagerPlaced, spot=SPOTS, kind=st.just("main"), amount=CENTS),
    st.builds(ev.CardDealt, to=TO, card=CARDS, face=FACES),
    st.builds(ev.CardDealt, to=TO, hand=HANDS, card=CARDS),
    st.builds(ev.CardExposed, to=TO, hand=HANDS, card=CARDS),
    st.builds(ev.PlayerActed, spot=SPOTS, hand=HANDS, action=ACTIONS),
    st.builds(ev.WagerRemoved, spot=SPOTS, hand=HANDS, kind=WAGERS, amount=CENTS),
    st.builds(ev.PaymentMade, spot=SPOTS, hand=HANDS, amount=CENTS),
    st.builds(ev.PaymentMade, spot=SPOTS, kind=PAID, amount=CENTS, bet=NAMES, bettor=NAMES),
    st.builds(ev.WagerPlaced, spot=SPOTS, hand=HANDS, kind=KINDS, amount=CENTS, bettor=NAMES),
    st.builds(ev.WagerRemoved, spot=SPOTS, hand=HANDS, kind=KINDS, amount=CENTS, by=BY),
    st.builds(ev.HandCalledOff, spot=SPOTS, hand=st.one_of(st.none(), HANDS)),
    st.builds(ev.RoundCalledOff),
    st.builds(ev.CardMoved, card=CARDS, origin=PLACES, to=PLACES),
    st.builds(ev.DiscardsReshuffled),
    st.builds(ev.TrayChanged, amount=CENTS, reason=st.sampled_from(["buy_in", "fill"])),
    st.builds(ev.HoleCardChecked, blackjack=st.booleans()),
    st.builds(ev.PlayerSeated, player=st.sampled_from(["ANN", "BOB"]), spots=st.tuples(SPOTS)),
    st.builds(ev.PlayerLeft, player=st.sampled_from(["ANN", "BOB"]), spots=st.tuples(SPOTS)),
    st.builds(ev.ShoeStarted, decks=st.integers(1, 8)),
    st.builds(ev.CardBurned, card=CARDS),
    st.builds(ev.CardBoxed, card=CARDS),
    st.builds(ev.TrayCounted, amount=CENTS),
    st.builds(ev.CutCardReached),
    st.builds(ev.RoundOpened, round=st.integers(1, 9)),
    st.builds(ev.RoundClosed),
)


def _settled(told: list[AnyFact], name: str) -> list[RoundResult]:
    return list(settle(enumerate(told, start=1), rules(name)))


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(FACTS, max_size=40), st.sampled_from(IDS))
def test_nothing_that_happens_at_a_table_is_refused(told: list[AnyFact], name: str) -> None:
    results = _settled(told, name)
    for result in results:
        assert msgspec.json.decode(msgspec.json.encode(result), type=RoundResult) == result
        assert all(1 <= violation.seq <= len(told) for violation in result.violations)
        nets = [spot.net for spot in result.spots]
        assert result.net == (None if None in nets else -sum(net for net in nets if net))


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(FACTS, max_size=8), st.data(), st.sampled_from(IDS))
def test_facts_read_once_and_repeated_settle_as_facts_read_each_time(
    few: list[AnyFact], data: st.DataObject, name: str
) -> None:
    read = [read_once(fact) for fact in few]
    order = data.draw(st.lists(st.integers(0, len(few) - 1), max_size=40)) if few else []
    told = [few[nth] for nth in order]
    repeated = enumerate([read[nth] for nth in order], start=1)
    assert list(settle_read(repeated, rules(name))) == _settled(told, name)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(FACTS, max_size=40), st.sampled_from(IDS))
def test_every_card_dealt_lies_somewhere_once(told: list[AnyFact], name: str) -> None:
    """A card is in a hand, burned beside it, or was dealt where no hand is."""
    dealt = sum(isinstance(fact, ev.CardDealt | ev.CardMoved) for fact in told)
    lying = [
        card
        for result in _settled(told, name)
        for cards in (
            [result.dealer.cards, result.dealer.burned]
            + [
                pile
                for spot in result.spots
                for hand in spot.hands
                for pile in (hand.cards, hand.burned)
            ]
        )
        for card in cards
    ]
    assert len(lying) <= dealt


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(FACTS, max_size=40), st.sampled_from(IDS))
def test_the_ledger_sums_to_zero(told: list[AnyFact], name: str) -> None:
    for result in _settled(told, name):
        lines = post(result)
        assert all(
            one.amount + other.amount == 0
            for one, other in zip(lines[::2], lines[1::2], strict=True)
        )
        if result.net is not None:
            tokes = sum(spot.toke.net or 0 for spot in result.spots if spot.toke)
            changed = sum(one.amount for one in result.tray_changes or ())
            tray = sum(line.amount for line in lines if line.account == "tray")
            assert tray == result.net - tokes + changed


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(FACTS, max_size=25), st.lists(FACTS, max_size=25), st.sampled_from(IDS))
def test_a_prefix_settles_alike_whatever_follows(
    told: list[AnyFact], later: list[AnyFact], name: str
) -> None:
    """Rounds that closed stay as they settled; an opening parts them from what follows."""
    first = [*told, ev.RoundClosed(), ev.RoundOpened(round=99)]
    alone = _settled(first, name)[:-1]
    assert _settled([*first, *later], name)[: len(alone)] == alone


@settings(max_examples=examples(80), deadline=None)
@given(st.permutations([1, 2, 3]), st.lists(st.sampled_from(DECK), min_size=8, max_size=8))
def test_permuting_the_spots_permutes_their_results(order: list[int], cards: list[Card]) -> None:
    def played(places: list[int]) -> dict[int, tuple[str, int | None]]:
        """Deal pair *n* of the cards to the spot at place *n*."""
        one = {spot: cards[2 * n] for n, spot in enumerate(places)}
        two = {spot: cards[2 * n + 1] for n, spot in enumerate(places)}
        bets = "".join(f"bet {spot} 1000; " for spot in (1, 2, 3))
        first = "".join(f"{spot} {one[spot]}; " for spot in (1, 2, 3))
        second = "".join(f"{spot} {two[spot]}; " for spot in (1, 2, 3))
        up, hole = cards[6], cards[7]
        result = one_round(
            f"{bets}{first}D {up}; {second}D {hole} down; show D {hole}; close",
            "kansas-shoe",
            "policy.dealer_underdraw=as_lies",
        )
        by_spot = {spot.spot: (spot.hands[0].outcome, spot.net) for spot in result.spots}
        return {n: by_spot[spot] for n, spot in enumerate(places)}

    assert played(order) == played([1, 2, 3])


@pytest.mark.parametrize("name", IDS)
def test_the_same_facts_settle_the_same(name: str) -> None:
    told = facts(
        "bet 1 1000; 1 8S; D 6C; 1 8D; D TC down; say-split 1; split 1.1 1000; 1 TS; close"
    )
    assert _settled(told, name) == _settled(told, name)


def test_a_posting_moves_money_between_the_tray_and_a_spot() -> None:
    result = one_round("bet 1 1000; 1 TS; D AC; 1 9D; D KC down; ins 1 500; show D KC; close")
    accounts = Counter[str]()
    for line in post(result):
        accounts[line.account] += line.amount
    assert accounts == {"spot:1": -1000, "spot:1/insurance": 1000, "tray": 0}
