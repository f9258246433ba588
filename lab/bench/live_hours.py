"""Hours of a live table's time: ``python -m lab.bench.live_hours [--hours 8]``.

The table is a process of its own with all of its live code: real ports, supervisor, drivers,
order, reconciler, engine, ledger, signed journal, recorder. The simulated devices set its time,
so that hours pass in minutes; a camera's observations come without pixels. By the hour: its
private memory, its open files, and how long a word takes from the cable into the journal.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from models.judgements import RoundSettled
from simulation.session import START_NS
from tests.faults.live_kills import Life, Table
from tests.faults.live_process import known_driver, run_table, shared_time

_HOUR_NS = 3_600_000_000_000
_MINUTE_NS = 60_000_000_000
_MIB = 1 << 20


@dataclass
class Hour:
    """What was measured in one hour of the table's time."""

    memory: int = 0
    """Bytes that are the process's own, at the end."""
    files: int = 0
    """Open at the end."""
    late_ms: list[float] = field(default_factory=list)
    """From each report of a device until the table had journalled it."""


class Hours(Table):
    """A long session, measured as it is played."""

    hours: list[Hour]
    process: int
    last_s: float

    def begin(self, chance: random.Random | None, most_s: float) -> Life:
        """Begin the table as a program of its own: nothing of this one is in its memory."""
        del chance, most_s
        self.hours = [Hour()]
        reading, writing = os.pipe()
        given = ["--table", str(self.place), "--acknowledge", str(writing)]
        started = subprocess.Popen(
            [sys.executable, "-m", "lab.bench.live_hours", *given], pass_fds=(writing,)
        )
        os.close(writing)
        self.process, self.last_s = started.pid, 0.0
        return Life(started.pid, reading, None, None)

    def advance(self, life: Life, to_ns: int) -> bool:
        """Advance the time; what came before is journalled. At the end of an hour, measure."""
        if self.last_s:
            self.hours[-1].late_ms.append((time.perf_counter() - self.last_s) * 1000)
        if to_ns - START_NS >= len(self.hours) * _HOUR_NS:
            self.measure()
            self.hours.append(Hour())
        lived = super().advance(life, to_ns)
        self.last_s = time.perf_counter()
        return lived

    def measure(self) -> None:
        """Note what the process takes now."""
        text = Path(f"/proc/{self.process}/smaps_rollup").read_text()
        own = [line.split() for line in text.splitlines() if line.startswith("Private_")]
        self.hours[-1].memory = sum(int(parts[1]) * 1024 for parts in own)
        self.hours[-1].files = len(list(Path(f"/proc/{self.process}/fd").iterdir()))


def main() -> None:
    """Play the hours and print what each took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--hours", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--place", type=Path, help="where journal and recordings go meanwhile")
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--acknowledge", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.table is not None:
        with known_driver():
            run_table(
                given.table / "table.toml", shared_time(given.table / "clock"), given.acknowledge
            )
        return
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory(dir=given.place) as folder:
        table = Hours(Path(folder) / "t", given.seed, _rounds(given.hours), step_ns=500_000_000)
        table.cut(START_NS + round(given.hours * _HOUR_NS) + _MINUTE_NS)
        events = table.play(None)
    settled = sum(isinstance(event, RoundSettled) for event in events)
    print("hour  own memory MiB  open files  into the journal ms: median, p99, worst")
    for number, hour in enumerate(table.hours[:-1], start=1):
        p99 = np.percentile(hour.late_ms, 99)
        late = f"{median(hour.late_ms):.1f}, {p99:.1f}, {max(hour.late_ms):.0f}"
        print(f"{number:4}  {hour.memory / _MIB:14.1f}  {hour.files:10}  {late}")
    first, last = table.hours[0].memory, table.hours[-2].memory
    took_s = time.monotonic() - begun_s
    print(
        f"{settled} rounds, {len(events)} entries in {took_s:.0f} s; memory after the last hour "
        f"{last / first - 1:+.1%} of that after the first"
    )


def _rounds(hours: float) -> int:
    """More than fit: what comes later is cut off."""
    return round(hours * 240) + 10


if __name__ == "__main__":
    main()
