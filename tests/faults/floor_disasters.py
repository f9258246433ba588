"""Simulated disasters of a floor.

A seed gives one or two tables' machines, their journals, forwarders, a database, viewers, and a
minute of faults: messages late, twice, out of order or lost; lines cut; processes killed at any
wait; a database that crashes, fills its disk, or comes back from a backup; clocks that step; tables
that come back from a backup and go on, which makes forks. Then everything is mended, and the floor
must hold what the tables wrote. The forwarder is the product's; `floor_hall` models the rest.

The same seed fails in the same way each time.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from server.floor_record.forwarding import Forwarding
from server.floor_record.site import Site
from stream.journal import Place, link
from stream.reading import Entry
from tests.faults.floor_hall import (
    ANSWER_S,
    ZOMBIE_S,
    Database,
    Line,
    Machine,
    SimulatedSite,
    TableJournal,
    day_of,
    mend,
    new_journal,
)
from tests.faults.floor_model import FloorModel, Key
from tests.faults.simulated import Hall, Task

MakeForwarding: TypeAlias = Callable[[Site], Forwarding]
MakeModel: TypeAlias = Callable[[], FloorModel]
Disaster: TypeAlias = "Callable[[World], bool | None]"
"""Does what it does; says whether the forwarder dies of it."""

PLAY_S: Final = (40.0, 40.0, 40.0, 160.0)
"""Seconds of faults, one of these. The long one is for lines that stay cut."""
MEND_S: Final = 600.0
"""Seconds in which a mended floor must hold everything."""
AT_ONCE: Final = 6
"""Entries in a transaction: few, so that a backlog takes several."""
_LATE_S: Final = 2 * ANSWER_S + ZOMBIE_S + 10
"""Seconds by which what the floor shows of a table may be old, beside its own `silent`."""
_STEP_NS: Final = 2 * 86_400_000_000_000
"""Nanoseconds by which a clock steps at the most: into another day too."""
_QUIET_S: Final = 8.0
"""Seconds without news after which a table counts as silent: the forwarder tells every five."""


class Lost(AssertionError):
    """The floor broke a promise."""


def forwarding(site: Site) -> Forwarding:
    """Return the product's forwarder for a site."""
    return Forwarding(site, at_once=AT_ONCE)


