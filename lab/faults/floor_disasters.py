"""Simulated disasters of a floor: ``python -m lab.faults.floor_disasters --seeds 10000``.

A run prints each seed that fails and why.
"""

import argparse
import logging
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from statistics import median

from stream.clock import elapsed_ns
from tests.faults.floor_disasters import run_seed


def main() -> None:
    """Run seeds and print what failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    logging.disable()
    began_ns, met, failed = elapsed_ns(), Counter[str](), 0
    happened, entries, mended = 0, 0, list[float]()
    seeds = range(asked.first, asked.first + asked.seeds)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for one in pool.map(run_seed, seeds, chunksize=20):
            met.update(one.met)
            happened, entries = happened + one.happened, entries + one.entries
            mended.append(one.mended_s)
            if one.fault:
                failed += 1
                print(f"seed {one.seed}: {one.fault}", flush=True)
    print(f"{asked.seeds:,} seeds, {failed} failed, {happened:,} events, {entries:,} entries taken")
    for name, many in met.most_common():
        print(f"  {name}: {many:,}")
    print(f"  mended after {max(mended):.0f} s at the most, half after {median(mended):.0f} s")
    print(f"{(elapsed_ns() - began_ns) / 1e9:,.0f} s")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
