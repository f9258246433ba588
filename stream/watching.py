"""Detect that a file which this process writes is no longer the one at its path.

A process can write to a deleted or replaced file without an error, and loses those bytes at its
end.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from stream.files import JournalFiles

Loss: TypeAlias = Literal["main", "log"]
_HELD: Final = ".held"


@dataclass(slots=True)
class _Seen:
    file: tuple[int, int]
    """Device and inode numbers."""
    least_bytes: int


class Watch:
    """Watches the files of a journal that this process has just opened for writing."""

    def __init__(self, path: Path) -> None:
        self._files = JournalFiles(path)
        self._main, self._log = _seen(path), _seen(self._files.log)

    def loss(self) -> tuple[Loss, str] | None:
        """Return the file that is no longer the opened one, and what happened to it."""
        if self._main is not None:
            what = _changed(self._files.main, self._main)
            if what is not None:
                return "main", f"the journal was {what} while it was being written"
        if self._log is None:
            self._log = _seen(self._files.log)
        else:
            what = _changed(self._files.log, self._log)
            if what is not None:
                return "log", f"its write-ahead log was {what} while it was being written"
        return None

    @contextmanager
    def sparing_others(self) -> Iterator[None]:
        """Keep another journal's log: SQLite removes any file with the log's name on closing."""
        log, held = self._files.log, self._files.log.with_name(self._files.log.name + _HELD)
        there = _inode(log)
        if there is not None and (self._log is None or there != self._log.file):
            os.link(log, held)
        try:
            yield
        finally:
            if held.exists():
                with suppress(FileExistsError):
                    os.link(held, log)
                held.unlink()


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return state.st_dev, state.st_ino


def _seen(path: Path) -> _Seen | None:
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return _Seen((state.st_dev, state.st_ino), state.st_size)


def _changed(path: Path, before: _Seen) -> str | None:
    now = _seen(path)
    if now is None:
        return "deleted"
    if now.file != before.file:
        return "replaced"
    if now.least_bytes < before.least_bytes:
        return "truncated"
    before.least_bytes = now.least_bytes
    return None