@dataclass(eq=False)
class World:
    """A floor, what was promised of it, and what happened to it."""

    hall: Hall
    make: MakeForwarding = forwarding
    model: MakeModel = FloorModel
    always_waits: bool = False
    machines: list[Machine] = field(default_factory=list)
    promised: dict[Key, Entry] = field(default_factory=dict)
    """The last entry of each chain that a forwarder was told is durable."""
    checked: dict[Key, int] = field(default_factory=dict)
    """Entries of each chain whose links were checked."""
    forks: set[Key] = field(default_factory=set)
    """Chains that hold entries which their table lost."""
    met: Counter[str] = field(default_factory=Counter)
    """The faults that came, and what they led to."""
    is_calm: bool = False
    calm_ns: int = 0

    def __post_init__(self) -> None:
        self.database = Database(self.hall, self.model())
        self.database.on_commit = self.check_chains

    # --- promises ------------------------------------------------------------------------

    def acknowledge(self, key: Key, entry: Entry) -> None:
        """Note what a forwarder was told, and check it."""
        before = self.promised.get(key)
        if before is None or before.seq < entry.seq:
            self.promised[key] = entry
        self.check_promise(key, entry)

    def check_promise(self, key: Key, entry: Entry) -> None:
        """Check that the floor holds what it acknowledged."""
        there = self.database.model.entries.get(key, [])
        if len(there) < entry.seq or there[entry.seq - 1].hash != entry.hash:
            raise Lost(f"{key}: entry {entry.seq} was acknowledged and is not on the floor")

    def check_chains(self) -> None:
        """Check order and links of the entries that a commit added."""
        for key, entries in self.database.model.entries.items():
            at = self.checked.get(key, 0)
            if len(entries) < at:
                raise Lost(f"{key}: entry {at} was there and is not any more")
            head = entries[at - 1].hash if at else Place().head
            for number, entry in enumerate(entries[at:], start=at + 1):
                if entry.seq != number or entry.hash != link(head, number, entry.body):
                    raise Lost(f"{key}: entry {entry.seq} does not follow entry {number - 1}")
                head = entry.hash
            self.checked[key] = len(entries)
            if self.database.model.chains[key].seq != len(entries):
                raise Lost(f"{key}: the chain's row does not say how many entries there are")

    def journals(self) -> list[TableJournal]:
        """Return every journal of every machine."""
        return [one for machine in self.machines for one in machine.files.values()]

    def key_of(self, journal: TableJournal) -> Key | None:
        """Return the latest epoch of a journal."""
        return self.database.model.latest(str(journal.identity.table), journal.identity.journal)

    def is_sound(self, key: Key, journal: TableJournal) -> bool:
        """Whether the journal holds everything that the floor holds of it."""
        there = self.database.model.entries[key]
        return len(there) <= len(journal.entries) and (
            not there or journal.entries[len(there) - 1].hash == there[-1].hash
        )

    def check_alarms(self) -> None:
        """Check that no chain is refused whose table never lost an entry."""
        restored = {one.identity.journal for one in self.journals() if one.was_restored}
        for (table, epoch), row in self.database.model.chains.items():
            if row.state != "sound" and row.journal not in restored:
                raise Lost(f"{table} epoch {epoch}: false alarm, the floor says {row.state}")
        for one in self.database.model.quarantine:
            if one.reason not in ("fork", "behind"):
                raise Lost(f"{one.table} epoch {one.epoch}: false alarm, {one.reason}")

    def check_lag(self) -> None:
        """Check that a floor which lacks entries says so, or says that the table is silent."""
        now_ns = self.hall.now_ns
        for journal in self.journals():
            key = self.key_of(journal)
            if key is None or journal.was_restored:
                continue
            row = self.database.model.chains[key]
            silent_s = (self.database.now_ns() - row.seen_ns) / 1e9
            old = [n for at_ns, n in journal.lengths if at_ns < now_ns - _LATE_S * 1e9][-1:]
            lacks = old and old[0] > row.seq
            shown = row.table_seq > row.seq or abs(silent_s) > _QUIET_S
            if lacks and not shown and not self.clock_stepped:
                raise Lost(
                    f"{key}: entries {row.seq + 1} to {old[0]} are missing and no lag is shown"
                )
            from_ns = row.seen_ns - self.database.wall_ns - int(_LATE_S * 1e9)
            if (
                row.table_seq
                and not self.clock_stepped
                and not journal.had(row.table_seq, from_ns, now_ns)
            ):
                raise Lost(f"{key}: the lag shows entry {row.table_seq}, which the table never had")

    clock_stepped: bool = False
    """Whether the database's clock stepped, so that its times cannot be compared."""

    def is_done(self) -> bool:
        """Whether the floor holds all that the tables have, and waits for nobody."""
        for journal in self.journals():
            key = self.key_of(journal)
            if key is None:
                if journal.entries:
                    return False
                continue
            row = self.database.model.chains[key]
            if (row.state, row.head, row.seq) != ("sound", journal.last.head, journal.last.seq):
                return False
            if row.table_seq != row.seq:
                return False
        return True

    def check_end(self) -> None:
        """Check the mended floor."""
        for journal in self.journals():
            key = self.key_of(journal)
            if key is None and not journal.entries:
                continue
            if key is None or self.database.model.entries[key] != journal.entries:
                raise Lost(f"{journal.identity.name}: the floor does not hold what the table wrote")
            if self.database.model.chains[key].table_seq != len(journal.entries):
                raise Lost(f"{key}: the floor does not show that it has everything")
            day = self.database.model.chains[key].day
            if not journal.was_restored and day != day_of(journal):
                raise Lost(f"{key}: it is filed under another day than the journal's")
        for key, entry in self.promised.items():
            self.check_promise(key, entry)
        alarmed = {(one.table, one.epoch) for one in self.database.model.quarantine}
        for key in self.forks - alarmed:
            raise Lost(f"{key}: a fork was not found")
        self.check_chains()
        self.check_alarms()

    # --- what happens --------------------------------------------------------------------

    def start_forwarder(self, machine: Machine, name: str) -> Task:
        """Start a forwarder; one that ends is started again, as systemd does."""
        site = SimulatedSite(self.hall, machine, self.database, self.acknowledge, self.always_waits)

        def again() -> None:
            self.met["forwarder killed"] += 1
            wait_s = self.hall.chance.uniform(0.1, 5)
            self.hall.after(wait_s, lambda: void(self.start_forwarder(machine, name)))

        return self.hall.start(name, self.make(site).run(), again)

    def restored(self, journal: TableJournal, entries: list[Entry]) -> None:
        """Put an older copy of a journal in its place."""
        journal.restore(entries, self.hall.now_ns)
        self.note_forks()

    def note_forks(self) -> None:
        """Note which chains hold entries that their table lacks."""
        for journal in self.journals():
            key = self.key_of(journal)
            if key is None:
                continue
            if self.is_sound(key, journal):
                self.forks.discard(key)
            elif key not in self.forks:
                self.forks.add(key)
                self.met["fork"] += 1


