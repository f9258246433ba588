"""A year of retention in miniature: ``python -m lab.faults.retention [--times 200]``."""

import argparse
import tempfile
from pathlib import Path

from stream.clock import elapsed_ns
from tests.faults.retention import STEPS, retained


def main() -> None:
    """Go through the periods and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=200)
    given = parser.parse_args()
    begun_ns = elapsed_ns()
    with tempfile.TemporaryDirectory() as folder:
        outcome = retained(Path(folder), given.times)
    kills = ", ".join(f"{step} {outcome.killed_in[step]}" for step in STEPS)
    print(f"{given.times} periods, a kill in each ({kills})")
    print(
        f"{outcome.acknowledged} entries acknowledged before a kill, none lost; "
        f"{outcome.archived} archived, restored and verified against their checkpoints"
    )
    print(f"{(elapsed_ns() - begun_ns) / 1e9:.0f} s")


if __name__ == "__main__":
    main()
