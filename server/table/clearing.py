"""The clearing of a live table's recordings: what goes, and its removal."""

import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from server.table.config import Recorder
from server.table.recorder import is_held
from server.table.retention import Kept, to_go
from stream.ages import Ages
from stream.proven_time import Evidence, EvidenceRemoved, Verdict
from stream.recording import SESSION_FILE


class Clearing:
    """Decides on a table's recordings by its journal. A table removes only its own.

    Args:
        folder: of the session folders.
        table: whose they are.
        recorder: the limits.
        journal: the table's; this process writes it.
    """

    def __init__(self, folder: Path, table: str, recorder: Recorder, journal: Path) -> None:
        self._folder, self._table, self._recorder = folder, table, recorder
        self._ages = Ages(journal)

    def decide(self, writing: Collection[str], now_ns: int) -> Verdict:
        """Decide which sessions go now.

        Args:
            writing: the names of those that are being written.
            now_ns: the table's time.

        Raises:
            TechnicianError: the journal cannot be read.
        """
        self._ages.follow()
        sizes = {place.name: _size_bytes(place) for place in session_folders(self._folder)}
        made_ns = self._ages.made_ns
        order = {name: at for at, name in enumerate(made_ns)}
        # One that the journal never named is older than the journal.
        own = sorted(
            filter(self._is_own, sizes), key=lambda name: (order.get(name, -1), _begun_ns(name))
        )
        sessions = [
            Kept(
                Evidence(name, made_ns.get(name, 0), sizes[name]),
                name in writing or is_held(self._folder / name),
            )
            for name in own
        ]
        return to_go(sessions, sum(sizes.values()), self._recorder, self._ages.time, now_ns)

    def remove(self, going: Iterable[EvidenceRemoved]) -> None:
        """Remove sessions; raises ``OSError`` where the disk refuses."""
        for one in going:
            shutil.rmtree(self._folder / one.name)

    def _is_own(self, name: str) -> bool:
        return name.rpartition("-")[0] == self._table


def session_folders(folder: Path) -> Iterator[Path]:
    """Yield the session folders in ``folder``; ignore everything else there."""
    for place in sorted(folder.iterdir()):
        if (place / SESSION_FILE).is_file() and place.name.rpartition("-")[2].isdecimal():
            yield place


def _begun_ns(name: str) -> int:
    return int(name.rpartition("-")[2])


def _size_bytes(place: Path) -> int:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
