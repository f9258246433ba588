"""The rules engine: facts in, settled rounds out, one engine for live, replay and files."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from models.events import AnyFact
from models.judgements import AnyEvent, RoundResult
from models.rulebook import Rulebook
from settlement.closing import Closed, amend, call_off_late, close
from settlement.engine_state import EngineState, engine_state_of, start_from
from settlement.facts import (
    CARD_DEALT,
    HAND_CALLED_OFF,
    KINDS,
    PAYMENT_MADE,
    ROUND_CALLED_OFF,
    ROUND_OPENED,
    TRAY_COUNTED,
    WAGER_PLACED,
    ReadFact,
)
from settlement.houserules import HouseRules
from settlement.judge import judge, judge_record
from settlement.phases import RoundPhases
from settlement.reading import read_through, take
from settlement.state import Noted, Round, State

_OPENS: Final = (ROUND_OPENED, WAGER_PLACED, CARD_DEALT, PAYMENT_MADE)
"""The kinds of facts that may open a round."""

_AMENDS: Final = (PAYMENT_MADE, HAND_CALLED_OFF, ROUND_CALLED_OFF)
"""The kinds of facts that belong to the round just closed."""

_JOINS_OR_OPENS: Final = (*_OPENS, *_AMENDS)


class Engine:
    """Plays, judges and settles one table's facts, in order, round by round.

    Memory does not grow with the number of rounds: the engine keeps a round's facts until it
    closes.

    Args:
        rules: the rulebook in force.
        engine_state: the result of :meth:`engine_state` at a round's opening: the engine continues
            from there, with that opening as its next fact. Every fact then needs its ``seq``.
        patient: whether a round is returned once, when no payment can join it any more. Otherwise
            it is returned at its close, and again, judged anew, with each late payment: the last
            result of a round counts.
    """

    def __init__(
        self, rules: Rulebook, engine_state: EngineState | None = None, *, patient: bool = False
    ) -> None:
        self.rules = rules
        self._patient = patient
        self._state = State(HouseRules(rules))
        self._other = Round(self._state.round.dealer_dealt)
        """Working state of the last closed round while the next is played; the two alternate."""
        self._last: Closed | None = None
        """The last closed round, while a payment may still belong to it."""
        self._phases = RoundPhases(self._state.round.dealer_dealt)
        """Those of the round in play, as its facts are recorded."""
        self._count_in_round = self._counted_last = False
        """Whether the tray was counted in the round, and whether after its last payment."""
        self._seen = 0
        if engine_state is not None:
            start_from(self._state, engine_state)

    def feed(self, fact: AnyFact, line: int | None = None) -> tuple[RoundResult, ...]:
        """Take the next fact and return the rounds that it closes.

        A round closes at ``round_closed``, at the next ``round_opened``, or with the first wager
        after its payments where a file has neither; a closed one waits for one more fact where the
        tray has been counted, as that fact may be the closing count. A payment after
        ``round_closed`` belongs to the round just closed until the next wager, card or opening.

        Args:
            fact: what happened.
            line: its line in a file, its reference where it has no ``seq``.
        """
        return self.take(fact, KINDS[type(fact)], line or 0)

    def take(self, fact: AnyFact, kind: int, line: int) -> tuple[RoundResult, ...]:
        """Take the next fact of a known kind: as :meth:`feed`; ``line`` is 0 where it has none."""
        self._seen += 1
        noted = self._state.round.blank()
        noted.write(fact, kind, line or self._seen)
        return self._take(noted)

    def take_read(self, read: ReadFact, seq: int) -> tuple[RoundResult, ...]:
        """Take the next fact, read before, as number ``seq``: otherwise as :meth:`feed`."""
        noted = self._state.round.blank()
        noted.repeat(read, seq)
        return self._take(noted)

    def _take(self, noted: Noted) -> tuple[RoundResult, ...]:
        closed = self._close() if self._ends_before(noted) else ()
        if self._last is not None and noted.kind in _JOINS_OR_OPENS:
            if noted.kind in _AMENDS:
                return self._amend(self._last, noted)
            closed = (*closed, *self.release())
        return (*closed, *self._add(noted)) if closed else self._add(noted)

    def finish(self) -> tuple[RoundResult, ...]:
        """Return the rounds still open, or waiting, when no more facts come."""
        held = self.release()
        if not (self._state.round.record or self._state.found):
            return self._with_changes(held)
        return (*held, *self._close(), *self.release())

    def _with_changes(self, held: tuple[RoundResult, ...]) -> tuple[RoundResult, ...]:
        """Add what changed the tray after the last round to that round."""
        changes = self._state.tray_changes
        if not (held and changes):
            return held
        *others, last = held
        before = last.tray_changes or ()
        return (*others, replace(last, tray_changes=(*before, *changes)))

    def engine_state(self) -> EngineState | None:
        """Return the state that the round in play started from.

        ``None`` unless its ``round_opened`` was the last fact fed, and its first.
        """
        record = self._state.round.record
        if len(record) != 1 or record[0].kind != ROUND_OPENED:
            return None
        return engine_state_of(self._state)

    def _add(self, noted: Noted) -> tuple[RoundResult, ...]:
        round_, kind = self._state.round, noted.kind
        if not round_.record and kind not in _OPENS:
            self._between_rounds(noted)
            return ()
        take(round_, noted)
        self._phases.follow(kind, noted.spot)
        if kind == TRAY_COUNTED:
            self._count_in_round = self._counted_last = True
        elif kind == PAYMENT_MADE:
            self._counted_last = False
        if self._phases.closed and not self._awaits_count():
            return self._close()
        return ()

    def _ends_before(self, noted: Noted) -> bool:
        """Tell whether a fact belongs to what comes after the round in play."""
        phases, kind = self._phases, noted.kind
        if phases.closed:
            return kind != TRAY_COUNTED or self._counted_last
        if kind == ROUND_OPENED:
            return phases.opened or phases.dealt
        if phases.settling and not phases.opened:
            return kind == WAGER_PLACED and noted.what == "main"
        return False

    def _awaits_count(self) -> bool:
        counts = self._state.table.tray is not None or self._count_in_round
        return counts and not self._counted_last

    def _between_rounds(self, noted: Noted) -> None:
        """Apply at once a fact that comes while no round is in play."""
        state = self._state
        number = state.round.number
        noted.index, noted.at = 0, state.round.spot(noted.spot)
        judge(state, noted)
        state.round.begin(number)

    def _close(self) -> tuple[RoundResult, ...]:
        state = self._state
        read_through(state.round)
        judge_record(state)
        last = self._last = close(state)
        state.round, self._other = self._other, state.round
        state.round.begin(last.result.round + 1)
        state.found.clear()
        state.tray_changes.clear()
        self._phases.begin()
        self._count_in_round = self._counted_last = False
        return () if self._patient else (last.result,)

    def release(self) -> tuple[RoundResult, ...]:
        """Return the last closed round for good: later payments do not belong to it."""
        last, self._last = self._last, None
        return (last.result,) if self._patient and last is not None else ()

    def _amend(self, last: Closed, noted: Noted) -> tuple[RoundResult, ...]:
        """Judge the payments of the last closed round again, with one more."""
        if noted.kind == PAYMENT_MADE:
            amend(self._state, last, noted)
        else:
            call_off_late(self._state, last, noted)
        return () if self._patient else (last.result,)


def settle(facts: Iterable[tuple[int, AnyEvent]], rules: Rulebook) -> Iterator[RoundResult]:
    """Settle a stream of numbered events, yielding each round once no payment can be added to it.

    The engine ignores observations and judgements: only facts settle. Where one stream holds the
    facts of several tables, it settles each table separately.
    """
    engines: dict[str | None, Engine] = {}
    for line, event in facts:
        kind = KINDS.get(type(event), 0)
        if kind:
            fact: Any = event
            engine = engines.get(fact.table)
            if engine is None:
                engine = engines[fact.table] = Engine(rules, patient=True)
            closed = engine.take(fact, kind, line)
            if closed:
                yield from closed
    for engine in engines.values():
        yield from engine.finish()


def settle_read(facts: Iterable[tuple[int, ReadFact]], rules: Rulebook) -> Iterator[RoundResult]:
    """Settle one table's numbered facts, each read before: otherwise as :func:`settle`."""
    engine = Engine(rules, patient=True)
    for seq, read in facts:
        closed = engine.take_read(read, seq)
        if closed:
            yield from closed
    yield from engine.finish()
