"""Two clocks that part: the host's wall clock from the table's, a camera's from the table's.

A session has one anchor: the table's clock is set once and then runs undisturbed. What other
clocks do beside it is recorded, drift and steps alike; nothing here asks for the time.
"""

from collections.abc import Callable
from typing import Final

from models.events import ClockAnchored, ClockCompared, ClockSynchronisation, SyncState
from stream.clock import Clock, HostClock, kernel_sync

_MS: Final = 1_000_000
_WORST_DRIFT: Final = 2000
"""A host's clock drifts by less than one part in so many: what is more is a step."""


class WallWatch:
    """Says when the wall clock has parted from the table's.

    Args:
        told_ns: how far it drifts before it is reported again.
        step_ns: how much more than it can drift makes it a step.
    """

    def __init__(self, told_ns: int = 10 * _MS, step_ns: int = 20 * _MS) -> None:
        self._told_ns, self._step_ns = told_ns, step_ns
        self._last_apart_ns = self._told_apart_ns = 0
        self._last_ns: int | None = None

    def compare(self, at_ns: int, apart_ns: int) -> ClockCompared | None:
        """Return what is to be recorded of the wall clock being ``apart_ns`` ahead at ``at_ns``."""
        since_ns = at_ns - (at_ns if self._last_ns is None else self._last_ns)
        changed_ns = apart_ns - self._last_apart_ns
        self._last_ns, self._last_apart_ns = at_ns, apart_ns
        stepped = abs(changed_ns) > self._step_ns + since_ns // _WORST_DRIFT
        if not stepped and abs(apart_ns - self._told_apart_ns) < self._told_ns:
            return None
        self._told_apart_ns = apart_ns
        return ClockCompared(
            source="clock",
            at=at_ns,
            wall_ns=at_ns + apart_ns,
            apart_ns=apart_ns,
            step_ns=changed_ns if stepped else 0,
        )


async def watch_wall(
    clock: HostClock, say: Callable[[ClockCompared], None], every_ns: int = 10_000 * _MS
) -> None:
    """Compare the host's wall clock again and again, and say when it parted, until cancelled."""
    watch = WallWatch()
    while True:
        event = watch.compare(clock.now_ns(), clock.apart_ns())
        if event is not None:
            say(event)
        await clock.reached(clock.now_ns() + every_ns)


async def watch_sync(
    clock: Clock,
    say: Callable[[ClockSynchronisation], None],
    state_of: Callable[[], SyncState] = kernel_sync,
    every_ns: int = 60_000 * _MS,
) -> None:
    """Say whether the wall clock is kept, at once and whenever that changes, until cancelled."""
    told: SyncState | None = None
    while True:
        state = state_of()
        if state != told:
            say(ClockSynchronisation(source="clock", at=clock.now_ns(), state=state))
            told = state
        await clock.reached(clock.now_ns() + every_ns)


class StreamClock:
    """A stream's own time stamps, put into the table's time.

    A picture cannot arrive before it was taken, so the earliest arrivals show where the
    stream's clock stands, and what comes later than those is delay on the way, not time. The
    map is set with the first picture, pulled back at once by a picture that comes too early,
    and pushed on by what all pictures of a window were late: drift, or a clock that stood.

    Args:
        source: the camera.
        window_ns: how long lateness must last to be the clock's and not the way's.
        told_ns: how far the map moves before it is reported again, once a second at most.
    """

    def __init__(self, source: str, window_ns: int = 10_000 * _MS, told_ns: int = 10 * _MS) -> None:
        self._source, self._window_ns, self._told_ns = source, window_ns, told_ns
        self._offset_ns: int | None = None
        self._untold_ns = self._latest_ns = self._last_told_ns = self._last_stamp_ns = 0
        self._window_end_ns = self._least_late_ns = 0
        self._events: list[ClockAnchored] = []

    def at_ns(self, stamp_ns: int, arrived_ns: int) -> int:
        """Return when a picture of this stamp was taken: never back, never after its arrival."""
        if self._offset_ns is None:
            self._offset_ns = arrived_ns - stamp_ns
            self._tell(arrived_ns)
            self._open_window(arrived_ns)
        late_ns = arrived_ns - stamp_ns - self._offset_ns
        if late_ns < 0 or stamp_ns < self._last_stamp_ns:
            self._move(late_ns, arrived_ns)
            late_ns = 0
        self._last_stamp_ns = stamp_ns
        self._watch(late_ns, arrived_ns)
        self._latest_ns = max(self._latest_ns, stamp_ns + self._offset_ns)
        if abs(self._untold_ns) >= self._told_ns and arrived_ns - self._last_told_ns >= 1000 * _MS:
            self._tell(arrived_ns)
        return self._latest_ns

    def events(self) -> tuple[ClockAnchored, ...]:
        """Return what is to be recorded since this was last asked."""
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
        self._untold_ns += by_ns
        self._open_window(arrived_ns)

    def _open_window(self, arrived_ns: int) -> None:
        self._window_end_ns = arrived_ns + self._window_ns
        self._least_late_ns = self._window_ns

    def _tell(self, arrived_ns: int) -> None:
        self._events.append(
            ClockAnchored(
                source=self._source, at=arrived_ns, wall_ns=arrived_ns, step_ns=self._untold_ns
            )
        )
        self._untold_ns, self._last_told_ns = 0, arrived_ns
