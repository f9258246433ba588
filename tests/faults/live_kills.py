"""A live table killed with SIGKILL at random moments, started again, and compared with one that
was left alone.

This process plays the devices: a shoe and bet plates on pseudo-terminals that speak
as they do on a real table, a camera's observations on a third (so that no pixels take up the
time), the floor's entries in a pipe. The table is a child process with everything it has:
supervisor, drivers, order, reconciler, engine, ledger, signed journal, recorder.

The table's time is this process's to move, so that it stands still while no table lives: what a
killed table had not written to its journal is sent again to the next, as a device does whose
report nobody acknowledged.
"""

import mmap
import os
import random
import select
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from devices.registry import make_driver
from devices.simulators import SimulatedPort
from models.events import (
    CardGone,
    CardSighted,
    ConsoleEntry,
    Event,
    PlateRead,
    ShoeCardRead,
    ShoeCutCard,
    ShoeLoaded,
)
from models.judgements import AnyEvent
from server.table.config import Port, Recorder, TableConfig
from simulation.chips import VALUES
from simulation.ideal import ideal_observations
from simulation.session import START_NS, Settings, console_entries, prepare
from simulation.wire import plate_reads, shoe_reads
from stream.journal import verify_journal
from stream.reading import UnknownEvent, read_journal
from stream.signing import Signer
from stream.toml import to_toml
from tests.faults.live_process import (
    ACKNOWLEDGED,
    ENDS,
    EYE,
    LINE_CAMERA,
    TIME,
    end_of,
    known_driver,
    run_table,
    shared_time,
)
from tests.server.table.test_run import concluded

_AFTERWARDS_NS: Final = 20_000_000_000
_PATIENCE_S: Final = 30.0
_EARLY: Final = 0.2
"""So many are killed while they start, the others once every device is connected."""
_STARTING_S: Final = 0.3
_READ: Final = (ShoeCardRead, ShoeCutCard, ShoeLoaded)
_SEEN: Final = (CardSighted, CardGone)

Writers: TypeAlias = Mapping[str, Callable[[bytes], object]]
"""What sends a device's bytes to the table, by port."""


# --- the devices -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Word:
    """What a device sends at a moment, and its complete reports by then."""

    at_ns: int
    port: str
    data: bytes
    whole: int


