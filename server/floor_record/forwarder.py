"""The forwarder: sends journals to the floor, in order, from where the floor's copy ends.

It has no state of its own. The journal is the queue, and the floor's last entry is the cursor: the
forwarder moves on only when the database has committed. It only reads the journals, so a floor that
is down, slow or full costs a table nothing but disk.
"""

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Final, TypeAlias

from models.errors import OperatorError, PitwatchError, TechnicianError
from models.house import House
from server.archive.days import begun
from server.floor_record.database import Chain, FloorDatabase, FloorDown
from stream.clock import elapsed_ns
from stream.files import JournalFiles
from stream.identity import Identity
from stream.journal import (
    AnotherJournal,
    Entry,
    Place,
    entries_after,
    event_of,
    journal_identity,
    last_place,
)

AT_ONCE: Final = 500
"""Entries in a transaction."""
_IDLE_S: Final = 0.1
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


_Stamp: TypeAlias = tuple[int, ...]


@dataclass(slots=True)
class _Sent:
    """A journal being forwarded, with what was agreed with the floor on this connection."""

    path: Path
    identity: Identity
    chain: Chain
    seen_ns: int
    stamp: _Stamp = ()
    """The state of its files when it was last looked at …"""
    stamped_ns: int = 0
    """… since when they are in that state …"""
    looked_ns: int = 0
    """… and when it was last read."""

    def is_at_rest(self, stamp: _Stamp) -> bool:
        """Whether its files have not changed for a while, and were read since.

        SQLite writes an entry to the log before a reader can see it, so a change is followed by
        more reads.
        """
        now_ns = elapsed_ns()
        if stamp != self.stamp:
            self.stamp, self.stamped_ns = stamp, now_ns
        return now_ns - self.stamped_ns >= _LOOK_NS and now_ns - self.looked_ns < _LOOK_NS


