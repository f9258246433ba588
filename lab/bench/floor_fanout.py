"""How a service learns of new entries: polling and LISTEN/NOTIFY beside each other.

``python -m lab.bench.floor_fanout``: a PostgreSQL of its own, fsync on, in a temporary folder.
Forwarders hand over one entry a transaction, at a pace and then as fast as they can. A reader asks
which chains grew, every so often or whenever it is notified. Measured are the time from an entry's
hand-over to its sight by the reader, and the transactions a second with and without a notification
in each. With ``--viewer``, tables write to their journals, `pitwatch forward` and `pitwatch serve`
run as processes, and what is measured is the time from an append to a viewer's WebSocket.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import psycopg
from websockets.sync.client import connect

from lab.bench.floor_record import forwarded, write_journals
from lab.bench.record import Claim, add_option, record
from lab.bench.settlement_speed import RULEBOOK, dealt
from models.events import AnyFact
from server.archive.days import Begun
from server.floor_record.database import FloorDatabase
from simulation.house import house
from stream.chaining import chained
from stream.clock import elapsed_ns
from stream.identity import Identity
from stream.journal import Journal, Place
from tests.server.floor_record.cluster import FloorSite, cluster, new_floor
from tests.server.service.house import token_for, until
from tests.server.service.test_start import is_ready

_BEGINS_NS: Final = 1_772_366_400_000_000_000
_DAY: Final = date(2026, 3, 1)
_PLAIN: Final = b"SELECT outcome FROM pitwatch.take(%s, 1, %s, %b, %b, 3, %s)"
_NOTIFYING: Final = (
    b"SELECT outcome, pg_notify('pitwatch_bench', '') FROM pitwatch.take(%s, 1, %s, %b, %b, 3, %s)"
)
_GREW: Final = b"SELECT table_id, seq FROM pitwatch.chains"


@cache
def some_facts() -> tuple[AnyFact, ...]:
    """Return the facts of simulated rounds; dealing them takes a while."""
    return tuple(dealt(house(RULEBOOK).rules, 1))


class Table(threading.Thread):
    """A forwarder of one table: one entry a transaction."""

    def __init__(self, site: FloorSite, name: str, query: bytes, per_s: float | None) -> None:
        super().__init__()
        self._site, self.table, self._query, self._per_s = site, name, query, per_s
        self.sent_ns: list[int] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        facts, place = cycle(some_facts()), Place()
        with psycopg.connect(self._site.forwarder, autocommit=True) as floor:
            begun_ns = elapsed_ns()
            while not self.is_over.is_set():
                fact = msgspec.structs.replace(next(facts), seq=None, at=_BEGINS_NS)
                _, ((seq, head, body),) = chained((fact,), place)
                self.sent_ns.append(elapsed_ns())
                floor.execute(self._query, (self.table, seq, [head], [body], seq))
                place = Place(seq, head)
                if self._per_s is not None:
                    due_ns = begun_ns + int(seq / self._per_s * 1e9)
                    time.sleep(max(due_ns - elapsed_ns(), 0) / 1e9)


def waits(floor: psycopg.Connection[Any], every_s: float | None) -> Callable[[], None]:
    """Return what a reader does between two looks: sleep, or wait for a notification."""
    if every_s is not None:
        return lambda: time.sleep(every_s)
    floor.execute(b"LISTEN pitwatch_bench")

    def wait() -> None:
        for _ in floor.notifies(timeout=0.5, stop_after=1):
            pass

    return wait


def measured(
    site: FloorSite, tables: int, seconds: float, *, every_s: float | None, per_s: float | None
) -> tuple[list[float], float]:
    """Return each entry's way to the reader in seconds, and the transactions a second."""
    some_facts()
    query = _NOTIFYING if every_s is None else _PLAIN
    names = [f"BJ-{number:03}" for number in range(tables)]
    with FloorDatabase.connected(site.forwarder) as floor:
        for name in names:
            identity = Identity(journal=os.urandom(16).hex(), name=f"{name}.journal", table=name)
            floor.open_chain(name, identity, Begun(Path(name), _DAY, _BEGINS_NS), 0)
    writers = {
        name: Table(site, name, query, None if per_s is None else per_s / tables) for name in names
    }
    ways, at = list[float](), dict.fromkeys(names, 0)
    with psycopg.connect(site.reader, autocommit=True) as reader:
        wait = waits(reader, every_s)
        for writer in writers.values():
            writer.start()
        began_ns = elapsed_ns()
        while elapsed_ns() - began_ns < seconds * 1e9:
            for name, seq in reader.execute(_GREW).fetchall():
                seen_ns = elapsed_ns()
                ways += [
                    (seen_ns - sent_ns) / 1e9 for sent_ns in writers[name].sent_ns[at[name] : seq]
                ]
                at[name] = seq
            wait()
        for writer in writers.values():
            writer.is_over.set()
        for writer in writers.values():
            writer.join()
    return sorted(ways), len(ways) / seconds


