"""A house's tables on the floor record, all on this machine: ``python -m lab.bench.floor_house``.

Tables write facts to their journals, an entry a transaction, at ``--rate`` in all; ``pitwatch
forward`` runs for each of ``--forwarders`` machines, ``pitwatch serve --floor`` once, and a viewer
follows every table over a WebSocket. Measured are an entry's way from its append to the floor and
to the viewer, the processor time that each part takes for an entry, and whether the floor and the
viewer have every entry once and in order. With ``--cut``, some further tables, each with so many
entries that the floor has not, return at once while the others play: how fast they catch up, and
the others' way meanwhile.

With ``--apart`` database, service and each machine of live tables are hosts of a network of their
own (network namespaces; needs root): entries go over TCP, as between machines.

PostgreSQL 15 runs with fsync on, in ``--disk``. Journals lie in ``--journals``: in a memory file
system, where this machine's disk shall not stand for those of a thousand tables.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import msgspec
from websockets.sync.client import connect

from lab.bench.floor_fanout import some_facts, started
from lab.bench.floor_record import write_journals
from lab.bench.record import Claim, add_option, record
from server.floor_record.database import FloorDatabase
from stream.clock import elapsed_ns
from stream.journal import Journal, Place
from stream.reading import entries_after
from tests.server.floor_record.cluster import FloorSite, cluster, new_floor
from tests.server.floor_record.network import Host, network
from tests.server.service.house import token_for, until
from tests.server.service.test_start import is_ready

_BEGINS_NS: Final = 1_772_366_400_000_000_000
_WARM_S: Final = 10.0
_LOOK_S: Final = 0.05
"""Seconds between looks at the floor, which add to each way."""
_SHARED_MB: Final = 512
"""PostgreSQL's own memory. Its default is 128; docs/floor.md says to give it a quarter of all."""
_PORT: Final = "8793"
_RETURNING_FROM: Final = 5_000
"""Number of the first table that returns; live tables have smaller ones."""
_SETTLE_TRIES: Final = 24_000
"""Looks, 25 ms apart, until everything has to be on the floor."""
_WRITERS_AT_MOST: Final = 2_000
"""Entries a second that one process of tables writes at the most."""
_TICK: Final = os.sysconf("SC_CLK_TCK")

Times = dict[tuple[str, int], int]
"""Table and entry, and when."""


def stopped() -> threading.Event:
    """Return an event that the next line on stdin sets."""
    is_over = threading.Event()

    def listen() -> None:
        sys.stdin.readline()
        is_over.set()

    threading.Thread(target=listen, daemon=True).start()
    return is_over


# --- the parts that run as processes of their own -----------------------------------------


def play(place: Path, first: int, tables: int, per_s: float, out: Path) -> None:
    """Be tables: append at a pace until a line on stdin; write down when each was done."""
    facts = cycle(some_facts())
    names = [f"BJ-{number:04}" for number in range(first, first + tables)]
    folders = sorted((place / "live").iterdir())
    kept = array("q")
    with ExitStack() as stack:
        journals = [
            stack.enter_context(Journal.create(folder / f"{name}.journal", table=name))
            for name, folder in zip(names, cycle(folders), strict=False)
        ]
        print("ready", flush=True)
        sys.stdin.readline()
        is_over = stopped()
        began_ns, written = elapsed_ns(), 0
        while not is_over.is_set():
            due = int(per_s * (elapsed_ns() - began_ns) / 1e9)
            while written < due:
                nth = written % tables
                fact = msgspec.structs.replace(
                    next(facts), seq=None, at=_BEGINS_NS, table=names[nth]
                )
                seq = journals[nth].append(fact).seq or 0
                kept.extend((first + nth, seq, elapsed_ns()))
                written += 1
            time.sleep(0.002)
        with out.open("wb") as file:
            kept.tofile(file)