def void(_: object) -> None:
    """Ignore a value."""


# --- tables, persons, viewers ---------------------------------------------------------------


async def table(world: World, machine: Machine, name: str) -> None:
    """Write a table's journals; after a while begin another, under the same name or a new one."""
    hall, chance = world.hall, world.hall.chance
    path, number = Path(f"{name}.journal"), 0
    machine.files[path] = new_journal(hall, name)
    while not world.is_calm:
        await hall.sleep(chance.expovariate(1 / 0.7))
        journal = machine.files[path]
        for _ in range(chance.choice((1, 1, 2, 3, 15))):
            at_ns = hall.now_ns + machine.wall_ns
            body = b'{"type":"fact","at":%d,"draw":%d}' % (at_ns, chance.getrandbits(32))
            journal.append(body, hall.now_ns)
        if chance.random() < 0.03:
            journal.backups.append(list(journal.entries))
        if chance.random() < 0.015:
            number += 1
            machine.files[Path(f"archive/{name}.{number}.journal")] = machine.files.pop(path)
            machine.files[path] = new_journal(hall, name)
            world.met["journal archived"] += 1


async def person(world: World) -> None:
    """Begin a new epoch for each journal that the floor refuses, after a look at the alarm."""
    while True:
        await world.hall.sleep(world.hall.chance.uniform(5, 30))
        model = world.database.model
        if not world.database.is_up:
            continue
        alarmed = {(one.table, one.epoch) for one in model.quarantine}
        for journal in world.journals():
            key = world.key_of(journal)
            if key is None or model.chains[key].state == "sound":
                continue
            if key not in alarmed:
                raise Lost(f"{key}: refused without an alarm")
            model.begin_epoch(key[0], journal.identity.journal, "restored")
            world.met["epoch begun"] += 1


async def viewer(world: World, machine: Machine) -> None:
    """Read every chain on from its last event, over sessions that end at any time."""
    seen: dict[Key, Place] = {}
    while True:
        try:
            async with Line(world.hall, machine, world.database) as session:
                while True:
                    await _read_on(world, session, seen)
                    await world.hall.sleep(world.hall.chance.uniform(0.2, 2))
        except Exception as fault:
            if isinstance(fault, Lost):
                raise
            await world.hall.sleep(1)


async def _read_on(world: World, session: Line, seen: dict[Key, Place]) -> None:
    chains = await session.ask(lambda model: list(model.chains))
    for key in chains:
        place = seen.get(key, Place())
        found = await session.ask(partial(_after, key, place.seq))
        for entry in found:
            if entry.hash != link(place.head, place.seq + 1, entry.body):
                if world.met["database restored"]:
                    break  # the floor forgot what this viewer saw
                raise Lost(f"{key}: a viewer's entry {entry.seq} does not follow {place.seq}")
            place = Place(entry.seq, entry.hash)
        seen[key] = place


def _after(key: Key, seq: int, model: FloorModel) -> list[Entry]:
    return model.entries.get(key, [])[seq : seq + 20]


async def inspector(world: World) -> None:
    """Look at alarms and lag every second."""
    while True:
        await world.hall.sleep(1)
        world.check_alarms()
        world.check_lag()


# --- disasters ---------------------------------------------------------------------------


async def disasters(world: World) -> None:
    """Let one fault follow another."""
    faults = (cut, cut, crash, fill, step, restore, restore, lose_the_end, fail, forget, second)
    while not world.is_calm:
        await world.hall.sleep(world.hall.chance.expovariate(1 / 4))
        if not world.is_calm:
            world.hall.chance.choice(faults)(world)


def cut(world: World) -> None:
    """Cut a machine's line for a while."""
    machine = world.hall.chance.choice(world.machines)
    machine.is_cut = True
    world.met["line cut"] += 1
    cut_s = world.hall.chance.choice((5, 20, 120))
    world.hall.after(world.hall.chance.expovariate(1 / cut_s), partial(mend, world.hall, machine))


