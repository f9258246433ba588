"""The forwarder on its machine: the host's clock, journals on disk, a database over the network.

It only reads the journals, so a floor that is down, slow or full costs a table nothing but disk.
What it decides is in :mod:`server.floor_record.forwarding`.
"""

import os
import random
import resource
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from models.house import House
from server.archive.days import Begun, begun
from server.floor_record.database import Chain, FloorDatabase, Parcel
from server.floor_record.forwarding import IDLE_S, Forwarding
from server.floor_record.site import Stamp
from stream.clock import elapsed_ns
from stream.files import JournalFiles
from stream.identity import Identity
from stream.journal import Place
from stream.reading import (
    Entry,
    JournalReader,
    entries_after,
    event_of,
    journal_identity,
    last_place,
)

T = TypeVar("T")

_OPEN_AT_MOST: Final = 1_000
"""Journals kept open at a time, where the process may open six times as many files."""


class Forwarder:
    """Forwards journals over one connection at a time.

    Args:
        names: journals, or folders of journals; new ones in a folder are found.
        house: gives the day of a journal.
        table: the table of journals that name none.
    """

    def __init__(self, names: tuple[Path, ...], house: House, table: str | None = None) -> None:
        self._site = _Host(names, house)
        self._forwarding = Forwarding(self._site, table)

    @property
    def refused(self) -> dict[Path, str]:
        """Journals of which nothing more is forwarded, and why."""
        return self._forwarding.refused

    def run(self, url: str, is_over: Callable[[], bool]) -> None:
        """Forward until ``is_over``; wait for a floor that is down, longer each time.

        Raises:
            InstallerError: the database is no floor record, or refuses the role.
        """
        self._site.url, self._site.is_over_there = url, is_over
        _completed(self._forwarding.run())

    def forward_all(self, floor: FloorDatabase) -> int:
        """Forward everything that the journals hold now; return the number of entries."""
        return _completed(self._forwarding.forward_all(_Session(floor)))


@dataclass(slots=True)
class _Host:
    """This machine, as a :class:`server.floor_record.site.Site`."""

    names: tuple[Path, ...]
    house: House
    url: str = ""
    is_over_there: Callable[[], bool] = bool
    readers: dict[Path, JournalReader] = field(default_factory=dict)
    """Of journals that were read, the one read last at the end."""

    def elapsed_ns(self) -> int:
        return elapsed_ns()

    def share(self) -> float:
        return random.uniform(0.5, 1)

    def is_over(self) -> bool:
        return self.is_over_there()

    async def sleep(self, seconds: float) -> None:
        """Sleep in short pieces, so that a stop is heard."""
        until_ns = elapsed_ns() + int(seconds * 1e9)
        while not self.is_over() and (left_ns := until_ns - elapsed_ns()) > 0:
            time.sleep(min(left_ns / 1e9, IDLE_S))

    @asynccontextmanager
    async def connected(self) -> AsyncIterator["_Session"]:
        with FloorDatabase.connected(self.url) as floor:
            yield _Session(floor)

    async def journals(self) -> list[Path]:
        found = journals_in(self.names)
        for gone in self.readers.keys() - set(found):
            self.readers.pop(gone).close()
        return found

    async def identity(self, path: Path) -> Identity | None:
        return journal_identity(path)

    async def begun(self, path: Path) -> Begun | None:
        return begun(path, self.house)

    async def table_in(self, path: Path) -> str | None:
        entries, _ = entries_after(path, Place())
        events = (event_of(one.body, str(path), one.seq) for one in entries)
        return next((t for t in (getattr(e, "table", None) for e in events) if t), None)

    async def stamp(self, path: Path) -> tuple[Stamp, int]:
        """Return size and time of a journal's file and of its write-ahead log, and their age."""
        main, log = map(_size_and_time, _files_of(path))
        return (*main, *log), time.time_ns() - max(main[1], log[1])

    async def entries_after(
        self, path: Path, place: Place, at_most: int
    ) -> tuple[tuple[Entry, ...], Place]:
        reader = self.readers.pop(path, None) or JournalReader(path)
        self.readers[path] = reader
        if len(self.readers) > _open_at_most():
            self.readers.pop(next(iter(self.readers))).close()
        return reader.entries_after(place, at_most)

    async def last_place(self, path: Path) -> Place:
        return last_place(path)


@dataclass(frozen=True, slots=True)
class _Session:
    """A connection, as a :class:`server.floor_record.site.Floor`."""

    floor: FloorDatabase

    async def open_chain(
        self, table: str, identity: Identity, begun: Begun | None, last_there: int
    ) -> Chain | None:
        return self.floor.open_chain(table, identity, begun, last_there)

    async def take(self, parcels: Sequence[Parcel], *, is_late: bool) -> list[str]:
        return self.floor.take(parcels, is_late=is_late)

    async def seen(self, chain: Chain, last_there: int) -> str:
        return self.floor.seen(chain, last_there)


def _size_and_time(file: str) -> tuple[int, int]:
    try:
        found = os.stat(file)  # noqa: PTH116 - a path's own takes twice as long
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


@cache
def _open_at_most() -> int:
    """Return how many journals may be open: three files each, half of those allowed in all."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _OPEN_AT_MOST if allowed < 0 else min(_OPEN_AT_MOST, allowed // 6)


@lru_cache(10_000)
def _files_of(path: Path) -> tuple[str, str]:
    files = JournalFiles(path)
    return str(files.main), str(files.log)


def journals_in(names: tuple[Path, ...]) -> list[Path]:
    """Return the journals that ``names`` stand for now, in order."""
    found: set[Path] = set()
    for name in names:
        found.update(name.rglob("*.journal") if name.is_dir() else [name])
    return sorted(found)


def _completed(work: Coroutine[Any, Any, T]) -> T:
    """Run work to its end. This machine's site blocks and never waits for another task."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        work.close()
    raise AssertionError("the host's site does not suspend")
