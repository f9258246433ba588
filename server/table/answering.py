"""The answers to a review item, from the entries of its journal."""

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


def answers_to(
    events: Iterable[AnyEvent | UnknownEvent],
    number: int,
    item: int,
    rules: Rulebook | None = None,
    *,
    where: str = "journal",
) -> Answered:
    """Return the answers to an item of a round, and when at the table it was in doubt.

    Args:
        events: the whole journal.
        number: the round.
        item: the item's index in the round.
        rules: those of the session, where its journal does not state them. Where nothing does,
            no answer says what it comes to.
        where: the journal, for errors.

    Raises:
        OperatorError: there is no such item.
    """
    known = [event for event in events if not isinstance(event, UnknownEvent)]
    raised = [event for event in known if isinstance(event, ReviewRaised) and event.round == number]
    if item >= len(raised):
        raise OperatorError(
            f"round {number} has no review item {item}",
            where=where,
            way_out="`pitwatch review list` names the items",
        )
    decisions = [event for event in known if isinstance(event, ReviewResolved)]
    rounds = dict(by_round(known))
    before = [fact for other, own in rounds.items() if other < number for fact in own]
    own = rounds.get(number, [])
    every = [event for event in known if isinstance(event, ReviewRaised)]
    rules = rules or _rules_of(known, where)
    earlier = decided(before, every, [one for one in decisions if one.round < number])
    answering = Answering(
        rules,
        None if rules is None else _start(rules, (*earlier.facts, *own[:1])),
        own,
        raised,
        [one for one in decisions if one.round == number],
    )
    from_ns, to_ns = _moments(known, own, raised[item])
    return Answered(answering.answers(item), from_ns, to_ns)


def _rules_of(known: Sequence[AnyEvent], where: str) -> Rulebook | None:
    try:
        return rules_of(known, where)
    except OperatorError:
        return None


def _start(rules: Rulebook, facts: Iterable[AnyFact]) -> EngineState | None:
    """Return the state that the round starts from whose opening is the last of the facts."""
    engine = Engine(rules)
    for fact in facts:
        engine.feed(fact)
    return engine.engine_state()


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
