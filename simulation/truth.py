"""The truth of a session, numbered, each round followed by its correct result."""

from collections.abc import Iterable, Iterator
from itertools import count

import msgspec

from models.events import AnyFact
from models.judgements import AnyEvent, RoundResult, RoundSettled
from models.rulebook import Rulebook
from settlement.engine import Engine


def settled(facts: Iterable[AnyFact], rules: Rulebook) -> Iterator[AnyEvent]:
    """Yield the facts with ``seq`` from 1, and each round's result once it is known."""
    engine, numbers = Engine(rules), count(1)
    latest: AnyFact | None = None
    for fact in facts:
        latest = msgspec.structs.replace(fact, seq=next(numbers))
        yield latest
        for result in engine.feed(latest):
            yield _settled(result, next(numbers), latest)
    if latest is not None:
        for result in engine.finish():
            yield _settled(result, next(numbers), latest)


def _settled(result: RoundResult, seq: int, after: AnyFact) -> RoundSettled:
    return RoundSettled(seq=seq, at=after.at, table=after.table, result=result)
