"""The truth of a session, numbered, each round followed by what should settle."""

from collections.abc import Iterable, Iterator

import msgspec

from models.events import AnyFact
from models.judgements import AnyEvent
from models.rulebook import Rulebook


def settled(facts: Iterable[AnyFact], rules: Rulebook) -> Iterator[AnyEvent]:
    """Yield the facts with ``seq`` from 1."""
    del rules
    for seq, fact in enumerate(facts, start=1):
        yield msgspec.structs.replace(fact, seq=seq)
