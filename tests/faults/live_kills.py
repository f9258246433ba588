"""A live table killed with SIGKILL at random moments, started again, and compared with one that
was left alone.

The far ends of the cables are this process: a shoe and bet plates on pseudo-terminals that speak
as they do on a real table, a camera's observations on a third (so that no pixels take up the
time), the floor's entries in a pipe. The table is a child process with everything it has:
supervisor, drivers, order, reconciler, engine, ledger, signed journal, recorder.

The table's time is this process's to move, so that it stands still while no table lives: what a
killed table had not written to its journal is said again to the next, as a device does whose
report nobody acknowledged.
"""

import asyncio
import mmap
import os
import random
import select
import signal
import struct
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias
from unittest.mock import patch

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from devices import registry
from devices.driver import Driver
from devices.framing import FrameFault
from devices.port import PortConfig
from devices.reading import Reading
from devices.registry import Registration, make_driver
from devices.simulators import SimulatedPort
from models.decode import decode_event
from models.events import (
    CardGone,
    CardSighted,
    ClockAnchored,
    ConsoleEntry,
    Event,
    PlateRead,
    ShoeCardRead,
    ShoeCutCard,
    ShoeLoaded,
)
from models.judgements import AnyEvent
from server.live.config import Port, Recorder, TableConfig, read_config
from server.live.table import LiveTable
from simulation.chips import VALUES
from simulation.ideal import CAMERA, ideal_observations
from simulation.session import START_NS, Settings, console_entries, prepare
from simulation.wire import plate_reads, shoe_reads
from stream.clock import HostClock
from stream.journal import Checkpoints, Journal, UnknownEvent, read_journal, verify_journal
from stream.signing import Signer, read_public_key
from stream.toml import to_toml
from tests.server.test_run import concluded
from vision.change import Rect
from vision.sightings import Sightings

_EYE: Final = "eye"
_TOLD: Final = "told"
_TIME: Final = struct.Struct(">Q")
_ACK: Final = struct.Struct(">QB")
"""An entry's number, and the far end (by its place in ``_ENDS``) whose word it is."""
_ENDS: Final = ("nobody", "shoe", "plates", _EYE, "console")
_TICK_NS: Final = 40_000_000
_AFTERWARDS_NS: Final = 20_000_000_000
_PATIENCE_S: Final = 30.0
_EARLY: Final = 0.2
"""So many are killed while they start, the others once they hear everything."""
_STARTING_S: Final = 0.3
_SAID: Final = (ShoeCardRead, ShoeCutCard, ShoeLoaded)
_SEEN: Final = (CardSighted, CardGone)

Writers: TypeAlias = Mapping[str, Callable[[bytes], object]]
"""What puts bytes on each far end's cable."""


def _end(event: AnyEvent | UnknownEvent | Event) -> str:
    """Whose word an entry is."""
    match event:
        case ShoeCardRead() | ShoeCutCard() | ShoeLoaded():
            return "shoe"
        case PlateRead():
            return "plates"
        case CardSighted() | CardGone():
            return _EYE
        case ConsoleEntry():
            return "console"
    return "nobody"


# --- the table's side -------------------------------------------------------------------------


class _Lines:
    """Cuts a byte stream at its line ends."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, chunk: bytes) -> Iterator[bytes | FrameFault]:
        *whole, self._held = (self._held + chunk).split(b"\n")
        yield from whole

    def finish(self) -> Iterator[FrameFault]:
        self._held = b""
        return iter(())


class _Told(Driver[bytes]):
    """A camera without pixels: a line an observation, its own time in it."""

    def __init__(self, _: PortConfig) -> None:
        super().__init__(_Lines(), CAMERA)

    def _read(self, frame: bytes, at_ns: int) -> Iterator[Reading]:
        yield decode_event(frame, "told", at_ns)  # type: ignore[misc]


def told_driver() -> "AbstractContextManager[object]":
    """Let a table know the driver of the camera without pixels."""
    return patch.dict(registry.DRIVERS, {_TOLD: Registration(PortConfig, _Told)})


class Blind:
    """No picture is ever read."""

    confident_p = 0.98

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        raise AssertionError("no camera is configured")


class _MovedClock(HostClock):
    """The time that stands in memory shared with the process that moves it."""

    def __init__(self, shared: mmap.mmap) -> None:
        self._shared = shared
        super().__init__()

    def now_ns(self) -> int:
        (now_ns,) = _TIME.unpack(self._shared[: _TIME.size])
        return int(now_ns)

    def anchor(self) -> ClockAnchored:
        now_ns = self.now_ns()
        return ClockAnchored(source="clock", at=now_ns, wall_ns=now_ns, step_ns=0)

    def apart_ns(self) -> int:
        return 0

    async def reached(self, at_ns: int) -> None:
        # A table that waits for its next tick goes on while the time stands: news may be there.
        await asyncio.sleep(0.001)
        while at_ns - self.now_ns() > _TICK_NS:
            await asyncio.sleep(0.001)


def shared_time(file: Path) -> mmap.mmap:
    """Return the memory in which the table's time stands."""
    with file.open("r+b") as opened:
        return mmap.mmap(opened.fileno(), mmap.PAGESIZE)


