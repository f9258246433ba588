"""A card that nobody knows, against every card it may be: what is settled, and what is left open.

Each random round is told with a card of it unread. Settling it with every rank in its place says
what the round may come to: the engine must settle exactly what all of them agree on, and give for
the rest exactly the outcomes that remain, each with the ranks that lead to it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

import msgspec
import pytest

from models import events as ev
from models.cards import Card, pack
from models.events import AnyFact
from models.judgements import HandResult, Possible, RoundResult
from models.rulebook import Rulebook
from settlement.engine import Engine
from tests.settlement.plain.game import Game, Style
from tests.settlement.plain.houses import any_house
from tests.settlement.table import IDS, rules


def _as_played(house: Rulebook) -> Rulebook:
    """Let options stand as they were played, whatever the cards behind them turn out to be."""
    policy = msgspec.structs.replace(house.policy, illegal_option="as_played")
    return msgspec.structs.replace(house, policy=policy)


HOUSES = (
    *map(rules, IDS),
    *(_as_played(any_house(f"unknown:{number}")) for number in range(13)),
)
by_house = pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.id)


@dataclass(frozen=True)
class Unread:
    """A round, and the places among its facts of the cards that nobody read."""

    facts: tuple[AnyFact, ...]
    places: tuple[int, ...]

    def told(self, cards: Sequence[Card | None]) -> list[AnyFact]:
        """Return the facts with these cards in the places."""
        facts = list(self.facts)
        for place, card in zip(self.places, cards, strict=True):
            facts[place] = msgspec.structs.replace(facts[place], card=card)
        return facts


def unread_rounds(house: Rulebook, count: int, unread: int) -> Iterator[Unread]:
    random = Random(f"{house.id}:{unread}")
    for number in range(count):
        peek = bool(number % 2)
        style = Style(True, False, False, peek, True, 1.0, "none", False, False)
        game = Game(house, f"{house.id}:unknown:{number}", spots=3, style=style)
        facts = tuple(_unshown(game.play().facts))
        dealt = [at for at, fact in enumerate(facts) if isinstance(fact, ev.CardDealt)]
        yield Unread(facts, tuple(sorted(random.sample(dealt, unread))))


def _unshown(facts: Sequence[AnyFact]) -> Iterator[AnyFact]:
    """Have cards turned up without anyone reading them again."""
    for fact in facts:
        if isinstance(fact, ev.CardExposed):
            if fact.to == "dealer":
                yield ev.CardExposed(to="dealer", card=None)
        elif not isinstance(fact, ev.CardBoxed | ev.CardBurned):
            yield fact


def settled(house: Rulebook, facts: Sequence[AnyFact]) -> RoundResult:
    engine = Engine(house)
    (result,) = [one for fact in facts for one in engine.feed(fact)]
    return result


def ways(house: Rulebook, unread: Unread) -> Iterator[tuple[tuple[str, ...], RoundResult]]:
    """Settle the round with every rank in each place that the dealer's look leaves possible."""
    looked = [fact.blackjack for fact in unread.facts if isinstance(fact, ev.HoleCardChecked)]
    held = dict.fromkeys(card.rank for card in pack(house.pack_without))
    for ranks in product(held, repeat=len(unread.places)):
        facts = unread.told([Card(f"{rank}?") for rank in ranks])
        result = settled(house, facts)
        if not looked or _natural(facts) == looked[0]:
            yield ranks, result


def _natural(facts: Sequence[AnyFact]) -> bool:
    dealer = [fact.card for fact in facts if isinstance(fact, ev.CardDealt) and fact.to == "dealer"]
    return {card.points for card in dealer[:2] if card} == {1, 10}


def hands(result: RoundResult) -> dict[tuple[int, int], HandResult]:
    return {(spot.spot, hand.hand): hand for spot in result.spots for hand in spot.hands}


def ranks_said(condition: str) -> set[str]:
    """Read ``… card is an ace, 7 or a ten`` as the ranks it names, whatever the suits are."""
    words: list[str] = []
    for one in condition.split("; "):
        words += re.split(r", | or ", one.partition(" is ")[2].partition(" and ")[0])
    named = {"an ace": "A", "a ten": "TJQK"}
    return {rank for word in words for rank in named.get(word, word)}


def results(hand: HandResult) -> set[tuple[str, int | None]]:
    """Return what a hand comes to, or all that it may where its suits decide."""
    if isinstance(hand.possible, tuple):
        return {(way.outcome, way.net) for way in hand.possible}
    return {(hand.outcome, hand.net)}


@by_house
def test_one_unread_card_leaves_open_exactly_what_hangs_on_it(house: Rulebook) -> None:
    for unread in unread_rounds(house, 25, 1):
        _check_one(house, unread)


def _check_one(house: Rulebook, unread: Unread) -> None:
    every = list(ways(house, unread))
    for key, hand in hands(settled(house, unread.told([None]))).items():
        may: dict[tuple[str, int | None], set[str]] = {}
        for (rank,), result in every:
            for each in results(hands(result)[key]):
                may.setdefault(each, set()).add(rank)
        ranks = [card.rank for card in pack(house.pack_without)]
        assert _settles_as(hand, may, ranks), (unread.told([None]), key, hand, may)


def _settles_as(
    hand: HandResult, may: dict[tuple[str, int | None], set[str]], ranks: Sequence[str]
) -> bool:
    if len(may) == 1:
        return (hand.outcome, hand.net) in may
    open_: tuple[Possible, ...] = hand.possible if isinstance(hand.possible, tuple) else ()
    said = {(way.outcome, way.net): ranks_said(way.condition) & {*ranks} for way in open_}
    return (hand.outcome, hand.net) == ("unknown", None) and said == may


@by_house
def test_two_unread_cards_leave_open_exactly_what_hangs_on_them(house: Rulebook) -> None:
    for unread in unread_rounds(house, 4, 2):
        found = settled(house, unread.told([None, None]))
        every = [hands(result) for _, result in ways(house, unread)]
        for key, hand in hands(found).items():
            may = {one for other in every for one in results(other[key])}
            if len(may) == 1:
                assert (hand.outcome, hand.net) in may
            else:
                assert hand.outcome == "unknown"
                assert isinstance(hand.possible, tuple)
                assert {(way.outcome, way.net) for way in hand.possible} == may


@by_house
def test_a_round_with_something_open_is_not_final(house: Rulebook) -> None:
    for unread in unread_rounds(house, 25, 1):
        found = settled(house, unread.told([None]))
        outcomes = {hand.outcome for hand in hands(found).values()}
        waits = bool(outcomes & {"unknown", "pending"}) or None in [
            spot.insurance.net for spot in found.spots if spot.insurance
        ]
        assert found.status == ("pending" if waits else "final")
        assert (found.net is None) is waits
