"""The rules engine: facts in, settled rounds out, one engine for live, replay and files."""

from collections.abc import Iterable, Iterator
from typing import Final

from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    Fact,
    PaymentMade,
    RoundClosed,
    RoundOpened,
    TrayCounted,
    WagerPlaced,
)
from models.judgements import AnyEvent, RoundResult, Violation
from models.rulebook import Rulebook
from settlement.closing import close
from settlement.judge import step
from settlement.script import read
from settlement.state import Noted, Round, Script, Shoe, State, Table

_NOTHING: Final = Script(cards={}, turned={}, last_turn={}, dealt_in={}, order=(), draws=())
_OPENS: Final = (RoundOpened, WagerPlaced, CardDealt, PaymentMade)


class Engine:
    """Plays, judges and settles one table's facts, in order, round by round.

    Memory does not grow with the number of rounds: a round's facts are kept until it closes.
    """

    def __init__(self, rules: Rulebook) -> None:
        self._rules = rules
        self._table = Table(shoe=Shoe(decks=rules.decks))
        self._record = _Record()
        self._last_round = 0
        self._between: list[Violation] = []
        self._seen = 0

    def feed(self, fact: AnyFact, line: int | None = None) -> tuple[RoundResult, ...]:
        """Take the next fact and return the rounds that it closes.

        A round closes at ``round_closed``, at the next ``round_opened``, or with the first
        wager after its payments where a file has neither; one that was closed is held for
        one more fact where the tray has been counted, as that fact may be the closing count.

        Args:
            fact: what happened.
            line: its line in a file, which names it where it has no ``seq``.
        """
        self._seen += 1
        closed = self._close() if self._record.ends_before(fact) else ()
        noted = Noted(fact.seq or line or self._seen, fact)
        if not self._record.facts and not isinstance(fact, _OPENS):
            self._between_rounds(noted)
            return closed
        self._record.add(noted)
        if self._record.closed and not self._awaits_count():
            return (*closed, *self._close())
        return closed

    def finish(self) -> tuple[RoundResult, ...]:
        """Return what is still open when no more facts come."""
        return self._close() if self._record.facts or self._between else ()

    def _awaits_count(self) -> bool:
        counted = self._table.tray is not None or self._record.tray_counted
        return counted and not self._record.tray_after_payments

    def _fresh(self, script: Script) -> State:
        return State(self._table, Round(number=self._last_round + 1, script=script))

    def _between_rounds(self, noted: Noted) -> None:
        """Apply a fact at once that comes while no round is in play."""
        told = step(self._fresh(_NOTHING), noted, self._rules)
        self._table = told.after.table
        self._between.extend(told.findings)

    def _close(self) -> tuple[RoundResult, ...]:
        facts, found = self._record.facts, self._between
        self._record, self._between = _Record(), []
        state = self._fresh(read(facts))
        for noted in facts:
            told = step(state, noted, self._rules)
            state = told.after
            found.extend(told.findings)
        state, result = close(state, found, self._rules)
        self._table, self._last_round = state.table, result.round
        return (result,)


class _Record:
    """The facts of the round in play, and what tells that it is over."""

    def __init__(self) -> None:
        self.facts: list[Noted] = []
        self.closed = False
        self.tray_counted = False
        self.tray_after_payments = False
        self._opened = False
        self._dealt = False
        self._dealer_played = False
        self._settling = False

    def add(self, noted: Noted) -> None:
        """Keep one fact."""
        fact = noted.fact
        self.facts.append(noted)
        if isinstance(fact, RoundOpened):
            self._opened = True
        elif isinstance(fact, RoundClosed):
            self.closed = True
        elif isinstance(fact, CardDealt):
            self._dealt = True
        elif isinstance(fact, CardExposed):
            self._dealer_played = self._dealer_played or fact.to == "dealer"
        elif isinstance(fact, PaymentMade):
            self._settling = self._dealer_played
            self.tray_after_payments = False
        elif isinstance(fact, TrayCounted):
            self.tray_counted = self.tray_after_payments = True

    def ends_before(self, fact: AnyFact) -> bool:
        """Tell whether ``fact`` belongs to what comes after this round."""
        if self.closed:
            return not isinstance(fact, TrayCounted) or self.tray_after_payments
        if isinstance(fact, RoundOpened):
            return self._opened or self._dealt
        main = isinstance(fact, WagerPlaced) and fact.kind == "main"
        return main and self._settling and not self._opened


def settle(facts: Iterable[tuple[int, AnyEvent]], rules: Rulebook) -> Iterator[RoundResult]:
    """Settle a stream of numbered events, yielding each round as it closes.

    Observations and judgements are passed over: only facts settle. Where the facts of several
    tables come in one stream, each table is settled for itself.
    """
    engines: dict[str | None, Engine] = {}
    for line, event in facts:
        if isinstance(event, Fact):
            engine = engines.get(event.table)
            if engine is None:
                engine = engines[event.table] = Engine(rules)
            yield from engine.feed(event, line)
    for engine in engines.values():
        yield from engine.finish()
