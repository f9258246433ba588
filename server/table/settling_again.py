"""Settling rounds again after a decision."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET
from msgspec.structs import replace

from models.events import AnyFact, Fact, RoundOpened
from models.judgements import (
    AnyEvent,
    LedgerPosted,
    RoundResult,
)
from server.table.round_starts import RoundStart
from settlement.engine import Engine
from settlement.engine_state import EngineState
from settlement.ledger import changes, post
from stream.reading import UnknownEvent


@dataclass(slots=True)
class Again:
    """An engine that processes part of a session again, with its results."""

    engine: Engine
    facts: dict[int, Sequence[AnyFact]] = field(default_factory=dict)
    """The processed facts, by round."""
    results: dict[int, RoundResult] = field(default_factory=dict)
    """By round, the last settlement of each."""
    starts: list[RoundStart] = field(default_factory=list)

    def opens(self, number: int, fact: AnyFact) -> EngineState | None:
        """Process the first fact of a round; return the round's starting state."""
        self.process((fact,))
        engine_state = self.engine.engine_state()
        if engine_state is not None:
            self.starts.append(RoundStart(number, fact.seq or 0, engine_state))
        return engine_state

    def process(self, facts: Iterable[AnyFact]) -> None:
        """Process the next facts."""
        for fact in facts:
            self.take(self.engine.feed(fact))

    def take(self, results: Iterable[RoundResult]) -> None:
        """Note settlements."""
        self.results.update((result.round, result) for result in results)


def by_round(
    events: Iterable[AnyEvent | UnknownEvent], last_seq: int | None = None
) -> Iterator[tuple[int, list[AnyFact]]]:
    """Yield rounds with their facts; facts before the first opening belong to round 0."""
    number, own = 0, list[AnyFact]()
    for event in events:
        if last_seq is not None and (event.seq or 0) > last_seq:
            break
        if isinstance(event, RoundOpened):
            if own:
                yield number, own
            number, own = event.round, []
        if isinstance(event, Fact):
            own.append(event)
    if own:
        yield number, own


def due_lines(result: RoundResult) -> tuple[LedgerPosted, ...]:
    """Return the ledger lines that a final result posts; none where it is not final."""
    return post(result) if result.status == "final" else changes(result)


def amounts_of(lines: Iterable[LedgerPosted]) -> list[tuple[str, int, str]]:
    """Return lines without their place in the journal, to compare them."""
    return [(line.account, line.amount, line.memo) for line in lines]


def bare(result: RoundResult) -> RoundResult:
    """Return a round without its items, their effect on its status, and its rules' name."""
    return replace(result, reviews=UNSET, status="final", overrides=UNSET, rules_hash=UNSET)
