"""What a forwarder decides: which entries go to the floor next, and what an answer means.

It has no state that a restart needs. The journal is the queue, and the floor's last entry is the
cursor: the forwarder moves on only when the database has committed. One transaction carries what
many live tables have; tables that are behind come after them, in turn. Clock, journals and database
are a :class:`server.floor_record.site.Site`. The host's is in
:mod:`server.floor_record.forwarder`; a simulated one, where each wait may end in a crash, is in
``tests/faults``.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Final

from models.errors import OperatorError, PitwatchError, TechnicianError
from server.floor_record.database import FloorDown, Parcel
from server.floor_record.site import Floor, Site
from server.floor_record.turns import SEEN_NS, Forwarded, Group, Ready
from stream.identity import Identity
from stream.journal import AnotherJournal, Place
from stream.reading import Entry

AT_ONCE: Final = 500
"""Entries that are read of a journal at once. One that has as many is behind."""
_TOGETHER: Final = 4
"""Pages of that size in a transaction."""
IDLE_S: Final = 0.1
"""Seconds between two looks at journals that are not behind: fewer, larger transactions."""
_LAGS_AT_ONCE: Final = 10
"""Journals that are behind, whose lag is reported between two transactions of live ones."""
_SCAN_NS: Final = 2_000_000_000
"""Nanoseconds between looks for new journals."""
_ASK_AGAIN_NS: Final = 60_000_000_000
"""Nanoseconds after which the floor is asked again about refused journals: a person may have begun
a new epoch."""
_BUSY_NS: Final = 500_000_000
"""Nanoseconds, at most, after which journals that are behind try again where the floor was busy."""
_FIRST_WAIT_S: Final = 0.25
_LONGEST_WAIT_S: Final = 30.0

log: Final = logging.getLogger("pitwatch.forward")


class Forwarding:
    """Forwards a site's journals over one connection at a time.

    Args:
        site: where it runs.
        table: the table of journals that name none.
        at_once: the most entries that are read of a journal at once.
    """

    def __init__(self, site: Site, table: str | None = None, at_once: int = AT_ONCE) -> None:
        self._site, self._table, self._at_once = site, table, at_once
        self._refused: dict[Path, str] = {}
        """Journals that wait for a person, and why."""
        self._last_late = Path()
        """The journal behind that had its turn last."""
        self._busy_until_ns = 0
        """Until when those behind wait, as others catch up."""

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
        sent, ones = 0, tuple((await self._opened(floor, {})).values())
        while True:
            moved = await self._sweep(floor, ones)
            sent += moved
            if not moved:
                if not any(one.is_late and one.path not in self._refused for one in ones):
                    return sent
                await self._site.sleep(IDLE_S)

    async def _forward(self, floor: Floor) -> None:
        self._refused.clear()
        open_ones: dict[Path, Forwarded] = {}
        asked_ns = self._site.elapsed_ns()
        scanned_ns = asked_ns - _SCAN_NS
        while not self._site.is_over():
            if self._site.elapsed_ns() - asked_ns >= _ASK_AGAIN_NS:
                open_ones = {
                    path: one for path, one in open_ones.items() if path not in self._refused
                }
                self._refused.clear()
                asked_ns = self._site.elapsed_ns()
            if self._site.elapsed_ns() - scanned_ns >= _SCAN_NS:
                open_ones = await self._opened(floor, open_ones)
                scanned_ns = self._site.elapsed_ns()
            began_ns = self._site.elapsed_ns()
            moved = await self._sweep(floor, tuple(open_ones.values()))
            left_s = IDLE_S - (self._site.elapsed_ns() - began_ns) / 1e9
            is_behind = moved and any(one.is_late for one in open_ones.values())
            if left_s > 0 and not is_behind:
                await self._site.sleep(left_s)

    async def _opened(self, floor: Floor, known: dict[Path, Forwarded]) -> dict[Path, Forwarded]:
        """Return every journal there is now, opened on the floor where it is new."""
        found: dict[Path, Forwarded] = {}
        for path in await self._site.journals():
            one = known.get(path)
            try:
                if one is None or one.is_doubted:
                    identity = await self._site.identity(path)
                    if one is None or one.identity != identity:
                        one = await self._open(floor, path, identity)
                    if one is not None:
                        one.is_doubted = False
            except FloorDown:
                raise
            except PitwatchError as fault:
                self._refuse(path, str(fault))
                continue
            if one is not None:
                found[path] = one
        return found

    async def _open(self, floor: Floor, path: Path, identity: Identity | None) -> Forwarded | None:
        if identity is None:
            raise TechnicianError(
                "the journal is of an older version and has no identity",
                where=str(path),
                way_out="Start its table with this version once, which upgrades it",
            )
        first = await self._site.begun(path)
        there = await self._site.last_place(path)
        table = identity.table or self._table or await self._site.table_in(path)
        if await self._site.identity(path) != identity:
            return None  # another journal has this name by now; the next look finds it
        if table is None and first is None:
            return None
        if table is None:
            raise OperatorError(
                "the journal names no table", where=str(path), way_out="Name it with --table"
            )
        chain = await floor.open_chain(table, identity, first, there.seq)
        if chain is None:
            return None
        return Forwarded(path, identity, chain, self._site.elapsed_ns() - SEEN_NS)

    # --- one round over the journals ------------------------------------------------------

    async def _sweep(self, floor: Floor, ones: Sequence[Forwarded]) -> int:
        """Send what the journals have next; return the number of entries.

        Those that are behind send a part, in turn, once the others have sent everything.
        """
        moved, group = 0, Group(_TOGETHER * self._at_once)
        for one in ones:
            ready = None if one.is_late else await self._next(floor, one)
            if ready is None or one.is_late:
                continue
            if not group.takes(ready):
                moved += await self._handed_over(floor, group.ready)
                group = Group(_TOGETHER * self._at_once)
                group.takes(ready)
        moved += await self._handed_over(floor, group.ready)
        late = [one for one in ones if one.is_late]
        moved += await self._caught_up(floor, late)
        await self._report_lag(floor, late)
        return moved

    async def _caught_up(self, floor: Floor, late: Sequence[Forwarded]) -> int:
        """Send a transaction of journals that are behind: those first whose turn is longest ago."""
        if self._site.elapsed_ns() < self._busy_until_ns:
            return 0
        group = Group(_TOGETHER * self._at_once)
        after = [one for one in late if one.path > self._last_late]
        for one in (*after, *late[: len(late) - len(after)]):
            ready = await self._next(floor, one)
            if ready is not None and not group.takes(ready):
                break
            self._last_late = one.path
            if group.is_full:
                break
        return await self._handed_over(floor, group.ready, is_late=True)

    async def _report_lag(self, floor: Floor, late: Sequence[Forwarded]) -> None:
        """Report how far the tables are of some journals that wait for their turn."""
        now_ns = self._site.elapsed_ns()
        silent = [one for one in late if one.is_late and now_ns - one.seen_ns >= SEEN_NS]
        for one in [one for one in silent if one.path not in self._refused][:_LAGS_AT_ONCE]:
            try:
                there = await self._site.last_place(one.path)
                if await self._was_replaced(one):
                    one.is_doubted, one.is_late = True, False
                elif there.seq >= one.chain.place.seq:
                    state = await floor.seen(one.chain, there.seq)
                    one.chain = replace(one.chain, state=state)
                one.seen_ns = self._site.elapsed_ns()
            except FloorDown:
                raise
            except PitwatchError as fault:
                self._refuse(one.path, str(fault))

    async def _handed_over(
        self, floor: Floor, group: Sequence[Ready], *, is_late: bool = False
    ) -> int:
        """Hand over a group; where the database refuses it as a whole, each by itself."""
        if not group:
            return 0
        try:
            outcomes = await floor.take([ready.parcel for ready in group], is_late=is_late)
        except FloorDown:
            raise
        except PitwatchError as fault:
            if len(group) > 1:
                return sum([await self._handed_over(floor, [ready]) for ready in group])
            self._refuse(group[0].one.path, str(fault))
            return 0
        return sum(map(self._answered, group, outcomes))

    def _answered(self, ready: Ready, outcome: str) -> int:
        one, entries, now_ns = ready.one, ready.parcel.entries, self._site.elapsed_ns()
        if outcome == "taken":
            one.chain = replace(one.chain, place=Place(entries[-1].seq, entries[-1].hash))
            one.seen_ns = now_ns
            if ready.is_all:
                one.rest(now_ns)
            return len(entries)
        if outcome == "busy":
            self._busy_until_ns = now_ns + int(_BUSY_NS * self._site.share())
        else:
            self._refuse(one.path, f"{outcome} at entry {entries[0].seq} or one after it")
        return 0

    async def _next(self, floor: Floor, one: Forwarded) -> Ready | None:
        """Return what a journal hands over next. A refused journal hands over nothing."""
        if one.path in self._refused:
            return None
        try:
            return await self._read(floor, one)
        except FloorDown:
            raise
        except PitwatchError as fault:
            self._refuse(one.path, str(fault))
            return None

    async def _read(self, floor: Floor, one: Forwarded) -> Ready | None:
        if one.is_at_rest(*await self._site.stamp(one.path), self._site.elapsed_ns()):
            return None
        one.looked_ns = self._site.elapsed_ns()
        if one.chain.state != "sound":
            self._refuse(one.path, f"the floor says {one.chain.state}")
            return None
        known = one.chain.place
        try:
            entries, place = await self._site.entries_after(one.path, known, self._at_once)
            is_proved = known.seq > 0
        except AnotherJournal:
            entries, place = await self._own_entry(one)
            is_proved = False
        if not is_proved and await self._was_replaced(one):
            one.is_doubted, one.is_late = True, False
            return None
        one.is_late = len(entries) >= self._at_once
        one.has_found = one.has_found or bool(entries)
        if entries:
            return await self._ready(one, entries, place)
        one.rest(one.looked_ns)
        if place.seq < known.seq or self._site.elapsed_ns() - one.seen_ns >= SEEN_NS:
            state = await floor.seen(one.chain, place.seq)
            one.chain, one.seen_ns = replace(one.chain, state=state), self._site.elapsed_ns()
        return None

    async def _ready(self, one: Forwarded, entries: Sequence[Entry], place: Place) -> Ready:
        version = entries[0].version
        alike = tuple(takewhile(lambda entry: entry.version == version, entries))
        there = await self._site.last_place(one.path) if one.is_late else place
        parcel = Parcel(one.chain, alike, there.seq)
        return Ready(one, parcel, not one.is_late and len(alike) == len(entries))

    async def _own_entry(self, one: Forwarded) -> tuple[tuple[Entry, ...], Place]:
        """Return the journal's own entry in place of the floor's last one: the floor judges it.

        A journal that ends before it gives none, and its end.
        """
        seq, place = one.chain.place.seq, Place()
        while True:
            entries, place = await self._site.entries_after(one.path, place, self._at_once)
            if place.seq >= seq or not entries:
                return tuple(entry for entry in entries if entry.seq == seq), place

    async def _was_replaced(self, one: Forwarded) -> bool:
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
