"""A floor's processes killed: ``python -m lab.faults.floor_kills [--times 200] [--promote 5]``.

The forwarder and the database are killed with SIGKILL in turn, at a random moment while entries
come in. Then the database's disk is filled, and primaries are killed while their replicas are
promoted.
"""

import argparse
import os
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.faults.floor_kills import SOON_S, Floor, fill, promote, tables_at_work
from tests.server.floor_record.cluster import cluster, new_floor


def kill(times: int, seed: int = 7) -> tuple[Counter[str], int]:
    """Kill forwarder and database; return how often each, and the entries at the end."""
    chance, killed = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="pit-") as place, cluster(fsync=True) as made:
        floor = Floor(Path(place), new_floor(made))
        with tables_at_work(floor.folder):
            forwarder = floor.started()
            try:
                for number in range(times):
                    floor.until_more()
                    time.sleep(chance.uniform(0, SOON_S))
                    victim = ("forwarder", "database")[number % 2]
                    if victim == "forwarder":
                        forwarder.send_signal(signal.SIGKILL)
                        forwarder.wait()
                        forwarder = floor.started()
                    else:
                        made.kill()
                        made.start()
                        floor.check()
                    killed[victim] += 1
                    if number % 20 == 19:
                        print(f"{number + 1} kills, entries on the floor: {floor.held}", flush=True)
                floor.until_more()
            finally:
                forwarder.kill()
                forwarder.wait()
        return killed, floor.check_end()


def main() -> None:
    """Kill, fill and promote, and print what held."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=200, help="kills")
    parser.add_argument("--promote", type=int, default=5, help="replicas promoted")
    asked = parser.parse_args()
    killed, entries = kill(asked.times)
    print(f"killed: {dict(killed)}; {entries:,} entries, none lost, doubled or out of order")
    if os.geteuid() == 0:
        filled = fill()
        print(f"a full disk: {filled:,} entries, none lost")
    for number in range(asked.promote):
        entries = promote(number)
        print(f"a replica promoted: {entries:,} entries, none lost", flush=True)


if __name__ == "__main__":
    main()
