"""The index of one machine: one SQLite file beside the service's state.

Everything is read anew when another version of this program made the file, when it is damaged, or
when the last entry read is no longer in its journal. Deleting it costs only time.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from models.errors import TechnicianError
from server.readmodel.index import MADE, METADATA, Index
from server.readmodel.selection import Placed, Sought
from server.readmodel.views import Row

R = TypeVar("R", bound=Row)

_CHECKPOINT_EVERY: Final = 500
"""Transactions in the write-ahead log before it is copied to the file. Not measured."""
_CHECKPOINT_BEHIND: Final = 30
"""The same while an archive is read, whose transactions are long. Not measured."""


class FileIndex(Index):
    """The index file. One thread writes it; others read lists meanwhile.

    Args:
        path: the file; ``None`` keeps it in memory, for the life of the process.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(_engine(path))
        self._path = path
        self._transactions = self._settled_at = 0

    def open(self, made_by: str) -> None:
        """Open the file, or create it.

        ``made_by`` identifies the sources behind the rows: a file with another value is created
        anew.

        Raises:
            TechnicianError: the disk refuses it.
        """
        if self._path is not None:
            if _is_made_by(self._path, made_by):
                return
            for name in (self._path.name, f"{self._path.name}-wal", f"{self._path.name}-shm"):
                self._path.with_name(name).unlink(missing_ok=True)
            self._path.touch(mode=0o600)
        with self.engine.begin() as on:
            METADATA.create_all(on, checkfirst=False)
            on.execute(MADE.insert(), {"by": made_by})

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep everything written within, or nothing of it."""
        with super().writing():
            yield
        self._transactions += 1
        if self._path is not None and self._transactions % _CHECKPOINT_EVERY == 0:
            self._threads.submit(_checkpoint, self._path)

    async def settle(self) -> None:
        """Copy a long write-ahead log to the file while nothing is written.

        Beside a busy writer it is never copied completely, and continues to grow.
        """
        if self._path is not None and self._transactions - self._settled_at >= _CHECKPOINT_BEHIND:
            self._settled_at = self._transactions
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._threads, _checkpoint, self._path)

    async def look_up(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        """Return rows, the newest first, without blocking other requests.

        Raises:
            TechnicianError: the file is damaged, or the disk refuses it.
        """
        if self._path is None:  # the one connection is this thread's
            return self.newest(sought, at_most)
        return await super().look_up(sought, at_most)


def _engine(path: Path | None) -> sa.Engine:
    if path is None:
        return sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(path)))
    sa.event.listen(engine, "connect", _set_up)

    @sa.event.listens_for(engine, "handle_error")
    def refuse(context: sa.engine.ExceptionContext) -> None:
        raise TechnicianError(
            f"the index of the journals cannot be written: {context.original_exception}",
            where=str(path),
            way_out="Make room on the disk; if that does not help, delete this file and restart",
        )

    return engine


def _set_up(connection: sqlite3.Connection, _: Any) -> None:
    """Never wait for the disk: entries lost in a power cut are read again."""
    for setting in ("journal_mode=WAL", "synchronous=NORMAL", "wal_autocheckpoint=0"):
        connection.execute(f"PRAGMA {setting}")


def _is_made_by(path: Path, made_by: str) -> bool:
    """Return whether the file is an index of this version."""
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("SELECT by FROM made").fetchone() == (made_by,))
    return False


def _checkpoint(path: Path) -> None:
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