@dataclass
class Life:
    """One process that runs the table."""

    process: int
    pipe: int
    """Where it acknowledges."""
    kill_at_s: float | None
    """On the host's monotonic clock; ``None`` while it is not to be killed."""
    lives_for_s: float | None
    """How long it lives once every device is connected; ``None`` for as long as it likes."""
    ready: bool = False
    acknowledged: int = 0
    killed: bool = False
    received_of: Counter[str] = field(default_factory=Counter)
    """How many entries each device reported."""

    def lives(self) -> bool:
        """Take in what was acknowledged; kill it if its time has come."""
        while _readable(self.pipe):
            received = os.read(self.pipe, 512 * ACKNOWLEDGED.size)
            assert received, "the table ended by itself"
            for seq, end in ACKNOWLEDGED.iter_unpack(received):
                self.ready = self.ready or seq == 0
                self.acknowledged = max(self.acknowledged, seq)
                self.received_of[ENDS[end]] += 1
        if self.kill_at_s is not None and time.monotonic() >= self.kill_at_s:
            self.end(signal.SIGKILL)
            self.killed = True
        return not self.killed

    def start_counting(self) -> None:
        """Let it live for ``lives_for_s`` from now on."""
        if self.lives_for_s is not None:
            self.kill_at_s = time.monotonic() + self.lives_for_s

    def end(self, how: signal.Signals) -> None:
        """End it, and read its last acknowledgements."""
        os.kill(self.process, how)
        os.waitpid(self.process, 0)
        with os.fdopen(self.pipe, "rb") as rest:
            received = rest.read()
        for seq, _ in ACKNOWLEDGED.iter_unpack(
            received[: len(received) // ACKNOWLEDGED.size * ACKNOWLEDGED.size]
        ):
            self.acknowledged = max(self.acknowledged, seq)


def _readable(handle: int) -> bool:
    return bool(select.select([handle], [], [], 0)[0])


@dataclass
class Table:
    """A simulated session, played by the devices of a table.

    Args:
        place: an empty folder.
        seed: of the session, and of the moments at which the table is killed.
        rounds: of the session.
        mistakes: violation codes, each committed once.
    """

    place: Path
    seed: int
    rounds: int = 2
    mistakes: tuple[str, ...] = ()
    step_ns: int = 100_000_000
    """How far the table's time moves at once."""
    acknowledged: int = 0
    kills: int = 0
    lives: int = 0
    ports: dict[str, SimulatedPort] = field(default_factory=dict)
    """The devices while it is played."""
    words: list[Word] = field(default_factory=list)
    """All that its devices report, in order."""

    def __post_init__(self) -> None:
        self.place.mkdir(parents=True, exist_ok=True)
        settings = Settings(
            rounds=self.rounds, seed=self.seed, spots=(1, 3), video=False, mistakes=self.mistakes
        )
        scene = prepare(settings)
        Signer.create(self.place / "table.key")
        (self.place / "table.pub").write_bytes(Signer.read(self.place / "table.key").public_pem())
        os.mkfifo(self.place / "console")
        (self.place / "layout.toml").write_text(to_toml(scene.layout), "utf-8")
        config = TableConfig(
            table="BJ-01",
            rulebook=settings.rulebook,
            currency="USD",
            table_min=scene.house.rules.table_min,
            table_max=scene.house.rules.table_max,
            chips=VALUES,
            layout="layout.toml",
            dealing="shoe",
            journal="table.journal",
            signing_key="table.key",
            console="console",
            ports=(
                Port(name="shoe", url=str(self.place / "shoe"), driver="angel-eye"),
                Port(name="plates", url=str(self.place / "plates"), driver="plate"),
                Port(name=EYE, url=str(self.place / EYE), driver=LINE_CAMERA),
            ),
            recorder=Recorder(folder="recordings", least_free_gb=0.0),
        )
        (self.place / "table.toml").write_text(to_toml(config), "utf-8")
        observed = ideal_observations(
            scene.staged, scene.layout, start_ns=START_NS, table="BJ-01", seed=self.seed
        )
        self.words = sorted(
            [
                *_serial(
                    "shoe", "angel-eye", shoe_reads(scene.staged.shoe, "angel-eye", self.seed)
                ),
                *_serial("plates", "plate", plate_reads(scene.staged.plates, self.seed)),
                *_lines(EYE, [(at, one) for at, one in observed if isinstance(one, _SEEN)]),
                *_lines(
                    "console", [(e.at or 0, e) for e in console_entries(scene.staged, settings)]
                ),
            ],
            key=lambda word: word.at_ns,
        )
        self.clock = self.place / "clock"
        self.clock.write_bytes(bytes(mmap.PAGESIZE))
        self._shared = shared_time(self.clock)
        self._set(START_NS)

    @property
    def journal(self) -> Path:
        """The table's journal."""
        return self.place / "table.journal"

    @property
    def key(self) -> str:
        """The fingerprint of the key that signs it."""
        return Signer.read(self.place / "table.key").fingerprint

    def cut(self, at_ns: int) -> None:
        """Leave out what comes after an instant."""
        self.words = [word for word in self.words if word.at_ns <= at_ns]

    def between_messages(self, port: str, words: int) -> int:
        """Return after how many words, ``words`` or more, a port has just ended a message."""
        before = 0
        for number, word in enumerate(self.words, start=1):
            ended = word.port == port and word.whole > before
            before = word.whole if word.port == port else before
            if ended and number >= words:
                return number + 1
        raise AssertionError(f"{port} reports nothing so late")

    def play(self, chance: random.Random | None, most_s: float = 0.2) -> list[AnyEvent]:
        """Play the session to its end; return what its journal holds.

        Args:
            chance: when the table is killed; ``None`` leaves it alone.
            most_s: how long a table lives at most, once every device is connected.

        Raises:
            AssertionError: something acknowledged is missing.
            TechnicianError: the journal is damaged.
        """
        with (
            known_driver(),
            SimulatedPort(self.place / "shoe") as shoe,
            SimulatedPort(self.place / "plates") as plates,
            SimulatedPort(self.place / EYE) as eye,
            (self.place / "console").open("r+b", buffering=0) as console,
        ):
            self.ports = {"shoe": shoe, "plates": plates, EYE: eye}
            writers: Writers = {
                "shoe": shoe.send,
                "plates": plates.send,
                EYE: eye.send,
                "console": console.write,
            }
            while not self._one_life(writers, chance, most_s):
                for port in self.ports.values():
                    port.unplug()
                    port.replug()
        return [one for one in read_journal(self.journal) if not isinstance(one, UnknownEvent)]

    def _one_life(self, writers: Writers, chance: random.Random | None, most_s: float) -> bool:
        """Run a table until it is killed or has received all; return whether it has."""
        life = self.begin(chance, most_s)
        try:
            done = self._send_all(life, writers)
        finally:
            if not life.killed:
                life.end(signal.SIGTERM)
        self.acknowledged = max(self.acknowledged, life.acknowledged)
        self.kills += life.killed
        self.lives += 1
        if self.journal.exists():
            found = verify_journal(self.journal)
            assert found.entries >= self.acknowledged, f"{found.entries} of {self.acknowledged}"
        return done

    def begin(self, chance: random.Random | None, most_s: float) -> Life:
        """Begin a table that lives as long as chance has it."""
        reading, writing = os.pipe()
        self._set(self.now_ns() + 1)  # no two session folders begin at the same instant
        child = os.fork()
        if not child:
            status = 1
            try:
                os.close(reading)
                _leave_cables()
                run_table(self.place / "table.toml", self._shared, writing)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writing)
        if chance is None:
            return Life(child, reading, None, None)
        early = chance.random() < _EARLY
        kill_at_s = time.monotonic() + chance.uniform(0.0, _STARTING_S) if early else None
        return Life(child, reading, kill_at_s, chance.uniform(0.0, most_s))

    def _send_all(self, life: Life, writers: Writers) -> bool:
        if not self._wait(life, lambda: life.ready):
            return False
        life.received_of = self._in_journal()
        life.start_counting()  # on a busy machine reading the journal took longer than that
        for word in self._left(life.received_of):
            if not self.advance(life, word.at_ns):
                return False
            writers[word.port](word.data)
            if not self._wait(life, lambda: life.received_of[word.port] >= word.whole):  # noqa: B023
                return False
        return self.advance(life, self.words[-1].at_ns + _AFTERWARDS_NS)

    def _left(self, received: Counter[str]) -> list[Word]:
        """What comes after the word that completed the last report received, of each port."""
        completed = {
            word.port: number
            for number, word in reversed([*enumerate(self.words)])
            if word.whole == received[word.port] and word.whole
        }
        return [
            word for number, word in enumerate(self.words) if number > completed.get(word.port, -1)
        ]

    def advance(self, life: Life, to_ns: int) -> bool:
        """Let the time come to an instant; return whether the table lived to see it."""
        while self.now_ns() < to_ns:
            if not life.lives():
                return False
            self._set(min(to_ns, self.now_ns() + self.step_ns))
            time.sleep(0.001)
        return life.lives()

    def _wait(self, life: Life, until: Callable[[], bool]) -> bool:
        begun_s = time.monotonic()
        while not until():
            if not life.lives():
                return False
            assert time.monotonic() - begun_s < _PATIENCE_S, "the table acknowledges nothing"
            time.sleep(0.0002)
        return True

    def _in_journal(self) -> Counter[str]:
        """How much of each device's reports the journal holds."""
        return Counter(end_of(event) for event in read_journal(self.journal))

    def now_ns(self) -> int:
        """Return the table's time."""
        (now_ns,) = TIME.unpack(self._shared[: TIME.size])
        return int(now_ns)

    def _set(self, now_ns: int) -> None:
        self._shared[: TIME.size] = TIME.pack(now_ns)


