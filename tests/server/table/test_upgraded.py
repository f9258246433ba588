"""Between two rounds a table goes on under a release that infers other facts than the last one."""

from collections.abc import Sequence
from dataclasses import replace as with_
from pathlib import Path

import pytest
from msgspec.structs import replace

from models.errors import TechnicianError
from models.events import CardDealt, ProgramStated, RoundClosed, RoundOpened, ShoeLoaded
from models.judgements import AnyEvent, LedgerPosted
from server.process.program import program_stated
from server.table.live import LiveTable
from server.table.rest import Rest
from server.table.resume import past_of, recall
from stream.clock import HostClock
from stream.journal import Journal
from tests.faults.live_process import Blind, known_driver
from tests.server.table.journalled import begun
from tests.server.table.test_going_on import Watched, known, last_rest
from tests.server.table.test_run import concluded
from tests.settlement.sessions import Session, session

ROUNDS = 6
"""Of five spots: all from one shoe."""
BEFORE, NOW = "b" * 64, "a" * 64


def stated(program: str, at_ns: int) -> ProgramStated:
    return ProgramStated(source="program", at=at_ns, version="0.0.0", program_hash=program)


@pytest.fixture(scope="module")
def played() -> Session:
    return session("kansas-shoe", 7, rounds=ROUNDS)


@pytest.fixture(scope="module")
def written(played: Session) -> tuple[AnyEvent, ...]:
    """The journal of a release that put the first card of each round a little later."""
    with Journal.in_memory() as journal:
        table = Watched(journal, played)
        table.observe([(played.heard[0][0], stated(BEFORE, played.heard[0][0])), *played.heard])
        table.wait(table.now_ns + 15_000_000_000)
        return tuple(otherwise(known(journal)))


def otherwise(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    found, opened = list(events), False
    for at, event in enumerate(found):
        opened = opened or isinstance(event, RoundOpened)
        if opened and isinstance(event, CardDealt):
            found[at], opened = replace(event, at=(event.at or 0) + 1_000_000), False
    return found


def after_round(events: Sequence[AnyEvent], number: int) -> int:
    """Return the number of entries up to the end of a round: its ledger is posted."""
    return max(
        one.seq or 0 for one in events if isinstance(one, LedgerPosted) and one.round == number
    )


def gone_on(journal: Journal, played: Session, rest: Rest | None) -> Watched:
    past = past_of(journal)
    table = Watched(journal, played, rest)
    recall(past, table.pipeline, table.record, rest)
    table.now_ns = past.end_ns
    return table


def test_the_rounds_to_come_are_inferred_by_the_release_in_use(
    played: Session, written: tuple[AnyEvent, ...]
) -> None:
    cut = after_round(written, 3)
    with Journal.in_memory() as journal:
        journal.append_all(replace(event, seq=None) for event in written[:cut])
        past = past_of(journal)
        rest = past.reading.rest_under(NOW)
        assert rest is not None
        assert rest.played == 3
        table = gone_on(journal, played, rest)
        to_come = played.heard[len(past.observations) - 1 :]
        table.observe([(past.end_ns, stated(NOW, past.end_ns)), *to_come])
        table.wait(table.now_ns + 15_000_000_000)
        found = concluded(known(journal))
        # A later start, which finds the change of the release in the journal, agrees with it.
        again = past_of(journal)
        assert again.rest == rest
        assert again.reading.rest_under(NOW) == rest
        gone_on(journal, played, again.rest)
        assert len(known(journal)) == len(table.noted)
    due = concluded(written)
    passed = len(concluded(written[:cut]))
    assert found[:passed] == due[:passed]
    assert otherwise(found[passed:]) == due[passed:]


def test_within_a_shoe_the_same_release_has_no_such_rest(written: tuple[AnyEvent, ...]) -> None:
    assert last_rest(written[: after_round(written, 3)]) is None


def test_a_round_in_play_is_not_taken_over(played: Session, written: tuple[AnyEvent, ...]) -> None:
    opened = [one.seq or 0 for one in written if isinstance(one, RoundOpened)]
    closed = [one.seq or 0 for one in written if isinstance(one, RoundClosed)]
    for cut in range(opened[2] + 8, closed[2], 5):
        with Journal.in_memory() as journal:
            journal.append_all(replace(event, seq=None) for event in written[:cut])
            assert past_of(journal).reading.rest_under(NOW) is None
            with pytest.raises(TechnicianError, match="differs"):
                gone_on(journal, played, None)


def test_a_live_table_starts_on_the_journal_of_another_release(tmp_path: Path) -> None:
    with known_driver():
        placed = begun(tmp_path, ROUNDS)
        placed = with_(placed, config=replace(placed.config, recorder=None))
        with Journal.open(placed.beside(placed.config.journal)) as journal:
            events = known(journal)
        assert sum(isinstance(one, ShoeLoaded) for one in events) == 1
        cut = after_round(events, 3)
        with Journal.in_memory() as journal:
            journal.append_all(replace(one, seq=None) for one in otherwise(events[:cut]))
            with pytest.raises(TechnicianError, match="differs"):
                LiveTable(placed, journal, HostClock(), Blind())
            LiveTable(placed, journal, HostClock(), Blind(), stating=program_stated)
            assert journal.last_seq == cut
