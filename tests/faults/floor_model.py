"""A model of the floor's database: what its functions do, in Python.

`tests/server/floor_record/test_model.py` feeds the same random calls to it and to PostgreSQL.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, TypeAlias

from models.errors import TechnicianError
from server.archive.days import Begun
from server.floor_record.database import Chain, Parcel
from stream.identity import Identity
from stream.journal import Place, link
from stream.reading import Entry

Key: TypeAlias = tuple[str, int]
"""Table and epoch."""


@dataclass(slots=True)
class Row:
    """A row of `pitwatch.chains`."""

    journal: str
    day: date
    reason: str = ""
    seq: int = 0
    head: bytes = Place().head
    table_seq: int = 0
    seen_ns: int = 0
    state: str = "sound"


@dataclass(frozen=True, slots=True)
class Aside:
    """A row of `pitwatch.quarantine`."""

    table: str
    epoch: int
    seq: int
    hash: bytes | None
    body: bytes | None
    reason: str


@dataclass(slots=True)
class FloorModel:
    """The database's tables, and the functions that a forwarder and the owner call."""

    now_ns: Callable[[], int] = int
    chains: dict[Key, Row] = field(default_factory=dict)
    entries: dict[Key, list[Entry]] = field(default_factory=dict)
    quarantine: list[Aside] = field(default_factory=list)

    def copy(self) -> "FloorModel":
        """Return a backup of it."""
        return replace(
            self,
            chains={key: replace(row) for key, row in self.chains.items()},
            entries={key: list(entries) for key, entries in self.entries.items()},
            quarantine=list(self.quarantine),
        )

    def open_chain(
        self, table: str, identity: Identity, begun: Begun | None, last_there: int
    ) -> Chain | None:
        """Return the latest epoch that a journal is, or begin one where it has begun."""
        key = self.latest(table, identity.journal)
        if key is None and begun is not None:
            key = self._begin(table, identity.journal, begun.day, "")
            self.chains[key].table_seq = last_there
        if key is None:
            return None
        row = self.chains[key]
        return Chain(table, key[1], Place(row.seq, row.head), row.state)

    def begin_epoch(self, table: str, journal: str, reason: str) -> int:
        """Begin a new epoch with a journal that is known."""
        key = self.latest(table, journal)
        if key is None:
            raise TechnicianError("no such journal", where=table, way_out="Name another")
        before = self.chains[key]
        begun = self._begin(table, journal, before.day, reason)
        row = self.chains[begun]
        row.table_seq, row.seen_ns = before.table_seq, before.seen_ns
        return begun[1]

    def latest(self, table: str, journal: str) -> Key | None:
        """Return the latest epoch that a journal is."""
        found = [
            key for key, row in self.chains.items() if (key[0], row.journal) == (table, journal)
        ]
        return max(found, default=None)

    def _begin(self, table: str, journal: str, day: date, reason: str) -> Key:
        epoch = 1 + max((number for name, number in self.chains if name == table), default=0)
        self.chains[table, epoch] = Row(journal, day, reason, seen_ns=self.now_ns())
        self.entries[table, epoch] = []
        return table, epoch

    def take_all(self, parcels: Sequence[Parcel], *, is_busy: bool = False) -> list[str]:
        """Take in entries of several chains; return what became of each."""
        if is_busy:
            return ["busy"] * len(parcels)
        return [
            self.take(one.chain, one.entries, one.last_there)
            if (one.chain.table, one.chain.epoch) in self.chains
            else "unknown"
            for one in parcels
        ]

    def take(self, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
        """Take in consecutive entries, or put the first faulty one aside."""
        key, row = self._row(chain)
        if row.state != "sound":
            return row.state
        first, there = entries[0].seq, self.entries[key]
        repeats = min(max(row.seq - first + 1, 0), len(entries))
        if repeats and there[first + repeats - 2].hash != entries[repeats - 1].hash:
            self._put_aside(key, first + repeats - 1, entries[repeats - 1], "fork")
            row.state = "forked"
            return "fork"
        if first > row.seq + 1:
            self._put_aside(key, first, entries[0], "gap")
            return "gap"
        head = row.head
        for number, entry in enumerate(entries[repeats:], start=first + repeats):
            if entry.hash != link(head, number, entry.body):
                self._put_aside(key, number, entry, "broken_link")
                return "broken_link"
            head = entry.hash
        new = entries[repeats:]
        if not all(is_event(entry.body) for entry in new):
            self._put_aside(key, first + repeats, new[0], "no_event")
            return "no_event"
        there.extend(new)
        row.seq, row.head = row.seq + len(new), head
        row.table_seq, row.seen_ns = last_there, self.now_ns()
        return "taken"

    def seen(self, chain: Chain, last_there: int) -> str:
        """Note where a table is; one that ends before the floor's copy is put aside."""
        key, row = self._row(chain)
        row.table_seq, row.seen_ns = last_there, self.now_ns()
        if row.state == "sound" and last_there < min(chain.place.seq, row.seq):
            row.state = "behind"
        if row.state == "behind":
            self._put_aside(key, last_there, None, "behind")
        return row.state

    def _row(self, chain: Chain) -> tuple[Key, Row]:
        key = chain.table, chain.epoch
        if key not in self.chains:
            raise TechnicianError("query returned no rows", where=chain.table, way_out="Ask again")
        return key, self.chains[key]

    def _put_aside(self, key: Key, seq: int, entry: Entry | None, reason: str) -> None:
        stored, body = (None, None) if entry is None else (entry.hash, entry.body)
        known = {(one.table, one.epoch, one.seq, one.reason, one.hash) for one in self.quarantine}
        if (*key, seq, reason, stored) not in known:
            self.quarantine.append(Aside(*key, seq, stored, body, reason))


def is_event(body: bytes) -> bool:
    """Whether PostgreSQL takes these bytes for a JSON object with a type."""
    try:
        found: Any = json.loads(body.decode(), parse_constant=_refused)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("type") is not None and b"\0" not in body


def _refused(constant: str) -> None:
    raise ValueError(constant)
