"""The journals in the floor record, as a service reads them."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import sqlalchemy as sa

from models.errors import OperatorError, TechnicianError
from models.events import ConsoleEntry, ReviewResolved
from models.judgements import AnyEvent
from server.floor_record.decisions import DecisionSent
from server.table.resolving import Handed
from stream.clock import elapsed_ns
from stream.journal import Place, link
from stream.reading import Entry, UnknownEvent, dated, event_of
from stream.upcasting import upcast

_PATIENCE_NS: Final = 15_000_000_000
"""Nanoseconds that a decision waits for its table."""
_LOOK_S: Final = 0.05
Events: TypeAlias = tuple[AnyEvent | UnknownEvent, ...]
_BETWEEN: Final = """
    SELECT e.seq, e.hash, convert_to(e.body, 'UTF8'), e.version FROM pitwatch.entries e
    WHERE e.day = %s AND e.table_id = %s AND e.epoch = %s AND e.seq > %s AND e.seq <= %s
    ORDER BY e.seq LIMIT %s
"""
_OF_MANY: Final = """
    SELECT v.nth, e.seq, e.hash, convert_to(e.body, 'UTF8'), e.version
    FROM unnest(%s::date[], %s::text[], %s::integer[], %s::bigint[], %s::bigint[])
        WITH ORDINALITY AS v (day, table_id, epoch, after, upto, nth)
    CROSS JOIN LATERAL (
        SELECT * FROM pitwatch.entries e WHERE e.day = v.day AND e.table_id = v.table_id
        AND e.epoch = v.epoch AND e.seq > v.after AND e.seq <= v.upto ORDER BY e.seq LIMIT %s
    ) AS e ORDER BY v.nth, e.seq
"""
_TIME_BEFORE: Final = """
    SELECT at FROM pitwatch.entries WHERE day = %s AND table_id = %s AND epoch = %s AND seq < %s
    AND at IS NOT NULL ORDER BY seq DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class ChainKey:
    """Where the entries of a session are."""

    session: str
    table: str
    epoch: int
    day: date


@dataclass(slots=True)
class ChainState:
    """What the floor knows of a chain besides its entries."""

    state: str
    """``sound``, or why the floor takes no more of it."""
    is_written: bool
    is_sealed: bool


def entries_of(
    on: sa.Connection, wanted: Sequence[tuple[ChainKey, int, int]], at_most: int
) -> list[list[Entry]]:
    """Return the entries of several chains at once: of each those after a number up to another."""
    if not wanted:
        return []
    keys = [key for key, *_ in wanted]
    found: list[list[Entry]] = [[] for _ in wanted]
    values = (
        [key.day for key in keys],
        [key.table for key in keys],
        [key.epoch for key in keys],
        [after for _, after, _ in wanted],
        [upto for *_, upto in wanted],
        at_most,
    )
    for nth, *rest in on.exec_driver_sql(_OF_MANY, values):
        found[nth - 1].append(Entry(*rest))
    return found


def followed(
    on: sa.Connection, key: ChainKey, entries: Sequence[Entry], place: Place
) -> tuple[Events, Place]:
    """Verify that entries follow ``place`` and return their events, and the last one's place.

    Raises:
        TechnicianError: an entry does not follow the one before.
        InputRefused: an entry of a known type does not match the format.
    """
    for entry in entries:
        head = link(place.head, place.seq + 1, entry.body)
        if entry.seq != place.seq + 1 or entry.hash != head:
            raise TechnicianError(
                f"entry {place.seq + 1} is missing or does not match its hash",
                where=f"session {key.session} in the floor record",
                way_out="Restore the database from its backup; the table's journal has the entry",
            )
        place = Place(entry.seq, head)
    return events_of(on, key, entries), place


