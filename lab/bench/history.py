"""A long history in Parquet: ``python -m lab.bench.history --place FOLDER --rounds 100000000``.

Twenty tables' day at 200 rounds an hour, 1,700 rounds a table with five spots, is dealt, settled,
journalled and archived. Dealing years would take days, so the archived day is then laid under as
many dates as make up ``--rounds``: its files are copied (the judgements are linked), its manifest
gets another date, the times in its rows stay. Measured
are the size, an auditor's questions through DuckDB, and ``pitwatch resettle`` over ``--settle``
days: by one process, by a pool of two, and by 1, 2 and 4 workers of a Dask cluster on this machine,
with a worker killed on the way. The output of each must be that of the one process, byte for byte.
"""

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from lab.bench.floor_house import core_s
from lab.bench.record import Claim, add_option, record
from lab.bench.settlement_speed import RULEBOOK, faults
from models.house import House
from server.archive.days import Begun, begun
from server.archive.history import Day
from server.archive.history_writer import write_day
from server.bundle.bundle import manifest_in
from server.bundle.manifest import MANIFEST, about, sealed
from simulation.house import house
from stream.clock import elapsed_ns
from stream.journal import Journal
from tests.server.archive.test_history import on_day
from tests.server.evenings import evening, judged

TABLES: Final = 20
ROUNDS: Final = 1_700
_BEGINS_NS: Final = 1_772_350_200_000_000_000
LINKED: Final = "judgements.parquet"
"""Stored once for all dates, to save disk: no question reads it. The size counts it each time."""
_DAY_NS: Final = 86_400 * 10**9
_FIRST: Final = date(2018, 1, 1)
_CLUSTER_S: Final = 60
_NEW_RULES: Final = ("--rulebook", RULEBOOK, "--set", "dealer_soft17=stand")
_KILL_AFTER_S: Final = 8.0

QUESTIONS: Final = {
    "violations by code and year": """
        SELECT code, regexp_extract(filename, '(\\d{4})-\\d\\d-\\d\\d', 1) AS year, count(*)
        FROM read_parquet('{history}/*/violations.parquet', filename = true) GROUP BY ALL""",
    "the house's gain by table and month": """
        SELECT "table", regexp_extract(filename, '\\d{4}-\\d\\d', 0) AS month, count(*), sum(net)
        FROM read_parquet('{history}/*/rounds.parquet', filename = true) GROUP BY ALL""",
    "hands whose payment differs from their result, by table": """
        SELECT "table", count(*), sum(paid - net) FROM '{history}/*/hands.parquet'
        WHERE paid IS DISTINCT FROM net GROUP BY ALL""",
    "one spot's hands in a hundred rounds of one table's day": """
        SELECT round, hand, cards, stake, outcome, net, paid, clauses
        FROM '{history}/{day}/hands.parquet'
        WHERE "table" = 'BJ-07' AND spot = 3 AND round BETWEEN 800 AND 899 ORDER BY round, hand""",
    "how often each card was dealt": """
        SELECT card, count(*) FROM '{history}/*/facts.parquet'
        WHERE type = 'card_dealt' GROUP BY ALL""",
}


# --- the history --------------------------------------------------------------------------


def first_day(history: Path) -> Path:
    """Deal, journal and archive twenty tables' day; return its folder."""
    return dealt_days(history, 1, ROUNDS)[0]


def dealt_days(history: Path, days: int, rounds: int) -> list[Path]:
    """Deal a table's rounds once, journal and archive them on each of some days; return the days.

    Every day has journals of its own: `resettle` passes over copies of a journal.
    """
    codes = faults(house(RULEBOOK).rules)
    with tempfile.TemporaryDirectory(prefix="pit-") as place:
        found: list[list[Begun]] = [[] for _ in range(days)]
        for number in range(TABLES):
            table = f"BJ-{number:02}"
            events = judged(evening(rounds, number, mistakes=codes, table=table))
            evening.cache_clear()
            for nth, journals in enumerate(found):
                path = Path(place) / f"{nth}-{table}.journal"
                with Journal.create(path, table=table) as journal:
                    journal.append_all(on_day(events, _BEGINS_NS + nth * _DAY_NS))
                one = begun(path, House())
                assert one is not None
                journals.append(one)
        return [history / write_day(journals, House(), history).about.day for journals in found]


