"""A journal's facts with people's decisions applied, for settling them again."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from models.events import AnyFact, Fact, ReviewResolved
from models.judgements import AnyEvent, ReviewRaised, RoundResult, RoundSettled
from settlement.reconcile import decided

DECISION = str(ReviewResolved.__struct_config__.tag)
"""The type of a decision's entry; without one, a journal's facts stand as recorded."""


def with_decisions(events: Iterable[AnyEvent]) -> Iterator[tuple[int, AnyEvent]]:
    """Yield the decided facts, the open items, and each round's last settlement.

    Of the decisions it yields those that call a round off, which no fact says.

    Each comes with the number of its entry. A card inserted by a person has that of the entry
    before.
    """
    known = list(events)
    facts: list[AnyFact] = [event for event in known if isinstance(event, Fact)]
    raised = [event for event in known if isinstance(event, ReviewRaised)]
    decisions = [event for event in known if isinstance(event, ReviewResolved)]
    standing = decided(facts, raised, decisions)
    own = frozenset(fact.seq for fact in facts)
    still_open = _still_open(raised, standing.items)
    void = [one for one in decisions if one.decision == "void" and one.round in standing.void]
    placed = [*_placed(standing.facts, own), *still_open, *_settlements(known)]
    placed += [_Placed(one.seq or 0, one) for one in void]
    for one in sorted(placed, key=lambda one: one.at):
        yield one.at, one.event


@dataclass(frozen=True, slots=True)
class _Placed:
    at: int
    event: AnyEvent


def _placed(facts: Iterable[AnyFact], own: frozenset[int | None]) -> Iterator[_Placed]:
    at = 0
    for fact in facts:
        at = fact.seq or at if fact.seq in own else at
        yield _Placed(at, fact)


def _still_open(
    raised: Iterable[ReviewRaised], decided_items: Container[tuple[int, int]]
) -> Iterator[_Placed]:
    numbers = Counter[int]()
    for one in raised:
        item = one.round, numbers[one.round]
        numbers[one.round] += 1
        if item not in decided_items:
            yield _Placed(one.seq or 0, one)


def _settlements(events: Iterable[AnyEvent]) -> Iterator[_Placed]:
    settled = [event for event in events if isinstance(event, RoundSettled)]
    last: dict[int, RoundResult] = {event.result.round: event.result for event in settled}
    for event in settled:
        result = last.pop(event.result.round, None)
        if result is not None:
            yield _Placed(event.seq or 0, replace(event, result=result))
