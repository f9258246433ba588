"""The simulated machines of a floor: tables with journals, a network, a database, its readers.

The forwarders are the product's own (:mod:`server.floor_record.forwarding`). Everything else here
is a model of what surrounds them, with the faults that such surroundings have.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, Self, TypeAlias, TypeVar

from models.errors import PitwatchError, TechnicianError
from server.archive.days import Begun
from server.floor_record.database import Chain, FloorDown, Parcel
from stream.identity import Identity
from stream.journal import AnotherJournal, Place, link
from stream.reading import Entry
from tests.faults.floor_model import FloorModel, Key
from tests.faults.simulated import Hall, Wait

T = TypeVar("T")

Answer: TypeAlias = Callable[[Any, Exception | None], None]

BUSY: Final = 0.2
"""Chance that others catch up already."""
ANSWER_S: Final = 30.0
"""Seconds after which a session takes the database for dead, as in the product."""
ZOMBIE_S: Final = 30.0
"""Seconds that the network holds a message at the most; an older one is dropped."""
_BEGINS_NS: Final = 1_772_366_400_000_000_000


@dataclass(eq=False)
class TableJournal:
    """A journal on a table's disk. An entry is in it once it is durable, as SQLite shows it."""

    identity: Identity
    entries: list[Entry] = field(default_factory=list)
    backups: list[list[Entry]] = field(default_factory=list)
    lengths: list[tuple[int, int]] = field(default_factory=list)
    """Each time at which it changed, and its entries from then on."""
    was_restored: bool = False

    def append(self, body: bytes, now_ns: int) -> None:
        """Append an entry."""
        last = self.entries[-1] if self.entries else None
        seq = len(self.entries) + 1
        self.entries.append(
            Entry(seq, link(last.hash if last else Place().head, seq, body), body, 3)
        )
        self.lengths.append((now_ns, seq))

    def restore(self, entries: list[Entry], now_ns: int) -> None:
        """Put an older copy in its place."""
        self.entries, self.was_restored = list(entries), True
        self.lengths.append((now_ns, len(entries)))

    @property
    def last(self) -> Place:
        """Its last entry."""
        return Place(self.entries[-1].seq, self.entries[-1].hash) if self.entries else Place()

    def had(self, seq: int, from_ns: int, to_ns: int) -> bool:
        """Whether it ended with an entry at some time of a span."""
        before = [length for at_ns, length in self.lengths if at_ns <= from_ns][-1:] or [0]
        within = [length for at_ns, length in self.lengths if from_ns < at_ns <= to_ns]
        return seq in (*before, *within)


@dataclass(eq=False)
class Machine:
    """A table's machine: its disk, its wall clock, its line to the database."""

    name: str
    files: dict[Path, TableJournal] = field(default_factory=dict)
    wall_ns: int = _BEGINS_NS
    """What its wall clock shows beyond the hall's clock."""
    is_cut: bool = False
    held: list[tuple[int, Callable[[], None]]] = field(default_factory=list)
    """What the network holds while the line is cut, and since when."""
    disk_fails: bool = False


@dataclass(eq=False)
class Database:
    """The database's machine. What is committed is durable; what is under way may be lost."""

    hall: Hall
    model: FloorModel = field(default_factory=FloorModel)
    is_up: bool = True
    is_full: bool = False
    life: int = 0
    """Counts its starts: a session ends with the life in which it began."""
    restored_life: int = 0
    """The life that began from a backup: what was acknowledged before may be lost with it."""
    wall_ns: int = _BEGINS_NS
    under_way: "list[_Transaction]" = field(default_factory=list)
    """Commits that are not confirmed yet, in order."""
    backups: list[FloorModel] = field(default_factory=list)
    on_commit: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.model.now_ns = self.now_ns

    def now_ns(self) -> int:
        """Return what its wall clock shows."""
        return self.hall.now_ns + self.wall_ns

    def crash(self) -> None:
        """End every session. Of the commits under way each may have become durable or not.

        With a replica: a commit may have reached the one that is promoted now, or not.
        """
        self.is_up, self.life = False, self.life + 1
        for one in self.under_way:
            if self.hall.chance.random() < 0.5:
                one.commit()
            one.answer(None, _down("server closed the connection unexpectedly"))
        self.under_way.clear()

    def execute(self, call: Callable[[FloorModel], Any], answer: Answer) -> None:
        """Execute a transaction; the answer follows its commit. Whoever asked may be gone."""
        one = _Transaction(self, call, answer)
        self.under_way.append(one)
        self.hall.after(self.hall.chance.expovariate(1 / 0.004), one.confirm)


