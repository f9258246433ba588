"""Devices kept connected: lost links are reopened, and every loss and return is an event.

All restarting is decided here: how long to wait (back-off with jitter), and how often at most
within a sliding window, for a device and for the table (the budget). A device of this machine is
watched for instead: it is tried once its node is back. Time, chance, devices and the look at a
node are passed in.
"""

import asyncio
from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from devices.presence import Node, node_at
from models.errors import TechnicianError
from models.events import DeviceReturned, Observation
from stream.clock import Clock

Say: TypeAlias = Callable[[Observation], None]
"""Takes an observation; what it raises (a journal that cannot be written) stops the table."""

SECOND_NS: Final = 1_000_000_000
_LOCAL_MOST_NS: Final = SECOND_NS
"""The longest wait of a device whose node is there: to try costs one call of the kernel."""


class Supervised(Protocol):
    """A device whose link can be opened again and again."""

    @property
    def source(self) -> str:
        """What its observations name as their source."""

    @property
    def path(self) -> Path | None:
        """The node that it is opened by; ``None`` for a device behind a network."""

    async def run(self, heard: Callable[[], None], say: Say) -> None:
        """Open it, call ``heard`` once it is there, and say what it observes until it ends.

        Raises:
            TechnicianError: it cannot be opened, or it was lost.
        """

    def fault(self, kind: str, detail: str, at_ns: int) -> Observation:
        """Return the observation of a fault of the device itself."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before the next try, doubling from one to the next."""

    first_ns: int = SECOND_NS // 4
    most_ns: int = 30 * SECOND_NS
    steady_ns: int = 10 * SECOND_NS
    """A device heard for this long is one that works: its next loss is a first one."""
    look_ns: int = SECOND_NS // 4
    """How often the node of a lost device is looked for."""

    def local(self) -> "Backoff":
        """Return that of a device of this machine."""
        return replace(self, most_ns=min(self.most_ns, _LOCAL_MOST_NS))

    def wait_ns(self, failures: int, chance: float) -> int:
        """Return the wait after ``failures`` in a row, from 1; ``chance`` from 0 to 1 spreads it.

        It lies between half of the doubled wait and all of it, so that devices lost together
        do not come back together.
        """
        doubled = self.first_ns << min(failures - 1, 40)
        return round(min(doubled, self.most_ns) * (1 + chance) / 2)


class Budget:
    """How many restarts there may be within a sliding window.

    Args:
        per_device: of one device.
        per_table: of all devices together.
        window_ns: how long a restart counts.
    """

    def __init__(
        self, per_device: int = 20, per_table: int = 60, window_ns: int = 600 * SECOND_NS
    ) -> None:
        self._per_device, self._per_table, self.window_ns = per_device, per_table, window_ns
        self._granted: dict[str, list[int]] = {}
        self._all: list[int] = []

    def grant(self, source: str, at_ns: int) -> int:
        """Grant one restart; return its instant, ``at_ns`` or when the window has room again."""
        own = self._granted.setdefault(source, [])
        due_ns = max(
            at_ns, self._room(own, self._per_device), self._room(self._all, self._per_table)
        )
        insort(own, due_ns)
        insort(self._all, due_ns)
        del own[: -self._per_device], self._all[: -self._per_table]
        return due_ns

    def _room(self, granted: list[int], most: int) -> int:
        return granted[-most] + self.window_ns if len(granted) >= most else 0


class _Link:
    """What is known of one device's link."""

    def __init__(self) -> None:
        self.heard_ns: int | None = None
        self.node: Node | None = None
        """What was opened last, or was tried to be; ``None`` once it was seen to be gone."""
        self.was_heard = False
        """Whether the last try opened it."""
        self.lost_ns: int | None = None
        self.failures = 0
        self.tries = 0
        self.told_spent = False