def laid_under(day: Path, history: Path, dates: Sequence[date]) -> None:
    """Copy a day under other dates; a date that is there stays."""
    manifest, _ = manifest_in(day)
    facts = Day(day).about
    for one in dates:
        folder = history / one.isoformat()
        if folder.exists():
            continue
        half = history / f".{one}"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir()
        for file in day.iterdir():
            put = os.link if file.name == LINKED else shutil.copyfile
            put(file, half / file.name)
        stated = replace(manifest, about=about(replace(facts, day=one.isoformat())))
        (half / MANIFEST).write_bytes(sealed(stated, None))
        half.rename(folder)


def size_of(history: Path) -> int:
    """Return the bytes of a history."""
    return sum(path.stat().st_size for path in history.rglob("*") if path.is_file())


# --- an auditor's questions ---------------------------------------------------------------


def asked(history: Path, day: str, question: str) -> tuple[float, float, int]:
    """Ask in a process of its own; return seconds by the clock, MiB, and the rows answered."""
    query = QUESTIONS[question].replace("{history}", str(history)).replace("{day}", day)
    program = (
        "import duckdb, sys\n"
        "database = duckdb.connect()\n"
        "database.execute(\"SET memory_limit = '2GB'; SET threads = 2\")\n"
        "database.execute('SET enable_progress_bar = false')\n"
        "print(len(database.execute(sys.argv[1]).fetchall()))\n"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
    )
    began_ns = elapsed_ns()
    asking = subprocess.Popen([sys.executable, "-c", program, query], stdout=subprocess.PIPE)
    told, _ = asking.communicate()
    rows, memory_kb = map(int, told.split())
    return (elapsed_ns() - began_ns) / 1e9, memory_kb / 1024, rows


def answers(history: Path, day: str) -> Iterator[Claim]:
    """Ask every question."""
    for question in QUESTIONS:
        seconds, memory, _ = asked(history, day, question)
        yield Claim(f"{question}: answered in", round(seconds, 2), "s")
        yield Claim(f"{question}: memory", round(memory), "MiB")


# --- settling again -----------------------------------------------------------------------


