"""The path from observations to settlements, the same live and in replay.

::

    observation -> journal -> reconciler -> facts -> journal -> engine -> judgements -> journal

This module only connects the parts; it decides nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from models.events import (
    AnyFact,
    AnyObservation,
    Event,
    HandCalledOff,
    PaymentMade,
    ReviewResolved,
    RoundCalledOff,
    RoundClosed,
    TrayCounted,
)
from models.judgements import AnyEvent, ReviewRaised, RoundResult
from server.process.stopwatch import Stopwatch
from server.table.kept_book import KeptBook
from server.table.settlement_book import SettlementBook
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from settlement.reconcile import NOTHING_LEARNED, Learned
from stream.reading import UnknownEvent

E = TypeVar("E", bound=Event)

STEP_NS: Final = 20_000_000
"""Nanoseconds between two looks at deadlines, at multiples of it. A table on a busy machine is
called more seldom and passes the same looks; so does a start that processes it again."""
_WAITED_NS: Final = 60_000_000_000
"""Nanoseconds after which nothing is waited for any more, however long nobody watched."""


class Record(Protocol):
    """A store of events, such as a journal."""

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append events, all or none, and return them with their ``seq``."""

    def read(self, after_seq: int = 0) -> Iterator[AnyEvent | UnknownEvent]:
        """Yield every event after ``after_seq``, in order."""


class Pipeline:
    """Processes observations in the order of their time; keeps the rounds as they settle.

    ``kept`` is the number of rounds in memory, for a table that runs for months.
    """

    def __init__(
        self,
        table: str,
        journal: Record,
        reconciler: Reckoning,
        engine: Engine,
        stopwatch: Stopwatch,
        *,
        kept: int | None = None,
    ) -> None:
        self._table, self._journal = table, journal
        self._reconciler, self._engine, self._stopwatch = reconciler, engine, stopwatch
        self._facts: list[AnyFact] = []
        self._through_ns = 0
        """The time up to which everything was processed."""
        self._book = SettlementBook(self._append, journal.read, kept)

    def observe(
        self, observations: Sequence[AnyObservation], now_ns: int
    ) -> tuple[AnyObservation, ...]:
        """Record and process the observations up to ``now_ns``; return them with their ``seq``.

        A call without observations matters too: the table's time advances, and deadlines pass.
        """
        self._pass_time(now_ns)
        self._through_ns = max(self._through_ns, now_ns)
        recorded = self._append([self._with_arrival(one) for one in observations])
        for observation in recorded:
            with self._stopwatch.stage("reconciling"):
                found = self._reconciler.feed(observation, self._through_ns)
            self._act_on(found)
            if isinstance(observation, ReviewResolved):
                self._resolve(observation)
        return tuple(recorded)

    @property
    def parted(self) -> Mapping[str, str]:
        """As :attr:`settlement.reckoning.Reckoning.parted`."""
        return self._reconciler.parted

    def go_on(
        self,
        before: Iterable[AnyEvent],
        owed: Sequence[AnyObservation],
        *,
        book: KeptBook | None = None,
        learned: Learned = NOTHING_LEARNED,
    ) -> None:
        """Continue a session from a time without a round in play.

        Args:
            before: its entries up to then; their conclusions stand. With ``book``, those from the
                opening of the last round on.
            owed: the observations among them that later events may rest on.
            book: what :meth:`kept` returned for that round.
            learned: what :meth:`learned` returned then; used with ``book``.

        Raises:
            OperatorError: under the rules in force the facts do not settle as they did.
        """
        known = tuple(before)
        self._engine = self._book.recall(known, self._engine.rules, book)
        if book is None:
            self._reconciler.recall(known)
        else:
            self._reconciler.go_on(learned)
            self._reconciler.know_last_round(known)
        for one in owed:
            self._act_on(self._reconciler.feed(one, one.at or 0))

    def learned(self) -> Learned:
        """Return what the finished rounds showed about the sensors."""
        return self._reconciler.learned()

    def kept(self, number: int) -> KeptBook | None:
        """As :meth:`server.table.settlement_book.SettlementBook.kept`."""
        return self._book.kept(number)

    def finish(self) -> None:
        """End the session: everything waiting is settled or raised."""
        with self._stopwatch.stage("reconciling"):
            found = self._reconciler.finish()
        self._act_on(found)
        with self._stopwatch.stage("settling"):
            results = self._engine.finish()
        self._judge(results, self._through_ns or None)

    def rounds(self) -> tuple[RoundResult, ...]:
        """Return every round settled so far, each with its open items."""
        return self._book.rounds()

    def check(self, decision: ReviewResolved) -> None:
        """Check a decision.

        Raises:
            OperatorError: it is impossible; the message says why, and what is possible.
        """
        self._book.check(decision, self._engine)

    def _pass_time(self, now_ns: int) -> None:
        """Let every deadline up to now pass, at the same looks however often this is called."""
        begun_ns = self._through_ns or now_ns
        last_ns = min(now_ns, begun_ns + _WAITED_NS)
        for at_ns in range((begun_ns // STEP_NS + 1) * STEP_NS, last_ns + 1, STEP_NS):
            with self._stopwatch.stage("reconciling"):
                found = self._reconciler.advance(at_ns)
            self._act_on(found)

    def _with_arrival(self, one: AnyObservation) -> AnyObservation:
        """Give a late new observation the time of its arrival: a later start processes it then."""
        is_late = one.seq is None and one.at is not None and one.at < self._through_ns
        return replace(one, heard=self._through_ns) if is_late else one

    def _resolve(self, decision: ReviewResolved) -> None:
        with self._stopwatch.stage("settling"):
            self._engine = self._book.resolve(decision, self._engine)

    def _act_on(self, found: Sequence[AnyFact | ReviewRaised]) -> None:
        recorded = self._append(found)
        for event in recorded:
            if isinstance(event, ReviewRaised):
                self._book.raised(event)
            else:
                self._settle(event)

    def _settle(self, fact: AnyFact) -> None:
        with self._stopwatch.stage("settling"):
            results = self._engine.feed(fact)
            self._book.processed(fact, self._engine)
        amends = isinstance(fact, PaymentMade | HandCalledOff | RoundCalledOff)
        if amends or isinstance(fact, RoundClosed | TrayCounted):
            self._facts.append(fact)
            self._judge(results, fact.at, amends=amends)
        else:
            self._judge(results, fact.at)
            self._facts.append(fact)

    def _judge(
        self, results: Sequence[RoundResult], at: int | None, *, amends: bool = False
    ) -> None:
        for result in results:
            because = tuple(fact.seq for fact in self._facts if fact.seq is not None)
            self._facts.clear()
            self._engine = self._book.settled(result, at, because, self._engine, amends=amends)

    def _append(self, events: Sequence[E]) -> list[E]:
        if not events:
            return []
        named = [replace(event, table=self._table) for event in events]
        with self._stopwatch.stage("journalling"):
            return list(self._journal.append_all(named))