def run_table(config: Path, shared: mmap.mmap, acknowledge: int) -> None:
    """Run a table; say the number of each entry once it stands in the journal.

    Args:
        config: the table's.
        shared: where the time stands.
        acknowledge: a pipe, for a record an entry and one of zeros once every device is heard.
    """

    def told(event: Event) -> None:
        assert event.seq is not None
        os.write(acknowledge, _ACK.pack(event.seq, _ENDS.index(_end(event))))

    placed, clock = read_config(config), _MovedClock(shared)
    path = placed.beside(placed.config.journal)
    signer = Signer.read(placed.beside(str(placed.config.signing_key)))
    due = Checkpoints(signer, clock, entries=20)
    with Journal.open(path, due) if path.exists() else Journal.create(path, due) as journal:
        table = LiveTable(placed, journal, clock, Blind(), told)
        asyncio.run(_until_told(table, acknowledge))


async def _until_told(table: LiveTable, acknowledge: int) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    running = asyncio.create_task(table.run(stop))
    while len(table.standing.heard) < len(table.standing.sources) and not running.done():
        await asyncio.sleep(0.001)
    os.write(acknowledge, _ACK.pack(0, 0))
    await running


# --- the far ends -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Word:
    """Something said at a moment, and how much its source has said of whole then."""

    at_ns: int
    port: str
    data: bytes
    whole: int


