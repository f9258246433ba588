"""How fast the floor record takes entries in: ``python -m lab.bench.floor_record``.

A PostgreSQL of its own, fsync on, in a temporary folder, with the processes of this bench beside it
on the same machine. Tables write journals before, as after hours without the floor; then some
forwarders send them at once. Measured are entries a second by the clock, and the processor time of
both sides. With ``--live``, tables write as they play, and what is measured is the time from an
entry's append at its table to its sight on the floor.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import ExitStack
from functools import cache
from itertools import count, cycle, islice
from pathlib import Path

import msgspec

from lab.bench.record import Claim, add_option, record
from lab.bench.settlement_speed import RULEBOOK, dealt
from models.events import AnyFact
from server.floor_record.database import FloorDatabase
from simulation.house import house
from stream.clock import elapsed_ns
from stream.journal import Journal
from tests.server.floor_record.cluster import FloorSite, cluster, new_floor

_BEGINS_NS = 1_772_366_400_000_000_000
_LOOK_S = 0.02
"""Seconds between looks at the floor, which add to each way."""


@cache
def _facts() -> tuple[AnyFact, ...]:
    return tuple(dealt(house(RULEBOOK).rules, 1))


def write_journals(folder: Path, tables: int, entries: int, first: int = 0) -> None:
    """Write a journal for each table, of the facts of simulated rounds a second apart."""
    facts = _facts()
    for number in range(first, first + tables):
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


def live(site: FloorSite, folder: Path, tables: int, rate: float, seconds: float) -> list[float]:
    """Let tables write ``rate`` entries a second in all; return each entry's way in seconds."""
    facts = cycle(dealt(house(RULEBOOK).rules, 1))
    names = [f"BJ-{number:04}" for number in range(tables)]
    appended: dict[tuple[str, int], int] = {}
    ways: list[float] = []
    words = [sys.executable, "-m", "server", "forward", str(folder), "--floor", site.forwarder]
    with ExitStack() as stack, FloorDatabase.connected(site.reader) as floor:
        journals = [
            stack.enter_context(Journal.create(folder / f"{name}.journal", table=name))
            for name in names
        ]
        forwarder = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        stack.callback(forwarder.terminate)
        began_ns, written, at = elapsed_ns(), 0, dict.fromkeys(names, 0)
        warm_ns = began_ns + 10_000_000_000
        while (now_ns := elapsed_ns()) < warm_ns + seconds * 1e9 or sum(at.values()) < written:
            due = rate * (min(now_ns, warm_ns + int(seconds * 1e9)) - began_ns) / 1e9
            while written < due:
                name, journal = names[written % tables], journals[written % tables]
                fact = msgspec.structs.replace(next(facts), seq=None, at=_BEGINS_NS, table=name)
                appended[name, journal.append(fact).seq or 0] = elapsed_ns()
                written += 1
            for one in floor.lag():
                seen_ns = elapsed_ns()
                new = (appended[one.table, seq] for seq in range(at[one.table] + 1, one.seq + 1))
                ways += [(seen_ns - there_ns) / 1e9 for there_ns in new if there_ns >= warm_ns]
                at[one.table] = one.seq
            time.sleep(_LOOK_S)
    return ways


def measure_live(tables: int, rate: float, seconds: float) -> list[Claim]:
    """Measure entries' way to the floor, print it, and return it as claims."""
    with tempfile.TemporaryDirectory(prefix="pit-") as place, cluster(fsync=True) as made:
        ways = sorted(live(new_floor(made), Path(place), tables, rate, seconds))
    what = f"{tables} tables, one forwarder, {len(ways) / seconds:,.0f} entries/s: the way of"
    claims = []
    for name, share in (("half of them", 0.5), ("99 of 100", 0.99)):
        way_ms = round(ways[int(len(ways) * share)] * 1000)
        claims.append(Claim(claim=f"{what} {name}, at most", value=way_ms, unit="ms"))
        print(f"{what} {name}, at most {way_ms} ms")
    return claims


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--entries", type=int, default=4000, help="of each table")
    parser.add_argument("--forwarders", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--live", type=float, metavar="RATE", help="entries a second, of all tables"
    )
    parser.add_argument("--seconds", type=float, default=20, help="of the tables' play")
    add_option(parser)
    asked = parser.parse_args()
    if asked.live:
        claims = measure_live(asked.tables, asked.live, asked.seconds)
        if asked.record:
            record("floor_record", claims)
        return
    total = asked.tables * asked.entries
    claims = list[Claim]()
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
