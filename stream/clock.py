"""Clocks. Only this module asks the host for the time; all other code receives a clock.

Time is integer nanoseconds since the Unix epoch, UTC, and never steps back.
"""

import asyncio
import ctypes
import sys
import time
from datetime import UTC, datetime
from typing import Final, Protocol

from models.events import ClockAnchored, SyncState

_STA_UNSYNC: Final = 0x40
"""The kernel's flag for an unsynchronised clock (``linux/timex.h``)."""


class Clock(Protocol):
    """Gives the time at the table, and waits for an instant of it."""

    def now_ns(self) -> int:
        """Return the time; never less than it returned before."""

    def wait_until(self, at_ns: int) -> None:
        """Return once the time is ``at_ns`` or later."""

    async def reached(self, at_ns: int) -> None:
        """Wait until the time is ``at_ns`` or later, without blocking the event loop."""


def utc(at_ns: int) -> str:
    """Return an instant for people, to the millisecond: ``2026-11-21 14:23:45.123 UTC``."""
    seconds, rest_ns = divmod(at_ns, 1_000_000_000)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{rest_ns // 1_000_000:03} UTC"


def elapsed_ns() -> int:
    """Return a count of nanoseconds from an arbitrary start: for measuring, never for events."""
    return time.perf_counter_ns()


def uptime_ns() -> int | None:
    """Return the nanoseconds since the machine's start; ``None`` where the system counts none."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return None if clock is None else time.clock_gettime_ns(clock)


class _Timex(ctypes.Structure):
    """The beginning of Linux's ``struct timex``, and room for the rest of it."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


def kernel_sync() -> SyncState:
    """Ask the kernel whether the wall clock is synchronised; change nothing."""
    if not sys.platform.startswith("linux"):
        return "unknown"
    answer = _Timex(modes=0)
    if ctypes.CDLL(None).adjtimex(ctypes.byref(answer)) < 0:
        return "unknown"
    return "unsynchronised" if answer.status & _STA_UNSYNC else "synchronised"


class HostClock:
    """The host's monotonic clock, anchored once to its wall clock.

    A correction of the wall clock has no effect until :meth:`anchor` is called, whose result
    belongs in the journal. After a correction backwards the time stands still until the wall clock
    catches up.
    """

    def __init__(self) -> None:
        self._wall_ns = time.time_ns()
        self._monotonic_ns = time.monotonic_ns()
        self._latest_ns = self._wall_ns

    def now_ns(self) -> int:
        """Return the time; never less than it returned before."""
        self._latest_ns = max(self._latest_ns, self._raw_ns())
        return self._latest_ns

    def anchor(self) -> ClockAnchored:
        """Read the wall clock again; return the change, for the journal."""
        before_ns = self._raw_ns()
        self._wall_ns, self._monotonic_ns = time.time_ns(), time.monotonic_ns()
        step_ns = self._wall_ns - before_ns
        return ClockAnchored(
            source="clock",
            at=self.now_ns(),
            wall_ns=self._wall_ns,
            step_ns=step_ns,
            up_ns=uptime_ns(),
        )

    def apart_ns(self) -> int:
        """Return how far the wall clock is ahead of this one."""
        return time.time_ns() - self._raw_ns()

    def wait_until(self, at_ns: int) -> None:
        """Return once the time is ``at_ns`` or later."""
        while (left_ns := at_ns - self.now_ns()) > 0:
            time.sleep(left_ns / 1e9)

    async def reached(self, at_ns: int) -> None:
        """Wait until the time is ``at_ns`` or later, without blocking the event loop."""
        while (left_ns := at_ns - self.now_ns()) > 0:
            await asyncio.sleep(left_ns / 1e9)

    def _raw_ns(self) -> int:
        return self._wall_ns + time.monotonic_ns() - self._monotonic_ns


class ReplayClock:
    """A recording's own time: the latest instant that was waited for.

    It makes a replay give the same times at any speed.

    Args:
        start_ns: the start of the recording.
        speed: recorded seconds per host second; ``None`` never waits.

    Raises:
        ValueError: ``speed`` is not positive.
    """

    def __init__(self, start_ns: int, speed: float | None = None) -> None:
        if speed is not None and not speed > 0:
            raise ValueError(f"a replay runs forwards: speed must be above 0, found {speed}")
        self._start_ns = self._latest_ns = start_ns
        self._speed = speed
        self._begun_ns: int | None = None

    def now_ns(self) -> int:
        """Return the latest recorded instant reached."""
        return self._latest_ns

    def wait_until(self, at_ns: int) -> None:
        """Sleep until the replay reaches ``at_ns``, and set the clock to it."""
        if (left_s := self._left_s(at_ns)) > 0:
            time.sleep(left_s)
        self._latest_ns = max(self._latest_ns, at_ns)

    async def reached(self, at_ns: int) -> None:
        """As :meth:`wait_until`, without blocking the event loop."""
        await asyncio.sleep(max(self._left_s(at_ns), 0))
        self._latest_ns = max(self._latest_ns, at_ns)

    def _left_s(self, at_ns: int) -> float:
        if self._speed is None:
            return 0
        if self._begun_ns is None:
            self._begun_ns = time.monotonic_ns()
        due_ns = (at_ns - self._start_ns) / self._speed
        return (due_ns - (time.monotonic_ns() - self._begun_ns)) / 1e9


class SimulatedClock:
    """A clock that a test or a simulation sets; waiting moves it at once."""

    def __init__(self, start_ns: int = 0) -> None:
        self._now_ns = start_ns

    def now_ns(self) -> int:
        """Return the time it was last moved to."""
        return self._now_ns

    def advance(self, by_ns: int) -> None:
        """Move forward by ``by_ns``; raises ``ValueError`` where that is backwards."""
        if by_ns < 0:
            raise ValueError(f"time does not step back, asked for {by_ns} ns")
        self._now_ns += by_ns

    def wait_until(self, at_ns: int) -> None:
        """Set the time to ``at_ns``, unless it is already later."""
        self._now_ns = max(self._now_ns, at_ns)

    async def reached(self, at_ns: int) -> None:
        """As :meth:`wait_until`, without blocking the event loop."""
        await asyncio.sleep(0)
        self.wait_until(at_ns)
