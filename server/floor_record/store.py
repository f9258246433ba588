"""A service's parts in the floor record: what :class:`server.service.store.Store` asks for."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

import sqlalchemy as sa
from prometheus_client import CollectorRegistry

from server.floor_record.engine import floor_engine
from server.floor_record.floor import RecordFloor
from server.floor_record.meters import FloorMeters
from server.floor_record.people import SharedJournal
from server.readmodel.databases import locked
from server.readmodel.ending import Ending
from server.readmodel.floor import Floor
from stream.checkpoints import Checkpoint
from stream.journal import Checkpoints

_TURN: Final = 0x7069_7474_7572_6E21
"""The number of the lock for decisions."""


_NO_RECORDINGS: Final = (
    "recordings are on the table's machine: the floor record holds none; ask the service there"
)


class _Rate(Protocol):
    @property
    def per_s(self) -> float: ...

    @property
    def burst(self) -> int: ...


class SharedTurnstile:
    """Counts each client's requests to all services together."""

    def __init__(self, engine: sa.Engine, kind: str, rate: _Rate) -> None:
        self._engine, self._kind, self._rate = engine, kind, rate

    async def wait_ns(self, who: str) -> int:
        """Take a token of ``who``: return 0, or the nanoseconds until there is one.

        Raises:
            FloorDown: the database does not answer.
        """
        return await asyncio.to_thread(self._taken, who)

    def _taken(self, who: str) -> int:
        query = "SELECT pitwatch_people.admitted(%s, %s, %s, %s)"
        with self._engine.connect() as on:
            values = (self._kind, who, self._rate.per_s, self._rate.burst)
            wait_s: float = on.exec_driver_sql(query, values).scalar_one()
        return math.ceil(wait_s * 1e9)


class RecordStore:
    """The floor record at an address.

    Args:
        url: the database's address; its role is a member of ``pitwatch_service``.
        has_recordings: whether a folder of the tables' recordings is at this service.
    """

    is_shared = True

    def __init__(self, url: str, *, has_recordings: bool = False) -> None:
        self._url, self._has_recordings = url, has_recordings
        self._engine = floor_engine(url, settings={"synchronous_commit": "off"})
        self._turn = asyncio.Lock()

    @property
    def no_recordings(self) -> str | None:
        """Why recordings are not here; ``None`` where they are."""
        return None if self._has_recordings else _NO_RECORDINGS

    def floor(
        self, on_read: Callable[[str, int], None], ending: Ending, now_ns: Callable[[], int]
    ) -> Floor:
        """Return the tables of the floor record."""
        return RecordFloor(self._url, on_read, ending, now_ns)

    def accounts(self) -> sa.Engine:
        """Return the database of the accounts, on connections of their own."""
        return floor_engine(self._url, settings={"search_path": "pitwatch_people"})

    def own_journal(
        self, file: Path, due: Checkpoints, known: Collection[Checkpoint]
    ) -> SharedJournal:
        """Return the chain of that file's name."""
        return SharedJournal(self._url, file.name, due, known)

    def turnstile(self, kind: str, rate: _Rate, kept: int) -> SharedTurnstile:  # noqa: ARG002
        """Return a count of requests to all services."""
        return SharedTurnstile(self._engine, kind, rate)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Let one request of all services at a time into the block.

        Raises:
            FloorDown: the database does not answer, or others take too long.
        """
        async with self._turn:
            lock = locked(self._engine, _TURN)
            await asyncio.to_thread(lock.__enter__)
            try:
                yield
            finally:
                await asyncio.to_thread(lock.__exit__, None, None, None)

    def measure(self, registry: CollectorRegistry) -> None:
        """Add the metrics of the floor record."""
        registry.register(FloorMeters(self._url))

    def close(self) -> None:
        """Close what it shares among requests."""
        self._engine.dispose()
