"""A table's journal as a live table writes it, made at once and without pixels."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from devices.registry import make_driver
from models.decode import decode_event
from models.events import AnyObservation, Event
from server.house.rulebooks import stated
from server.process.stopwatch import Stopwatch
from server.table.config import Placed, layout_of, read_config, rules_of
from server.table.kept_rest import RestFile, made_by
from server.table.pipeline import Pipeline
from server.table.record import TableRecord
from server.table.rest_keeper import RestKeeper
from server.table.resume import Past
from server.table.status import Standing
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from simulation.session import START_NS
from stream.clock import HostClock
from stream.journal import Checkpoints, Journal
from stream.signing import Signer
from tests.faults.live_kills import Table

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
    rests = rests_of(placed)
    keepers += [RestKeeper(rests, journal, Past(), pipeline=pipeline, standing=standing)]
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
    made = made_by(rules_of(placed), placed.config.dealing)
    return RestFile(placed.beside(placed.config.journal), signer, made, warn)


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
