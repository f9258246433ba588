"""How soon a process is of use: ``python -m lab.bench.ready [--place FOLDER]``.

A table whose process was killed thirty times, and 3,000 entries later is started again amid a
round; a service on a journal of 100,000 entries; and small commands. Each is a process of its own.
Processor time, as the machine is shared, and its ratio to a Python that does nothing.
"""

import argparse
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic, process_time, sleep

import httpx

from lab.bench.heavy_requests import ROUNDS, is_ready, journals
from lab.bench.record import Claim, Table, add_option, record
from tests.faults.live_kills import Table as PlayedTable
from tests.faults.live_process import Blind, known_driver
from tests.server.service.house import House

KILLS = 30
TABLE_ROUNDS = 60
"""Rounds of some 3,300 entries."""
LIVES_S = 0.9
"""Seconds that a table lives at most, once its devices are connected: 30 kills in 60 rounds."""
AMID_NS = 12_000_000_000
"""So long before the end of its last round the table is left."""
PORT = 8799
SMALL = (
    "--version",
    "--help",
    "rulebooks list",
    "rulebooks show kansas-shoe",
    "journal verify JOURNAL",
    "review list JOURNAL",
    "config check TABLE",
    "report verify none",
    "incident verify none",
    "decks list",
    "floor status --floor postgresql://none",
    "serve --help",
    "run --help",
)


class _Thirty(random.Random):
    """Kills a table so many times, never as it starts, and then no more."""

    left = KILLS

    def random(self) -> float:
        return 1.0

    def uniform(self, a: float, b: float) -> float:
        self.left -= 1
        return super().uniform(a, b) if self.left >= 0 else math.inf


def killed(folder: Path) -> Path:
    """Return the folder of the table that was killed, made where it is not there."""
    place = folder / "killed"
    if not place.exists():
        table = PlayedTable(place, 1, TABLE_ROUNDS)
        table.cut(table.words[-1].at_ns - AMID_NS)
        table.play(_Thirty(5), LIVES_S)
        assert table.kills == KILLS, f"{table.kills} kills: it lives too long for {KILLS}"
    return place


def start_table(place: Path) -> None:
    """Start the table as ``pitwatch run`` does, and print the processor time until it is ready."""
    from server.commands import run  # noqa: PLC0415 - to import it is part of a start
    from server.process.program import program_stated  # noqa: PLC0415
    from server.table.config import read_config  # noqa: PLC0415
    from server.table.journal import table_journal  # noqa: PLC0415
    from server.table.live import LiveTable  # noqa: PLC0415
    from stream.clock import HostClock  # noqa: PLC0415
    from vision.reader import Reader  # noqa: PLC0415

    assert run
    imported_s, clock = process_time(), HostClock()
    Reader.load()
    placed = read_config(place / "table.toml")
    with known_driver(), table_journal(placed, clock) as (journal, _, rests):
        table = LiveTable(placed, journal, clock, Blind(), stating=program_stated, rests=rests)
        print(imported_s, process_time(), journal.last_seq, table.standing.in_play or 0)


def of_table(place: Path, times: int) -> Iterator[Claim]:
    """Yield what starts of the table that was killed take."""
    took: list[float] = []
    imports: list[float] = []
    entries, rounds = "", ""
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            for file in filter(Path.is_file, place.iterdir()):
                shutil.copy(file, folder)
            command = [sys.executable, "-m", "lab.bench.ready", "--start", folder]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        imported_s, ready_s, entries, rounds = printed.split()[-4:]
        took, imports = [*took, float(ready_s)], [*imports, float(imported_s)]
    after = f"after {KILLS} kills and {int(entries):,} entries, amid round {rounds}"
    yield _median(f"a table ready {after}", took)
    yield _median("of that imports of the program and of this bench", imports)


def of_service(place: Path, times: int) -> Iterator[Claim]:
    """Yield what starts of the service take, without an index and with one."""
    with tempfile.TemporaryDirectory() as folder:
        for what, state in (("first start", None), ("later start", Path(folder) / "kept")):
            answers: list[float] = []
            readies: list[float] = []
            for number in range(times + (state is not None)):
                answered_s, ready_s = _served(place, state or Path(folder) / str(number))
                answers, readies = [*answers, answered_s], [*readies, ready_s]
            yield _median(f"the service's first page, {what}", answers[-times:])
            yield _median(f"the service has read 100,459 entries, {what}", readies[-times:])


def _served(place: Path, state: Path) -> tuple[float, float]:
    """Serve once; return the processor time until the first page, and until all is read."""
    command = [sys.executable, "-m", "pitwatch", "serve", str(place), "--state", str(state)]
    house = House(f"http://127.0.0.1:{PORT}", place, state)
    with subprocess.Popen([*command, "--port", str(PORT)], stderr=subprocess.DEVNULL) as process:
        try:
            while not _shows(house):
                sleep(0.01)
            answered_s = _used_s(process.pid)
            while not is_ready(house):
                sleep(0.01)
            return answered_s, _used_s(process.pid)
        finally:
            process.terminate()


def _shows(house: House) -> bool:
    try:
        return httpx.get(house.url, timeout=60).status_code == 200
    except httpx.TransportError:
        return False


def _used_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def of_commands(place: Path, times: int) -> Iterator[tuple[str, float, float]]:
    """Yield each small command with its processor time, and the ratio to a bare Python."""
    bare_s = _command_s([sys.executable, "-c", ""], times)
    yield "python -c ''", bare_s, 1.0
    names = {"JOURNAL": str(place / "table.journal"), "TABLE": str(place / "table.toml")}
    for command in SMALL:
        words = [names.get(word, word) for word in command.split()]
        took_s = _command_s([sys.executable, "-m", "pitwatch", *words], times)
        yield f"pitwatch {command}", took_s, took_s / bare_s


def _command_s(command: Sequence[str], times: int) -> float:
    took = []
    for _ in range(times):
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
        took.append(used.ru_utime + used.ru_stime)
    return statistics.median(took)


def _median(claim: str, took: Sequence[float]) -> Claim:
    low, high = round(min(took), 2), round(max(took), 2)
    found = round(statistics.median(took), 2)
    return Claim(f"{claim}, median of {len(took)}", found, "s", interval=(low, high))


def main() -> None:
    """Print a line a figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=3, help="starts of each")
    parser.add_argument("--place", type=Path, help="where the journals are made, and stay")
    parser.add_argument("--start", type=Path, help=argparse.SUPPRESS)
    add_option(parser)
    asked = parser.parse_args()
    if asked.start is not None:
        start_table(asked.start)
        return
    begun_s = monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = asked.place or Path(folder)
        table, served = killed(place), journals(place, ROUNDS)
        claims = []
        for claim in (*of_table(table, asked.times), *of_service(served, asked.times)):
            claims.append(claim)
            print(f"{claim.claim}: {claim.value} {claim.unit} {claim.interval}", flush=True)
        rows = []
        for command, took_s, ratio in of_commands(table, asked.times):
            rows.append((command, f"{took_s:.2f} s", f"{ratio:.1f}"))
            print(*rows[-1], flush=True)
    print(f"{monotonic() - begun_s:.0f} s")
    if asked.record:
        columns = ("command", "processor time", "times a bare Python")
        record("ready", claims, [Table(columns, tuple(rows))])


if __name__ == "__main__":
    main()
