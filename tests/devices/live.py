"""Devices kept by a real supervisor on real ports, and what it reports of them."""

import asyncio
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from devices.cameras.config import CameraConfig
from devices.cameras.frame import Frame
from devices.cameras.live import LiveCamera
from devices.link import ByteDevice, Tap
from devices.presence import local_path
from devices.registry import make_driver
from devices.supervisor import Backoff, Budget, Report, Supervised, Supervisor
from devices.transport import SerialTransport
from models.events import CameraFault, DeviceReturned, Observation, ReaderFault, ShoeCardRead
from stream.clock import HostClock
from stream.journal import Journal
from tests.devices.wires import SETTINGS

MS = 1_000_000
EAGER = Backoff(first_ns=5 * MS, most_ns=20 * MS, steady_ns=1000 * MS, look_ns=5 * MS)
"""Waits for tests that pull the plug a hundred times."""


class LiveTable:
    """A supervisor with a list beside the journal, if there is one. For one event loop."""

    def __init__(
        self,
        backoff: Backoff = EAGER,
        budget: Budget | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.reported: list[Observation] = []
        self.frames: list[Frame] = []
        self.opened: set[str] = set()
        self.clock = HostClock()
        self._journal = journal
        self._news = asyncio.Event()
        chance = random.Random("jitter").random
        budget = budget or Budget(per_device=10_000, per_table=10_000)
        self._supervisor = Supervisor(
            self.clock, self._note, chance, backoff, budget, local_budget=budget
        )
        self._tasks: list[asyncio.Task[None]] = []

    def _note(self, observation: Observation) -> None:
        if self._journal is not None:
            observation = self._journal.append(observation)
        self.reported.append(observation)
        self._news.set()

    async def see(self, frame: Frame) -> None:
        """Take a camera's picture."""
        self.frames.append(frame)
        self._news.set()

    def camera(
        self, url: object, source: str = "camera:overhead", **settings: object
    ) -> LiveCamera:
        """A camera whose pictures come here."""
        config = msgspec.convert({"url": str(url), **settings}, CameraConfig)
        return LiveCamera(source, config, self.clock, self.see)

    def keep(self, devices: Iterable[Supervised]) -> None:
        """Begin to keep devices."""
        noted = [_Noted(each, self._opened) for each in devices]
        self._tasks += [asyncio.create_task(self._supervisor.keep(each)) for each in noted]

    async def until(self, holds: Callable[[], bool], within_s: float = 30) -> None:
        """Return once ``holds`` of what was reported; fail where that takes too long."""
        async with asyncio.timeout(within_s):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def until_open(self, source: str) -> None:
        """Return once a device was opened: what is sent before that is flushed."""
        await self.until(lambda: source in self.opened)

    def _opened(self, source: str) -> None:
        self.opened.add(source)
        self._news.set()

    async def until_reported(self, source: str, *kinds: str) -> None:
        """Return once a source has reported all of ``kinds`` in this order."""
        await self.until(lambda: _in_order(kinds, summarised(self.of(source))))

    def of(self, source: str) -> list[Observation]:
        """What one source reported."""
        return [each for each in self.reported if each.source == source]

    async def leave(self) -> None:
        """Stop the supervisor; a device that failed otherwise than by being lost raises here."""
        for task in self._tasks:
            task.cancel()
        for found in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(found, Exception):
                raise found

    def device(
        self, port: str | Path, driver: str, source: str = "shoe", *, tap: Tap | None = None
    ) -> ByteDevice:
        """A device on a port, opened as pyserial does."""
        settings = {"source": source} | SETTINGS.get(driver, {})
        return ByteDevice(
            source,
            make_driver(driver, settings),
            lambda: SerialTransport(str(port), 9600),
            self.clock,
            tap=tap,
            path=local_path(str(port)),
            answer_ns=200 * MS,
        )


class _Noted:
    """A device of which the table knows when it was opened."""

    def __init__(self, device: Supervised, opened: Callable[[str], None]) -> None:
        self._device, self._opened = device, opened
        self.source, self.path = device.source, device.path
        self.fault = device.fault

    async def run(self, connected: Callable[[], None], report: Report) -> None:
        def noted() -> None:
            connected()
            self._opened(self.source)

        await self._device.run(noted, report)


def summarised(observations: Iterable[Observation]) -> list[str]:
    """Say observations shortly: the card, the kind of a fault, the name of the event."""
    return [_summary(each) for each in observations]


def _summary(each: Observation) -> str:
    if isinstance(each, ShoeCardRead):
        return str(each.card)
    if isinstance(each, ReaderFault | CameraFault):
        return each.kind
    return "returned" if isinstance(each, DeviceReturned) else type(each).__name__


def _in_order(wanted: Iterable[str], observations: Iterable[str]) -> bool:
    going_by = iter(observations)
    return all(kind in going_by for kind in wanted)
