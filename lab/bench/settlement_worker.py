"""Settles a file's facts again and again, for :mod:`lab.bench.settlement_before`.

The checkout to measure comes first on Python's path. It may be older than this file, so that only
what every checkout has is used: ``python -P lab/bench/settlement_worker.py FILE RULEBOOK WAY``. For
each line of its input it settles the facts once and prints the nanoseconds of processor time.
"""

import gc
import hashlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

import settlement
from models.decode import decode_events
from models.events import AnyFact
from models.judgements import RoundResult
from settlement.engine import Engine, settle
from simulation.house import house


def main(file: str, rulebook: str, way: str) -> None:
    """Print what runs here and what it settles the facts to, then settle them for each line."""
    rules = house(rulebook).rules
    facts = [fact for _, fact in read(file)]
    gc.collect()
    gc.freeze()  # the facts were there before; they are nothing of the engine's to look through

    def settled() -> Iterator[RoundResult]:
        if way == "file":
            yield from settle(read(file), rules)
            return
        engine = Engine(rules)
        for fact in facts:
            closed = engine.feed(fact)
            if closed:
                yield from closed
        yield from engine.finish()

    told = hashlib.sha256()
    rounds = 0
    for result in settled():
        rounds += 1
        told.update(msgspec.json.encode(result.spots))
    place = Path(settlement.__file__).resolve().parents[1]
    print(f"{place}\t{settlement.COMPILED}\t{rounds}\t{told.hexdigest()}", flush=True)
    for _ in sys.stdin:
        began = time.process_time_ns()
        for _result in settled():
            pass
        print(time.process_time_ns() - began, flush=True)


def read(file: str) -> Iterator[tuple[int, AnyFact]]:
    """Decode the file's lines, numbered."""
    with Path(file).open("rb") as lines:
        yield from decode_events(lines, file)  # type: ignore[misc]


if __name__ == "__main__":
    main(*sys.argv[1:])