def events_of(on: sa.Connection, key: ChainKey, entries: Sequence[Entry]) -> Events:
    """Return the events of entries, dated."""
    where = f"session {key.session}"
    events = (event_of(upcast(one.body, one.version), where, one.seq) for one in entries)
    return tuple(dated(events, lambda: _time_before(on, key, entries[0].seq)))


def _time_before(on: sa.Connection, key: ChainKey, seq: int) -> int | None:
    """Return the nearest time of an entry before one."""
    at: int | None = on.exec_driver_sql(
        _TIME_BEFORE, (key.day, key.table, key.epoch, seq)
    ).scalar_one_or_none()
    return at


class RecordJournal:
    """A session's journal in the floor record."""

    def __init__(self, key: ChainKey, state: ChainState, engine: sa.Engine) -> None:
        self.key, self.state, self._engine = key, state, engine

    @property
    def name(self) -> str:
        """The session's name."""
        return self.key.session

    def read_on(self, place: Place, at_most: int) -> tuple[Events, Place]:
        """Read and verify the next entries."""
        with self._engine.connect() as on:
            return followed(on, self.key, self._entries(on, place.seq, 2**62, at_most), place)

    def read_between(self, after_seq: int, last_seq: int) -> Events:
        """Read verified entries again."""
        with self._engine.connect() as on:
            entries = self._entries(on, after_seq, last_seq, last_seq - after_seq)
            return events_of(on, self.key, entries)

    def last_seq(self) -> int:
        """Return the number of the last entry that the floor has."""
        query = "SELECT seq FROM pitwatch.chains WHERE table_id = %s AND epoch = %s"
        with self._engine.connect() as on:
            values = (self.key.table, self.key.epoch)
            return int(on.exec_driver_sql(query, values).scalar_one())

    def is_sealed(self) -> bool:
        """Return whether the table closed it in order, as it last said."""
        return self.state.is_sealed

    def file(self) -> Path:
        """Refuse: the file, with its signatures, is at the table."""
        raise OperatorError(
            "the floor record holds the entries, not the journal's file with its signatures",
            where=f"session {self.key.session}",
            way_out=f"Ask the service of the machine where table {self.key.table} runs",
        )

    async def decide(self, decision: ReviewResolved) -> Handed:
        """Send a decision to the table through the floor; return once the floor has its results.

        Raises:
            OperatorError: the table refuses it, or the floor takes no more of its journal.
            TechnicianError: the table does not answer.
        """
        return await asyncio.to_thread(self._hand_in, msgspec.json.encode(decision))

    async def enter(self, entry: ConsoleEntry) -> Handed:
        """Send an entry to the table through the floor; as :meth:`decide`."""
        return await asyncio.to_thread(self._hand_in, msgspec.json.encode(entry))

    def _hand_in(self, word: bytes) -> Handed:
        with self._engine.connect() as on:
            sent = DecisionSent(on, self.key.session, word)
            until_ns = elapsed_ns() + _PATIENCE_NS
            while (handed := sent.answer()) is None:
                if elapsed_ns() > until_ns and sent.withdraw():
                    raise TechnicianError(
                        f"table {self.key.table} does not fetch decisions from the floor",
                        where=f"session {self.key.session}",
                        way_out="Run `pitwatch forward --decisions` there, or decide it there",
                    )
                time.sleep(_LOOK_S)
            until_ns = elapsed_ns() + _PATIENCE_NS
            while not sent.is_on_the_floor() and elapsed_ns() < until_ns:
                time.sleep(_LOOK_S)
        return handed

    def _entries(self, on: sa.Connection, after: int, upto: int, at_most: int) -> list[Entry]:
        key = self.key
        values = (key.day, key.table, key.epoch, after, upto, at_most)
        found = [Entry(*row) for row in on.exec_driver_sql(_BETWEEN, values)]
        if not found and self.state.state == "retired":
            raise OperatorError(
                f"the day {key.day} was retired from the floor record",
                where=f"session {key.session}",
                way_out="Its archived day has the facts; the table's journal has every entry",
            )
        return found
