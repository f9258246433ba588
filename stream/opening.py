"""Steps of creating and opening a journal for writing, each of which a kill may interrupt."""

import sqlite3
from collections.abc import Collection
from contextlib import closing, suppress
from pathlib import Path

from models.errors import InputRefused, TechnicianError
from stream.checkpoints import Checkpoint
from stream.files import JournalFiles, sync_folder
from stream.identity import Identity
from stream.reading import journal_id, last_in, read_on
from stream.seal import Seal, break_seal, has_seal, put_back, write_seal
from stream.store import connected, founded, keeper_of
from stream.verifying import GENESIS, Place
from stream.write_ahead import begin_log


class Opening:
    """The steps of opening a closed journal for writing; each can be undone."""

    def __init__(self, path: Path, entries: int) -> None:
        self._files = JournalFiles(path)
        self._entries = entries
        self._seal = b""
        self._was_sealed = False
        self._writer: sqlite3.Connection | None = None
        self.keeper: sqlite3.Connection | None = None

    @property
    def writer(self) -> sqlite3.Connection:
        """The writing connection, once it is open."""
        assert self._writer is not None, "it has begun"
        return self._writer

    def begin(self, *, was_sealed: bool) -> None:
        """Create the log, then remove the seal: a kill in between leaves both."""
        path = self._files.main
        self._was_sealed = was_sealed
        if was_sealed:
            begin_log(self._files)
        self._seal = break_seal(path)
        self._writer = connected(f"{path.resolve().as_uri()}?mode=rw", uri=True)
        self._writer.execute("PRAGMA synchronous=FULL")
        self.keeper = keeper_of(path)

    def undo(self) -> None:
        """Restore the files as they were found, where no entry was added."""
        with suppress(sqlite3.Error, TechnicianError, OSError):
            if not self._closed() or not self._was_sealed:
                return
            if self._seal:
                put_back(self._files.main, self._seal)
            if has_seal(self._files.main):
                self._files.remove_log()

    def _closed(self) -> bool:
        """Close every connection, keeping the log; return whether no entry was added."""
        if self._writer is None:
            return True
        if self.keeper is None:
            self.keeper = keeper_of(self._files.main)
        with closing(self.keeper), closing(self._writer):
            return last_in(self._writer)[0] == self._entries


def put_new(path: Path, identity: Identity) -> None:
    """Put an empty, sealed journal at ``path`` in one step: a kill leaves all of it or nothing."""
    half = JournalFiles(path.with_name(f".{path.name}.new"))
    half.remove()
    founded(connected(str(half.main)), identity).close()
    write_seal(half.main, Seal(0, GENESIS))
    JournalFiles(path).remove_companions()
    half.main.rename(path)
    sync_folder(path.parent)


def to_compare(path: Path, against: Collection[Checkpoint] | None) -> Collection[Checkpoint] | None:
    """Return the checkpoints that a start compares a journal with: of an empty one, its own.

    A process that was killed as it created the journal sent no checkpoint of it. Putting an
    empty journal in the place of another gains no more than removing that one.
    """
    try:
        if not against or read_on(path, Place(), at_most=1)[0]:
            return against
    except (TechnicianError, InputRefused):
        return against  # the verification reports what is wrong
    own = journal_id(path)
    return [one for one in against if one.identity.journal == own]


def check_table(identity: Identity | None, table: str | None, where: str) -> None:
    """Raise ``TechnicianError`` where the journal is another table's than ``table``."""
    own = None if identity is None else identity.table
    if own is not None and table is not None and own != table:
        raise TechnicianError(
            f"the journal is table {own}'s, not {table}'s",
            where=where,
            way_out=f"Put table {table}'s own journal there, or name a new one",
        )
