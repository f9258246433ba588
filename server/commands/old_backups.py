"""The journal of a folder of backups, and the removal of backups that are too old.

It states the clocks and the backup of every run, and every removal. So a backup's age is the time
that the machine's uptime proves since its entry, whatever time the folder's name shows.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from models.errors import PitwatchError, TechnicianError
from models.events import ClockAnchored, ClockChecked, ClockSynchronisation, Event, SyncState
from stream.ages import Ages, BackupMade
from stream.journal import Journal
from stream.proven_time import Evidence, Verdict, expired

JOURNAL: Final = "backups.journal"
_NEWEST: Final = 7
"""Backups that never go by their age: the last ones by the journal. A choice."""


class ClockReading(NamedTuple):
    """What the machine's clocks show at the beginning of a run."""

    anchored: ClockAnchored
    state: SyncState
    """Whether the wall clock is synchronised."""
    checked_by: str | None = None
    """Who found the wall clock right, if anybody did."""

    def entries(self) -> Iterator[Event]:
        """Yield the entries for the journal."""
        at_ns = self.anchored.at
        yield self.anchored
        yield ClockSynchronisation(source="clock", at=at_ns, state=self.state)
        if self.checked_by is not None:
            yield ClockChecked(source=f"console:{self.checked_by}", at=at_ns)


def remove_old(made: Path, there: Iterable[Path], keep_days: int, clocks: ClockReading) -> Verdict:
    """Journal a new backup, then remove those that are too old, each with an entry.

    Args:
        made: the new backup.
        there: every backup in its folder.
        keep_days: days that a backup is kept.
        clocks: read at the beginning of the run.

    Raises:
        TechnicianError: the journal is damaged or cannot be written; nothing was removed.
    """
    path = made.with_name(JOURNAL)
    at_ns = clocks.anchored.at or 0
    try:
        with Journal.open(path) if path.exists() else Journal.create(path) as journal:
            journal.append_all([*clocks.entries(), BackupMade(at=at_ns, folder=made.name)])
            verdict = _judged(path, there, keep_days, at_ns)
            journal.append_all(verdict.going)
    except PitwatchError as fault:
        raise TechnicianError(
            f"the backup {made.name} was made, and no old one was removed: {fault.what}",
            where=str(path),
            way_out="Check the disk; a damaged journal of backups can be moved away, and the next "
            "run begins another",
        ) from fault
    for one in verdict.going:
        with suppress(FileNotFoundError):
            going = made.with_name(one.name).rename(made.with_name(f".{one.name}.part"))
            shutil.rmtree(going)
    return verdict


def _judged(path: Path, there: Iterable[Path], keep_days: int, now_ns: int) -> Verdict:
    ages = Ages(path)
    ages.follow()
    order = {name: at for at, name in enumerate(ages.made_ns)}
    # One that the journal never named is older than the journal.
    backups = sorted(there, key=lambda backup: (order.get(backup.name, -1), backup.name))
    old = (
        Evidence(backup.name, ages.made_ns.get(backup.name, 0), _size_bytes(backup))
        for backup in backups[:-_NEWEST]
    )
    return expired(old, keep_days, ages.time, now_ns)


def _size_bytes(backup: Path) -> int:
    return sum(file.stat().st_size for file in backup.rglob("*") if file.is_file())
