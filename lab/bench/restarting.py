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

from msgspec.structs import replace

from devices.registry import make_driver
from lab.bench.record import Claim, add_option, record
from models.decode import decode_event
from models.events import AnyObservation, Event
from server.house.rulebooks import stated
from server.process.program import this_program
from server.process.stopwatch import Stopwatch
from server.table.config import Placed, layout_of, read_config
from server.table.kept_rest import RestFile, made_by
from server.table.live import LiveTable, rules_of
from server.table.pipeline import Pipeline
from server.table.record import TableRecord
from server.table.rest_keeper import RestKeeper
from server.table.resume import Past
from server.table.status import Standing
from settlement.engine import Engine
from settlement.reckoning import COMPILED, Reckoning
from simulation.session import START_NS
from stream.clock import HostClock
from stream.files import JournalFiles
from stream.journal import Checkpoints, Journal, verify_journal
from stream.signing import Signer
from tests.faults.live_kills import Table
from tests.faults.live_process import Blind, known_driver

T = TypeVar("T")

_STEP_NS = 80_000_000


def _observed(table: Table) -> list[tuple[int, AnyObservation]]:
    """What the devices report, as the table's drivers decode it."""
    hearing = {name: make_driver(name, {}) for name in ("angel-eye", "plate")}
    drivers = {"shoe": "angel-eye", "plates": "plate"}
    found: list[tuple[int, AnyObservation]] = []
    for word in table.words:
        if word.port in drivers:
            readings = hearing[drivers[word.port]].feed(word.data, word.at_ns)
            found += [(word.at_ns, one) for one in readings]
        else:
            found.append((word.at_ns, decode_event(word.data, word.port, 0)))  # type: ignore[arg-type]
    return found


def _journalled(table: Table, placed: Placed, journal: Journal) -> None:
    rules, standing = rules_of(placed), Standing(())
    keepers: list[RestKeeper] = []

    def noted(event: Event) -> None:
        standing.take(event)
        keepers[0].take(event)

    record = TableRecord(journal, noted)
    reconciler = Reckoning(rules, layout_of(placed))
    pipeline = Pipeline("BJ-01", record, reconciler, Engine(rules), Stopwatch(lambda: 0), kept=200)
    made = made_by(rules, placed.config.dealing)
    rests = rests_of(placed)
    keepers += [RestKeeper(rests, journal, made, Past(), pipeline=pipeline, standing=standing)]
    now_ns = START_NS
    pipeline.observe((stated(rules, "configuration", now_ns),), now_ns)
    for at_ns, one in _observed(table):
        for step_ns in range(now_ns, at_ns, _STEP_NS):
            pipeline.observe((), step_ns)
        now_ns = at_ns
        pipeline.observe((replace(one, seq=None),), now_ns)


def rests_of(placed: Placed, warn: Callable[[str], None] = print) -> RestFile:
    """Return the file of a table's rests."""
    signer = Signer.read(placed.beside(str(placed.config.signing_key)))
    return RestFile(placed.beside(placed.config.journal), signer, warn)


def _took(do: Callable[[], T]) -> tuple[float, T]:
    begun_s = time.process_time()
    done = do()
    return time.process_time() - begun_s, done


def begun(folder: Path, rounds: int) -> Placed:
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
