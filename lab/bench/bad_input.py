"""How many spoilt files are settled wrongly: ``python -m lab.bench.bad_input --cases 100000``.

Each case is a simulated evening gone wrong by a seed: bytes lost, fields of the wrong kind, facts
out of place. Prints what became of them by how they were spoilt, the slowest case, and every case
that was settled wrongly or broke the program (of which there must be none).
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from stream.clock import elapsed_ns
from tests.settlement.bad_files import judge


def main() -> None:
    """Run the cases and leave with 1 where one was settled wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    wrong = slowest_ns = slowest = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(arguments.first, arguments.first + arguments.cases):
            start_ns = elapsed_ns()
            try:
                verdict, spoilt = judge(case, Path(folder))
                counts[spoilt.how, verdict] += 1
            except Exception as fault:
                wrong += 1
                print(f"case {case}: {type(fault).__name__}: {str(fault)[:300]}")
            spent_ns = elapsed_ns() - start_ns
            if spent_ns > slowest_ns:
                slowest_ns, slowest = spent_ns, case
    _print(counts, arguments.cases, wrong)
    print(f"slowest: case {slowest}, {slowest_ns / 1e9:.2f} s")
    sys.exit(1 if wrong else 0)


def _print(counts: Counter[tuple[str, str]], cases: int, wrong: int) -> None:
    columns = ("refused", "reported", "the same")
    print(f"{'how':<18}" + "".join(f"{name:>10}" for name in columns))
    for how in sorted({how for how, _ in counts}):
        print(f"{how:<18}" + "".join(f"{counts[how, name]:>10,}" for name in columns))
    sums = [sum(n for (_, name), n in counts.items() if name == column) for column in columns]
    print(
        f"{cases:,} cases: " + ", ".join(f"{n:,} {c}" for n, c in zip(sums, columns, strict=True))
    )
    print(f"settled wrongly or broken: {wrong}")


if __name__ == "__main__":
    main()