def view(url: str, token: str, out: Path) -> None:
    """Be a viewer of every table until a line on stdin, and write down when each entry came."""
    kept, is_over = array("q"), stopped()
    headers = {"Authorization": f"Bearer {token}"}
    with connect(
        f"{url.replace('http', 'ws')}/stream", additional_headers=headers, proxy=None
    ) as viewer:
        print("ready", flush=True)
        while not is_over.is_set():
            try:
                told = json.loads(viewer.recv(timeout=0.5))
            except TimeoutError:
                continue
            if "event" in told and (number := _number(told["session"])) < _RETURNING_FROM:
                kept.extend((number, told["event"]["seq"], elapsed_ns()))
    with out.open("wb") as file:
        kept.tofile(file)


@contextmanager
def part(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a part of this bench; it is ready when the block begins."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lab.bench.floor_house", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            raise SystemExit(f"a part did not start: {words}")
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def tell(process: subprocess.Popen[bytes]) -> None:
    """Send a part its next line."""
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


def said(file: Path) -> list[tuple[str, int, int]]:
    """Return what a part wrote down: table, entry, time."""
    kept = array("q", file.read_bytes())
    return [(f"BJ-{kept[nth]:04}", kept[nth + 1], kept[nth + 2]) for nth in range(0, len(kept), 3)]


def _number(table: str) -> int:
    return int(table.removeprefix("BJ-"))


# --- watching -----------------------------------------------------------------------------


class FloorWatch(threading.Thread):
    """Looks at how far the floor has each chain."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self.seen: Times = {}
        """When each live chain's new end was seen."""
        self.at: dict[str, int] = {}
        self.is_over = threading.Event()

    def run(self) -> None:
        query = "SELECT table_id, seq FROM pitwatch.chains"
        with FloorDatabase.connected(self._url) as floor:
            while not self.is_over.is_set():
                rows: list[Any] = floor._ask(query)
                now_ns = elapsed_ns()
                for table, seq in rows:
                    if _number(table) < _RETURNING_FROM:
                        for new in range(self.at.get(table, 0) + 1, seq + 1):
                            self.seen[table, new] = now_ns
                    self.at[table] = seq
                time.sleep(_LOOK_S)


def core_s(pids: Iterable[int]) -> float:
    """Return the processor time of processes and of their ended children, in seconds."""
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICK


def children(pid: int) -> list[int]:
    """Return a process with its children."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [pid, *map(int, found.stdout.split())]


def quantiles(what: str, ways_ns: Iterable[int]) -> Iterator[Claim]:
    """Yield the way of half of the entries, of 99 of 100, and of the last."""
    ways = sorted(ways_ns)
    if not ways:
        raise SystemExit(f"nothing to measure: {what}")
    for name, share in (("half within", 0.5), ("99 of 100 within", 0.99), ("all within", 1)):
        way_ns = ways[min(int(len(ways) * share), len(ways) - 1)]
        yield Claim(f"{what}: {name}", round(way_ns / 1e6), "ms")


# --- the measurement ----------------------------------------------------------------------


def measured(
    asked: argparse.Namespace, place: Path, site: FloorSite, hosts: Mapping[str, Host]
) -> Iterator[Claim]:
    """Let the house play, and yield what was measured."""
    for number in range(asked.forwarders):
        (place / "live" / f"{number:03}").mkdir(parents=True)
    cut = [place / "cut" / f"{number:03}" for number in range(asked.returning if asked.cut else 0)]
    for number, folder in enumerate(cut):
        folder.mkdir(parents=True)
        _away(folder).mkdir(parents=True)
        share = asked.tables // len(cut)
        write_journals(_away(folder), share, asked.cut, first=_RETURNING_FROM + number * share)
    writers = -(-int(asked.rate) // _WRITERS_AT_MOST)
    share = asked.live // writers
    at = hosts["service"].address if hosts else "127.0.0.1"
    url, state = f"http://{at}:{_PORT}", place / "state"
    with ExitStack() as stack:
        tables = [
            stack.enter_context(
                part(
                    *("--part", "tables", "--place", str(place), "--out", str(place / f"t{nth}")),
                    *("--first", str(nth * share), "--live", str(share)),
                    *("--rate", str(asked.rate / writers)),
                )
            )
            for nth in range(writers)
        ]
        forward = [
            stack.enter_context(
                started("forward", str(one), "--floor", site.forwarder, there=_to(hosts, one.name))
            )
            for one in sorted((place / "live").iterdir())
        ]
        for folder in cut:
            stack.enter_context(started("forward", str(folder), "--floor", site.forwarder))
        serve = ("serve", "--floor", site.reader, "--state", str(state))
        listen = ("--host", at, "--port", _PORT)
        service = stack.enter_context(started(*serve, *listen, there=_to(hosts, "service")))
        until(lambda: is_ready(url))
        token = token_for(url, state, "pit")
        viewer = stack.enter_context(
            part("--part", "viewer", "--url", url, "--token", token, "--out", str(place / "v"))
        )
        watch = FloorWatch(site.reader)
        watch.start()
        for one in tables:
            tell(one)
        time.sleep(_WARM_S)
        assert site.cluster.process is not None
        groups = {
            "tables": [one.pid for one in tables],
            "forwarders": [one.pid for one in forward],
            "database": children(site.cluster.process.pid),
            "service": [service.pid],
        }
        began_ns, began = elapsed_ns(), {name: core_s(pids) for name, pids in groups.items()}
        time.sleep(asked.seconds)
        spent = {name: core_s(pids) - began[name] for name, pids in groups.items()}
        ended_ns = elapsed_ns()
        returned_ns, caught_ns = _returned(asked, cut, watch)
        for one in (*tables, viewer):
            if one is viewer:
                _settle(watch, place, len(tables))
            tell(one)
            one.wait(60)
        watch.is_over.set()
        watch.join()
    appended = {
        (table, seq): at for nth in range(writers) for table, seq, at in said(place / f"t{nth}")
    }
    came = said(place / "v")
    shown = {(table, seq): at for table, seq, at in reversed(came)}
    whole = [key for key, at in appended.items() if began_ns <= at < ended_ns]
    name = f"{asked.live:,} tables, {len(whole) / asked.seconds:,.0f} entries/s"
    name += ", hosts apart" if hosts else ""
    yield from quantiles(f"{name}, table to floor", (watch.seen[k] - appended[k] for k in whole))
    yield from quantiles(f"{name}, table to viewer", (shown[k] - appended[k] for k in whole))
    for group, seconds in spent.items():
        yield Claim(
            f"{name}: processor time of the {group}", round(seconds / len(whole) * 1e6), "µs/entry"
        )
    if cut:
        late = [key for key, at in appended.items() if returned_ns <= at < caught_ns]
        size = len(cut) * (asked.tables // len(cut)) * asked.cut
        took_s = (caught_ns - returned_ns) / 1e9
        back = f"{asked.tables:,} tables of {asked.cut:,} entries return over {len(cut)} machines"
        yield Claim(f"{back}: caught up after", round(took_s), "s")
        yield Claim(f"{back}: caught up at", round(size / took_s), "entries/s")
        yield from quantiles(
            f"meanwhile {asked.live:,} live tables to the floor",
            (watch.seen[k] - appended[k] for k in late),
        )
        yield from quantiles(
            f"meanwhile {asked.live:,} live tables to the viewer",
            (shown[k] - appended[k] for k in late),
        )
    yield from _compared(site, place, came, asked.live)


def _to(hosts: Mapping[str, Host], name: str) -> tuple[str, ...]:
    return hosts[name].runs if hosts else ()


def _returned(asked: argparse.Namespace, cut: Sequence[Path], watch: FloorWatch) -> tuple[int, int]:
    """Let the tables return that were cut off; return the times of that and of its end."""
    if not cut:
        return 0, 0
    returned_ns = elapsed_ns()
    for folder in cut:
        for journal in _away(folder).iterdir():
            journal.rename(folder / journal.name)
    awaited = sum(1 for folder in cut for _ in folder.glob("*.journal"))
    while True:
        late = [seq for table, seq in watch.at.items() if _number(table) >= _RETURNING_FROM]
        if len(late) == awaited and min(late) >= asked.cut:
            return returned_ns, elapsed_ns()
        time.sleep(0.05)


def _away(folder: Path) -> Path:
    """Return where a machine's journals wait until they return."""
    return folder.parent.parent / "away" / folder.name


def _settle(watch: FloorWatch, place: Path, writers: int) -> None:
    """Wait until the floor has everything that was appended, and the viewer a little longer."""
    ends: dict[str, int] = {}
    for nth in range(writers):
        for table, seq, _ in said(place / f"t{nth}"):
            ends[table] = max(ends.get(table, 0), seq)
    until(
        lambda: all(watch.at.get(table, 0) >= seq for table, seq in ends.items()),
        tries=_SETTLE_TRIES,
    )
    time.sleep(3)


def _compared(
    site: FloorSite, place: Path, came: Sequence[tuple[str, int, int]], live: int
) -> Iterator[Claim]:
    """Compare the floor, and what the viewer got, with the tables' journals."""
    total = wrong = 0
    ends: dict[str, int] = {}
    with FloorDatabase.connected(site.reader) as floor:
        for path in sorted(place.rglob("*.journal")):
            there, _ = entries_after(path, Place(), 100_000_000)
            ends[path.stem] = len(there)
            total += len(there)
            wrong += list(there) != floor.entries(path.stem, 1)
    yield Claim("tables whose entries the floor lacks, has twice or out of order", wrong, most=0)
    yield Claim("entries compared", total)
    of_table: dict[str, list[int]] = {}
    for table, seq, _ in came:
        of_table.setdefault(table, []).append(seq)
    odd = sum(
        of_table.get(table) != list(range(of_table.get(table, [1])[0], ends[table] + 1))
        for table in ends
        if _number(table) < live
    )
    yield Claim("tables whose entries the viewer lacks, got twice or out of order", odd, most=0)


def main() -> None:
    """Measure, or be one of the parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--live", type=int, default=1000, metavar="TABLES")
    parser.add_argument("--rate", type=float, default=730, help="entries a second, of all tables")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--forwarders", type=int, default=4, help="machines of live tables")
    parser.add_argument(
        "--cut", type=int, default=0, metavar="ENTRIES", help="of each that returns"
    )
    parser.add_argument("--tables", type=int, default=1000, help="that return")
    parser.add_argument("--returning", type=int, default=10, help="their machines")
    parser.add_argument("--apart", action="store_true", help="each part on a host of its own")
    parser.add_argument("--journals", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--disk", type=Path, default=None)
    for hidden in ("--part", "--url", "--token"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    add_option(parser)
    asked = parser.parse_args()
    if asked.part == "tables":
        play(asked.place, asked.first, asked.live, asked.rate, asked.out)
        return
    if asked.part == "viewer":
        view(asked.url, asked.token, asked.out)
        return
    claims = []
    machines = [f"{number:03}" for number in range(asked.forwarders)]
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="pit-", dir=asked.journals))
        names = ["database", "service", *machines]
        hosts = stack.enter_context(network(names)) if asked.apart else {}
        made = stack.enter_context(
            cluster(fsync=True, within=asked.disk, shared_mb=_SHARED_MB, host=hosts.get("database"))
        )
        for claim in measured(asked, Path(place), new_floor(made), hosts):
            print(f"{claim.claim:<90}{claim.value:>10} {claim.unit}", flush=True)
            claims.append(claim)
    if asked.record:
        record("floor_house", claims)


if __name__ == "__main__":
    main()
