"""What a forwarder decides: which entries go to the floor next, and what an answer means.

It has no state of its own. The journal is the queue, and the floor's last entry is the cursor: the
forwarder moves on only when the database has committed. Clock, journals and database are a
:class:`Site`. The host's is in :mod:`server.floor_record.forwarder`; a simulated one, where each
wait may end in a crash, is in ``tests/faults``.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from models.errors import OperatorError, PitwatchError, TechnicianError
from server.archive.days import Begun
from server.floor_record.database import Chain, FloorDown
from stream.identity import Identity
from stream.journal import AnotherJournal, Entry, Place

AT_ONCE: Final = 500
"""Entries in a transaction."""
IDLE_S: Final = 0.1
_SEEN_NS: Final = 5_000_000_000
"""Nanoseconds after which a table without news says again where it is."""
_SCAN_NS: Final = 2_000_000_000
"""Nanoseconds between looks for new journals."""
_ASK_AGAIN_NS: Final = 60_000_000_000
"""Nanoseconds after which the floor is asked again about refused journals: a person may have begun
a new epoch."""
_LOOK_NS: Final = 1_000_000_000
"""Nanoseconds without a change of its files after which a journal is read this seldom."""
_FIRST_WAIT_S: Final = 0.25
_LONGEST_WAIT_S: Final = 30.0

log: Final = logging.getLogger("pitwatch.forward")

Stamp: TypeAlias = tuple[int, ...]
"""The state of a journal's files: another one after each change."""