@dataclass(eq=False)
class _Transaction:
    """A call on its way to be durable. It takes effect at its commit, as if it ran alone."""

    database: Database
    call: Callable[[FloorModel], Any]
    answer: Answer

    def confirm(self) -> None:
        """Commit it and answer, unless the database ended before."""
        if self in self.database.under_way:
            self.database.under_way.remove(self)
            self.answer(*self.commit())

    def commit(self) -> tuple[Any, Exception | None]:
        """Make it durable; return its value, or the database's refusal."""
        if self.database.is_full:
            return None, _down("could not extend file: no space left on device")
        try:
            value = self.call(self.database.model)
        except PitwatchError as fault:
            return None, fault
        self.database.on_commit()
        return value, None


def _down(why: str) -> FloorDown:
    return FloorDown(why, where="the simulated floor", way_out="Wait")


@dataclass(eq=False)
class Line:
    """A connection over a machine's line: messages keep their order, and may be held or lost."""

    hall: Hall
    machine: Machine
    database: Database
    life: int = -1
    last_ns: int = 0

    async def __aenter__(self) -> Self:
        await self.hall.sleep(self.hall.chance.expovariate(1 / 0.01))
        if self.machine.is_cut or not self.database.is_up:
            await self.hall.sleep(self.hall.chance.choice((0.01, 10)))
            raise _down("no connection")
        self.life = self.database.life
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it. What it sent may still arrive."""

    async def ask(self, call: Callable[[FloorModel], T]) -> T:
        """Have a transaction executed, and wait for the answer."""
        wait = Wait[T]()
        self.hall.after(ANSWER_S, lambda: wait.end(fault=_down("no answer")))
        self._travel(lambda: self._arrived(call, wait))
        if self.hall.chance.random() < 0.01:  # something on the way asks a second time
            again = self.hall.chance.uniform(0, ZOMBIE_S)
            self.hall.after(again, lambda: self._arrived(call, Wait()))
        return await wait

    def _arrived(self, call: Callable[[FloorModel], T], wait: Wait[T]) -> None:
        def answer(value: Any, fault: Exception | None) -> None:
            self._travel(lambda: wait.end(value, fault))

        if self.database.is_up and self.life == self.database.life:
            self.database.execute(call, answer)
        else:
            answer(None, _down("connection reset"))

    def _travel(self, arrive: Callable[[], None]) -> None:
        if self.machine.is_cut:
            self.machine.held.append((self.hall.now_ns, arrive))
            return
        way_ns = int(self.hall.chance.expovariate(1 / 0.005) * 1e9)
        self.last_ns = max(self.last_ns, self.hall.now_ns + way_ns)
        self.hall.after((self.last_ns - self.hall.now_ns) / 1e9, arrive)


def mend(hall: Hall, machine: Machine) -> None:
    """Mend a line: some of what it held arrives late, the rest never."""
    machine.is_cut = False
    held, machine.held = machine.held, []
    arrives = hall.chance.random() < 0.5
    for at_ns, arrive in held:
        if arrives and hall.now_ns - at_ns < ZOMBIE_S * 1e9:
            hall.after(hall.chance.uniform(0, 0.2), arrive)


@dataclass(eq=False)
class Session(Line):
    """A forwarder's session."""

    acknowledged: Callable[[Key, Entry], None] = lambda _key, _entry: None

    async def open_chain(
        self, table: str, identity: Identity, begun: Begun | None, last_there: int
    ) -> Chain | None:
        return await self.ask(lambda model: model.open_chain(table, identity, begun, last_there))

    async def take(self, parcels: Sequence[Parcel], *, is_late: bool) -> list[str]:
        is_busy = is_late and self.hall.chance.random() < BUSY
        outcomes = await self.ask(lambda model: model.take_all(parcels, is_busy=is_busy))
        for parcel, outcome in zip(parcels, outcomes, strict=True):
            if outcome == "taken" and self.life >= self.database.restored_life:
                self.acknowledged((parcel.chain.table, parcel.chain.epoch), parcel.entries[-1])
        return outcomes

    async def seen(self, chain: Chain, last_there: int) -> str:
        return await self.ask(lambda model: model.seen(chain, last_there))