def crash(world: World) -> None:
    """Crash the database, or promote its replica."""
    if not world.database.is_up:
        return
    world.met["database crashed"] += 1
    world.database.crash()
    for key, entry in world.promised.items():
        world.check_promise(key, entry)
    world.hall.after(
        world.hall.chance.expovariate(1 / 4), partial(_set, world.database, is_up=True)
    )


def fill(world: World) -> None:
    """Fill the database's disk for a while."""
    world.met["disk full"] += 1
    world.database.is_full = True
    later = world.hall.chance.expovariate(1 / 6)
    world.hall.after(later, partial(_set, world.database, is_full=False))


def fail(world: World) -> None:
    """Let a table's disk fail reads for a while."""
    machine = world.hall.chance.choice(world.machines)
    machine.disk_fails = True
    world.met["disk failed"] += 1
    world.hall.after(world.hall.chance.expovariate(1 / 3), partial(_set, machine, disk_fails=False))


def step(world: World) -> None:
    """Step the wall clock of a machine or of the database."""
    clocks: list[Machine | Database] = [*world.machines, world.database]
    chosen = world.hall.chance.choice(clocks)
    chosen.wall_ns += int(world.hall.chance.uniform(-1, 1) * _STEP_NS)
    world.met["clock stepped"] += 1
    world.clock_stepped = world.clock_stepped or chosen is world.database


def restore(world: World) -> None:
    """Bring a table back from a backup; it goes on from there."""
    journal = world.hall.chance.choice(world.journals())
    if journal.backups:
        world.met["table restored"] += 1
        world.restored(journal, world.hall.chance.choice(journal.backups))


def lose_the_end(world: World) -> None:
    """Let a disk that lied lose a journal's last entries."""
    journal = world.hall.chance.choice(world.journals())
    if journal.entries and world.hall.chance.random() < 0.5:
        world.met["end lost"] += 1
        world.restored(journal, journal.entries[: -world.hall.chance.randint(1, 4)])


def forget(world: World) -> None:
    """Take a backup of the database, or rarely bring it back from one."""
    database = world.database
    if world.hall.chance.random() > 0.15 or not database.backups:
        database.backups.append(database.model.copy())
        return
    world.met["database restored"] += 1
    database.crash()
    database.model, database.restored_life = database.backups[-1].copy(), database.life
    world.promised.clear()
    world.checked.clear()
    world.forks.clear()
    world.note_forks()
    database.is_up = True


def second(world: World) -> None:
    """Start a second forwarder beside a machine's own: an old one that was not stopped."""
    machine = world.hall.chance.choice(world.machines)
    world.met["second forwarder"] += 1
    task = world.start_forwarder(machine, "forwarder 2")
    task.ended = lambda: None
    world.hall.after(world.hall.chance.uniform(5, 40), task.kill)


def _set(thing: object, **values: object) -> None:
    for name, value in values.items():
        setattr(thing, name, value)


# --- a seed ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ended:
    """How a seed ended."""

    seed: int
    fault: str
    """Why it failed; empty where it did not."""
    digest: str
    """Over what the floor holds and the number of events: the same for each run of a seed."""
    happened: int
    entries: int
    mended_s: float
    """Seconds from the last fault until the floor held everything."""
    met: dict[str, int]


def run_step(
    step: int, disaster: Disaster, make: MakeForwarding = forwarding, model: MakeModel = FloorModel
) -> Ended:
    """Let one disaster come at one wait of the forwarder, and return how that ended.

    Returns:
        how it ended; it met nothing where the forwarder has fewer waits before all is done.
    """
    hall = Hall(step)
    world = World(hall, make, model, always_waits=True)

    def strikes(task: Task) -> bool:
        if task.name != "forwarder" or task.steps != step or world.met["struck"]:
            return False
        world.met["struck"] += 1
        return bool(disaster(world))

    hall.kills = strikes
    return ended(world, partial(_small_play, world))


