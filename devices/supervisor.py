"""Devices kept connected: lost links are reopened, and every loss and return is an event.

This module decides about every restart: the wait (back-off with jitter), and the most restarts
within a sliding window, per device and per table (the budget). For a device of this machine it
watches the node instead, and reconnects once the node is back. The caller passes in time, chance,
devices and the look at a node.
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

Report: TypeAlias = Callable[[Observation], None]
"""Receives an observation; an error in it (a journal that cannot be written) stops the table."""

SECOND_NS: Final = 1_000_000_000
_LOCAL_MOST_NS: Final = SECOND_NS
"""Longest wait of a device whose node is there: an attempt costs one system call."""


class Supervised(Protocol):
    """A device whose link can be opened repeatedly."""

    @property
    def source(self) -> str:
        """The source of its observations."""

    @property
    def path(self) -> Path | None:
        """The path of its node; ``None`` for a device behind a network."""

    async def run(self, connected: Callable[[], None], report: Report) -> None:
        """Open it, call ``connected`` once it is open, and report its observations until it ends.

        Raises:
            TechnicianError: it cannot be opened, or the link was lost.
        """

    def fault(self, kind: str, detail: str, at_ns: int) -> Observation:
        """Return the observation of a fault of the device itself."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """The wait before the next attempt, doubling each time."""

    first_ns: int = SECOND_NS // 4
    most_ns: int = 30 * SECOND_NS
    steady_ns: int = 10 * SECOND_NS
    """A device connected for this long counts as working: its next loss is a first one."""
    look_ns: int = SECOND_NS // 4
    """Nanoseconds between looks for the node of a lost device."""

    def local(self) -> "Backoff":
        """Return the back-off for a device of this machine."""
        return replace(self, most_ns=min(self.most_ns, _LOCAL_MOST_NS))

    def wait_ns(self, failures: int, chance: float) -> int:
        """Return the wait after ``failures`` in a row, from 1; ``chance`` from 0 to 1 spreads it.

        It lies between half of the doubled wait and all of it, so that devices lost together do not
        reconnect together.
        """
        doubled = self.first_ns << min(failures - 1, 40)
        return round(min(doubled, self.most_ns) * (1 + chance) / 2)


class Budget:
    """The most restarts within a sliding window.

    Args:
        per_device: for one device.
        per_table: for all devices together.
        window_ns: nanoseconds that a restart counts.
    """

    def __init__(
        self, per_device: int = 20, per_table: int = 60, window_ns: int = 600 * SECOND_NS
    ) -> None:
        self._per_device, self._per_table, self.window_ns = per_device, per_table, window_ns
        self._granted: dict[str, list[int]] = {}
        self._all: list[int] = []

    def grant(self, source: str, at_ns: int) -> int:
        """Grant one restart; return its time: ``at_ns``, or when the window has room again."""
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
    """The state of one device's link."""

    def __init__(self) -> None:
        self.connected_ns: int | None = None
        self.node: Node | None = None
        """The node of the last attempt; ``None`` once it was seen to be gone."""
        self.was_connected = False
        """Whether the last attempt opened it."""
        self.lost_ns: int | None = None
        self.failures = 0
        self.tries = 0
        self.reported_spent = False


class Supervisor:
    """Keeps every device of a table connected.

    Args:
        clock: gives the time, and waits.
        report: receives every observation.
        chance: returns a number from 0 to 1: the jitter of the back-off.
        backoff: the wait before an attempt.
        budget: the limit of attempts.
        local_budget: the limit of losses of a device of this machine. Its failed attempts do not
            count: they are not reported, and write nothing.
        look: returns the node at a path.
    """

    def __init__(
        self,
        clock: Clock,
        report: Report,
        chance: Callable[[], float],
        backoff: Backoff | None = None,
        budget: Budget | None = None,
        *,
        local_budget: Budget | None = None,
        look: Callable[[Path], Node | None] = node_at,
    ) -> None:
        self._clock, self._report, self._chance = clock, report, chance
        self._backoff, self._budget = backoff or Backoff(), budget or Budget()
        self._local_backoff = self._backoff.local()
        self._local_budget = local_budget or Budget(per_device=100, per_table=300)
        self._look = look

    async def keep_all(self, devices: Iterable[Supervised]) -> None:
        """Keep all devices connected until each has ended, or until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for device in devices:
                tasks.create_task(self.keep(device), name=device.source)

    async def keep(self, device: Supervised) -> None:
        """Keep one device connected until its source ends, or until cancelled."""
        link = _Link()
        while (fault := await self._run(device, link)) is not None:
            self._lost(device, link, fault)
            if device.path is None:
                await self._wait(device, link)
            else:
                await self._watch(device, link, device.path)

    async def _run(self, device: Supervised, link: _Link) -> TechnicianError | None:
        link.tries += 1
        link.was_connected = False
        link.node = None if device.path is None else self._look(device.path)
        try:
            await device.run(lambda: self._connected(device, link), self._report)
        except TechnicianError as fault:
            return fault
        return None

    def _connected(self, device: Supervised, link: _Link) -> None:
        link.was_connected = True
        now_ns = link.connected_ns = self._clock.now_ns()
        if link.lost_ns is not None:
            away_ns, link.lost_ns = now_ns - link.lost_ns, None
            self._report(
                DeviceReturned(source=device.source, at=now_ns, away_ns=away_ns, tries=link.tries)
            )
        link.tries = 0

    def _lost(self, device: Supervised, link: _Link, fault: TechnicianError) -> None:
        now_ns, connected_ns = self._clock.now_ns(), link.connected_ns
        if connected_ns is not None and now_ns - connected_ns >= self._backoff.steady_ns:
            link.failures, link.reported_spent = 0, False
        link.connected_ns = None
        link.failures += 1
        if link.lost_ns is None:
            link.lost_ns = now_ns
            self._report(device.fault("link_lost", f"{fault.where}: {fault.what}", now_ns))

    async def _wait(self, device: Supervised, link: _Link) -> None:
        wait_ns = self._backoff.wait_ns(link.failures, self._chance())
        await self._granted(device, link, self._budget, self._clock.now_ns() + wait_ns)

    async def _watch(self, device: Supervised, link: _Link, path: Path) -> None:
        """Return once its node is back, or was there for the whole wait."""
        wait_ns = self._local_backoff.wait_ns(link.failures, self._chance())
        due_ns = self._clock.now_ns() + wait_ns
        while not self._may_open(link, path, due_ns):
            await self._clock.reached(self._clock.now_ns() + self._local_backoff.look_ns)
        if link.was_connected:
            await self._granted(device, link, self._local_budget, self._clock.now_ns())

    def _may_open(self, link: _Link, path: Path, due_ns: int) -> bool:
        node, before = self._look(path), link.node
        link.node = node
        return node is not None and (node != before or self._clock.now_ns() >= due_ns)

    async def _granted(
        self, device: Supervised, link: _Link, budget: Budget, asked_ns: int
    ) -> None:
        granted_ns = budget.grant(device.source, asked_ns)
        if granted_ns > asked_ns and not link.reported_spent:
            link.reported_spent = True
            detail = (
                f"lost {link.failures} times in a row; the restarts of this window are spent, "
                f"the next try is in {(granted_ns - self._clock.now_ns()) / SECOND_NS:.0f} s"
            )
            self._report(device.fault("restarts_spent", detail, self._clock.now_ns()))
        await self._clock.reached(granted_ns)
