"""A journal's writer killed before each change that it makes to a file.

``python -m tests.faults.ended_anywhere FOLDER``, with the library of ``mortal.c`` preloaded. For
every way in which a journal may lie, a writer starts, adds entries and closes, killed before its
first change of a file, its second and so on until it comes through. Printed is what was wrong.
"""

import ctypes
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from models.events import RoundOpened
from stream.clock import SimulatedClock
from stream.files import JournalFiles
from stream.journal import Checkpoints, Journal, verify_journal
from stream.seal import break_seal
from stream.signing import Signer

DUE = Checkpoints(Signer(Ed25519PrivateKey.generate()), SimulatedClock(5))
ADDED = 3
WITHOUT_LOG = ("log gone", "of version 1, log gone")
WAYS = ("closed", "killed", *WITHOUT_LOG)
VERSION_1 = Path(__file__).parents[1] / "stream" / "version_1.journal"


def laid(path: Path, way: str) -> int:
    """Make a journal in the state of ``way``; return how many entries it has."""
    if way.startswith("of version 1"):
        shutil.copy(VERSION_1, path)
        break_seal(path)
        return verify_journal(path).entries
    with Journal.create(path, DUE) as journal:
        journal.append_all(RoundOpened(round=number) for number in range(1, 26))
    child = os.fork()
    if not child:
        journal = Journal.open(path, DUE)
        journal.append_all(RoundOpened(round=number) for number in range(26, 31))
        if way == "closed":
            journal.close()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    if way == "log gone":
        JournalFiles(path).log.unlink()
    return verify_journal(path).entries


def came_through(path: Path, change: int) -> tuple[bool, int]:
    """Let a writer live up to a change; return whether it ended well, and what it acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        ctypes.CDLL(None).mortal_before(change)
        journal = Journal.open(path, DUE)
        for number in range(ADDED):
            journal.append(RoundOpened(round=100 + number))
            os.write(writing, b".")
        journal.close()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as acknowledgements:
        acknowledged = len(acknowledgements.read())
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0, acknowledged


def wrongs(path: Path, way: str, entries: int) -> Iterator[str]:
    """Yield what is reported wrongly of a journal that had at least so many entries."""
    found = verify_journal(path)
    if found.entries < entries:
        yield f"{entries - found.entries} acknowledged entries are lost"
    is_reported = found.lacks_log or bool(found.gaps)
    if is_reported != (way in WITHOUT_LOG):
        yield ("its log is reported missing" if is_reported else "its lost log is not reported")
    Journal.open(path, DUE).close()
    after = verify_journal(path)
    if not after.sealed or len(after.gaps) != (way in WITHOUT_LOG):
        yield f"the next start left it sealed: {after.sealed}, gaps: {after.gaps}"


def main(folder: Path) -> int:
    """Kill at every place; return how many things were wrong."""
    wrong = 0
    for way in WAYS:
        before = folder / way / "before"
        before.mkdir(parents=True)
        entries = laid(before / "t.journal", way)
        change, is_through = 0, False
        while not is_through:
            change += 1
            here = folder / way / str(change)
            shutil.copytree(before, here)
            is_through, acknowledged = came_through(here / "t.journal", change)
            for what in wrongs(here / "t.journal", way, entries + acknowledged):
                wrong += 1
                print(f"{way}, killed before change {change}: {what}")
        print(f"{way}: killed before each of {change - 1} changes")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]))))
