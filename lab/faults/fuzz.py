"""Noise through every framer and decoder: ``python -m lab.faults.fuzz [--bytes N]``.

Prints for each driver how many bytes went through, how fast, and how far the memory rose.
"""

import argparse
import resource
from collections import Counter
from collections.abc import Callable
from functools import partial

from devices.registry import DRIVERS
from stream.clock import elapsed_ns
from tests.faults.fuzz import fuzz, fuzz_events


def main() -> None:
    """Fuzz every driver and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1] if __doc__ else None)
    parser.add_argument("--bytes", type=int, default=10_000_000, help="for each driver")
    total = parser.parse_args().bytes
    print(f"{'driver':10} {'bytes':>10} {'MB/s':>6} {'memory rose':>12}  reported")
    for driver in DRIVERS:
        _print(driver, total, partial(fuzz, driver))
    _print("events", total, fuzz_events)


def _print(name: str, total: int, through: Callable[[int], Counter[str]]) -> None:
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun_ns = elapsed_ns()
    counts = through(total)
    seconds = (elapsed_ns() - begun_ns) / 1e9
    rose_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    common = ", ".join(f"{kind} {number}" for kind, number in counts.most_common(4))
    print(f"{name:10} {total:10} {total / seconds / 1e6:6.2f} {rose_kb:9} kB  {common}")


if __name__ == "__main__":
    main()
