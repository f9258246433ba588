"""A person chooses one of the accounts of a round: it settles as that account says, for good."""

from collections.abc import Iterator

import pytest

from models.events import Fact, ReviewResolved
from models.judgements import Account, ReviewRaised, RoundResult
from server.process.stopwatch import Stopwatch
from server.table.pipeline import Pipeline
from server.table.settlement_book import SettlementBook
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from stream.journal import Journal
from tests.sensors.noise import Plan, Rates, heard
from tests.thoroughness import one_in

SHOE = Plan("kansas-shoe", Rates().times(10), 8, 4, clinging=False, show=True)
DEAD = Plan("kansas-shoe", Rates(), 8, 3, clinging=False, show=True, dead="shoe")
PLAYED = {
    "which card, by the shoe or by the camera": (SHOE, 8),
    "a card out of turn, or another card": (SHOE, 10),
    "the order of cards, and a card that nobody saw": (DEAD, 4),
    "mistakes of several kinds": (DEAD, 11),
}
NO_CLAUSE = frozenset({"taken_early", "stood", "left_broken", "impossible_card"})
"""Mistakes by which an account is weighed, and that no round is charged with alone."""


def played(plan: Plan, seed: int, journal: Journal) -> Pipeline:
    told = heard(seed, plan)
    reading = Reckoning(told.rules, told.layout, told.dealing)
    pipeline = Pipeline("BJ-01", journal, reading, Engine(told.rules), Stopwatch(lambda: 0))
    for at, one in told.spoilt:
        pipeline.observe((one,), at)
    pipeline.finish()
    return pipeline


def items(journal: Journal) -> Iterator[tuple[int, int, ReviewRaised]]:
    """Yield every item with its round and its number there."""
    numbers: dict[int, int] = {}
    for event in journal.read():
        if isinstance(event, ReviewRaised):
            item = numbers[event.round] = numbers.get(event.round, -1) + 1
            yield event.round, item, event


def chosen(number: int, item: int, account: int) -> ReviewResolved:
    return ReviewResolved(
        source="console:ann",
        at=9_000_000_000_000_000_000,
        round=number,
        item=item,
        decision="account",
        account=account,
    )


def settles_as(result: RoundResult, account: Account) -> None:
    hands = {(spot.spot, hand.hand): hand for spot in result.spots for hand in spot.hands}
    for told in account.hands:
        hand = hands[told.spot, told.hand]
        assert (hand.outcome, hand.net) == (told.outcome, told.net)
    mistakes = {
        one.code if one.spot is None else f"{one.code} at spot {one.spot}"
        for one in result.violations
    }
    known = {one for one in account.mistakes if one.split()[0] not in NO_CLAUSE}
    assert {one for one in mistakes if one.split()[0] not in NO_CLAUSE} == known


@pytest.mark.parametrize(
    ("plan", "seed"), one_in(2, tuple(PLAYED.values())), ids=one_in(2, tuple(PLAYED))
)
def test_an_account_that_a_person_chooses_settles_as_it_says(plan: Plan, seed: int) -> None:
    with Journal.in_memory() as journal:
        pipeline = played(plan, seed, journal)
        facts = [event for event in journal.read() if isinstance(event, Fact)]
        tried = 0
        for number, item, raised in tuple(items(journal)):
            for nth, account in enumerate(raised.accounts or ()):
                choice = chosen(number, item, nth)
                pipeline.check(choice)
                pipeline.observe((choice,), choice.at or 0)
                (result,) = [one for one in pipeline.rounds() if one.round == number]
                assert all(one != raised.review for one in result.reviews or ())
                if nth:
                    settles_as(result, account)
                tried += 1
            if raised.accounts:
                pipeline.observe((chosen(number, item, 0),), chosen(number, item, 0).at or 0)
        assert tried
        assert [event for event in journal.read() if isinstance(event, Fact)] == facts
        recalled = SettlementBook(list, journal.read)
        recalled.recall(journal.read(), heard(seed, plan).rules)
        assert recalled.rounds() == pipeline.rounds()
