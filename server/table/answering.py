"""The answers to a review item, from the entries of its journal."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from models.errors import OperatorError
from models.events import AnyFact, ReviewResolved
from models.judgements import Answer, AnyEvent, ReviewRaised
from models.rulebook import Rulebook
from server.table.resolving import rules_of
from server.table.settling_again import by_round
from settlement.engine import Engine
from settlement.engine_state import EngineState
from settlement.reconcile import Answering, decided
from stream.reading import UnknownEvent


class Answered(msgspec.Struct, frozen=True):
    """A question with the answers that it may have."""

    answers: tuple[Answer, ...]
    from_ns: int
    """The moments in doubt: from this one …"""
    to_ns: int
    """… to this one."""


class JournalAnswers:
    """Answers the items of a journal; the rounds before them are settled once for all items.

    Args:
        events: the whole journal.
        rules: those of the session, where its journal does not state them. Where nothing does,
            no answer says what it comes to.
        where: the journal, for errors.
    """

    def __init__(
        self,
        events: Iterable[AnyEvent | UnknownEvent],
        rules: Rulebook | None = None,
        *,
        where: str = "journal",
    ) -> None:
        self._known = [event for event in events if not isinstance(event, UnknownEvent)]
        self._where = where
        self._rules = rules or _rules_of(self._known, where)
        self._rounds = dict(by_round(self._known))
        self._raised = defaultdict[int, list[ReviewRaised]](list)
        self._decisions = defaultdict[int, list[ReviewResolved]](list)
        for event in self._known:
            if isinstance(event, ReviewRaised):
                self._raised[event.round].append(event)
            elif isinstance(event, ReviewResolved):
                self._decisions[event.round].append(event)
        self._starts = {} if self._rules is None else self._starts_under(self._rules)

    def to(self, number: int, item: int) -> Answered:
        """Return the answers to an item of a round, and when at the table it was in doubt.

        Raises:
            OperatorError: there is no such item.
        """
        raised = self._raised.get(number, [])
        if item >= len(raised):
            raise OperatorError(
                f"round {number} has no review item {item}",
                where=self._where,
                way_out="`pitwatch review list` names the items",
            )
        own = self._rounds.get(number, [])
        decisions = self._decisions.get(number, [])
        answering = Answering(self._rules, self._starts.get(number), own, raised, decisions)
        from_ns, to_ns = _moments(self._known, own, raised[item])
        return Answered(answering.answers(item), from_ns, to_ns)

    def _starts_under(self, rules: Rulebook) -> dict[int, EngineState | None]:
        """Return the state that each round with items starts from, with its opening."""
        engine, found = Engine(rules), dict[int, EngineState | None]()
        for number in sorted({*self._rounds, *self._raised}):
            own = self._rounds.get(number, [])
            raised, decisions = self._raised.get(number, ()), self._decisions.get(number, ())
            facts = decided(own, raised, decisions).facts
            for fact in own[:1]:
                engine.feed(fact)
            if number in self._raised:
                found[number] = engine.engine_state()
                if len(found) == len(self._raised):
                    break
            for fact in facts[1:]:
                engine.feed(fact)
        return found


def _rules_of(known: Sequence[AnyEvent], where: str) -> Rulebook | None:
    try:
        return rules_of(known, where)
    except OperatorError:
        return None


def _moments(
    known: Iterable[AnyEvent], own: Iterable[AnyFact], raised: ReviewRaised
) -> tuple[int, int]:
    """Return the span of what an item rests on; of the whole round where it rests on nothing."""
    evidence = set(raised.review.evidence)
    times = [event.at for event in known if event.seq in evidence and event.at is not None]
    times += [
        fact.at
        for account in raised.accounts or ()
        for change in account.changes or ()
        for fact in change.facts
        if fact.at is not None
    ]
    times = times or [fact.at for fact in own if fact.at is not None] or [raised.at or 0]
    return min(times), max(times)
