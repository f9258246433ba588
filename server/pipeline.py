"""The one way from observations to settlements, live and in replay.

::

    observation -> journal -> reconciler -> facts -> journal -> engine -> judgements -> journal

Wiring only: nothing here decides anything.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from msgspec.structs import replace

from models.events import AnyFact, AnyObservation, Event, RoundClosed, TrayCounted
from models.judgements import LedgerPosted, ReviewRaised, RoundResult, RoundSettled
from server.stopwatch import Stopwatch
from settlement.engine import Engine
from settlement.ledger import post
from settlement.reconcile import Reconciler, with_reviews

E = TypeVar("E", bound=Event)


class Record(Protocol):
    """Where events are kept, such as a journal."""

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append events, all or none, and return them with their ``seq``."""


class Pipeline:
    """Take observations in the order of their time; keep the rounds as they settle."""

    def __init__(
        self,
        table: str,
        journal: Record,
        reconciler: Reconciler,
        engine: Engine,
        stopwatch: Stopwatch,
    ) -> None:
        self._table, self._journal = table, journal
        self._reconciler, self._engine, self._stopwatch = reconciler, engine, stopwatch
        self._facts: list[AnyFact] = []
        self._settled: dict[int, RoundResult] = {}
        self._reviews: list[ReviewRaised] = []
        self._posted: dict[int, list[LedgerPosted]] = {}

    def observe(
        self, observations: Sequence[AnyObservation], now_ns: int
    ) -> tuple[AnyObservation, ...]:
        """Record what was observed by ``now_ns``, act on it, and return it with its ``seq``.

        Nothing observed is news too: the table's time goes on, and deadlines pass.
        """
        recorded = self._append(observations)
        for observation in recorded:
            with self._stopwatch.stage("reconciling"):
                found = self._reconciler.feed(observation, now_ns)
            self._act_on(found)
        with self._stopwatch.stage("reconciling"):
            found = self._reconciler.advance(now_ns)
        self._act_on(found)
        return tuple(recorded)

    def finish(self) -> None:
        """Say that nothing more will come: what waits is settled or raised."""
        with self._stopwatch.stage("reconciling"):
            found = self._reconciler.finish()
        self._act_on(found)
        with self._stopwatch.stage("settling"):
            results = self._engine.finish()
        self._judge(results, None)

    def rounds(self) -> tuple[RoundResult, ...]:
        """Return every round settled so far, each with its open items."""
        return tuple(
            with_reviews(result, self._reviews) for _, result in sorted(self._settled.items())
        )

    def _act_on(self, found: Sequence[AnyFact | ReviewRaised]) -> None:
        recorded = self._append(found)
        self._reviews += [event for event in recorded if isinstance(event, ReviewRaised)]
        for event in recorded:
            if isinstance(event, ReviewRaised):
                self._take_back(event)
            else:
                self._settle(event)

    def _settle(self, fact: AnyFact) -> None:
        with self._stopwatch.stage("settling"):
            results = self._engine.feed(fact)
        if isinstance(fact, RoundClosed | TrayCounted):
            self._facts.append(fact)
            self._judge(results, fact.at)
        else:
            self._judge(results, fact.at)
            self._facts.append(fact)

    def _judge(self, results: Sequence[RoundResult], at: int | None) -> None:
        for result in results:
            self._settled[result.round] = result
            because = tuple(fact.seq for fact in self._facts if fact.seq is not None)
            self._facts.clear()
            whole = with_reviews(result, self._reviews)
            self._append([RoundSettled(at=at, because=because, result=whole)])
            self._post(whole, at, because)

    def _post(self, result: RoundResult, at: int | None, because: tuple[int, ...]) -> None:
        """Post what is final; what a person has still to decide moves no money."""
        if result.status == "final":
            lines = [replace(line, at=at, because=because) for line in post(result)]
            self._posted[result.round] = self._append(lines)

    def _take_back(self, raised: ReviewRaised) -> None:
        """Undo the posting of a round that is doubted after it was settled."""
        because = () if raised.seq is None else (raised.seq,)
        lines = self._posted.pop(raised.round, [])
        self._append(
            [
                replace(
                    line,
                    at=raised.at,
                    because=because,
                    amount=-line.amount,
                    memo=f"held for review: {line.memo}",
                )
                for line in lines
            ]
        )

    def _append(self, events: Sequence[E]) -> list[E]:
        if not events:
            return []
        named = [replace(event, table=self._table) for event in events]
        with self._stopwatch.stage("journalling"):
            return list(self._journal.append_all(named))
