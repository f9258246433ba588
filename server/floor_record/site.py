"""What a forwarder needs around it: its machine, and a session with the floor's database."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, TypeAlias

from server.archive.days import Begun
from server.floor_record.database import Chain, Parcel
from stream.identity import Identity
from stream.journal import Place
from stream.reading import Entry

Stamp: TypeAlias = tuple[int, ...]
"""The state of a journal's files: another one after each change."""


class Floor(Protocol):
    """A session with the floor's database. What it returns is durable.

    Each call raises ``FloorDown`` where no answer comes, and another ``PitwatchError`` where the
    database refuses this journal.
    """

    async def open_chain(
        self, table: str, identity: Identity, begun: Begun | None, last_there: int
    ) -> Chain | None:
        """Return the chain of a journal: its latest epoch, or a new one where it is unknown.

        A new one notes ``last_there``, the last entry that the table has. A journal that has not
        begun gets no new one: it returns ``None``.
        """

    async def take(self, parcels: Sequence[Parcel], *, is_late: bool) -> list[str]:
        """Hand over entries of several chains in one transaction; return what became of each.

        That is ``taken``, or why not; ``busy`` where late ones shall wait.
        """

    async def seen(self, chain: Chain, last_there: int) -> str:
        """Say which entry was the table's last when it was read, after the chain's place was known.

        Returns the chain's state.
        """


class Site(Protocol):
    """The machine of a forwarder: its clock, its journals, its way to the floor.

    What reads a journal raises ``PitwatchError`` where the journal cannot be read.
    """

    def elapsed_ns(self) -> int:
        """Return a count of nanoseconds that never steps."""

    def share(self) -> float:
        """Return a random share of a waiting time, so that forwarders do not return at once."""

    def is_over(self) -> bool:
        """Whether the forwarder shall end."""

    async def sleep(self, seconds: float) -> None:
        """Wait, at most until it is over."""

    def connected(self) -> AbstractAsyncContextManager[Floor]:
        """Return a new session; entering it raises ``FloorDown``."""

    async def journals(self) -> list[Path]:
        """Return the journals that there are now, in order."""

    async def identity(self, path: Path) -> Identity | None:
        """Return a journal's identity; ``None`` for one of an older version."""

    async def begun(self, path: Path) -> Begun | None:
        """Return the day on which a journal began; ``None`` where no entry has a time."""

    async def table_in(self, path: Path) -> str | None:
        """Return the table that a journal's first entries name."""

    async def stamp(self, path: Path) -> tuple[Stamp, int]:
        """Return the state of a journal's files, and the nanoseconds since their last change."""

    async def entries_after(
        self, path: Path, place: Place, at_most: int
    ) -> tuple[tuple[Entry, ...], Place]:
        """Return the next entries, verified; raises ``AnotherJournal`` where the place is none."""

    async def last_place(self, path: Path) -> Place:
        """Return a journal's last entry."""
