"""How long a table takes to start again: ``python -m tests.bench.restarting [--place FOLDER]``.

A session's observations are journalled as a live table journals them, without pixels; then a
table is started on that journal as after a kill. Its parts: the chain verified, the entries
read, the table made, which settles every fact again and hears what it must. Beside it, on the
shortest session, a table that hears everything again. Processor time, as the machine is shared.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace as with_
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

from msgspec.structs import replace

from devices.registry import make_driver
from models.decode import decode_event
from models.events import AnyObservation
from server.house.rulebooks import stated
from server.process.stopwatch import Stopwatch
from server.table import live as live_table
from server.table.config import Placed, layout_of, read_config
from server.table.live import LiveTable, rules_of
from server.table.pipeline import Pipeline
from server.table.resume import past_of
from settlement.engine import Engine
from settlement.reconcile import COMPILED, Reconciler
from simulation.session import START_NS
from stream.clock import HostClock
from stream.journal import Checkpoints, Journal, verify_journal
from stream.signing import Signer
from tests.bench.record import Claim, add_option, record
from tests.faults.live_kills import Table
from tests.faults.live_process import Blind, told_driver

T = TypeVar("T")

_STEP_NS = 80_000_000


def _observed(table: Table) -> list[tuple[int, AnyObservation]]:
    """What the far ends say, as the table's drivers hear it."""
    hearing = {name: make_driver(name, {}) for name in ("angel-eye", "plate")}
    drivers = {"shoe": "angel-eye", "plates": "plate"}
    found: list[tuple[int, AnyObservation]] = []
    for word in table.words:
        if word.port in drivers:
            said = hearing[drivers[word.port]].feed(word.data, word.at_ns)
            found += [(word.at_ns, one) for one in said]
        else:
            found.append((word.at_ns, decode_event(word.data, word.port, 0)))  # type: ignore[arg-type]
    return found


def _journalled(table: Table, placed: Placed, journal: Journal) -> None:
    rules = rules_of(placed)
    reconciler = Reconciler(rules, layout_of(placed))
    pipeline = Pipeline("BJ-01", journal, reconciler, Engine(rules), Stopwatch(lambda: 0), kept=200)
    now_ns = START_NS
    pipeline.observe((stated(rules, "configuration", now_ns),), now_ns)
    for at_ns, one in _observed(table):
        for step_ns in range(now_ns, at_ns, _STEP_NS):
            pipeline.observe((), step_ns)
        now_ns = at_ns
        pipeline.observe((replace(one, seq=None),), now_ns)


def _took(do: Callable[[], T]) -> tuple[float, T]:
    begun_s = time.process_time()
    done = do()
    return time.process_time() - begun_s, done


def _begun(folder: Path, rounds: int) -> Placed:
    """Return the table whose journal has so many rounds; it is made where it is not there."""
    place = folder / str(rounds)
    if (place / "table.journal").exists():
        return read_config(place / "table.toml")
    table = Table(place, 1, rounds)
    placed = read_config(table.place / "table.toml")
    due = Checkpoints(Signer.read(table.place / "table.key"), HostClock())
    with Journal.create(table.journal, due) as journal:
        _journalled(table, placed, journal)
    return placed


def measure(rounds: int, folder: Path, times: int, *, whole: bool) -> Iterator[Claim]:
    """Print what a start takes after this many rounds, and yield it."""
    placed, clock = _begun(folder, rounds), HostClock()
    path = placed.beside(placed.config.journal)
    due = Checkpoints(Signer.read(path.with_name("table.key")), clock)
    verified_s, found = _took(lambda: verify_journal(path))
    starts: list[float] = []
    opens: list[float] = []
    for _ in range(times):
        opened_s, journal = _took(lambda: Journal.open(path, due))
        with journal:
            made_s, _ = _took(lambda: LiveTable(placed, journal, clock, Blind()))  # noqa: B023
        opens.append(opened_s)
        starts.append(opened_s + made_s)
    start_s = statistics.median(starts)
    print(
        f"{rounds} rounds, {found.entries} entries: {start_s:.2f} s ({min(starts):.2f} to "
        f"{max(starts):.2f}), {statistics.median(opens):.2f} s of it to open the journal; "
        f"{start_s / verified_s:.1f} times verifying it",
        flush=True,
    )
    yield Claim(
        f"start after {rounds:,} rounds, {found.entries:,} entries, median of {times}",
        round(start_s, 2),
        "s",
        interval=(round(min(starts), 2), round(max(starts), 2)),
    )
    yield Claim(
        f"of it to open and verify the journal, {found.entries:,} entries",
        round(statistics.median(opens), 2),
        "s",
        interval=(round(min(opens), 2), round(max(opens), 2)),
    )
    if whole:
        with Journal.open(path, due) as journal:
            heard_all = with_(past_of(journal), rest=None)
            with patch.object(live_table, "past_of", lambda _: heard_all):
                all_s, _ = _took(lambda: LiveTable(placed, journal, clock, Blind()))
        print(f"all of it heard again: {all_s:.2f} s")


def main() -> None:
    """Print a line a session."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, nargs="+", default=[127, 1270, 3790])
    parser.add_argument("--times", type=int, default=5, help="starts of each")
    parser.add_argument("--place", type=Path, help="where the journals are made, and stay")
    add_option(parser)
    asked = parser.parse_args()
    print(f"the reconciler is {'compiled' if COMPILED else 'interpreted'}")
    with tempfile.TemporaryDirectory() as folder, told_driver():
        place = asked.place or Path(folder)
        claims = [
            claim
            for rounds in asked.rounds
            for claim in measure(rounds, place, asked.times, whole=rounds == min(asked.rounds))
        ]
    if asked.record:
        record("restarting", claims)


if __name__ == "__main__":
    main()
