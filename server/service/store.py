"""Where a service keeps its parts: in files of this machine, or in a database of many services.

The service knows both only by :class:`Store`; what speaks to a database is handed in.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import sqlalchemy as sa
from prometheus_client import CollectorRegistry

from server.readmodel.ending import Ending
from server.readmodel.file_index import FileIndex
from server.readmodel.floor import Floor
from server.readmodel.folder_floor import FolderFloor
from server.readmodel.own_journal import OwnJournal
from server.service.access.database import accounts_file
from server.service.access.records import ACCOUNTS_FILE
from server.service.http.limits import OwnTurnstile, Rate, Turnstile
from stream.checkpoints import Checkpoint
from stream.journal import Checkpoints, Journal

INDEX_FILE: Final = "index.sqlite"
OnRead: TypeAlias = Callable[[str, int], None]
"""Receives a session's name and the number of its entries that were read."""


class Store(Protocol):
    """The parts of a service that others may share."""

    @property
    def is_shared(self) -> bool:
        """Whether other services work with the same people and incidents."""

    @property
    def no_recordings(self) -> str | None:
        """Why recordings are not here; ``None`` where they are."""

    def floor(self, on_read: OnRead, ending: Ending, now_ns: Callable[[], int]) -> Floor:
        """Return every table; it is opened by its :meth:`Floor.run`."""

    def accounts(self) -> sa.Engine:
        """Return the database of the accounts; the calling thread alone uses them."""

    def own_journal(
        self, file: Path, due: Checkpoints, known: Collection[Checkpoint]
    ) -> OwnJournal:
        """Open a journal of the service, or begin it; the calling thread alone uses it.

        Raises:
            TechnicianError: it is damaged, or lacks an entry that one of ``known`` covers.
        """

    def turnstile(self, kind: str, rate: Rate, kept: int) -> Turnstile:
        """Return a count of requests."""

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Return a context in which one request of all services is at a time."""

    def measure(self, registry: CollectorRegistry) -> None:
        """Add the metrics of the store."""

    def close(self) -> None:
        """Close everything."""


class Files:
    """The journals of a folder, and the service's own files in its state folder."""

    is_shared = False
    no_recordings = None

    def __init__(self, journals: Path, state: Path) -> None:
        self._journals, self._state = journals, state
        self._turn = asyncio.Lock()

    def floor(self, on_read: OnRead, ending: Ending, now_ns: Callable[[], int]) -> Floor:
        """Return the tables of the folder."""
        index = FileIndex(self._state / INDEX_FILE)
        return FolderFloor(self._journals, on_read, index, ending, now_ns)

    def accounts(self) -> sa.Engine:
        """Return the file of accounts, or create it."""
        return accounts_file(self._state / ACCOUNTS_FILE)

    def own_journal(
        self, file: Path, due: Checkpoints, known: Collection[Checkpoint]
    ) -> OwnJournal:
        """Open the file, or create it."""
        if file.exists():
            return Journal.open(file, due, against=known)
        return Journal.create(file, due)

    def turnstile(self, kind: str, rate: Rate, kept: int) -> Turnstile:  # noqa: ARG002
        """Return a count in memory."""
        return OwnTurnstile(rate, kept)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Return a lock of this process."""
        async with self._turn:
            yield

    def measure(self, registry: CollectorRegistry) -> None:
        """Add nothing: the sessions' metrics cover the files."""

    def close(self) -> None:
        """Hold nothing open."""
