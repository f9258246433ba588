"""What the journal holds once observations have gone the one way to settlements."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, cast

import pytest
from msgspec.structs import replace

from models.decode import from_toml
from models.events import (
    AnyFact,
    CardSighted,
    Fact,
    Judgement,
    Observation,
    RoundClosed,
    RoundOpened,
)
from models.judgements import (
    AnyEvent,
    LedgerPosted,
    Review,
    ReviewRaised,
    RoundSettled,
)
from models.layout import TableLayout
from server.house.rulebooks import rules_for
from server.process.stopwatch import Stopwatch
from server.table.pipeline import Pipeline
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from stream import library
from stream.journal import Journal
from tests.golden.sessions import Heard, heard
from tests.server.doubted import blinded


def journalled(
    observations: list[Heard], wrapped: Callable[[Reckoning], Reckoning] = lambda own: own
) -> tuple[Pipeline, list[AnyEvent]]:
    rules = rules_for("kansas-shoe")
    layout = from_toml(library.layout_text("five-spots"), TableLayout, "five-spots")
    journal = Journal.in_memory()
    reconciler = wrapped(Reckoning(rules, layout))
    pipeline = Pipeline("BJ-01", journal, reconciler, Engine(rules), Stopwatch(lambda: 0))
    for one in observations:
        pipeline.observe((one.observation,), one.now_ns)
    pipeline.finish()
    return pipeline, list(journal.read())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def events() -> list[AnyEvent]:
    return journalled(heard("plain"))[1]


def test_every_entry_has_its_number_and_its_table(events: list[AnyEvent]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.table for event in events} == {"BJ-01"}


def test_a_fact_rests_on_observations_journalled_before_it(events: list[AnyEvent]) -> None:
    by_seq = {event.seq: event for event in events}
    facts = [event for event in events if isinstance(event, Fact)]
    assert facts
    for fact in facts:
        assert fact.evidence or isinstance(fact, RoundOpened)
        for seq in fact.evidence:
            assert isinstance(by_seq[seq], Observation)
            assert seq < (fact.seq or 0)


def test_a_settlement_rests_on_the_facts_of_its_own_round(events: list[AnyEvent]) -> None:
    by_seq = {event.seq: event for event in events}
    settled = [event for event in events if isinstance(event, RoundSettled)]
    assert len(settled) == 2
    for judgement in settled:
        facts = [by_seq[seq] for seq in judgement.because]
        opened = [fact.round for fact in facts if isinstance(fact, RoundOpened)]
        assert opened == [judgement.result.round]
        assert isinstance(facts[-1], RoundClosed)
        assert all(isinstance(fact, Fact) for fact in facts)


def test_the_ledger_of_each_round_sums_to_zero_and_gives_what_was_won(
    events: list[AnyEvent],
) -> None:
    sums: dict[int, int] = defaultdict(int)
    tray: dict[int, int] = defaultdict(int)
    for event in events:
        if isinstance(event, LedgerPosted):
            sums[event.round] += event.amount
            tray[event.round] += event.amount if event.account == "tray" else 0
    results = [event.result for event in events if isinstance(event, RoundSettled)]
    assert {result.round: 0 for result in results if result.net} == dict(sums)
    assert {result.round: result.net for result in results if result.net} == dict(tray)


@pytest.mark.slow
def test_a_round_in_doubt_is_held_open_and_moves_no_money() -> None:
    blind = [one for one in heard("mistake") if not isinstance(one.observation, CardSighted)]
    pipeline, events = journalled(blind)
    assert any(isinstance(event, ReviewRaised) for event in events)
    assert all(result.status != "final" for result in pipeline.rounds())
    assert not any(isinstance(event, LedgerPosted) for event in events)


def test_a_round_doubted_after_it_was_posted_is_taken_back_in_the_ledger() -> None:
    class Doubting:
        """No subclass: a compiled reconciler has none that is not compiled."""

        def __init__(self, own: Reckoning) -> None:
            self._own = own

        def __getattr__(self, name: str) -> Any:
            return getattr(self._own, name)

        def finish(self) -> tuple[AnyFact | ReviewRaised, ...]:
            doubt = Review("a player disputes the payment", (), (1,))
            return (*self._own.finish(), ReviewRaised(round=1, review=doubt))

    pipeline, events = journalled(heard("plain"), lambda own: cast(Reckoning, Doubting(own)))
    assert [result.status for result in pipeline.rounds()] == ["review", "final"]
    sums: dict[tuple[int, str], int] = defaultdict(int)
    for event in events:
        if isinstance(event, LedgerPosted):
            sums[event.round, event.account] += event.amount
    assert {amount for (number, _), amount in sums.items() if number == 1} == {0}
    assert any(amount for (number, _), amount in sums.items() if number == 2)


def test_every_judgement_names_what_it_rests_on_or_holds_open(events: list[AnyEvent]) -> None:
    for event in events:
        if isinstance(event, Judgement) and not isinstance(event, ReviewRaised):
            assert event.because


@pytest.mark.parametrize("cut", [None, 12, 40], ids=["whole", "deal", "play"])
def test_every_entry_has_its_time_and_a_judgement_none_before_what_it_rests_on(
    cut: int | None,
) -> None:
    """With a card in doubt, and where the session ends in the middle of a round."""
    _, events = journalled(list(blinded())[:cut])
    assert cut is None or not any(isinstance(event, RoundClosed) for event in events)
    assert any(isinstance(event, ReviewRaised) for event in events)
    assert all(event.at is not None for event in events)
    times = {event.seq: event.at or 0 for event in events}
    for event in events:
        if isinstance(event, ReviewRaised):
            assert all(times[seq] <= (event.at or 0) for seq in event.review.evidence)
        elif isinstance(event, Judgement):
            assert all(times[seq] <= (event.at or 0) for seq in event.because)


def test_a_report_that_comes_after_its_time_says_when() -> None:
    """Deadlines up to then have passed before it: processed again, it comes after them again."""
    first, second = heard("plain")[:2]
    late_ns = first.now_ns + 500_000_000
    seen = replace(second.observation, at=late_ns - 50_000_000)
    _, events = journalled([first, Heard(late_ns, seen)])
    said = [one for one in events if isinstance(one, Observation)]
    assert [one.heard for one in said] == [None, late_ns]