class Supervisor:
    """Keeps every device of a table connected.

    Args:
        clock: gives the time, and waits.
        say: takes every observation.
        chance: returns a number from 0 to 1: the jitter of the back-off.
        backoff: how long to wait before a try.
        budget: how often may be tried.
        local_budget: how often a device of this machine may be heard and lost. Its tries that
            fail are not counted: they are not told of, and write nothing.
        look: returns the node at a path.
    """

    def __init__(
        self,
        clock: Clock,
        say: Say,
        chance: Callable[[], float],
        backoff: Backoff | None = None,
        budget: Budget | None = None,
        *,
        local_budget: Budget | None = None,
        look: Callable[[Path], Node | None] = node_at,
    ) -> None:
        self._clock, self._say, self._chance = clock, say, chance
        self._backoff, self._budget = backoff or Backoff(), budget or Budget()
        self._local_backoff = self._backoff.local()
        self._local_budget = local_budget or Budget(per_device=100, per_table=300)
        self._look = look

    async def keep_all(self, devices: Iterable[Supervised]) -> None:
        """Keep all devices until each has ended, or until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for device in devices:
                tasks.create_task(self.keep(device), name=device.source)

    async def keep(self, device: Supervised) -> None:
        """Keep one device until its source ends, or until cancelled."""
        link = _Link()
        while (fault := await self._run(device, link)) is not None:
            self._lost(device, link, fault)
            if device.path is None:
                await self._wait(device, link)
            else:
                await self._watch(device, link, device.path)

    async def _run(self, device: Supervised, link: _Link) -> TechnicianError | None:
        link.tries += 1
        link.was_heard = False
        link.node = None if device.path is None else self._look(device.path)
        try:
            await device.run(lambda: self._heard(device, link), self._say)
        except TechnicianError as fault:
            return fault
        return None

    def _heard(self, device: Supervised, link: _Link) -> None:
        link.was_heard = True
        now_ns = link.heard_ns = self._clock.now_ns()
        if link.lost_ns is not None:
            away_ns, link.lost_ns = now_ns - link.lost_ns, None
            self._say(
                DeviceReturned(source=device.source, at=now_ns, away_ns=away_ns, tries=link.tries)
            )
        link.tries = 0

    def _lost(self, device: Supervised, link: _Link, fault: TechnicianError) -> None:
        now_ns, heard_ns = self._clock.now_ns(), link.heard_ns
        if heard_ns is not None and now_ns - heard_ns >= self._backoff.steady_ns:
            link.failures, link.told_spent = 0, False
        link.heard_ns = None
        link.failures += 1
        if link.lost_ns is None:
            link.lost_ns = now_ns
            self._say(device.fault("link_lost", f"{fault.where}: {fault.what}", now_ns))

    async def _wait(self, device: Supervised, link: _Link) -> None:
        wait_ns = self._backoff.wait_ns(link.failures, self._chance())
        await self._granted(device, link, self._budget, self._clock.now_ns() + wait_ns)

    async def _watch(self, device: Supervised, link: _Link, path: Path) -> None:
        """Return once its node is back, or was there for the whole of the wait."""
        wait_ns = self._local_backoff.wait_ns(link.failures, self._chance())
        due_ns = self._clock.now_ns() + wait_ns
        while not self._may_open(link, path, due_ns):
            await self._clock.reached(self._clock.now_ns() + self._local_backoff.look_ns)
        if link.was_heard:
            await self._granted(device, link, self._local_budget, self._clock.now_ns())

    def _may_open(self, link: _Link, path: Path, due_ns: int) -> bool:
        node, before = self._look(path), link.node
        link.node = node
        return node is not None and (node != before or self._clock.now_ns() >= due_ns)

    async def _granted(
        self, device: Supervised, link: _Link, budget: Budget, asked_ns: int
    ) -> None:
        granted_ns = budget.grant(device.source, asked_ns)
        if granted_ns > asked_ns and not link.told_spent:
            link.told_spent = True
            detail = (
                f"lost {link.failures} times in a row; the restarts of this window are spent, "
                f"the next try is in {(granted_ns - self._clock.now_ns()) / SECOND_NS:.0f} s"
            )
            self._say(device.fault("restarts_spent", detail, self._clock.now_ns()))
        await self._clock.reached(granted_ns)
