"""What settling large files takes: ``python -m lab.bench.archives --rounds 10000 1000000``.

Deals 200 rounds at five spots, writes them again and again into a file of each size, and has
``pitwatch settle --json`` settle it in a process of its own. Prints rounds a second of processor
time and the most memory that the process ever held: the latter does not grow with the file.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lab.bench.record import Claim, add_option, record
from stream.clock import elapsed_ns
from tests.server.evenings import evening, lines

BLOCK_ROUNDS = 200


def main() -> None:
    """Settle a file of each size and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, nargs="+", default=[10_000, 100_000])
    add_option(parser)
    arguments = parser.parse_args()
    claims: list[Claim] = []
    block = lines(evening(BLOCK_ROUNDS, 7))
    print(f"{'rounds':>10}{'MB':>8}{'wall s':>9}{'cpu s':>8}{'rounds/s':>10}{'RSS MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for rounds in arguments.rounds:
            file = Path(folder) / "facts.jsonl"
            with file.open("wb") as written:
                written.writelines([block] * (rounds // BLOCK_ROUNDS))
            wall_s, cpu_s, rss_mb = settled(file)
            size_mb = file.stat().st_size / 1e6
            speed = f"{rounds / cpu_s:>10,.0f}{rss_mb:>8.0f}"
            print(f"{rounds:>10,}{size_mb:>8.0f}{wall_s:>9.1f}{cpu_s:>8.1f}{speed}", flush=True)
            claims += [
                Claim(
                    f"{rounds:,} rounds, {size_mb:,.0f} MB: processor time", round(cpu_s, 1), "s"
                ),
                Claim(f"{rounds:,} rounds, {size_mb:,.0f} MB: most memory", round(rss_mb), "MB"),
            ]
    if arguments.record:
        record("archives", claims)


def settled(file: Path, more: Sequence[str] = ()) -> tuple[float, float, float]:
    """Settle a file and return wall seconds, processor seconds and peak memory in MB."""
    command = [sys.executable, "-m", "server", "settle", str(file), "-r", "kansas-shoe", "--json"]
    start_ns = elapsed_ns()
    running = subprocess.Popen([*command, *more], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    wall_s = (elapsed_ns() - start_ns) / 1e9
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