@dataclass
class Life:
    """One process that runs the table."""

    process: int
    said: int
    """Where it acknowledges."""
    kill_at_s: float | None
    """On the host's monotonic clock; ``None`` while it is not to be killed."""
    heard_for_s: float | None
    """How long it lives once it hears everything; ``None`` for as long as it likes."""
    ready: bool = False
    acknowledged: int = 0
    killed: bool = False
    heard: Counter[str] = field(default_factory=Counter)
    """How many entries are each far end's word."""

    def lives(self) -> bool:
        """Take in what was acknowledged; kill it if its time has come."""
        while _readable(self.said):
            told = os.read(self.said, 512 * _ACK.size)
            assert told, "the table ended by itself"
            for seq, end in _ACK.iter_unpack(told):
                if seq == 0:
                    self._is_heard()
                self.acknowledged = max(self.acknowledged, seq)
                self.heard[_ENDS[end]] += 1
        if self.kill_at_s is not None and time.monotonic() >= self.kill_at_s:
            self.end(signal.SIGKILL)
            self.killed = True
        return not self.killed

    def _is_heard(self) -> None:
        self.ready = True
        if self.heard_for_s is not None:
            self.kill_at_s = time.monotonic() + self.heard_for_s

    def end(self, how: signal.Signals) -> None:
        """End it, and read what it said last."""
        os.kill(self.process, how)
        os.waitpid(self.process, 0)
        with os.fdopen(self.said, "rb") as rest:
            told = rest.read()
        for seq, _ in _ACK.iter_unpack(told[: len(told) // _ACK.size * _ACK.size]):
            self.acknowledged = max(self.acknowledged, seq)


def _readable(handle: int) -> bool:
    return bool(select.select([handle], [], [], 0)[0])


@dataclass
class Table:
    """A simulated session at the far ends of a table's cables.

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
    """The cables' far ends while it is played."""
    _words: list[_Word] = field(default_factory=list)

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
                Port(name=_EYE, url=str(self.place / _EYE), driver=_TOLD),
            ),
            recorder=Recorder(folder="recordings", least_free_gb=0.0),
        )
        (self.place / "table.toml").write_text(to_toml(config), "utf-8")
        observed = ideal_observations(
            scene.staged, scene.layout, start_ns=START_NS, table="BJ-01", seed=self.seed
        )
        self._words = sorted(
            [
                *_serial(
                    "shoe", "angel-eye", shoe_reads(scene.staged.shoe, "angel-eye", self.seed)
                ),
                *_serial("plates", "plate", plate_reads(scene.staged.plates, self.seed)),
                *_lines(_EYE, [(at, one) for at, one in observed if isinstance(one, _SEEN)]),
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
    def key(self) -> bytes:
        """The public key that signs it."""
        return read_public_key(self.place / "table.pub")

    def cut(self, at_ns: int) -> None:
        """Leave out what comes after an instant."""
        self._words = [word for word in self._words if word.at_ns <= at_ns]

    def between_messages(self, port: str, words: int) -> int:
        """Return after how many words, ``words`` or more, a port has just ended a message."""
        said = 0
        for number, word in enumerate(self._words, start=1):
            ended = word.port == port and word.whole > said
            said = word.whole if word.port == port else said
            if ended and number >= words:
                return number + 1
        raise AssertionError(f"{port} says nothing so late")

    def play(self, chance: random.Random | None, most_s: float = 0.2) -> list[AnyEvent]:
        """Play the session to its end; return what its journal holds.

        Args:
            chance: when the table is killed; ``None`` leaves it alone.
            most_s: how long a table lives at most, once it hears everything.

        Raises:
            AssertionError: something acknowledged is missing.
            TechnicianError: the journal is damaged.
        """
        with (
            told_driver(),
            SimulatedPort(self.place / "shoe") as shoe,
            SimulatedPort(self.place / "plates") as plates,
            SimulatedPort(self.place / _EYE) as eye,
            (self.place / "console").open("r+b", buffering=0) as console,
        ):
            self.ports = {"shoe": shoe, "plates": plates, _EYE: eye}
            writers: Writers = {
                "shoe": shoe.send,
                "plates": plates.send,
                _EYE: eye.send,
                "console": console.write,
            }
            while not self._one_life(writers, chance, most_s):
                for port in self.ports.values():
                    port.unplug()
                    port.replug()
        return [one for one in read_journal(self.journal) if not isinstance(one, UnknownEvent)]

    def _one_life(self, writers: Writers, chance: random.Random | None, most_s: float) -> bool:
        """Run a table until it is killed or has heard all; tell which."""
        life = self.begin(chance, most_s)
        try:
            done = self._tell_all(life, writers)
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

    def _tell_all(self, life: Life, writers: Writers) -> bool:
        if not self._wait(life, lambda: life.ready):
            return False
        life.heard = self._heard()
        for word in self._left(life.heard):
            if not self.advance(life, word.at_ns):
                return False
            writers[word.port](word.data)
            if not self._wait(life, lambda: life.heard[word.port] >= word.whole):  # noqa: B023
                return False
        return self.advance(life, self._words[-1].at_ns + _AFTERWARDS_NS)

    def _left(self, heard: Counter[str]) -> list[_Word]:
        """What comes after the word that completed the last thing heard, of each port."""
        completed = {
            word.port: number
            for number, word in reversed([*enumerate(self._words)])
            if word.whole == heard[word.port] and word.whole
        }
        return [
            word for number, word in enumerate(self._words) if number > completed.get(word.port, -1)
        ]

    def advance(self, life: Life, to_ns: int) -> bool:
        """Let the time come to an instant; tell whether the table lived to see it."""
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
            assert time.monotonic() - begun_s < _PATIENCE_S, "the table says nothing"
            time.sleep(0.0002)
        return True

    def _heard(self) -> Counter[str]:
        """How much of what each far end said stands in the journal."""
        return Counter(_end(event) for event in read_journal(self.journal))

    def now_ns(self) -> int:
        """Return the table's time."""
        (now_ns,) = _TIME.unpack(self._shared[: _TIME.size])
        return int(now_ns)

    def _set(self, now_ns: int) -> None:
        self._shared[: _TIME.size] = _TIME.pack(now_ns)


def _leave_cables() -> None:
    """Close the cables' far ends in a forked process: only who plays them can unplug them."""
    for handle in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
        if handle > 2 and _is_terminal(handle):
            os.close(handle)


def _is_terminal(handle: int) -> bool:
    try:
        return os.isatty(handle)
    except OSError:
        return False


def _serial(port: str, driver: str, reads: Sequence[tuple[int, bytes]]) -> Iterator[_Word]:
    hearing, whole = make_driver(driver, {}), 0
    for at_ns, data in reads:
        said = hearing.feed(data, at_ns)
        whole += sum(isinstance(one, (*_SAID, PlateRead)) for one in said)
        yield _Word(START_NS + at_ns, port, data, whole)


def _lines(port: str, said: Sequence[tuple[int, Event]]) -> Iterator[_Word]:
    for whole, (at_ns, one) in enumerate(said, start=1):
        bare = replace(one, seq=None)
        yield _Word(at_ns, port, msgspec.json.encode(bare) + b"\n", whole)


# --- what is compared -------------------------------------------------------------------------


def observed(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """What the far ends said, without its places in one journal or another."""
    kinds = (*_SAID, *_SEEN, PlateRead, ConsoleEntry)
    return [replace(one, seq=None, at=None) for one in events if isinstance(one, kinds)]


def came_to(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """Facts, verdicts, settlements and ledger, without their places in one journal or another."""
    return [replace(one, at=None) for one in concluded(events)]


def differences(alone: Sequence[AnyEvent], killed: Sequence[AnyEvent]) -> list[str]:
    """Say what a session that was broken off came to otherwise than one left alone."""
    found = []
    for what, one, other in (
        ("observations", observed(alone), observed(killed)),
        ("facts, verdicts, settlements, ledger", came_to(alone), came_to(killed)),
    ):
        for number, (due, got) in enumerate(zip(one, other, strict=False)):
            if due != got:
                found.append(f"{what}: the {number + 1}th should be {due}, it is {got}")
                break
        else:
            if len(one) != len(other):
                found.append(f"{what}: {len(other)} where {len(one)} are due")
    return found
