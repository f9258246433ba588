"""Random rounds with side bets: settled as the printed pay tables say, to the cent.

``PITWATCH_RANDOM_ROUNDS`` sets how many rounds each house plays.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from random import Random

import pytest
from msgspec.structs import replace

from models import events as ev
from models.events import AnyFact
from models.judgements import RoundResult
from models.rulebook import Rulebook
from settlement.engine import Engine
from settlement.ledger import post
from settlement.pay_tables import side_bets
from stream.library import side_bet_ids, side_bet_text
from tests.settlement.plain.checking import sides
from tests.settlement.plain.houses import any_house
from tests.settlement.plain.side_bets import PAY_TABLES, SideGame, WithSides
from tests.settlement.table import IDS, rules

ROUNDS = 40
"""Rounds at one table."""
TABLES = -(-int(os.environ.get("PITWATCH_RANDOM_ROUNDS", "120")) // ROUNDS)


def with_bets(house: Rulebook, seed: int | str, *more: str) -> Rulebook:
    """Return a house that takes some of the shipped side bets."""
    names = {*Random(seed).sample(side_bet_ids(), 3), *more}
    tables = {name: {"extends": name} for name in sorted(names)}
    bets = side_bets(tables, "", "test", side_bet_text)
    return replace(house, side_wagers=True, side_bets=bets)


def played(game: SideGame, count: int) -> Iterator[WithSides]:
    for _ in range(count):
        yield game.play_with_sides()


def settled(
    house: Rulebook, rounds: Iterable[WithSides]
) -> Iterator[tuple[WithSides, RoundResult]]:
    engine, waiting = Engine(house, patient=True), deque[WithSides]()
    for one in rounds:
        waiting.append(one)
        for seq, fact in enumerate(one.played.facts, one.played.first):
            for result in engine.feed(fact, seq):
                yield waiting.popleft(), result
    for result in engine.finish():
        yield waiting.popleft(), result
    assert not waiting


def agrees(one: WithSides, result: RoundResult) -> None:
    assert sides(result) == one.sides
    hands = sum(net or 0 for _, net in one.played.hands.values())
    insurance = sum(net for _, net in one.played.insurance.values())
    if result.net is not None:
        assert -result.net == hands + insurance + sum(net for _, net in one.sides.values())
    assert sum(line.amount for line in post(result)) == 0
    posted = {line.account: line.amount for line in post(result)}
    for (spot, bet), (_, net) in one.sides.items():
        assert posted.get(f"spot:{spot}/side:{bet}", 0) == net


HOUSES = (*(rules(name) for name in IDS if rules(name).side_wagers), *map(any_house, range(8)))


def test_every_shipped_bet_has_its_printed_pay_table() -> None:
    assert set(PAY_TABLES) == set(side_bet_ids())


@pytest.mark.parametrize("number", range(len(HOUSES)))
def test_right_payments_are_no_violation(number: int) -> None:
    for table in range(TABLES):
        house = with_bets(HOUSES[number], f"{number}:{table}")
        for one, result in settled(house, played(SideGame(house, f"{number}:{table}"), ROUNDS)):
            agrees(one, result)
            assert [(found.code, found.detail) for found in result.violations] == [], one.played


@pytest.mark.parametrize("number", range(len(HOUSES)))
def test_a_cent_wrong_is_one_wrong_payout_that_names_the_bet(number: int) -> None:
    wrong = 0
    for table in range(TABLES):
        house = with_bets(HOUSES[number], f"wrong {number}:{table}")
        game = SideGame(house, f"wrong {number}:{table}", wrong=0.2)
        for one, result in settled(house, played(game, ROUNDS)):
            agrees(one, result)
            found = [(each.code, each.spot) for each in result.violations]
            if one.wrong is None:
                assert found == []
                continue
            spot, bet = one.wrong
            assert found == [("wrong_payout", spot)]
            assert result.violations[0].detail.startswith(f"side bet {bet}: due ")
            wrong += 1
    assert wrong > ROUNDS // 4


def garbled(facts: Iterable[AnyFact], house: Rulebook, random: Random) -> Iterator[AnyFact]:
    """Yield facts of which some are missing, repeated, unread, misnamed or made up."""
    bets = list(house.side_bets)
    for fact in facts:
        lot = random.random()
        if lot < 0.03:
            continue
        told = fact
        if lot < 0.1 and isinstance(fact, ev.CardDealt | ev.CardExposed):
            told = replace(fact, card=None)
        elif lot < 0.1 and isinstance(fact, ev.PaymentMade):
            told = replace(fact, bet=random.choice([None, "other", *bets]))
        if lot > 0.995:
            yield ev.RoundCalledOff() if random.random() < 0.5 else ev.HandCalledOff(spot=1)
        elif lot > 0.985:
            spot, bet, bettor = (
                random.randint(1, 5),
                random.choice(bets),
                random.choice([None, "A"]),
            )
            kinds = (ev.WagerPlaced, ev.WagerRemoved)
            yield random.choice(kinds)(spot=spot, kind="side", amount=50, bet=bet, bettor=bettor)
        yield told
        if lot > 0.96:
            yield told


@pytest.mark.parametrize("seed", range(14))
def test_a_garbled_record_is_settled_and_its_sums_hold(seed: int) -> None:
    house = with_bets(HOUSES[seed % len(HOUSES)], seed)
    told = [fact for one in played(SideGame(house, seed), 6) for fact in one.played.facts]
    engine = Engine(house, patient=True)
    results = [r for fact in garbled(told, house, Random(seed)) for r in engine.feed(fact)]
    for result in (*results, *engine.finish()):
        assert sum(line.amount for line in post(result)) == 0
        for spot in result.spots:
            insured = [] if spot.insurance is None else [spot.insurance.net]
            sides = [side for side in spot.side or () if side.outcome != "unjudged"]
            nets = [*insured, *(one.net for one in spot.hands), *(one.net for one in sides)]
            assert spot.net == (None if None in nets else sum(net or 0 for net in nets))
            assert all(bool(side.possible) == (side.outcome == "unknown") for side in sides)
