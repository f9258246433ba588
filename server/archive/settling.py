"""Settle rounds from facts: each file, of one table or several, is checked first."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, get_args

from msgspec.structs import replace

from models.errors import PitwatchError
from models.events import AnyFact, PaymentMade, RoundClosed, RoundOpened
from models.judgements import AnyEvent, RoundResult, RoundSettled
from models.money import Cents
from models.rulebook import Rulebook
from server.archive.archives import Feed
from server.archive.open_items import OpenItems
from settlement.balance import Account, Balance, balance, beside, payments_in
from settlement.engine import Engine
from settlement.facts import ROUND_CLOSED, ROUND_OPENED, ReadFact

if TYPE_CHECKING:
    from server.archive.history import PartReader

FACTS: Final = frozenset(get_args(AnyFact))
_ENDS: Final = (ROUND_OPENED, ROUND_CLOSED)
_HELD: Final = 100_000
"""Events kept in memory while a file is checked; a longer file is read twice."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A settled round with its facts."""

    table: str | None
    result: RoundResult
    facts: tuple[tuple[int, AnyFact], ...]
    """Its facts with their lines, including those between it and the next round."""

    def paid(self) -> dict[Account, Cents]:
        """Return each account's total payment (negative: taken)."""
        sums: dict[Account, Cents] = {}
        for _, payment in self.facts:
            if type(payment) is PaymentMade:
                hand = payment.hand if payment.kind in ("main", "insurance") else 0
                account = (payment.spot, hand, payment.kind)
                sums[account] = sums.get(account, 0) + payment.amount
        return sums

    def has_payments(self) -> bool:
        """Return whether any payment was observed."""
        return any(type(fact) is PaymentMade for _, fact in reversed(self.facts))

    def balance(self) -> Balance:
        """Return what was due and paid."""
        return balance(self.result, payments_in(fact for _, fact in self.facts))

    @property
    def opened_at(self) -> int | None:
        """Time of the round's opening; ``None`` where no event states it."""
        return next((fact.at for _, fact in self.facts if type(fact) is RoundOpened), None)

    @property
    def closed_at(self) -> int | None:
        """Time of the round's closing; ``None`` where no event states it."""
        return next((fact.at for _, fact in self.facts if type(fact) is RoundClosed), None)

    def at_of(self, seq: int) -> int | None:
        """Return the time of the fact that a violation names; ``None`` where it has none."""
        return next((fact.at for line, fact in self.facts if (fact.seq or line) == seq), None)

    def due(self) -> dict[Account, Cents | None]:
        """Return the amount due to each account; ``None`` where it is not settled, and of tokes."""
        dues: dict[Account, Cents | None] = {}
        for spot in self.result.spots:
            for hand in spot.hands:
                dues[spot.spot, hand.hand, "main"] = hand.net
            if spot.insurance is not None:
                dues[spot.spot, 0, "insurance"] = spot.insurance.net
            for kind, _, due in beside(spot):
                dues[spot.spot, 0, kind] = None if kind == "toke" else due
        return dues


class TableEngine:
    """One table's engine, with the facts of the round in play."""

    def __init__(self, table: str | None, rules: Rulebook) -> None:
        self._table, self._engine = table, Engine(rules, patient=True)
        self._facts: list[tuple[int, AnyFact]] = []
        self._is_timed = False
        """Whether any of these has its time."""

    def feed(self, fact: AnyFact, line: int) -> Sequence[Settled]:
        """Take the next fact; return the rounds that no payment can join any more."""
        results = self._engine.feed(fact, line)
        settled = [self._settled(result) for result in results] if results else ()
        self._facts.append((line, fact))
        return settled

    def feed_read(self, read: ReadFact, seq: int, at: int | None = None) -> Sequence[Settled]:
        """Take the next fact, which was read before: as :meth:`feed`.

        Of a round's facts only those get their time (``at``) that say when the round was: its
        opening, its close, and the first.
        """
        results = self._engine.take_read(read, seq)
        settled = [self._settled(result) for result in results] if results else ()
        fact = read.fact
        if at is not None and (not self._is_timed or read.kind in _ENDS):
            fact, self._is_timed = replace(fact, at=at), True
        self._facts.append((seq, fact))
        return settled

    def release(self) -> Sequence[Settled]:
        """Return the last closed round where it still waits for late payments."""
        return [self._settled(result) for result in self._engine.release()]

    def finish(self) -> Sequence[Settled]:
        """Return the open rounds when no more facts come."""
        return [self._settled(result) for result in self._engine.finish()]

    def _settled(self, result: RoundResult) -> Settled:
        facts, self._facts, self._is_timed = tuple(self._facts), [], False
        return Settled(self._table, result, facts)


