"""What a table works while a person decides: ``python -m lab.bench.deciding``.

Sessions of several lengths play to a journal on the disk, with one item open in the first round.
It is decided as a live table does it, on its own thread, and then in the closed journal, reading,
verifying and sealing included. Beside it, in the same run, what it costs to verify that journal.
Processor time, as the machine is shared; the waits for the disk come on top.
"""

import argparse
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from lab.bench.record import Claim, add_option, record
from models.cards import Card
from models.events import CardDealt, CardPlace, ReviewResolved
from models.judgements import Review, ReviewRaised
from server.house.rulebooks import rules_for
from server.table.resolving import decide_closed
from server.table.settlement_book import SettlementBook
from settlement import COMPILED
from settlement.engine import Engine
from stream.journal import Journal, verify_journal
from tests.server.evenings import evening

_DOUBT = Review("neither the shoe nor the camera read a card", ("KS", "QS"), ())
_DECISION = ReviewResolved(
    source="console:bench",
    at=1,
    table="T",
    round=1,
    item=0,
    decision="chosen",
    choice=Card("KS"),
    card=CardPlace(to=1),
)


def measure(rounds: int, folder: Path) -> tuple[int, float, float, float]:
    """Return the journal's entries, and milliseconds: at the table, when closed, to verify."""
    path = folder / f"{rounds}.journal"
    with Journal.create(path) as journal:
        book, engine = _played(journal, rounds)
        entries, begun_ns = journal.last_seq, time.process_time_ns()
        book.check(_DECISION, engine)
        book.resolve(journal.append(_DECISION), engine)
        live_ns = time.process_time_ns() - begun_ns
    begun_ns = time.process_time_ns()
    decide_closed(path, replace(_DECISION, at=2))
    closed_ns = time.process_time_ns() - begun_ns
    begun_ns = time.process_time_ns()
    verify_journal(path)
    return entries, live_ns / 1e6, closed_ns / 1e6, (time.process_time_ns() - begun_ns) / 1e6


def _played(journal: Journal, rounds: int) -> tuple[SettlementBook, Engine]:
    engine = Engine(rules_for("kansas-shoe"))
    book = SettlementBook(lambda events: list(journal.append_all(events)), journal.read)
    facts = [replace(fact, table="T", evidence=()) for fact in evening(rounds)]
    first = next(at for at, fact in enumerate(facts) if isinstance(fact, CardDealt)) + 1
    for fact in journal.append_all(facts[:first]):
        engine.feed(fact)
        book.processed(fact, engine)
    book.raised(journal.append(ReviewRaised(round=1, table="T", review=_DOUBT)))
    for fact in journal.append_all(facts[first:]):
        results = engine.feed(fact)
        book.processed(fact, engine)
        for result in results:
            engine = book.settled(result, fact.at, (), engine)
    return book, engine


def main() -> None:
    """Print a line a session."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, nargs="+", default=[60, 500])
    add_option(parser)
    asked = parser.parse_args()
    claims: list[Claim] = []
    print(f"the engine is {'compiled' if COMPILED else 'interpreted'}")
    with tempfile.TemporaryDirectory() as folder:
        for rounds in asked.rounds:
            entries, live, closed, verified = measure(rounds, Path(folder))
            print(
                f"{rounds} rounds, {entries} entries: at the table {live:.0f} ms "
                f"({live / verified:.1f} times verifying it), closed {closed:.0f} ms, "
                f"verified in {verified:.0f} ms"
            )
            claims += [
                Claim(f"{rounds:,} rounds, {entries:,} entries: at the table", round(live), "ms"),
                Claim(
                    f"{rounds:,} rounds: at the table, against verifying the journal",
                    round(live / verified, 1),
                    "times",
                ),
                Claim(f"{rounds:,} rounds: in the closed journal", round(closed), "ms"),
            ]
    if asked.record:
        record("deciding", claims)


if __name__ == "__main__":
    main()
