"""Every device unplugged and plugged in again: ``python -m lab.faults.replugging --cycles 100``."""

import argparse
import tempfile
from pathlib import Path

from tests.faults.replugging import open_files, replugged


def main() -> None:
    """Run a session and print what was reported of each device."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--rtsp", type=int, default=0, help="cycles of the RTSP camera")
    given = parser.parse_args()
    before = open_files()
    with tempfile.TemporaryDirectory() as folder:
        found = replugged(Path(folder), given.cycles, rtsp_cycles=given.rtsp)
    print(f"{'source':16} {'lost':>5} {'returned':>9} {'readings':>9}  other faults")
    for source, outcome in sorted(found.items()):
        faults = ", ".join(f"{kind} {count}" for kind, count in outcome.faults.most_common())
        print(f"{source:16} {outcome.losses:5} {outcome.returns:9} {outcome.readings:9}  {faults}")
    print(f"open files: {before} before, {open_files()} after")


if __name__ == "__main__":
    main()