class Memory(threading.Thread):
    """Watches the most memory that a process has held since its program started."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid, self.most_kb = pid, 0

    def run(self) -> None:
        """Look until the process is gone."""
        status = Path(f"/proc/{self._pid}/status")
        while True:
            try:
                found = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
            except OSError:
                return
            if not found:
                return
            self.most_kb = max(self.most_kb, int(found[0]))
            time.sleep(0.2)


class Resettled:
    """One run of ``pitwatch resettle``: what it printed, and what it took."""

    def __init__(self, history: Path, *more: str, workers: Sequence[int] = ()) -> None:
        words = [sys.executable, "-m", "server", "resettle", str(history), *_NEW_RULES, "--json"]
        self.hash, self.lines = hashlib.sha256(), 0
        before = core_s(workers)
        began_ns = elapsed_ns()
        running = subprocess.Popen([*words, *more], stdout=subprocess.PIPE)
        memory = Memory(running.pid)
        memory.start()
        assert running.stdout is not None
        for line in running.stdout:
            self.hash.update(line)
            self.lines += 1
        _, status, usage = os.wait4(running.pid, 0)
        self.code = running.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = (elapsed_ns() - began_ns) / 1e9
        self.core_s = usage.ru_utime + usage.ru_stime + core_s(workers) - before
        memory.join()
        self.memory_mb = memory.most_kb / 1024

    @property
    def answer(self) -> tuple[int, str]:
        """What must be the same for every way to settle."""
        return self.code, self.hash.hexdigest()


@contextmanager
def cluster(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Run a scheduler and some workers, one thread each, as docs/archives.md says."""
    dask = str(Path(sys.executable).parent / "dask")
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="pit-") as place:
        stated = Path(place) / "scheduler.json"
        told = ("--scheduler-file", str(stated))

        def start(*words: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [dask, *words], cwd=place, stderr=subprocess.DEVNULL, env=_environment()
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            return process

        start("scheduler", *told, "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        until_ns = elapsed_ns() + _CLUSTER_S * 10**9
        while not stated.exists() and elapsed_ns() < until_ns:
            time.sleep(0.1)
        started = [
            start("worker", *told, "--nthreads", "1", "--no-nanny", "--no-dashboard")
            for _ in range(workers)
        ]
        url = _address(stated)
        _await_workers(url, workers)
        yield url, started


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.getcwd()}  # noqa: PTH109 - a plain string is wanted


def _address(stated: Path) -> str:
    import json  # noqa: PLC0415

    return str(json.loads(stated.read_text())["address"])


def _await_workers(url: str, workers: int) -> None:
    from distributed import Client  # noqa: PLC0415 - an extra

    with Client(url, timeout="20s") as client:
        client.wait_for_workers(workers, timeout=_CLUSTER_S)


def settled_again(history: Path, rounds: int, workers: Sequence[int]) -> Iterator[Claim]:
    """Settle again by one process, by two, then by clusters; the last one loses a worker."""
    alone = Resettled(history, "--jobs", "1")
    what = f"{rounds:,} rounds settled again"
    yield Claim(f"{what}, one process, by the clock", round(rounds / alone.seconds), "rounds/s")
    yield Claim(f"{what}, one process", round(rounds / alone.core_s), "rounds/core s")
    yield Claim(f"{what}, one process: memory", round(alone.memory_mb), "MiB")
    yield Claim(f"{what}: lines of changed rounds", alone.lines)
    yield from _beside(alone, Resettled(history, "--jobs", "2"), f"{what}, a pool of 2", rounds)
    for number in workers:
        with cluster(number) as (url, started), tempfile.TemporaryDirectory() as parts:
            pids = [one.pid for one in started]
            took = Resettled(history, "--cluster", url, "--parts", parts, workers=pids)
        yield from _beside(alone, took, f"{what}, workers: {number}", rounds)
    with cluster(2) as (url, started), tempfile.TemporaryDirectory() as parts:
        killer = threading.Timer(_KILL_AFTER_S, os.kill, (started[0].pid, signal.SIGKILL))
        killer.start()
        took = Resettled(history, "--cluster", url, "--parts", parts)
        killer.cancel()
        was_killed = started[0].poll() == -signal.SIGKILL
    _same(took, alone)
    if not was_killed:
        raise SystemExit("the worker was not killed: settle more days")
    yield Claim(f"{what}, one of 2 workers killed: byte-equal to one process", 1, of=1)


def _beside(alone: Resettled, took: Resettled, name: str, rounds: int) -> Iterator[Claim]:
    _same(took, alone)
    yield Claim(f"{name}, by the clock", round(rounds / took.seconds), "rounds/s")
    yield Claim(name, round(rounds / took.core_s), "rounds/core s")
    share = round(100 * alone.core_s / took.core_s)
    yield Claim(f"{name}: efficiency by processor time, beside one process", share, "%")


def _same(took: Resettled, alone: Resettled) -> None:
    if took.answer != alone.answer:
        raise SystemExit("several processes printed something else than one")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--place", type=Path, help="folder to keep it in, or where it is")
    parser.add_argument("--rounds", type=int, default=340_000)
    parser.add_argument("--settle", type=int, default=10, metavar="DAYS")
    parser.add_argument("--each", type=int, default=ROUNDS, help="rounds of a table's settled day")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--only", choices=("lay", "ask", "settle"))
    add_option(parser)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pit-") as passing:
        claims = list(_measured(told, told.place or Path(passing)))
    if told.record:
        record("history", claims)


def _dates(days: int) -> list[date]:
    return [_FIRST + timedelta(days=nth) for nth in range(days)]


def _measured(told: Any, place: Path) -> Iterator[Claim]:
    history, base = place / "history", place / "base"
    claims: list[Iterator[Claim]] = []
    if told.only != "settle":
        days = -(-told.rounds // (TABLES * ROUNDS))
        day = next(iter(sorted(base.glob("2*"))), None) or first_day(base)
        history.mkdir(parents=True, exist_ok=True)
        dates = _dates(days)
        laid_under(day, history, dates)
        rounds = days * TABLES * ROUNDS
        facts = sum(part.facts for part in Day(day).about.parts) * days
    if told.only in (None, "ask"):
        size = size_of(history)
        claims.append(
            iter(
                (
                    Claim(f"{rounds:,} rounds, {facts:,} facts: size", round(size / 1e9, 2), "GB"),
                    Claim("bytes of all tables, a round", round(size / rounds)),
                )
            )
        )
        claims.append(answers(history, dates[-1].isoformat()))
    if told.only in (None, "settle"):
        some = place / f"settle-{told.settle}-{told.each}"
        if not some.exists():
            dealt_days(some, told.settle, told.each)
        claims.append(settled_again(some, told.settle * TABLES * told.each, told.workers))
    for part in claims:
        for claim in part:
            print(f"{claim.claim:<80}{claim.value:>12} {claim.unit}", flush=True)
            yield claim


if __name__ == "__main__":
    main()