class Floor(Protocol):
    """A session with the floor's database. What it returns is durable.

    Each call raises ``FloorDown`` where no answer comes, and another ``PitwatchError`` where the
    database refuses this journal.
    """

    async def open_chain(self, table: str, identity: Identity, begun: Begun | None) -> Chain | None:
        """Return the chain of a journal: its latest epoch, or a new one where it is unknown.

        A journal that has not begun gets no new one: it returns ``None``.
        """

    async def take(self, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
        """Hand over consecutive entries of one version; return ``taken``, or why they were not."""

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

    async def stamp(self, path: Path) -> Stamp:
        """Return the state of a journal's files."""

    async def entries_after(
        self, path: Path, place: Place, at_most: int
    ) -> tuple[tuple[Entry, ...], Place]:
        """Return the next entries, verified; raises ``AnotherJournal`` where the place is none."""

    async def last_place(self, path: Path) -> Place:
        """Return a journal's last entry."""


@dataclass(slots=True)
class _Sent:
    """A journal being forwarded, with what was agreed with the floor on this connection."""

    path: Path
    identity: Identity
    chain: Chain
    seen_ns: int
    stamp: Stamp = ()
    """The state of its files when it was last looked at …"""
    stamped_ns: int = 0
    """… since when they are in that state …"""
    looked_ns: int = 0
    """… and when it was last read."""
    is_drained: bool = False
    """Whether nothing was left to send then."""

    def is_at_rest(self, stamp: Stamp, now_ns: int) -> bool:
        """Whether its files have not changed for a while, and were read since.

        SQLite writes an entry to the log before a reader can see it, so a change is followed by
        more reads.
        """
        if stamp != self.stamp:
            self.stamp, self.stamped_ns = stamp, now_ns
        is_old = now_ns - self.stamped_ns >= _LOOK_NS
        return self.is_drained and is_old and now_ns - self.looked_ns < _LOOK_NS


class Forwarding:
    """Forwards a site's journals over one connection at a time.

    Args:
        site: where it runs.
        table: the table of journals that name none.
        at_once: the most entries in a transaction.
    """

    def __init__(self, site: Site, table: str | None = None, at_once: int = AT_ONCE) -> None:
        self._site, self._table, self._at_once = site, table, at_once
        self._refused: dict[Path, str] = {}
        """Journals that wait for a person, and why."""

    @property
    def refused(self) -> dict[Path, str]:
        """Journals of which nothing more is forwarded, and why."""
        return dict(self._refused)

    async def run(self) -> None:
        """Forward until it is over; wait for a floor that is down, longer each time.

        Raises:
            InstallerError: the database is no floor record, or refuses the role.
        """
        waits = self._waits()
        while not self._site.is_over():
            try:
                async with self._site.connected() as floor:
                    log.info("connected")
                    waits = self._waits()
                    await self._forward(floor)
            except FloorDown as fault:
                log.warning("%s", fault)
                await self._site.sleep(next(waits))

    async def forward_all(self, floor: Floor) -> int:
        """Forward everything that the journals hold now; return the number of entries."""
        sent = 0
        for one in (await self._opened(floor, {})).values():
            while moved := await self._move(floor, one):
                sent += moved
        return sent

    async def _forward(self, floor: Floor) -> None:
        self._refused.clear()
        open_ones: dict[Path, _Sent] = {}
        asked_ns = self._site.elapsed_ns()
        scanned_ns = asked_ns - _SCAN_NS
        while not self._site.is_over():
            if self._site.elapsed_ns() - asked_ns >= _ASK_AGAIN_NS:
                self._refused.clear()
                open_ones, asked_ns = {}, self._site.elapsed_ns()
            if self._site.elapsed_ns() - scanned_ns >= _SCAN_NS:
                open_ones = await self._opened(floor, open_ones)
                scanned_ns = self._site.elapsed_ns()
            if not sum([await self._move(floor, one) for one in open_ones.values()]):
                await self._site.sleep(IDLE_S)

    async def _opened(self, floor: Floor, known: dict[Path, _Sent]) -> dict[Path, _Sent]:
        """Return every journal there is now, opened on the floor where it is new."""
        found: dict[Path, _Sent] = {}
        for path in await self._site.journals():
            one = known.get(path)
            try:
                identity = await self._site.identity(path)
                if one is None or one.identity != identity:
                    one = await self._open(floor, path, identity)
            except FloorDown:
                raise
            except PitwatchError as fault:
                self._refuse(path, str(fault))
                continue
            if one is not None:
                found[path] = one
        return found

    async def _open(self, floor: Floor, path: Path, identity: Identity | None) -> _Sent | None:
        if identity is None:
            raise TechnicianError(
                "the journal is of an older version and has no identity",
                where=str(path),
                way_out="Start its table with this version once, which upgrades it",
            )
        first = await self._site.begun(path)
        table = identity.table or self._table or await self._site.table_in(path)
        if await self._site.identity(path) != identity:
            return None  # another journal has this name by now; the next look finds it
        if table is None and first is None:
            return None
        if table is None:
            raise OperatorError(
                "the journal names no table", where=str(path), way_out="Name it with --table"
            )
        chain = await floor.open_chain(table, identity, first)
        if chain is None:
            return None
        return _Sent(path, identity, chain, self._site.elapsed_ns() - _SEEN_NS)

    async def _move(self, floor: Floor, one: _Sent) -> int:
        """Send a journal's next entries; return their number. A refused journal sends none."""
        if one.path in self._refused:
            return 0
        try:
            return await self._sent(floor, one)
        except FloorDown:
            raise
        except PitwatchError as fault:
            self._refuse(one.path, str(fault))
            return 0

    async def _sent(self, floor: Floor, one: _Sent) -> int:
        if one.is_at_rest(await self._site.stamp(one.path), self._site.elapsed_ns()):
            return 0
        one.looked_ns = self._site.elapsed_ns()
        if one.chain.state != "sound":
            self._refuse(one.path, f"the floor says {one.chain.state}")
            return 0
        known = one.chain.place
        try:
            entries, place = await self._site.entries_after(one.path, known, self._at_once)
            is_proved = known.seq > 0
        except AnotherJournal:
            entries, place = await self._own_entry(one)
            is_proved = False
        if not is_proved and await self._was_replaced(one):
            return 0
        one.is_drained = not entries
        if entries:
            return await self._handed_over(floor, one, entries, place)
        if place.seq < known.seq or self._site.elapsed_ns() - one.seen_ns >= _SEEN_NS:
            state = await floor.seen(one.chain, place.seq)
            one.chain, one.seen_ns = replace(one.chain, state=state), self._site.elapsed_ns()
        return 0

    async def _handed_over(
        self, floor: Floor, one: _Sent, entries: Sequence[Entry], place: Place
    ) -> int:
        version = entries[0].version
        alike = tuple(takewhile(lambda entry: entry.version == version, entries))
        there = place if len(entries) < self._at_once else await self._site.last_place(one.path)
        outcome = await floor.take(one.chain, alike, there.seq)
        if outcome != "taken":
            self._refuse(one.path, f"{outcome} at entry {alike[0].seq} or one after it")
            return 0
        end = Place(alike[-1].seq, alike[-1].hash)
        one.chain, one.seen_ns = replace(one.chain, place=end), self._site.elapsed_ns()
        return len(alike)

    async def _own_entry(self, one: _Sent) -> tuple[tuple[Entry, ...], Place]:
        """Return the journal's own entry in place of the floor's last one: the floor judges it.

        A journal that ends before it gives none, and its end.
        """
        seq, place = one.chain.place.seq, Place()
        while True:
            entries, place = await self._site.entries_after(one.path, place, self._at_once)
            if place.seq >= seq or not entries:
                return tuple(entry for entry in entries if entry.seq == seq), place

    async def _was_replaced(self, one: _Sent) -> bool:
        """Whether another journal has this name by now: the next look for journals finds both.

        Asked after the journal was read, so that what was read is known to be its own. Where the
        floor has an entry of it, the hash of that entry tells.
        """
        return await self._site.identity(one.path) != one.identity

    def _refuse(self, path: Path, why: str) -> None:
        if self._refused.get(path) != why:
            self._refused[path] = why
            log.error("not forwarded", extra={"fields": {"journal": str(path), "why": why}})

    def _waits(self) -> Iterator[float]:
        wait_s = _FIRST_WAIT_S
        while True:
            yield wait_s * self._site.share()
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