@dataclass(eq=False)
class SimulatedSite:
    """A machine as a forwarder sees it: :class:`server.floor_record.site.Site`."""

    hall: Hall
    machine: Machine
    database: Database
    acknowledged: Callable[[Key, Entry], None]
    always_waits: bool = False
    """Whether each read of the disk is a wait, so that a crash can come there."""

    def elapsed_ns(self) -> int:
        return self.hall.now_ns

    def share(self) -> float:
        return self.hall.chance.uniform(0.5, 1)

    def is_over(self) -> bool:
        return False

    async def sleep(self, seconds: float) -> None:
        await self.hall.sleep(seconds)

    def connected(self) -> Session:
        return Session(self.hall, self.machine, self.database, acknowledged=self.acknowledged)

    async def journals(self) -> list[Path]:
        await self._disk()
        return sorted(self.machine.files)

    async def identity(self, path: Path) -> Identity | None:
        return (await self._file(path)).identity

    async def begun(self, path: Path) -> Begun | None:
        journal = await self._file(path)
        if not journal.entries:
            return None
        return Begun(path, day_of(journal), 0)

    async def table_in(self, path: Path) -> str | None:
        return (await self._file(path)).identity.table

    async def stamp(self, path: Path) -> tuple[tuple[int, ...], int]:
        found = self.machine.files.get(path)
        if found is None or not found.lengths:
            return (), 0
        at_ns, length = found.lengths[-1]
        # A file's time is this coarse, and its age is by a clock that is set now and then.
        return (
            length,
            at_ns // 10_000_000,
        ), self.hall.now_ns + self.machine.wall_ns - at_ns - _BEGINS_NS

    async def entries_after(
        self, path: Path, place: Place, at_most: int
    ) -> tuple[tuple[Entry, ...], Place]:
        journal = await self._file(path)
        if place.seq and (
            place.seq > len(journal.entries) or journal.entries[place.seq - 1].hash != place.head
        ):
            raise AnotherJournal("not the one read before", where=str(path), way_out="Look")
        found = tuple(journal.entries[place.seq : place.seq + at_most])
        return found, Place(found[-1].seq, found[-1].hash) if found else place

    async def last_place(self, path: Path) -> Place:
        return (await self._file(path)).last

    async def _file(self, path: Path) -> TableJournal:
        await self._disk()
        if self.machine.disk_fails or path not in self.machine.files:
            raise TechnicianError("cannot be read", where=str(path), way_out="Check the disk")
        return self.machine.files[path]

    async def _disk(self) -> None:
        if self.always_waits or self.hall.chance.random() < 0.2:
            await self.hall.sleep(self.hall.chance.expovariate(1 / 0.002))


def new_journal(hall: Hall, table: str) -> TableJournal:
    """Return an empty journal with an id drawn from the hall's chance."""
    drawn = hall.chance.getrandbits(128).to_bytes(16, "big").hex()
    return TableJournal(Identity(journal=drawn, name=f"{table}.journal", table=table))


def day_of(journal: TableJournal) -> date:
    """Return the day of a journal's first entry."""
    at_ns = int(journal.entries[0].body.split(b'"at":')[1].split(b",")[0])
    return datetime.fromtimestamp(at_ns / 1e9, UTC).date()
