"""What a regular run remembers of the backups that it verified, so that it need not read all again.

A backup is read again where a file of it has changed by its size, times or inode, and in turn with
the others. Data that changes on a disk without a trace in these is found in its turn.
"""

from collections.abc import Iterable
from contextlib import suppress
from math import ceil
from pathlib import Path
from stat import S_ISREG
from typing import Final

import msgspec

from server.process.atomic_file import write_whole

_EACH_S: Final = 7 * 86_400
"""Seconds within which every backup is read again, where runs are regular: a choice."""


class Intact(msgspec.Struct, frozen=True):
    """A backup that verified."""

    files: int
    at_s: int
    """When it was read last."""
    stats: dict[str, tuple[int, int, int, int]]
    """For each file: inode, size in bytes, and when content and inode changed, in nanoseconds."""


def stats_of(backup: Path) -> dict[str, tuple[int, int, int, int]]:
    """Return the inode, size and times of each file of a backup, without reading it."""
    found = {}
    for path in sorted(backup.rglob("*")):
        with suppress(FileNotFoundError):  # a backup that grew too old is being removed
            state = path.stat()
            if S_ISREG(state.st_mode):
                name = path.relative_to(backup).as_posix()
                times = (state.st_mtime_ns, state.st_ctime_ns)
                found[name] = (state.st_ino, state.st_size, *times)
    return found


class Memory:
    """The backups that earlier runs verified, by name.

    Args:
        file: where they are kept; one that is missing or damaged holds none.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, Intact] = {}
        with suppress(FileNotFoundError, msgspec.DecodeError):
            self._known = msgspec.json.decode(file.read_bytes(), type=dict[str, Intact])

    def unread(self, backups: Iterable[Path], now_s: float) -> dict[Path, Intact]:
        """Return the backups that need not be read in this run, with what is known of them.

        Of those that did not change, as many are left out of this as came due since the last run,
        the longest unread first.
        """
        same = {
            backup: known
            for backup in backups
            if (known := self._known.get(backup.name))
            and known.at_s <= now_s  # else the clock was wrong, then or now
            and known.stats == stats_of(backup)
        }
        by_age = sorted(same, key=lambda backup: (same[backup].at_s, backup.name))
        since_s = now_s - max((one.at_s for one in same.values()), default=0)
        due = ceil(len(same) * max(0.0, since_s) / _EACH_S)
        return {backup: same[backup] for backup in by_age[due:]}

    def keep(self, intact: dict[Path, Intact]) -> None:
        """Remember these backups, and no others."""
        known = {backup.name: one for backup, one in intact.items()}
        write_whole(self._file, msgspec.json.encode(known))
