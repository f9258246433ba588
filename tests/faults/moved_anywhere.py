"""Archive, backup and restore ended before each change of a file that they make.

``python -m tests.faults.moved_anywhere FOLDER [EVERY]``, with the library of ``mortal.c``
preloaded. Every operation is killed before its first change of a file, its second and so on until
it comes through, and in the same way runs into a full disk; with EVERY, at every so many changes.
Then it is done again, as a person would. Told on stderr is what was wrong: an entry that is lost, a
file that passes for whole and is not, or remains of it.
"""

import ctypes
import errno
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from models.errors import PitwatchError
from models.events import ClockAnchored, RoundOpened
from server.commands.backup import make, verified
from server.commands.old_backups import ClockReading
from server.commands.restore import restore
from stream.copies import archive_journal, backup_journal, restore_journal
from stream.journal import Journal, verify_journal
from tests.faults.ended_anywhere import DUE

ENTRIES: Final = 9
NAME: Final = "t.journal"
_LOCKS: Final = ("-lock", ".backup-lock")
_START_S: Final = 1_700_000_000
_DAYS: Final = 30
_LIBRARY: Final = ctypes.CDLL(None)


@dataclass(frozen=True)
class Operation:
    """One operation: what it needs, what it does, and what must be there once it came through."""

    prepare: Callable[[Path], None]
    do: Callable[[Path, int], object]
    """Given the folder, and how often it was tried before."""
    wrongs: Callable[[Path], Iterator[str]]
    between: Callable[[Path], Iterator[str]]
    """What must hold after an end at any place."""


