"""Clocks that drift apart: the host's wall clock or a camera's from the table's.

A session has one anchor: the table's clock is set once and then runs undisturbed. The journal
records the drift and steps of other clocks against it. Nothing here asks for the time.
"""

from collections.abc import Callable
from typing import Final

from models.events import ClockAnchored, ClockCompared, ClockSynchronisation, SyncState
from stream.clock import Clock, HostClock, kernel_sync

_MS: Final = 1_000_000
WORST_DRIFT: Final = 2000
"""Nanoseconds per nanosecond of drift. A host's clock drifts less than 1 in 2000; more is a
step."""


class WallWatch:
    """Detects that the wall clock has moved away from the table's.

    Args:
        report_ns: the drift since the last report that causes a new one.
        step_ns: the change beyond possible drift that counts as a step.
    """

    def __init__(self, report_ns: int = 10 * _MS, step_ns: int = 20 * _MS) -> None:
        self._report_ns, self._step_ns = report_ns, step_ns
        self._last_apart_ns = self._reported_apart_ns = 0
        self._last_ns: int | None = None

    def compare(self, at_ns: int, apart_ns: int) -> ClockCompared | None:
        """Return the event for a wall clock ``apart_ns`` ahead at ``at_ns``, if one is due."""
        since_ns = at_ns - (at_ns if self._last_ns is None else self._last_ns)
        changed_ns = apart_ns - self._last_apart_ns
        self._last_ns, self._last_apart_ns = at_ns, apart_ns
        stepped = abs(changed_ns) > self._step_ns + since_ns // WORST_DRIFT
        if not stepped and abs(apart_ns - self._reported_apart_ns) < self._report_ns:
            return None
        self._reported_apart_ns = apart_ns
        return ClockCompared(
            source="clock",
            at=at_ns,
            wall_ns=at_ns + apart_ns,
            apart_ns=apart_ns,
            step_ns=changed_ns if stepped else 0,
        )


async def watch_wall(
    clock: HostClock, report: Callable[[ClockCompared], None], every_ns: int = 10_000 * _MS
) -> None:
    """Compare the host's wall clock regularly, and report when it moved away, until cancelled."""
    watch = WallWatch()
    while True:
        event = watch.compare(clock.now_ns(), clock.apart_ns())
        if event is not None:
            report(event)
        await clock.reached(clock.now_ns() + every_ns)


async def watch_sync(
    clock: Clock,
    report: Callable[[ClockSynchronisation], None],
    state_of: Callable[[], SyncState] = kernel_sync,
    every_ns: int = 60_000 * _MS,
) -> None:
    """Report whether the wall clock is synchronised, at once and at changes, until cancelled."""
    reported: SyncState | None = None
    while True:
        state = state_of()
        if state != reported:
            report(ClockSynchronisation(source="clock", at=clock.now_ns(), state=state))
            reported = state
        await clock.reached(clock.now_ns() + every_ns)


class StreamClock:
    """Converts a stream's own time stamps into the table's time.

    A picture cannot arrive before it was taken. So the earliest arrivals show the offset of the
    stream's clock, and a later arrival is transport delay. The first picture sets the offset. A
    picture that arrives too early pulls it back at once. Lateness that all pictures of a window
    share pushes it forward: it is drift, or a clock that stood still.

    Args:
        source: the camera.
        window_ns: how long lateness must last to count as the clock's, not as transport delay.
        report_ns: the change of the offset that causes a new report, at most one a second.
    """

    def __init__(
        self, source: str, window_ns: int = 10_000 * _MS, report_ns: int = 10 * _MS
    ) -> None:
        self._source, self._window_ns, self._report_ns = source, window_ns, report_ns
        self._offset_ns: int | None = None
        self._unreported_ns = self._latest_ns = self._last_report_ns = self._last_stamp_ns = 0
        self._window_end_ns = self._least_late_ns = 0
        self._events: list[ClockAnchored] = []

    def at_ns(self, stamp_ns: int, arrived_ns: int) -> int:
        """Return when a picture with this stamp was taken: never back, never after its arrival."""
        if self._offset_ns is None:
            self._offset_ns = arrived_ns - stamp_ns
            self._report(arrived_ns)
            self._open_window(arrived_ns)
        late_ns = arrived_ns - stamp_ns - self._offset_ns
        if late_ns < 0 or stamp_ns < self._last_stamp_ns:
            self._move(late_ns, arrived_ns)
            late_ns = 0
        self._last_stamp_ns = stamp_ns
        self._watch(late_ns, arrived_ns)
        self._latest_ns = max(self._latest_ns, stamp_ns + self._offset_ns)
        if (
            abs(self._unreported_ns) >= self._report_ns
            and arrived_ns - self._last_report_ns >= 1000 * _MS
        ):
            self._report(arrived_ns)
        return self._latest_ns

    def events(self) -> tuple[ClockAnchored, ...]:
        """Return the events since the last call."""
        events = tuple(self._events)
        self._events.clear()
        return events

    def _watch(self, late_ns: int, arrived_ns: int) -> None:
        self._least_late_ns = min(self._least_late_ns, late_ns)
        if arrived_ns >= self._window_end_ns:
            if self._least_late_ns:
                self._move(self._least_late_ns, arrived_ns)
            self._open_window(arrived_ns)

    def _move(self, by_ns: int, arrived_ns: int) -> None:
        assert self._offset_ns is not None
        self._offset_ns += by_ns
        self._unreported_ns += by_ns
        self._open_window(arrived_ns)

    def _open_window(self, arrived_ns: int) -> None:
        self._window_end_ns = arrived_ns + self._window_ns
        self._least_late_ns = self._window_ns

    def _report(self, arrived_ns: int) -> None:
        self._events.append(
            ClockAnchored(
                source=self._source, at=arrived_ns, wall_ns=arrived_ns, step_ns=self._unreported_ns
            )
        )
        self._unreported_ns, self._last_report_ns = 0, arrived_ns
