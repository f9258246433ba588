"""How fast the floor record takes entries in: ``python -m tests.bench.floor_record``.

A PostgreSQL of its own, fsync on, in a temporary folder, with the processes of this bench beside it
on the same machine. Tables write journals before, as after hours without the floor; then some
forwarders send them at once. Measured are entries a second by the clock, and the processor time of
both sides.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from itertools import count, cycle, islice
from pathlib import Path

import msgspec

from models.events import AnyFact
from server.floor_record.database import FloorDatabase
from simulation.house import house
from stream.clock import elapsed_ns
from stream.journal import Journal
from tests.bench.record import Claim, add_option, record
from tests.bench.settlement_speed import RULEBOOK, dealt
from tests.server.floor_record.cluster import FloorSite, cluster, new_floor

_BEGINS_NS = 1_772_366_400_000_000_000


def write_journals(folder: Path, tables: int, entries: int) -> None:
    """Write a journal for each table, of the facts of simulated rounds a second apart."""
    facts = tuple(dealt(house(RULEBOOK).rules, 1))
    for number in range(tables):
        table = f"BJ-{number:04}"
        with Journal.create(folder / f"{table}.journal", table=table) as journal:
            journal.append_all(_timed(islice(cycle(facts), entries), table))


def _timed(facts: Iterable[AnyFact], table: str) -> Iterable[AnyFact]:
    for nth, fact in zip(count(), facts, strict=False):
        at = _BEGINS_NS + nth * 1_000_000_000
        yield msgspec.structs.replace(fact, seq=None, at=at, table=table)


def forwarded(site: FloorSite, folder: Path, forwarders: int) -> float:
    """Send every journal, shared out among some forwarders; return the seconds it took."""
    journals = sorted(folder.glob("*.journal"))
    shares = [journals[nth::forwarders] for nth in range(forwarders)]
    words = [sys.executable, "-m", "server", "forward", "--once", "--floor", site.forwarder]
    began_ns = elapsed_ns()
    running = [
        subprocess.Popen([*words, *map(str, share)], stdout=subprocess.DEVNULL) for share in shares
    ]
    for process in running:
        if process.wait() != 0:
            raise SystemExit("a forwarder refused a journal")
    return (elapsed_ns() - began_ns) / 1e9


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--entries", type=int, default=4000, help="of each table")
    parser.add_argument("--forwarders", type=int, nargs="+", default=[1, 2])
    add_option(parser)
    asked = parser.parse_args()
    total = asked.tables * asked.entries
    claims = []
    with tempfile.TemporaryDirectory(prefix="pit-") as place:
        write_journals(Path(place), asked.tables, asked.entries)
        for forwarders in asked.forwarders:
            with cluster(fsync=True) as made:
                site = new_floor(made)
                seconds = forwarded(site, Path(place), forwarders)
                with FloorDatabase.connected(site.reader) as floor:
                    stands = floor.lag()
                if [(one.seq, one.behind) for one in stands] != [(asked.entries, 0)] * asked.tables:
                    raise SystemExit("the floor does not hold every entry")
            what = f"{asked.tables} tables, {total:,} entries, forwarders: {forwarders}"
            claims.append(Claim(claim=what, value=round(total / seconds), unit="entries/s"))
            print(f"{what:<60}{total / seconds:>10,.0f} entries/s")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        sent = total * len(asked.forwarders)
        spent = (used.ru_utime + used.ru_stime) / sent * 1e6
        claims.append(
            Claim(
                claim="processor time of forwarders and database, an entry",
                value=round(spent),
                unit="µs",
            )
        )
        print(f"{'processor time of both, an entry':<60}{spent:>10,.0f} µs")
    if asked.record:
        record("floor_record", claims)


if __name__ == "__main__":
    main()
