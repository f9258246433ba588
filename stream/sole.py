"""A journal has one writer: the writing process holds a lock beside it until it closes.

The lock is a file of its own. A lock on the journal itself would fail: closing a second handle of a
database's file releases every lock that SQLite holds on it in this process.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from stream.files import followed
from stream.store import one_line, unusable

SUFFIX: Final = "-lock"


class Lock:
    """A lock file that one process holds; the lock ends with the process at the latest.

    Raises:
        BlockingIOError: another process holds it.
        OSError: the disk refuses the file.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._handle = self._taken()

    def _taken(self) -> int:
        while True:
            handle = os.open(self._place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(handle)
                raise
            if self._is_in_place(handle):
                return handle
            os.close(handle)  # its holder released and removed it between the two calls

    def _is_in_place(self, handle: int) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(handle), self._place.stat())
        return False

    def let_go(self) -> None:
        """Release the lock to the next process."""
        with suppress(OSError):
            self._place.unlink(missing_ok=True)
        os.close(self._handle)


class Sole:
    """The right to write a journal; it ends with the process at the latest.

    Raises:
        TechnicianError: another program holds it, or the disk refuses the lock's file.
    """

    def __init__(self, journal: Path) -> None:
        where = str(journal)
        main = followed(journal)
        with one_line(where):
            try:
                self._lock = Lock(main.with_name(main.name + SUFFIX))
            except BlockingIOError as held:
                raise unusable(
                    where, "another program is writing it", "Leave this journal to one writer"
                ) from held

    def let_go(self) -> None:
        """Release the journal to the next writer."""
        self._lock.let_go()
