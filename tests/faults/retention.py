"""A year of retention in miniature.

Each time stands for a period after which a house moves its table's journal to the archive, and for
what it then does with archives: a child process goes on with the table's journal, archives it,
backs the archived one up, restores it from there, and verifies what it restored against the
checkpoints that left the table. It is killed with SIGKILL once, at a random moment of a random one
of these steps; after that the steps are done again from wherever they stopped. Every other archive
is on another disk. In the end every entry that was ever acknowledged must be in one archived
journal and in its restored copy, and all of them must fit the checkpoints.
"""

import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from models.events import ReaderFault
from stream.checkpoints import Checkpoint, read_checkpoints
from stream.clock import HostClock
from stream.copies import archive_journal, backup_journal, restore_journal
from stream.journal import Checkpoints, Journal, Verified, verify_journal
from stream.signing import Signer

STEPS: Final = ("write", "archive", "back up", "restore", "verify")
_ACKNOWLEDGED: Final = 8
_ENTRIES: Final = 40
_LIVE: Final = "BJ-07.journal"
_LOCK: Final = "BJ-07.journal-lock"
"""Left by a process that was killed while it held the lock; the lock is gone with the process."""
_LONGEST_S: Final = {
    "write": 0.3,
    "archive": 0.05,
    "back up": 0.05,
    "restore": 0.05,
    "verify": 0.02,
}
"""So long after a step began, at the most, its process is killed."""
_OTHER_DISK: Final = Path("/dev/shm")


@dataclass(frozen=True)
class House:
    """The folders of a house, and its table's key."""

    folder: Path
    other_disk: Path
    """A folder on another disk."""
    signer: Signer = field(default_factory=lambda: Signer(Ed25519PrivateKey.generate()))

    @property
    def live(self) -> Path:
        """The table's journal."""
        return self.folder / "live" / _LIVE

    @property
    def elsewhere(self) -> Path:
        """The checkpoints on another machine."""
        return self.folder / "elsewhere"

    def place(self, name: str) -> Path:
        """One of the folders ``archive``, ``backup`` and ``restored``."""
        return self.folder / name

    def archive(self, number: int) -> Path:
        """Where the journal of a period is archived."""
        return self.place("archive") if number % 2 else self.other_disk

    def make(self) -> None:
        """Make the folders."""
        for name in ("live", "archive", "backup", "restored"):
            self.place(name).mkdir()
        self.elsewhere.touch()

    def checkpoints(self) -> Checkpoints:
        """When the table makes checkpoints, and that they go elsewhere."""
        return Checkpoints(self.signer, HostClock(), entries=7, send=self._send)

    def _send(self, checkpoint: Checkpoint) -> None:
        with self.elsewhere.open("ab", buffering=0) as file:
            file.write(msgspec.json.encode(checkpoint) + b"\n")
            os.fsync(file.fileno())

    def verified(self, path: Path) -> Verified:
        """Verify a journal by the table's key, against what is known elsewhere."""
        known = read_checkpoints(self.elsewhere)
        found = verify_journal(path, [self.signer.fingerprint], known)
        assert found.held is not None
        assert found.sealed
        assert found.held.seq == found.entries == found.signed, f"{path}: {found}"
        return found


@dataclass
class Outcome:
    """What came of it."""

    killed_in: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    archived: int = 0


def retained(folder: Path, times: int, seed: str = "retention") -> Outcome:
    """Go through so many periods in ``folder``, each with a kill; return what came of it.

    Raises:
        AssertionError: an entry that was acknowledged is missing, or something is not verified.
        PitwatchError: a journal is damaged, or a step cannot be done after a kill.
    """
    with tempfile.TemporaryDirectory(dir=_OTHER_DISK) as other_disk:
        house = House(folder, Path(other_disk))
        return _retained(house, times, random.Random(seed))


def _retained(house: House, times: int, chance: random.Random) -> Outcome:
    outcome = Outcome()
    house.make()
    for number in range(times):
        step = chance.choice(STEPS)
        after_s = chance.uniform(0, _LONGEST_S[step])
        died_in, acknowledged = _killed(house, number, step, after_s)
        outcome.killed_in[died_in] += 1
        _go_on(house, number, lambda _: None)
        outcome.acknowledged += acknowledged
        _check(house, number, acknowledged)
    archived = [*house.place("archive").iterdir(), *house.other_disk.iterdir()]
    outcome.archived = sum(house.verified(path).entries for path in archived)
    assert len(archived) == times, f"{len(archived)} journals are in the archive, not {times}"
    return outcome


def _killed(house: House, number: int, step: str, after_s: float) -> tuple[str, int]:
    """Let a child do the steps and kill it so long after one of them began.

    Returns in which step it died, and how many entries it had acknowledged.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _go_on(house, number, lambda report: _acknowledge(writing, report))
        signal.pause()
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as report:
        received = b""
        while not received.endswith(step.encode().ljust(_ACKNOWLEDGED)):
            received += report.read(_ACKNOWLEDGED)
        time.sleep(after_s)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        received += report.read()
    words = [received[n : n + _ACKNOWLEDGED].decode().strip() for n in range(0, len(received), 8)]
    counted = [int(word) for word in words if word.isdigit()]
    steps = [word for word in words if not word.isdigit()]
    return steps[-1], max(counted, default=0)


def _acknowledge(pipe: int, step: str) -> None:
    os.write(pipe, step.ljust(_ACKNOWLEDGED).encode())


def _go_on(house: House, number: int, report: Callable[[str], None]) -> None:
    """Do the steps of a period, those that were done before but for what shows it."""
    archived = _archived(house, number)
    if archived is None:
        report("write")
        _write(house, number, report)
        report("archive")
        archived = archive_journal(house.live, house.archive(number)).place
    elif house.live.exists():
        report("archive")  # it was interrupted between copying and removing
        archive_journal(house.live, house.archive(number))
    backup, restored = (house.place(name) / archived.name for name in ("backup", "restored"))
    if not backup.exists():
        report("back up")
        backup_journal(archived, backup)
    if not restored.exists():
        report("restore")
        restore_journal(backup, restored)
    report("verify")
    assert house.verified(restored).head == house.verified(archived).head


def _archived(house: House, number: int) -> Path | None:
    """Return the archived journal of a period, found by its first entry."""
    wanted = f"period {number}".encode()
    for path in house.archive(number).glob("*.journal"):
        if wanted + b'"' in path.read_bytes():
            return path
    return None


def _write(house: House, number: int, report: Callable[[str], None]) -> None:
    """Write the period's entries, or go on with them."""
    due = house.checkpoints()
    known = read_checkpoints(house.elsewhere)
    live = house.live
    opened = (
        Journal.open(live, due, "BJ-07", known)
        if live.exists()
        else Journal.create(live, due, "BJ-07")
    )
    with opened as journal:
        while journal.last_seq < _ENTRIES:
            entry = ReaderFault(source="shoe", kind="x", detail=f"period {number}")
            journal.append(entry)
            report(str(journal.last_seq))


def _check(house: House, number: int, acknowledged: int) -> None:
    archived = _archived(house, number)
    assert archived is not None
    for path in (archived, house.place("restored") / archived.name):
        found = house.verified(path)
        assert found.entries >= acknowledged, f"{found.entries} entries of {acknowledged}"
    left = {file.name for file in house.live.parent.iterdir()} - {_LOCK}
    assert not left, f"{left} are left of the archived journal"