def compare(tables: int, per_s: float, seconds: float) -> Iterator[Claim]:
    """Measure polling and notification, at a pace and at full speed."""
    for name, every_s in (
        ("polled every 50 ms", 0.05),
        ("polled every 10 ms", 0.01),
        ("notified", None),
    ):
        with cluster(fsync=True) as made:
            ways, _ = measured(new_floor(made), tables, seconds, every_s=every_s, per_s=per_s)
        for said, share in (("half of the entries", 0.5), ("99 of 100", 0.99)):
            yield Claim(
                claim=f"{name}, {per_s:,.0f} transactions/s: {said} seen within",
                value=round(ways[int(len(ways) * share)] * 1000, 1),
                unit="ms",
            )
    for name, every_s in (("without notifications", 0.05), ("a notification in each", None)):
        with cluster(fsync=True) as made:
            _, rate = measured(new_floor(made), tables, seconds, every_s=every_s, per_s=None)
        yield Claim(
            claim=f"{tables} forwarders as fast as they can, {name}",
            value=round(rate),
            unit="transactions/s",
        )


# --- from a table to a viewer -------------------------------------------------------------


@contextmanager
def started(
    *words: str, stop: int = signal.SIGTERM, there: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run one of the program's commands until the block ends; ``there`` leads to its host."""
    command = [*there, sys.executable, "-m", "server", *words]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(stop)
        process.wait(30)


def viewed(
    site: FloorSite, place: Path, tables: int, per_s: float, seconds: float, forwarders: int
) -> list[float]:
    """Let tables write, and return each entry's way to a viewer in seconds."""
    facts = cycle(some_facts())
    names = [f"BJ-{number:03}" for number in range(tables)]
    folders = [place / f"machine-{number}" for number in range(forwarders)]
    for folder in folders:
        folder.mkdir()
    state, port = place / "state", "8791"
    url = f"http://127.0.0.1:{port}"
    appended, ways = dict[tuple[str, int], int](), list[float]()
    with ExitStack() as stack:
        journals = [
            stack.enter_context(Journal.create(folder / f"{name}.journal", table=name))
            for name, folder in zip(names, cycle(folders), strict=False)
        ]
        for folder in folders:
            stack.enter_context(started("forward", str(folder), "--floor", site.forwarder))
        serve = ("serve", "--floor", site.reader, "--state", str(state), "--port", port)
        stack.enter_context(started(*serve))
        until(lambda: is_ready(url))
        headers = {"Authorization": f"Bearer {token_for(url, state, 'pit')}"}
        seen = threading.Event()
        viewer = stack.enter_context(
            connect(f"ws://127.0.0.1:{port}/stream", additional_headers=headers, proxy=None)
        )
        warm_ns = elapsed_ns() + 8_000_000_000
        end_ns = warm_ns + int(seconds * 1e9)

        def watch() -> None:
            while elapsed_ns() < end_ns + 5_000_000_000:
                try:
                    told = json.loads(viewer.recv(timeout=1))
                except TimeoutError:
                    continue
                sent_ns = appended.get((told["session"], told["event"]["seq"]))
                if sent_ns is not None and sent_ns >= warm_ns:
                    ways.append((elapsed_ns() - sent_ns) / 1e9)
            seen.set()

        threading.Thread(target=watch, daemon=True).start()
        began_ns, written = elapsed_ns(), 0
        while (now_ns := elapsed_ns()) < end_ns:
            while written < per_s * (now_ns - began_ns) / 1e9:
                nth = written % tables
                fact = msgspec.structs.replace(
                    next(facts), seq=None, at=_BEGINS_NS, table=names[nth]
                )
                sent_ns = elapsed_ns()
                appended[names[nth], journals[nth].append(fact).seq or 0] = sent_ns
                written += 1
            time.sleep(0.002)
        seen.wait(20)
    return sorted(ways)


def to_viewers(tables: int, per_s: float, seconds: float, forwarders: int = 1) -> Iterator[Claim]:
    """Measure the whole way, with every process on this machine."""
    with tempfile.TemporaryDirectory(prefix="pit-") as place, cluster(fsync=True) as made:
        ways = viewed(new_floor(made), Path(place), tables, per_s, seconds, forwarders)
    machines = "one forwarder" if forwarders == 1 else f"{forwarders} forwarders"
    what = f"{tables} tables, {machines}, {len(ways) / seconds:,.0f} entries/s, append to viewer"
    for said, share in (("half of them", 0.5), ("99 of 100", 0.99)):
        yield Claim(
            claim=f"{what}: {said} within",
            value=round(ways[int(len(ways) * share)] * 1000),
            unit="ms",
        )


# --- a service over many tables -----------------------------------------------------------


def opened_over(tables: int, _: float, entries: float) -> Iterator[Claim]:
    """Measure two starts of a service, and what it answers with first."""
    with tempfile.TemporaryDirectory(prefix="pit-") as place, cluster(fsync=True) as made:
        site, folder = new_floor(made), Path(place)
        write_journals(folder, tables, int(entries))
        forwarded(site, folder, 2)
        port, url = "8792", "http://127.0.0.1:8792"
        serve = ("serve", "--floor", site.reader, "--state", str(folder / "state"))
        for nth in ("first", "second"):
            began_ns = elapsed_ns()
            with started(*serve, "--port", port) as service:
                until(lambda: is_ready(url))
                what = f"{tables:,} tables of {entries:,.0f} entries, {nth} start"
                yield Claim(
                    claim=f"{what}: ready after",
                    value=round((elapsed_ns() - began_ns) / 1e9, 1),
                    unit="s",
                )
                if nth == "first":
                    token = token_for(url, folder / "state", "pit")
                asked_ns = elapsed_ns()
                answer = httpx.get(
                    f"{url}/api/tables",
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=60,
                    verify=False,
                )
                assert len(answer.raise_for_status().json()) == tables
                yield Claim(
                    claim=f"{what}: every table's state answered in",
                    value=round((elapsed_ns() - asked_ns) / 1e6),
                    unit="ms",
                )
                status = Path(f"/proc/{service.pid}/status").read_text()
                (memory_kb,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
                yield Claim(
                    claim=f"{what}: memory of the service",
                    value=round(int(memory_kb) / 1024),
                    unit="MiB",
                )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=8, help="forwarders, or tables")
    parser.add_argument("--rate", type=float, default=400, help="entries a second, of all tables")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--viewer", action="store_true", help="measure the whole way to a viewer")
    parser.add_argument("--forwarders", type=int, default=1, help="machines, with --viewer")
    parser.add_argument("--open", action="store_true", help="measure a start over many tables")
    parser.add_argument("--entries", type=int, default=60, help="of each table, with --open")
    add_option(parser)
    asked = parser.parse_args()
    to_viewer = partial(to_viewers, forwarders=asked.forwarders)
    measure = opened_over if asked.open else to_viewer if asked.viewer else compare
    claims = []
    last = asked.entries if asked.open else asked.seconds
    for claim in measure(asked.tables, asked.rate, last):
        print(f"{claim.claim:<70}{claim.value:>10} {claim.unit}", flush=True)
        claims.append(claim)
    if asked.record:
        record("floor_fanout", claims)


if __name__ == "__main__":
    main()
