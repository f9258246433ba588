"""The journal behind a session: a file of this machine, or its copy in the floor record."""

from pathlib import Path
from typing import Protocol, TypeAlias

from models.events import ConsoleEntry, ReviewResolved
from models.judgements import AnyEvent
from server.table.resolving import Handed, decide, enter
from stream.journal import Place
from stream.reading import UnknownEvent, last_place, read_between, read_on
from stream.seal import has_seal
from stream.store import waiting

Events: TypeAlias = tuple[AnyEvent | UnknownEvent, ...]


class SessionJournal(Protocol):
    """Where a session's events are. The methods that are no coroutines may wait for a disk."""

    @property
    def name(self) -> str:
        """The session's name."""

    def read_on(self, place: Place, at_most: int) -> tuple[Events, Place]:
        """Read and verify the next entries, as :func:`stream.journal.read_on` does."""

    def read_between(self, after_seq: int, last_seq: int) -> Events:
        """Read verified entries again, as :func:`stream.journal.read_between` does."""

    def last_seq(self) -> int:
        """Return the number of the last entry.

        Raises:
            TechnicianError: the journal cannot be read.
        """

    def is_sealed(self) -> bool:
        """Return whether the journal was closed in order, and not opened again since."""

    def file(self) -> Path:
        """Return the file itself, with its signatures.

        Raises:
            OperatorError: it is on another machine.
        """

    async def decide(self, decision: ReviewResolved) -> Handed:
        """Journal a person's decision, as :func:`server.table.resolving.decide` does."""

    async def enter(self, entry: ConsoleEntry) -> Handed:
        """Journal a person's entry, as :func:`server.table.resolving.enter` does."""


class FileJournal:
    """A journal on this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sealed: tuple[tuple[int, int], bool] = ((0, 0), False)

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return self._path.name.removesuffix(".journal")

    def read_on(self, place: Place, at_most: int) -> tuple[Events, Place]:
        """Read and verify the next entries."""
        return read_on(self._path, place, at_most)

    def read_between(self, after_seq: int, last_seq: int) -> Events:
        """Read verified entries again."""
        return read_between(self._path, after_seq, last_seq)

    def last_seq(self) -> int:
        """Return the number of the last entry."""
        return last_place(self._path).seq

    def is_sealed(self) -> bool:
        """Return whether the file lies closed in order; looked at anew whenever it changes."""
        if waiting(self._path):
            return False
        try:
            state = self._path.stat()
            stamp = state.st_mtime_ns, state.st_size
            if self._sealed[0] != stamp:
                self._sealed = stamp, has_seal(self._path)
        except OSError:
            return False
        return self._sealed[1]

    def file(self) -> Path:
        """Return the file."""
        return self._path

    async def decide(self, decision: ReviewResolved) -> Handed:
        """Journal a decision: by the running table, or in the closed journal."""
        return await decide(self._path, decision)

    async def enter(self, entry: ConsoleEntry) -> Handed:
        """Have the running table journal an entry."""
        return await enter(self._path, entry)