def _write(path: Path, *, is_killed: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    child = os.fork()
    if not child:
        journal = Journal.create(path, DUE)
        journal.append_all(RoundOpened(round=number) for number in range(1, ENTRIES + 1))
        if not is_killed:
            journal.close()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    path.with_name(path.name + "-lock").unlink(missing_ok=True)


def _files(folder: Path) -> list[str]:
    found = [str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()]
    return sorted(name for name in found if not name.endswith(_LOCKS))


def _sound(path: Path, *, least: int = ENTRIES) -> Iterator[str]:
    """Yield what is wrong with a journal that must be whole and closed."""
    try:
        found = verify_journal(path)
    except PitwatchError as fault:
        yield str(fault)
        return
    if found.entries < least or found.gaps or not found.sealed:
        yield f"{path.name}: {found}"


# --- archive --------------------------------------------------------------------------------


def _archived(folder: Path) -> Path:
    """Return the folder of the archive: on another disk if there is a link to one."""
    return folder / "archive"


def _archive(folder: Path, _: int) -> None:
    if (folder / NAME).exists():
        archive_journal(folder / NAME, _archived(folder))


def _archived_once(folder: Path) -> Iterator[str]:
    names = sorted(one.name for one in _archived(folder).iterdir() if one.is_file())
    whole = [name for name in names if not name.endswith(_LOCKS)]
    if len(whole) != 1 or (folder / NAME).exists():
        yield f"there are {_files(folder)} and in the archive {names}"
        return
    yield from _sound(_archived(folder) / whole[0])
    left = [name for name in _files(folder) if name.startswith(NAME)]
    if left:
        yield f"{left} are left"


def _held_somewhere(folder: Path) -> Iterator[str]:
    """Yield what is wrong where neither place holds every entry."""
    places = [folder / NAME, *_archived(folder).glob("*.journal")]
    there = [path for path in places if path.exists()]
    if not there:
        yield "the journal is in neither place"
    for path in there:
        try:
            found = verify_journal(path)
        except PitwatchError as fault:
            yield str(fault)
            continue
        if found.entries < ENTRIES or found.lacks_log or found.gaps:
            yield f"{path}: {found}"


def _archiving(*, is_killed: bool, elsewhere: Path | None) -> Operation:
    def prepare(folder: Path) -> None:
        _write(folder / NAME, is_killed=is_killed)
        if elsewhere is None:
            (folder / "archive").mkdir()
            return
        place = elsewhere / folder.name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        (folder / "archive").symlink_to(place)

    return Operation(prepare, _archive, _archived_once, _held_somewhere)


# --- copies of one journal --------------------------------------------------------------------


def _copying(*, is_killed: bool, how: Callable[[Path, Path], object]) -> Operation:
    def prepare(folder: Path) -> None:
        _write(folder / NAME, is_killed=is_killed)
        (folder / "copy").mkdir()

    def do(folder: Path, _: int) -> None:
        if not (folder / "copy" / NAME).exists():
            how(folder / NAME, folder / "copy" / NAME)

    def between(folder: Path) -> Iterator[str]:
        copy = folder / "copy" / NAME
        yield from _sound(copy) if copy.exists() else ()
        source = verify_journal(folder / NAME)
        if source.entries != ENTRIES or source.lacks_log:
            yield f"the source is {source}"

    def wrongs(folder: Path) -> Iterator[str]:
        yield from _sound(folder / "copy" / NAME)
        left = [name for name in _files(folder / "copy") if name != NAME]
        if left:
            yield f"{left} are left"

    return Operation(prepare, do, wrongs, between)


# --- a site's backup --------------------------------------------------------------------------


def _site(folder: Path) -> None:
    _write(folder / "data" / "journals" / NAME)
    _write(folder / "data" / "journals" / "u.journal", is_killed=True)
    (folder / "data" / "service").mkdir()
    with closing(sqlite3.connect(folder / "data" / "service" / "accounts.sqlite")) as made:
        made.execute("CREATE TABLE accounts (name TEXT)")


def _clocks(at_s: int) -> ClockReading:
    at_ns = at_s * 1_000_000_000
    anchored = ClockAnchored(source="clock", at=at_ns, wall_ns=at_ns, step_ns=0)
    return ClockReading(anchored, "synchronised")


def _make(folder: Path, tried: int) -> None:
    make(folder / "data", folder / "backups", _DAYS, _clocks(_START_S + tried))


def _backups_whole(folder: Path) -> Iterator[str]:
    for backup in folder.glob("backups/20*Z"):
        checked = verified(backup)
        if checked.fault is not None or checked.files != 3:
            yield f"{backup.name} passes for a backup: {checked}"
    for name in (NAME, "u.journal"):
        if verify_journal(folder / "data" / "journals" / name).entries != ENTRIES:
            yield f"{name} was changed"


def _backed_up(folder: Path) -> Iterator[str]:
    yield from _backups_whole(folder)
    if not [*folder.glob("backups/20*Z")]:
        yield "there is no backup"
    parts = [*folder.glob("backups/.*.part")]
    if parts:
        yield f"{parts} are left"


def _with_backup(folder: Path) -> None:
    _site(folder)
    make(folder / "data", folder / "backups", _DAYS, _clocks(_START_S))


def _restore(folder: Path, _: int) -> None:
    (backup,) = folder.glob("backups/20*Z")
    if not _is_restored(folder):
        restore(backup, folder / "again")


def _is_restored(folder: Path) -> bool:
    again = folder / "again"
    return (again / "journals" / NAME).exists() and not (again / ".restoring").exists()


def _restored_parts(folder: Path) -> Iterator[str]:
    for name in (NAME, "u.journal"):
        path = folder / "again" / "journals" / name
        yield from _sound(path) if path.exists() else ()


def _restored(folder: Path) -> Iterator[str]:
    names = _files(folder / "again")
    due = ["journals/t.journal", "journals/u.journal", "service/accounts.sqlite"]
    if names != due:
        yield f"restored are {names}"
    yield from _restored_parts(folder)


def operations(elsewhere: Path | None) -> dict[str, Operation]:
    """Return every operation by its name; ``elsewhere`` is a folder on another disk."""
    found = {
        "archive": _archiving(is_killed=False, elsewhere=None),
        "archive of a killed table": _archiving(is_killed=True, elsewhere=None),
        "backup of a journal": _copying(is_killed=True, how=backup_journal),
        "restore of a journal": _copying(is_killed=False, how=restore_journal),
        "backup make": Operation(_site, _make, _backed_up, _backups_whole),
        "restore": Operation(_with_backup, _restore, _restored, _restored_parts),
    }
    if elsewhere is not None:
        found["archive on another disk"] = _archiving(is_killed=True, elsewhere=elsewhere)
    return found


# --- ends -------------------------------------------------------------------------------------


def _killed(operation: Operation, folder: Path, change: int) -> bool:
    """Kill the operation before a change; return whether it came through first."""
    child = os.fork()
    if not child:
        _LIBRARY.mortal_before(change)
        operation.do(folder, 0)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _full(operation: Operation, folder: Path, change: int) -> bool:
    """Let the disk be full from a change on; return whether the operation came through."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        result = b""
        _LIBRARY.full_at(change)
        try:
            operation.do(folder, 0)
        except PitwatchError as refused:
            result = b"refused" if str(refused) else b"no message"
        except BaseException as fault:  # whatever else it is, it is wrong, and is printed
            result = f"{type(fault).__name__}: {fault}".encode()
        _LIBRARY.room_again()
        os.write(writing, result or b"through")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as report:
        outcome = report.read().decode()
    os.waitpid(child, 0)
    if outcome not in {"through", "refused"}:
        raise AssertionError(f"on a full disk: {outcome}")
    return outcome == "through"


ENDS: Final = {"killed before": _killed, "on a full disk from": _full}


def ended(
    operation: Operation, folder: Path, end: Callable[[Operation, Path, int], bool], every: int
) -> Iterator[tuple[int, str]]:
    """End the operation at every so many places; yield the place and what was wrong."""
    for change in count(1, every):
        here = folder / str(change)
        here.mkdir(parents=True)
        operation.prepare(here)
        try:
            is_through = end(operation, here, change)
        except AssertionError as fault:
            yield change, str(fault)
            is_through = False
        for wrong in operation.between(here):
            yield change, f"afterwards {wrong}"
        try:
            operation.do(here, 1)
        except (PitwatchError, OSError) as refused:
            yield change, f"done again: {refused}"
        for wrong in operation.wrongs(here):
            yield change, f"done again, {wrong}"
        if is_through:
            yield change, ""
            return


def main(folder: Path, every: int) -> int:
    """End every operation at every so many places; return how many things were wrong."""
    elsewhere, wrong = _another_disk(folder), 0
    for name, operation in operations(elsewhere).items():
        for how, end in ENDS.items():
            places = 0
            for change, what in ended(operation, folder / name / how, end, every):
                if what:
                    wrong += 1
                    _report(f"{name}, {how} change {change}: {what}")
                else:
                    places = change // every
            _report(f"{name}: {how} {places} changes")
    if elsewhere is not None:
        shutil.rmtree(elsewhere)
    return wrong


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _another_disk(folder: Path) -> Path | None:
    """Return a new folder on another disk, if there is one."""
    shared = Path("/dev/shm")
    with suppress(OSError):
        place = shared / f"moved-anywhere-{os.getpid()}"
        place.mkdir()
        try:
            (folder / "probe").touch()
            (folder / "probe").rename(place / "probe")
        except OSError as fault:
            if fault.errno == errno.EXDEV:
                return place
        shutil.rmtree(place)
    return None


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]), int((*sys.argv, "1")[2]))))
