"""The files of a journal: the database, SQLite's write-ahead log and its companions.

The log holds acknowledged entries that are not in the database yet. A log beside a database of
another origin damages that database. A database without its log has lost its last entries. So code
that creates, copies, moves or removes a journal gets all of its files here.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from models.errors import OperatorError

_LOG: Final = "-wal"
_LOG_HALF: Final = "-wal.new"
_LOG_INDEX: Final = "-shm"
_ROLLBACK: Final = "-journal"
_REST: Final = ".rest"


@dataclass(frozen=True, slots=True)
class JournalFiles:
    """The files of the journal at ``main``."""

    main: Path

    @property
    def log(self) -> Path:
        """The write-ahead log."""
        return self._beside(_LOG)

    @property
    def log_half(self) -> Path:
        """The name of a write-ahead log while it is being written for the first time."""
        return self._beside(_LOG_HALF)

    @property
    def log_index(self) -> Path:
        """The index of the write-ahead log, shared by the processes that have it open."""
        return self._beside(_LOG_INDEX)

    @property
    def rest(self) -> Path:
        """What the table knew at its last rest, from which its next start goes on."""
        return self._beside(_REST)

    @property
    def log_bytes(self) -> int:
        """The size of the write-ahead log, 0 where there is none."""
        try:
            return self.log.stat().st_size
        except FileNotFoundError:
            return 0

    def check_vacant(self) -> None:
        """Check that no file of another journal is in the place of a new one.

        Raises:
            OperatorError: naming the file in the way, and what to do with it; or a name that is not
                UTF-8, which no signed entry can state.
        """
        try:
            self.main.name.encode()
        except UnicodeEncodeError as fault:
            raise OperatorError(
                "a journal's name is text, and this one is not UTF-8",
                where=repr(str(self.main)),
                way_out="Name a new file in UTF-8",
            ) from fault
        if self.main.exists():
            raise OperatorError(
                "the journal exists already", where=str(self.main), way_out="Name a new file"
            )
        for left in (self.log, self._beside(_ROLLBACK)):
            if left.exists() and left.stat().st_size:
                raise OperatorError(
                    f"it belongs to a journal whose main file {self.main.name} was moved away, "
                    "and may hold the last entries of that journal",
                    where=str(left),
                    way_out="Move it to the place of that main file; "
                    "next time use `pitwatch journal archive`",
                )

    def remove_companions(self) -> None:
        """Remove the files beside the database; its log must have been copied into it before."""
        self.remove_log()
        self.rest.unlink(missing_ok=True)

    def remove_log(self) -> None:
        """Remove the log, which must have been copied into the database, and its companions."""
        for ending in (_LOG, _LOG_HALF, _LOG_INDEX, _ROLLBACK):
            self._beside(ending).unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove all files of the journal."""
        self.main.unlink(missing_ok=True)
        self.remove_companions()

    def _beside(self, ending: str) -> Path:
        main = followed(self.main)
        return main.with_name(main.name + ending)


def followed(path: Path) -> Path:
    """Return the file that ``path`` names; where it is a symbolic link, the link's target.

    SQLite keeps a journal's other files beside the target.
    """
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def sync_folder(folder: Path) -> None:
    """Make the names of files in ``folder`` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