def _small_play(world: World) -> None:
    machine, name = Machine("machine"), "BJ-00"
    world.machines.append(machine)
    first, second = (new_journal(world.hall, name) for _ in range(2))
    machine.files = {Path("a.journal"): first, Path("b.journal"): second}
    for number in range(2 * AT_ONCE):
        first.append(b'{"type":"fact","at":1772366400000000000,"n":%d}' % number, 0)
    first.backups.append(first.entries[:3])
    second.append(b'{"type":"fact","at":1772366400000000000,"n":0}', 0)
    world.start_forwarder(machine, "forwarder")
    world.hall.start("person", person(world))
    world.hall.run(8)
    first.append(b'{"type":"fact","at":1772366400000000001,"last":true}', world.hall.now_ns)
    calm(world)
    world.hall.run(MEND_S, world.is_done)
    world.check_end()


def kill(_: World) -> bool:
    """Kill the forwarder."""
    return True


def archive(world: World) -> None:
    """Move a journal to the archive, and begin another one under its name on the next day."""
    files = world.machines[0].files
    files[Path("archive/a.journal")] = files.pop(Path("a.journal"))
    files[Path("a.journal")] = new_journal(world.hall, "BJ-00")
    for number in range(2 * AT_ONCE):
        body = b'{"type":"fact","at":1772452800000000000,"n":%d}' % number
        files[Path("a.journal")].append(body, world.hall.now_ns)


def go_back(world: World) -> None:
    """Bring a table back from a backup; it goes on at once."""
    journal = world.machines[0].files[Path("a.journal")]
    world.restored(journal, journal.backups[0])
    for number in range(2 * AT_ONCE):
        body = b'{"type":"fact","at":1772366400000000002,"again":%d}' % number
        journal.append(body, world.hall.now_ns)
    world.note_forks()


def empty(world: World) -> None:
    """Let a table lose all that it wrote."""
    world.restored(world.machines[0].files[Path("b.journal")], [])


def empty_and_kill(world: World) -> bool:
    """Let a table lose all that it wrote, and kill the forwarder: the next one finds it empty."""
    empty(world)
    return True


AT_EACH_STEP: Final[dict[str, Disaster]] = {
    one.__name__: one
    for one in (kill, crash, cut, fill, fail, archive, go_back, empty, empty_and_kill, lose_the_end)
}


def run_seed(seed: int, make: MakeForwarding = forwarding, model: MakeModel = FloorModel) -> Ended:
    """Run a seed, and return how it ended."""
    hall = Hall(seed)
    world = World(hall, make, model)
    return ended(world, partial(play, world))


def ended(world: World, run: Callable[[], None]) -> Ended:
    """Run a world and return how it ended."""
    fault = ""
    try:
        run()
    except Lost as lost:
        fault = str(lost)
    finally:
        world.hall.close()
    whole = hashlib.sha256(f"{world.hall.happened} {world.hall.now_ns} {fault}".encode())
    for key, entries in sorted(world.database.model.entries.items()):
        whole.update(f"{key} {len(entries)}".encode() + (entries[-1].hash if entries else b""))
    total = sum(map(len, world.database.model.entries.values()))
    happened, met = world.hall.happened, dict(sorted(world.met.items()))
    mended_s = (world.hall.now_ns - world.calm_ns) / 1e9
    return Ended(world.hall.seed, fault, whole.hexdigest(), happened, total, mended_s, met)


def play(world: World) -> None:
    """Let a minute of disasters pass, mend everything, and check the floor."""
    hall = world.hall
    kill_rate = hall.chance.choice((0, 0.0005, 0.003))
    hall.kills = lambda task: (
        not world.is_calm and task.name.startswith("forwarder") and hall.chance.random() < kill_rate
    )
    for number in range(hall.chance.choice((1, 1, 2))):
        machine = Machine(f"machine {number}")
        world.machines.append(machine)
        for place in range(hall.chance.choice((1, 1, 2))):
            name = f"BJ-{number}{place}"
            hall.start(name, table(world, machine, name))
        world.start_forwarder(machine, "forwarder")
    services = Machine("service")
    hall.start("viewer", viewer(world, services))
    hall.start("person", person(world))
    hall.start("inspector", inspector(world))
    hall.start("disasters", disasters(world))
    hall.run(hall.chance.choice(PLAY_S))
    calm(world)
    hall.run(MEND_S, world.is_done)
    world.check_end()


def calm(world: World) -> None:
    """Mend everything; what the network holds may still arrive."""
    world.is_calm, world.calm_ns = True, world.hall.now_ns
    world.database.is_up, world.database.is_full = True, False
    for machine in world.machines:
        machine.disk_fails = False
        mend(world.hall, machine)
