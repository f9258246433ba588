"""Noisy sessions cut off and started again: ``python -m lab.faults.cut_off [--minutes 10]``.

Counted are the starts, those refused, and those that came to anything else than the table that was
not cut off.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

from models.events import Observation
from tests.faults.cut_off import played, started_again


def wrongs(seeds: Iterator[int], cuts: int, report: Callable[[str], None]) -> Counter[str]:
    """Cut every session off ``cuts`` times; count the starts, and those that were wrong."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        whole, chance = played(seed), Random(f"places {seed}")
        counted["sessions"] += 1
        late = sum(isinstance(one, Observation) and one.heard is not None for one in whole.events)
        counted["late observations"] += late
        for cut in sorted(chance.sample(range(30, len(whole.events)), cuts)):
            counted["starts"] += 1
            wrong = started_again(whole, cut)
            if wrong:
                counted["refused" if wrong.startswith("refused") else "different"] += 1
                report(f"session {seed}, cut at {cut}: {wrong} ({whole.about})")
    return counted


def main(argv: Sequence[str] | None = None) -> None:
    """Cut sessions off for some minutes and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--first", type=int, default=1, help="seed of the first session")
    parser.add_argument("--cuts", type=int, default=8, help="of each session")
    asked = parser.parse_args(argv)
    until_s = time.monotonic() + asked.minutes * 60

    def seeds() -> Iterator[int]:
        seed = asked.first
        while time.monotonic() < until_s:
            yield seed
            seed += 1

    counted = wrongs(seeds(), asked.cuts, lambda line: print(line, flush=True))
    print(
        f"{counted['sessions']} sessions with {counted['late observations']} late observations, "
        f"{counted['starts']} starts: {counted['refused']} refused, "
        f"{counted['different']} came to something else"
    )


if __name__ == "__main__":
    main()