class Forwarder:
    """Forwards journals over one connection at a time.

    Args:
        names: journals, or folders of journals; new ones in a folder are found.
        house: gives the day of a journal.
        table: the table of journals that name none.
    """

    def __init__(self, names: tuple[Path, ...], house: House, table: str | None = None) -> None:
        self._names, self._house, self._table = names, house, table
        self._refused: dict[Path, str] = {}
        """Journals that wait for a person, and why."""

    @property
    def refused(self) -> dict[Path, str]:
        """Journals of which nothing more is forwarded, and why."""
        return dict(self._refused)

    def run(self, url: str, is_over: Callable[[], bool]) -> None:
        """Forward until ``is_over``; wait for a floor that is down, longer each time.

        Raises:
            InstallerError: the database is no floor record, or refuses the role.
        """
        waits = _waits()
        while not is_over():
            try:
                with FloorDatabase.connected(url) as floor:
                    log.info("connected")
                    waits = _waits()
                    self._forward(floor, is_over)
            except FloorDown as fault:
                log.warning("%s", fault)
                _sleep(next(waits), is_over)

    def forward_all(self, floor: FloorDatabase) -> int:
        """Forward everything that the journals hold now; return the number of entries."""
        sent = 0
        for one in self._opened(floor, {}).values():
            while moved := self._move(floor, one):
                sent += moved
        return sent

    def _forward(self, floor: FloorDatabase, is_over: Callable[[], bool]) -> None:
        self._refused.clear()
        open_ones: dict[Path, _Sent] = {}
        asked_ns = elapsed_ns()
        scanned_ns = asked_ns - _SCAN_NS
        while not is_over():
            if elapsed_ns() - asked_ns >= _ASK_AGAIN_NS:
                self._refused.clear()
                open_ones, asked_ns = {}, elapsed_ns()
            if elapsed_ns() - scanned_ns >= _SCAN_NS:
                open_ones, scanned_ns = self._opened(floor, open_ones), elapsed_ns()
            if not sum(self._move(floor, one) for one in open_ones.values()):
                _sleep(_IDLE_S, is_over)

    def _opened(self, floor: FloorDatabase, known: dict[Path, _Sent]) -> dict[Path, _Sent]:
        """Return every journal there is now, opened on the floor where it is new."""
        found: dict[Path, _Sent] = {}
        for path in journals_in(self._names):
            one = known.get(path)
            try:
                identity = journal_identity(path)
                if one is None or one.identity != identity:
                    one = self._open(floor, path, identity)
            except FloorDown:
                raise
            except PitwatchError as fault:
                self._refuse(path, str(fault))
                continue
            if one is not None:
                found[path] = one
        return found

    def _open(self, floor: FloorDatabase, path: Path, identity: Identity | None) -> _Sent | None:
        if identity is None:
            raise TechnicianError(
                "the journal is of an older version and has no identity",
                where=str(path),
                way_out="Start its table with this version once, which upgrades it",
            )
        first = begun(path, self._house)
        if first is None:
            return None
        chain = floor.open_chain(self._table_of(path, identity), identity, first)
        return _Sent(path, identity, chain, elapsed_ns() - _SEEN_NS)

    def _table_of(self, path: Path, identity: Identity) -> str:
        table = identity.table or self._table
        if table is None:
            entries, _ = entries_after(path, Place())
            events = (event_of(one.body, str(path), one.seq) for one in entries)
            table = next((t for t in (getattr(e, "table", None) for e in events) if t), None)
        if table is None:
            raise OperatorError(
                "the journal names no table", where=str(path), way_out="Name it with --table"
            )
        return table

    def _move(self, floor: FloorDatabase, one: _Sent) -> int:
        """Send a journal's next entries; return their number. A refused journal sends none."""
        if one.path in self._refused:
            return 0
        try:
            return self._sent(floor, one)
        except FloorDown:
            raise
        except PitwatchError as fault:
            self._refuse(one.path, str(fault))
            return 0

    def _sent(self, floor: FloorDatabase, one: _Sent) -> int:
        if one.is_at_rest(_stamp(one.path)):
            return 0
        one.looked_ns = elapsed_ns()
        if one.chain.state != "sound":
            self._refuse(one.path, f"the floor says {one.chain.state}")
            return 0
        try:
            entries, place = entries_after(one.path, one.chain.place, AT_ONCE)
        except AnotherJournal:
            last = last_place(one.path)
            if last.seq < one.chain.place.seq:
                one.chain = replace(one.chain, state=floor.seen(one.chain, last.seq))
                return 0
            entries, place = self._fork(one)
        if not entries:
            if elapsed_ns() - one.seen_ns >= _SEEN_NS:
                state = floor.seen(one.chain, place.seq)
                one.chain, one.seen_ns = replace(one.chain, state=state), elapsed_ns()
            return 0
        version = entries[0].version
        alike = tuple(takewhile(lambda entry: entry.version == version, entries))
        there = place if len(entries) < AT_ONCE else last_place(one.path)
        outcome = floor.take(one.chain, alike, there.seq)
        if outcome != "taken":
            self._refuse(one.path, f"{outcome} at entry {alike[0].seq} or one after it")
            return 0
        end = Place(alike[-1].seq, alike[-1].hash)
        one.chain, one.seen_ns = replace(one.chain, place=end), elapsed_ns()
        return len(alike)

    def _fork(self, one: _Sent) -> tuple[tuple[Entry, ...], Place]:
        """Return the journal's own entry in place of the floor's last one: the floor judges it."""
        seq, place = one.chain.place.seq, Place()
        while True:
            entries, place = entries_after(one.path, place)
            if place.seq >= seq:
                return tuple(entry for entry in entries if entry.seq == seq), place

    def _refuse(self, path: Path, why: str) -> None:
        if self._refused.get(path) != why:
            self._refused[path] = why
            log.error("not forwarded", extra={"fields": {"journal": str(path), "why": why}})


def journals_in(names: tuple[Path, ...]) -> list[Path]:
    """Return the journals that ``names`` stand for now, in order."""
    found: set[Path] = set()
    for name in names:
        found.update(name.rglob("*.journal") if name.is_dir() else [name])
    return sorted(found)


def _stamp(path: Path) -> _Stamp:
    """Return size and time of a journal's file and of its write-ahead log."""
    files = JournalFiles(path)
    stamp: list[int] = []
    for file in (files.main, files.log):
        with suppress(FileNotFoundError):
            found = file.stat()
            stamp += (found.st_size, found.st_mtime_ns)
    return tuple(stamp)


def _waits() -> Iterator[float]:
    wait_s = _FIRST_WAIT_S
    while True:
        yield wait_s * random.uniform(0.5, 1)
        wait_s = min(wait_s * 2, _LONGEST_WAIT_S)


def _sleep(seconds: float, is_over: Callable[[], bool]) -> None:
    """Sleep in short pieces, so that a stop is heard."""
    until_ns = elapsed_ns() + int(seconds * 1e9)
    while not is_over() and (left_ns := until_ns - elapsed_ns()) > 0:
        time.sleep(min(left_ns / 1e9, _IDLE_S))
