"""A payment entered after the round closed: the journal settles the round again, at once."""

from functools import cache
from random import Random
from typing import get_args

import pytest
from msgspec.structs import replace

from models.events import AnyFact, AnyObservation, CardDealt, ConsoleEntry, PaymentMade, RoundClosed
from models.judgements import AnyEvent, LedgerPosted, RoundSettled
from models.rulebook import Rulebook
from server.table.resume import past_of, recall
from server.table.settlement_book import SettlementBook
from settlement.engine import Engine
from stream.journal import Journal
from tests.server.table.test_going_on import AFTER_NS, Watched, known
from tests.server.table.test_run import concluded
from tests.settlement.felt_scene import START_NS
from tests.settlement.sessions import Session, session

ROUNDS = 33
FACTS = get_args(AnyFact)
SECOND = 1_000_000_000


@cache
def played() -> Session:
    return session("kansas-shoe", 7, rounds=ROUNDS)


@cache
def with_late_payment() -> tuple[tuple[int, AnyObservation], ...]:
    """The session, with five dollars more for spot 1 entered after every third round."""
    closings = [fact.at or 0 for fact in played().truth if isinstance(fact, RoundClosed)]
    cards = [fact.at or 0 for fact in played().truth if isinstance(fact, CardDealt)]
    more: list[tuple[int, AnyObservation]] = []
    for closed in closings[::3]:
        then = min((at for at in cards if at > closed), default=closed + 10 * SECOND)
        at = START_NS + closed + (then - closed) * 3 // 5
        fact = PaymentMade(at=at, spot=1, amount=500)
        more.append((at, ConsoleEntry(at=at, source="console:floor", fact=fact)))
    return tuple(sorted([*played().heard, *more], key=lambda one: one[0]))


@cache
def events() -> tuple[AnyEvent, ...]:
    with Journal.in_memory() as journal:
        table = Watched(journal, played())
        table.observe(with_late_payment())
        table.wait(table.now_ns + AFTER_NS)
        return tuple(known(journal))


def _settlements(number: int) -> list[RoundSettled]:
    settled = [event for event in events() if isinstance(event, RoundSettled)]
    return [event for event in settled if event.result.round == number]


def test_a_round_settles_as_it_closes_and_again_as_it_is_paid_late() -> None:
    for number in range(1, ROUNDS + 1):
        late = (number - 1) % 3 == 0
        assert len(_settlements(number)) == (2 if late else 1)


def test_the_second_settlement_rests_on_the_first_ones_facts_and_the_payment() -> None:
    by_seq = {event.seq: event for event in events()}
    first, second = _settlements(1)
    assert second.because[: len(first.because)] == first.because
    (payment,) = second.because[len(first.because) :]
    assert isinstance(by_seq[payment], PaymentMade)
    assert (second.seq or 0) == payment + 1
    assert [one.code for one in first.result.violations] == []
    (wrong,) = second.result.violations
    assert (wrong.code, wrong.seq, wrong.spot) == ("wrong_payout", payment, 1)
    assert second.result.net == first.result.net


def test_what_is_due_does_not_change_and_is_posted_once() -> None:
    for number in (1, 2, 4):
        lines = [e for e in events() if isinstance(e, LedgerPosted) and e.round == number]
        assert sum(line.amount for line in lines) == 0
        assert not any(line.memo.startswith(("held", "settled anew")) for line in lines)
        last = _settlements(number)[-1].result
        assert sum(line.amount for line in lines if line.account == "tray") == last.net


def test_no_round_is_opened_for_it() -> None:
    settled = [event for event in events() if isinstance(event, RoundSettled)]
    assert {event.result.round for event in settled} == set(range(1, ROUNDS + 1))


@pytest.mark.slow
def test_a_table_cut_off_anywhere_goes_on_as_if_left_alone() -> None:
    chance = Random("late")
    late = [n for n, e in enumerate(events(), 1) if isinstance(e, ConsoleEntry)]
    cuts = [n + after for n in chance.sample(late, 2) for after in (0, 1, 2, 3, 4)]
    cuts += [chance.randrange(len(events()) // 2, len(events())) for _ in range(3)]
    due, rested = concluded(events()), 0
    for cut in cuts:
        with Journal.in_memory() as journal:
            journal.append_all(replace(event, seq=None) for event in events()[:cut])
            past = past_of(journal)
            rested += past.rest is not None
            table = Watched(journal, played(), past.rest)
            recall(past, table.pipeline, table.record, past.rest)
            table.now_ns = past.end_ns
            table.observe(with_late_payment()[len(past.observations) :][:120])
            found = concluded(known(journal))
        assert len(found) >= len(concluded(events()[:cut]))
        assert found == due[: len(found)]
    assert rested


def _recalled(known_: tuple[AnyEvent, ...], rules: Rulebook) -> SettlementBook:
    book = SettlementBook(list, lambda _: iter(known_))
    book.recall(known_, rules)
    return book


def test_a_journal_read_again_stands_as_its_last_settlements() -> None:
    last = {e.result.round: e.result for e in events() if isinstance(e, RoundSettled)}
    again = {result.round: result for result in _recalled(events(), played().rules).rounds()}
    assert {n: again[n] for n in last} == last


def test_a_journal_torn_before_the_second_settlement_is_taken_up() -> None:
    second = _settlements(31)[-1]
    torn = tuple(event for event in events() if (event.seq or 0) < (second.seq or 0))
    rounds = _recalled(torn, played().rules).rounds()
    assert [one.code for one in rounds[-1].violations] == ["wrong_payout"]


def test_settling_the_facts_of_the_journal_gives_what_the_table_gave() -> None:
    engine = Engine(played().rules, patient=True)
    facts = [event for event in events() if isinstance(event, FACTS)]
    results = [result for fact in facts for result in engine.feed(fact)]
    results += engine.finish()
    last = {e.result.round: e.result for e in events() if isinstance(e, RoundSettled)}
    assert {result.round: result.violations for result in results} == {
        number: result.violations for number, result in last.items()
    }
