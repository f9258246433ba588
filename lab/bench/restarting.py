"""How long a table takes to start again: ``python -m lab.bench.restarting [--place FOLDER]``.

A session's observations are journalled as a live table journals them, without pixels; then a
table is started on that journal as after a kill: once from the rest that the table kept, and once
without it, where every entry is verified, read and settled again. Processor time, as the machine is
shared. What the table verifies once it runs is not part of a start; it is a line of its own.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from lab.bench.record import Claim, add_option, record
from server.process.program import this_program
from server.table.config import Placed
from server.table.kept_rest import RestFile
from server.table.live import LiveTable
from settlement.reckoning import COMPILED
from stream.clock import HostClock
from stream.files import JournalFiles
from stream.journal import Checkpoints, Journal, verify_journal
from stream.signing import Signer
from tests.faults.live_process import Blind, known_driver
from tests.server.table.journalled import begun, rests_of

T = TypeVar("T")


def _took(do: Callable[[], T]) -> tuple[float, T]:
    begun_s = time.process_time()
    done = do()
    return time.process_time() - begun_s, done


def _started(placed: Placed, due: Checkpoints, rests: RestFile | None) -> float:
    """Start the table once, and return the time that it took."""
    path, clock = placed.beside(placed.config.journal), HostClock()
    opening = (
        partial(Journal.open, path, due) if rests is None else partial(rests.open_journal, due)
    )
    opened_s, journal = _took(opening)
    with journal:
        made_s, _ = _took(lambda: LiveTable(placed, journal, clock, Blind(), rests=rests))
    assert rests is None or rests.found is not None, "it was not started from the rest"
    return opened_s + made_s


def measure(rounds: int, folder: Path, times: int) -> Iterator[Claim]:
    """Print what a start takes after this many rounds, and yield it."""
    placed = begun(folder, rounds)
    path = placed.beside(placed.config.journal)
    due = Checkpoints(Signer.read(path.with_name("table.key")), HostClock())
    verified_s, found = _took(lambda: verify_journal(path))
    kept, kept_kb = rests_of(placed).read(), round(JournalFiles(path).rest.stat().st_size / 1000)
    assert kept is not None, "the table kept a rest"
    since = found.entries - kept.rest.seq
    after = f"after {rounds:,} rounds, {found.entries:,} entries, {since:,} since the rest"
    for what, rests in (("start", rests_of(placed)), ("start without the kept rest", None)):
        took = [_started(placed, due, rests) for _ in range(times)]
        middle, least, most = statistics.median(took), min(took), max(took)
        print(f"{what} {after}: {middle:.2f} s ({least:.2f} to {most:.2f})", flush=True)
        yield Claim(
            f"{what} {after}, median of {times}",
            round(middle, 2),
            "s",
            interval=(round(least, 2), round(most, 2)),
        )
    print(f"the whole journal verified {after}: {verified_s:.2f} s; the kept rest: {kept_kb} kB")
    yield Claim(f"the whole journal verified {after}", round(verified_s, 2), "s")
    yield Claim(f"the kept rest {after}", kept_kb, "kB")


def main() -> None:
    """Print a line a session."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, nargs="+", default=[127, 1270, 3790])
    parser.add_argument("--times", type=int, default=5, help="starts of each")
    parser.add_argument("--place", type=Path, help="where the journals are made, and stay")
    add_option(parser)
    asked = parser.parse_args()
    this_program()  # hashed once a process, for the journal's statement of it as well
    print(f"the reconciler is {'compiled' if COMPILED else 'interpreted'}")
    with tempfile.TemporaryDirectory() as folder, known_driver():
        place = asked.place or Path(folder)
        claims = [claim for rounds in asked.rounds for claim in measure(rounds, place, asked.times)]
    if asked.record:
        record("restarting", claims)


if __name__ == "__main__":
    main()
