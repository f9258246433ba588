"""Evenings without pictures: facts of a simulated table, as files that an auditor may have."""

import gzip
import tarfile
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from models.events import AnyFact
from models.judgements import AnyEvent, RoundResult
from models.rulebook import Rulebook
from server.archive.archives import feeds, sources
from server.archive.settling import checked
from simulation.dealing import deal_session
from simulation.house import house
from simulation.table import Table
from simulation.truth import settled
from stream.journal import Journal
from stream.recording import write_events


@cache
def evening(
    rounds: int,
    seed: int = 1,
    *,
    rulebook: str = "kansas-shoe",
    knobs: tuple[str, ...] = (),
    mistakes: tuple[str, ...] = (),
    table: str | None = None,
) -> tuple[AnyFact, ...]:
    """Deal an evening at five spots and return what happened."""
    dealt = Table(house(rulebook, knobs).rules, (1, 2, 3, 4, 5), seed)
    steps = deal_session(dealt, rounds, seed, mistakes=mistakes)
    return tuple(msgspec.structs.replace(step.fact, table=table) for step in steps)


def judged(facts: Sequence[AnyFact], *knobs: str) -> list[AnyEvent]:
    """Return the facts with the settlements that a table under ``kansas-shoe`` made then."""
    return list(settled(facts, house("kansas-shoe", knobs).rules))


def lines(events: Sequence[AnyEvent]) -> bytes:
    """Return events as JSON Lines."""
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def as_file(path: Path, events: Sequence[AnyEvent]) -> Path:
    """Write an event file, gzipped according to its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines(events)))
    else:
        write_events(path, events)
    return path


def as_journal(path: Path, events: Sequence[AnyEvent]) -> Path:
    """Write a journal, closed in order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Journal.create(path) as journal:
        journal.append_all(events)
    return path


def packed(folder: Path, archive: Path) -> Path:
    """Pack a folder in the format of its archive's name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w") as zipped:
            for file in files:
                zipped.write(file, file.relative_to(folder))
    else:
        mode = "w:" if archive.suffix == ".tar" else f"w:{archive.suffix[1:]}"
        with tarfile.open(archive, mode) as tarred:  # type: ignore[call-overload]
            for file in files:
                tarred.add(file, str(file.relative_to(folder)))
    return archive


def settle_file(name: str, rules: Rulebook) -> tuple[RoundResult, ...]:
    """Settle all that ``name`` names, as the command does, and return its rounds in order."""
    return tuple(
        settled.result
        for source in sources([name])
        for feed in feeds(source)
        for settled in checked(feed).rounds(rules)
    )
