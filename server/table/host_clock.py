"""Check the host's clock; a house that requires it gets no table without a good clock."""

from collections.abc import Iterator
from dataclasses import dataclass

from models.errors import TechnicianError
from models.events import ClockAnchored, ClockCompared, ClockSynchronisation, Event, SyncState
from server.table.config import Placed

_SETTING = 'clock = "require"'


def check_synchronised(placed: Placed, state: SyncState) -> None:
    """Refuse an unsynchronised clock where the table's configuration requires one.

    Raises:
        TechnicianError: it is not synchronised, or its state is unknown.
    """
    if placed.config.clock == "warn" or state == "synchronised":
        return
    what = "is not synchronised" if state == "unsynchronised" else "cannot be queried"
    raise TechnicianError(
        f"the host's clock {what}, and {_SETTING} requires a synchronised one",
        where=str(placed.file),
        way_out="Start chrony, ntpd or systemd-timesyncd, and wait until it has a server",
    )


def check_not_before(placed: Placed, now_ns: int, end_ns: int) -> None:
    """Refuse to write entries older than the journal's last, where the configuration requires that.

    Raises:
        TechnicianError: the host's clock is behind ``end_ns``.
    """
    if placed.config.clock == "require" and now_ns < end_ns:
        behind_s = (end_ns - now_ns) / 1e9
        raise TechnicianError(
            f"the host's clock is {behind_s:.1f} s behind the journal's last entry",
            where=str(placed.file),
            way_out=f"Set the clock, or remove {_SETTING} to continue with a warning",
        )


def stepped_back(anchored: ClockAnchored, end_ns: int) -> ClockCompared | None:
    """Return the event of a table's start before the last entry of its journal."""
    at_ns = anchored.at or 0
    if at_ns >= end_ns:
        return None
    return ClockCompared(
        source="clock", at=at_ns, wall_ns=anchored.wall_ns, apart_ns=0, step_ns=at_ns - end_ns
    )


@dataclass
class ClockStanding:
    """The state of the host's clock from a table's entries."""

    state: SyncState = "synchronised"
    step_ns: int = 0
    """Its last jump in this run, in nanoseconds."""

    def take(self, event: Event) -> None:
        """Process the next entry."""
        match event:
            case ClockSynchronisation():
                self.state = event.state
            case ClockAnchored() if event.source == "clock":
                self.step_ns = 0  # a new run set the table's clock
            case ClockCompared() if event.step_ns:
                self.step_ns = event.step_ns
            case _:
                pass

    def faults(self) -> Iterator[str]:
        """Yield the clock's faults for people; none where it is reliable."""
        if self.state != "synchronised":
            yield "CLOCK NOT SYNCHRONISED" if self.state == "unsynchronised" else "CLOCK UNKNOWN"
        if self.step_ns:
            yield f"CLOCK STEPPED {self.step_ns / 1e9:+.1f} s"
