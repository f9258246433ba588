"""A live table in a process of its own, for tests that move its time and may kill it.

It has everything a table has: supervisor, drivers, order, reconciler, engine, ledger, signed
journal, recorder. Its time stands in shared memory; a camera's observations come as lines on a
port, without pixels.
"""

import asyncio
import mmap
import os
import signal
import struct
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from devices import registry
from devices.driver import Driver
from devices.framing import FrameFault
from devices.port import PortConfig
from devices.reading import Reading
from devices.registry import Registration
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
from server.table.config import read_config, rules_of
from server.table.kept_rest import RestFile, made_by
from server.table.live import LiveTable
from simulation.ideal import CAMERA
from stream.clock import HostClock
from stream.journal import Checkpoints, Journal
from stream.reading import UnknownEvent
from stream.signing import Signer
from vision.change import Rect
from vision.sightings import Sightings

EYE: Final = "eye"
"""The port of the camera without pixels."""
LINE_CAMERA: Final = "line-camera"
"""Its driver."""
TIME: Final = struct.Struct(">Q")
"""How the table's time stands in memory: nanoseconds since the Unix epoch."""
ACKNOWLEDGED: Final = struct.Struct(">QB")
"""An entry's number, and the device (by its place in ``ENDS``) that reported it."""
ENDS: Final = ("nobody", "shoe", "plates", EYE, "console")
_TICK_NS: Final = 40_000_000


def end_of(event: AnyEvent | UnknownEvent | Event) -> str:
    """Whose word an entry is."""
    match event:
        case ShoeCardRead() | ShoeCutCard() | ShoeLoaded():
            return "shoe"
        case PlateRead():
            return "plates"
        case CardSighted() | CardGone():
            return EYE
        case ConsoleEntry():
            return "console"
    return "nobody"


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


class _LineCamera(Driver[bytes]):
    """A camera without pixels: a line an observation, its own time in it."""

    def __init__(self, _: PortConfig) -> None:
        super().__init__(_Lines(), CAMERA)

    def _read(self, frame: bytes, at_ns: int) -> Iterator[Reading]:
        yield decode_event(frame, LINE_CAMERA, at_ns)  # type: ignore[misc]


def known_driver() -> "AbstractContextManager[object]":
    """Let a table know the driver of the camera without pixels."""
    return patch.dict(registry.DRIVERS, {LINE_CAMERA: Registration(PortConfig, _LineCamera)})


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
        (now_ns,) = TIME.unpack(self._shared[: TIME.size])
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
    """Run a table; report the number of each entry once it is in the journal.

    Args:
        config: the table's.
        shared: where the time stands.
        acknowledge: a pipe, for a record an entry and one of zeros once every device is connected.
    """

    def acknowledged(event: Event) -> None:
        assert event.seq is not None
        os.write(acknowledge, ACKNOWLEDGED.pack(event.seq, ENDS.index(end_of(event))))

    placed, clock = read_config(config), _MovedClock(shared)
    path = placed.beside(placed.config.journal)
    signer = Signer.read(placed.beside(str(placed.config.signing_key)))
    due = Checkpoints(signer, clock, entries=20)
    made = made_by(rules_of(placed), placed.config.dealing)
    rests = RestFile(path, signer, made, print)
    with rests.open_journal(due) if path.exists() else Journal.create(path, due) as journal:
        table = LiveTable(placed, journal, clock, Blind(), acknowledged, rests=rests)
        asyncio.run(_until_ended(table, acknowledge))


async def _until_ended(table: LiveTable, acknowledge: int) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    running = asyncio.create_task(table.run(stop))
    while len(table.standing.connected) < len(table.standing.sources) and not running.done():
        await asyncio.sleep(0.001)
    os.write(acknowledge, ACKNOWLEDGED.pack(0, 0))
    await running
