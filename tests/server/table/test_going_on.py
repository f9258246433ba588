"""A table that goes on with its journal processes what it must again, with the same result."""

from collections.abc import Callable, Sequence
from dataclasses import replace as with_
from functools import cache
from random import Random

import pytest
from msgspec.structs import replace

from models.cards import Card
from models.errors import TechnicianError
from models.events import (
    AnyObservation,
    CameraFault,
    CardDealt,
    CardGone,
    CardSighted,
    ConsoleEntry,
    Event,
    ReaderFault,
    ShoeLoaded,
    ShoeStarted,
)
from models.judgements import AnyEvent, ReviewRaised
from server.process.stopwatch import Stopwatch
from server.table.pipeline import Pipeline
from server.table.record import TableRecord
from server.table.rest import Rest, RestReading
from server.table.resume import past_of, recall
from settlement.engine import Engine
from settlement.reckoning import Dealing, Reckoning
from simulation.dealing import is_shoe_game
from stream.journal import Journal
from stream.reading import UnknownEvent
from tests.server.table.test_run import concluded
from tests.settlement.noise import everything_at_once, renumbered
from tests.settlement.sessions import Session, session

STEP_NS = 200_000_000
AFTER_NS = 15_000_000_000
ROUNDS = 33
"""Of five spots: two shoes come to their end."""
HAND_DEALT_ROUNDS = 8
"""Of five spots: one deck is shuffled several times."""


class Watched:
    """A table's pipeline on a journal, with observations as on a live table."""

    def __init__(self, journal: Journal, played: Session, rest: Rest | None = None) -> None:
        self.noted: list[int] = []
        self.on_entry: Callable[[Event], None] = lambda _: None
        self.record = TableRecord(journal, self._note)
        before = 0 if rest is None else rest.played
        dealing: Dealing = "shoe" if is_shoe_game(played.rules) else "pitch"
        reconciler = Reckoning(played.rules, played.layout, dealing, played=before)
        engine = Engine(played.rules)
        self.pipeline = Pipeline("T", self.record, reconciler, engine, Stopwatch(lambda: 0), kept=5)
        self.now_ns = played.heard[0][0]

    def _note(self, event: Event) -> None:
        self.noted.append(event.seq or 0)
        self.on_entry(event)

    def observe(self, observations: Sequence[tuple[int, AnyObservation]]) -> None:
        for at_ns, one in observations:
            self.wait(at_ns)
            self.pipeline.observe((replace(one, seq=None),), at_ns)

    def wait(self, until_ns: int) -> None:
        for at_ns in range(self.now_ns, until_ns, STEP_NS):
            self.pipeline.observe((), at_ns)
        self.now_ns = max(self.now_ns, until_ns)


def known(journal: Journal) -> list[AnyEvent]:
    return [event for event in journal.read() if not isinstance(event, UnknownEvent)]


@cache
def played(*, noisy: bool, rules: str = "kansas-shoe") -> Session:
    dealt = session(rules, 7, rounds=ROUNDS if rules == "kansas-shoe" else HAND_DEALT_ROUNDS)
    observations = renumbered(everything_at_once(dealt.heard, Random(7))) if noisy else dealt.heard
    return with_(dealt, heard=tuple(observations))


@cache
def alone(*, noisy: bool, rules: str = "kansas-shoe") -> tuple[AnyEvent, ...]:
    """The journal of a table that was left alone."""
    with Journal.in_memory() as journal:
        table = Watched(journal, played(noisy=noisy, rules=rules))
        table.observe(played(noisy=noisy, rules=rules).heard)
        table.wait(table.now_ns + AFTER_NS)
        return tuple(known(journal))


def last_rest(events: Sequence[AnyEvent]) -> Rest | None:
    reading = RestReading()
    for event in events:
        reading.follow(event)
    return reading.rest


def begins_a_shoe(event: AnyEvent) -> bool:
    if isinstance(event, ConsoleEntry):
        return isinstance(event.fact, ShoeStarted)
    return isinstance(event, ShoeLoaded)