def _leave_cables() -> None:
    """Close the devices' ports in a forked process: only their player may unplug them."""
    for handle in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if handle > 2 and _is_terminal(handle):
            os.close(handle)


def _is_terminal(handle: int) -> bool:
    try:
        return os.isatty(handle)
    except OSError:
        return False


def _serial(port: str, driver: str, reads: Sequence[tuple[int, bytes]]) -> Iterator[Word]:
    listener, whole = make_driver(driver, {}), 0
    for at_ns, data in reads:
        readings = listener.feed(data, at_ns)
        whole += sum(isinstance(one, (*_READ, PlateRead)) for one in readings)
        yield Word(START_NS + at_ns, port, data, whole)


def _lines(port: str, events: Sequence[tuple[int, Event]]) -> Iterator[Word]:
    for whole, (at_ns, one) in enumerate(events, start=1):
        bare = replace(one, seq=None)
        yield Word(at_ns, port, msgspec.json.encode(bare) + b"\n", whole)


# --- what is compared -------------------------------------------------------------------------


def observed(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """What the devices reported, without its places in one journal or another.

    The time of arrival depends on the machine's load: a busy one gets a picture late.
    """
    kinds = (*_READ, *_SEEN, PlateRead, ConsoleEntry)
    return [replace(one, seq=None, at=None, heard=None) for one in events if isinstance(one, kinds)]


def conclusions(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """Facts, violations, settlements and ledger, without their places in one journal or another."""
    return [replace(one, at=None) for one in concluded(events)]


def differences(alone: Sequence[AnyEvent], killed: Sequence[AnyEvent]) -> list[str]:
    """Return how an interrupted session differs from one left alone."""
    found = []
    for what, one, other in (
        ("observations", observed(alone), observed(killed)),
        ("facts, violations, settlements, ledger", conclusions(alone), conclusions(killed)),
    ):
        for number, (due, got) in enumerate(zip(one, other, strict=False)):
            if due != got:
                found.append(f"{what}: the {number + 1}th should be {due}, it is {got}")
                break
        else:
            if len(one) != len(other):
                found.append(f"{what}: {len(other)} where {len(one)} are due")
    return found