def settled_rounds(events: Iterable[tuple[int, AnyEvent]], rules: Rulebook) -> Iterator[Settled]:
    """Settle numbered events; yield each round as it closes, each table separately.

    Only facts settle; observations and judgements are ignored. Memory grows with the number of
    tables, not of rounds. Where reading fails, the rounds closed before come first.
    """
    engines: dict[str | None, TableEngine] = {}
    try:
        for line, event in events:
            if type(event) not in FACTS:
                continue
            engine = engines.get(event.table)
            if engine is None:
                engine = engines[event.table] = TableEngine(event.table, rules)
            settled = engine.feed(event, line)  # type: ignore[arg-type]  # one of FACTS
            if settled:
                yield from settled
    except PitwatchError:
        for engine in engines.values():
            yield from engine.release()
        raise
    for engine in engines.values():
        yield from engine.finish()


def _settled_part(part: "PartReader", rules: Rulebook) -> Iterator[Settled]:
    """Settle one table's part of an archived day; its facts come without times and numbers."""
    engine = TableEngine(part.part.table, rules)
    for entry, read in part.lean():
        settled = engine.feed_read(read, entry)
        if settled:
            yield from settled
    yield from engine.finish()


@dataclass(slots=True)
class Checked:
    """A file's events, ready to settle, with findings from the events read so far."""

    events: Iterable[tuple[int, AnyEvent]] = ()
    part: "PartReader | None" = None
    """In place of events: the part of an archived day that holds the facts."""
    tables: set[str | None] = field(default_factory=set)
    settled_then: bool = False
    """Whether original settlements are among them."""
    open_items: OpenItems = field(default_factory=OpenItems)
    """Items that a person still has to decide, and rounds that the floor called off."""

    def rounds(self, rules: Rulebook) -> Iterator[Settled]:
        """Settle the facts, as :func:`settled_rounds`, and return each round as people left it."""
        part = self.part
        rounds = settled_rounds(self.events, rules) if part is None else _settled_part(part, rules)
        for one in rounds:
            yield Settled(one.table, self.open_items.held(one.table, one.result), one.facts)

    def look(self, events: Iterable[tuple[int, AnyEvent]]) -> None:
        """Note the findings in some of the events."""
        for _, event in events:
            self.tables.add(event.table)
            self.open_items.note(event)
            if type(event) is RoundSettled:
                self.settled_then = True


def checked(feed: Feed, *, timed: bool = True) -> Checked:
    """Return a file's events once every line has been checked.

    Where nobody needs their times and numbers (``timed``), the facts of an archived day, which its
    manifest has proved, come without these. That is several times as fast.

    A stream that can be read only once is not checked ahead: its rounds settle as they come.

    Raises:
        InputRefused: a line is no event of the format.
        TechnicianError: a journal is damaged.
    """
    if feed.day is not None and not timed:
        part = feed.day.part
        proved = Checked(part=feed.day, tables={part.table}, settled_then=part.rounds > 0)
        for item in feed.day.items():
            proved.open_items.note(item)
        return proved
    events = feed.read()
    if feed.once:
        return Checked(events)
    held = list(islice(events, _HELD))
    found = Checked(held)
    found.look(held)
    if len(held) == _HELD:
        held.clear()
        found.look(events)
        found.events = feed.read()
    return found
