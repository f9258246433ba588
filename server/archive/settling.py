"""Facts in, settled rounds out: each file a table or several, checked before it is settled."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias, get_args

from models.errors import PitwatchError
from models.events import AnyFact, PaymentMade, RoundClosed, RoundOpened
from models.judgements import AnyEvent, RoundResult, RoundSettled
from models.money import Cents
from models.rulebook import Rulebook
from server.archive.archives import Feed
from server.archive.open_items import OpenItems
from settlement.engine import Engine

Account: TypeAlias = tuple[int, int, str]
"""Spot, hand and kind of what is paid: ``main`` or ``insurance``."""

FACTS: Final = frozenset(get_args(AnyFact))
_HELD: Final = 100_000
"""Events that are kept while a file is checked; a longer file is read twice."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A round as it settles, and the facts that it settles from."""

    table: str | None
    result: RoundResult
    facts: tuple[tuple[int, AnyFact], ...]
    """Its facts with their lines, and those that came between it and the next round."""

    def paid(self) -> dict[Account, Cents]:
        """Return what each account was paid in all (taken, where negative)."""
        sums: dict[Account, Cents] = {}
        for _, payment in self.facts:
            if type(payment) is PaymentMade:
                account = (payment.spot, payment.hand, payment.kind)
                sums[account] = sums.get(account, 0) + payment.amount
        return sums

    @property
    def opened_at(self) -> int | None:
        """When wagers were opened; ``None`` where no event says so."""
        return next((fact.at for _, fact in self.facts if type(fact) is RoundOpened), None)

    @property
    def closed_at(self) -> int | None:
        """When the round was closed; ``None`` where no event says so."""
        return next((fact.at for _, fact in self.facts if type(fact) is RoundClosed), None)

    def at_of(self, seq: int) -> int | None:
        """Return the time of the fact that a violation names; ``None`` where it has none."""
        return next((fact.at for line, fact in self.facts if (fact.seq or line) == seq), None)

    def due(self) -> dict[Account, Cents | None]:
        """Return what each account is due; ``None`` where it is not settled."""
        dues: dict[Account, Cents | None] = {}
        for spot in self.result.spots:
            for hand in spot.hands:
                dues[spot.spot, hand.hand, "main"] = hand.net
            if spot.insurance is not None:
                dues[spot.spot, 0, "insurance"] = spot.insurance.net
        return dues


class TableEngine:
    """One table's engine, which keeps the facts of the round in play beside it."""

    def __init__(self, table: str | None, rules: Rulebook) -> None:
        self._table, self._engine = table, Engine(rules, patient=True)
        self._facts: list[tuple[int, AnyFact]] = []

    def feed(self, fact: AnyFact, line: int) -> Sequence[Settled]:
        """Take the next fact and return the rounds to which no payment can be added any more."""
        results = self._engine.feed(fact, line)
        settled = [self._settled(result) for result in results] if results else ()
        self._facts.append((line, fact))
        return settled

    def release(self) -> Sequence[Settled]:
        """Return the round closed last, where it is held for payments that may come late."""
        return [self._settled(result) for result in self._engine.release()]

    def finish(self) -> Sequence[Settled]:
        """Return what is still open when no more facts come."""
        return [self._settled(result) for result in self._engine.finish()]

    def _settled(self, result: RoundResult) -> Settled:
        facts, self._facts = tuple(self._facts), []
        return Settled(self._table, result, facts)


def settled_rounds(events: Iterable[tuple[int, AnyEvent]], rules: Rulebook) -> Iterator[Settled]:
    """Settle numbered events, yielding each round as it closes, each table for itself.

    Only facts settle: observations and judgements are passed over. Memory grows with the number
    of tables, not of rounds. Where reading fails, the rounds closed before come first.
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


@dataclass(slots=True)
class Checked:
    """A file's events, ready to settle, and what was seen of them as far as they were read."""

    events: Iterable[tuple[int, AnyEvent]]
    tables: set[str | None] = field(default_factory=set)
    settled_then: bool = False
    """Whether settlements made at the time stand among them."""
    open_items: OpenItems = field(default_factory=OpenItems)
    """What a person has still to decide."""

    def look(self, events: Iterable[tuple[int, AnyEvent]]) -> None:
        """Note what there is to see in some of the events."""
        for _, event in events:
            self.tables.add(event.table)
            self.open_items.note(event)
            if type(event) is RoundSettled:
                self.settled_then = True


def checked(feed: Feed) -> Checked:
    """Return a file's events once every line of it has been found good.

    What can be read but once is not checked ahead: its rounds settle as they come.

    Raises:
        InputRefused: a line is not an event of the format.
        TechnicianError: a journal is damaged.
    """
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