def cuts(events: Sequence[AnyEvent], chance: Random) -> list[int]:
    """Entries to be cut off after: anywhere, and about where a shoe begins."""
    shoes = [at for at, event in enumerate(events) if begins_a_shoe(event)]
    near = [at + chance.randrange(-12, 40) for at in shoes[1:]]
    return [*near, *(chance.randrange(shoes[1], len(events)) for _ in range(4))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "noisy"),
    [
        pytest.param("kansas-shoe", False, id="shoe-sound"),
        pytest.param("kansas-shoe", True, id="shoe-noisy"),
        pytest.param("casino-single-deck", False, id="hand-dealt"),
    ],
)
def test_a_table_cut_off_anywhere_goes_on_as_if_left_alone(rules: str, noisy: bool) -> None:
    dealt = played(noisy=noisy, rules=rules)
    events, observations = alone(noisy=noisy, rules=rules), dealt.heard
    due = concluded(events)
    rested = 0
    for cut in cuts(events, Random("cuts")):
        with Journal.in_memory() as journal:
            journal.append_all(replace(event, seq=None) for event in events[:cut])
            past = past_of(journal)
            rested += past.rest is not None
            table = Watched(journal, dealt, past.rest)
            recall(past, table.pipeline, table.record, past.rest)
            assert sorted(table.noted[:cut]) == list(range(1, cut + 1))
            table.now_ns = past.end_ns
            table.observe(observations[len(past.observations) :][:150])
            found = concluded(known(journal))
        assert len(found) >= len(concluded(events[:cut]))
        assert found == due[: len(found)]
    assert rested >= 5


@pytest.mark.slow
def test_a_journal_whose_questions_have_no_time_goes_on() -> None:
    """Up to Pitwatch 0.2.0 they had none."""
    events = alone(noisy=True)
    raised = [at for at, event in enumerate(events) if isinstance(event, ReviewRaised)]
    cut = raised[min(3, len(raised) - 1)] + 1
    old = [replace(one, at=None) if isinstance(one, ReviewRaised) else one for one in events]
    dealt = played(noisy=True)
    with Journal.in_memory() as journal:
        journal.append_all(replace(event, seq=None) for event in old[:cut])
        past = past_of(journal)
        table = Watched(journal, dealt)
        recall(past, table.pipeline, table.record)
        table.now_ns = past.end_ns
        table.observe(dealt.heard[len(past.observations) :][:150])
        found = concluded(known(journal))
    due = [*concluded(old[:cut]), *concluded(events[cut:])]
    assert found == due[: len(found)]
    assert len(found) > len(concluded(old[:cut]))


def test_one_shoe_is_processed_again_and_no_more() -> None:
    events = alone(noisy=False)
    rest = last_rest(events)
    assert rest is not None
    begun = [event.seq or 0 for event in events if isinstance(event, ShoeLoaded)]
    assert begun[-2] < rest.seq < begun[-1]
    assert not any(isinstance(one, CardSighted) for one in rest.owed)


def test_a_shoe_begun_while_cards_lay_there_is_no_place_to_go_on_from() -> None:
    events = [event for event in alone(noisy=False) if not isinstance(event, CardGone)]
    assert last_rest(events) is None


def test_nor_is_one_begun_while_its_reader_was_not_connected() -> None:
    events = list(alone(noisy=False))
    first = next(at for at, event in enumerate(events) if isinstance(event, ShoeLoaded))
    events.insert(first + 1, ReaderFault(source="shoe", at=1, kind="link_lost", detail=""))
    assert last_rest(events) is None


def test_nor_is_one_begun_while_a_camera_was_blind() -> None:
    events = list(alone(noisy=False))
    first = next(at for at, event in enumerate(events) if isinstance(event, ShoeLoaded))
    black = CameraFault(source="camera:overhead", at=1, kind="black", detail="", frame=0)
    events.insert(first + 1, black)
    assert last_rest(events) is None


def test_a_journal_whose_facts_are_not_what_was_observed_is_refused_all_the_same() -> None:
    events = list(alone(noisy=False))
    rest = last_rest(events)
    assert rest is not None
    at = next(
        n
        for n, event in enumerate(events)
        if isinstance(event, CardDealt) and (event.seq or 0) > rest.seq
    )
    events[at] = replace(events[at], card=Card("2S"), probability=0.5)
    with Journal.in_memory() as journal:
        journal.append_all(replace(event, seq=None) for event in events)
        past = past_of(journal)
        table = Watched(journal, played(noisy=False), past.rest)
        with pytest.raises(TechnicianError, match=f"entry {at + 1} differs"):
            recall(past, table.pipeline, table.record, past.rest)


def test_a_shoe_that_only_the_floor_reports_is_one() -> None:
    """A shoe without a start card: a console entry states that it is fresh."""
    events = [one for one in alone(noisy=False) if not isinstance(one, ShoeLoaded)]
    rest = last_rest(events)
    assert rest is not None
    started = [event.seq or 0 for event in events if isinstance(event, ShoeStarted)]
    assert started[-2] < rest.seq < started[-1]
