"""A machine whose clocks are as wrong as a test wants them, and its program's journal."""

from dataclasses import dataclass, field
from typing import Final

from models.events import (
    ClockAnchored,
    ClockChecked,
    ClockCompared,
    ClockSynchronisation,
    Event,
    SyncState,
)
from server.table.host_clock import stepped_back
from stream.ages import BackupMade
from stream.drift import WallWatch
from stream.recorded import RecordingHashed

S: Final = 1_000_000_000
HOUR: Final = 3600 * S
DAY: Final = 24 * HOUR
YEAR: Final = 365 * DAY
_COMPARED_NS: Final = 10 * S


@dataclass
class Machine:
    """One machine, and what its program journals; a program runs from the beginning."""

    true_ns: int = 1_760_000_000 * S
    ahead_ns: int = 0
    """How far the wall clock is ahead of the true time."""
    up_ns: int = HOUR
    entries: list[Event] = field(default_factory=list)
    _clock_ns: int = 0
    """How far the program's clock is ahead of the true time."""
    _watch: WallWatch = field(default_factory=WallWatch)

    def __post_init__(self) -> None:
        self.start()

    @property
    def now_ns(self) -> int:
        """The program's time."""
        return self.true_ns + self._clock_ns

    def start(self, state: SyncState = "synchronised") -> None:
        """Start the program anew."""
        self._clock_ns, self._watch = self.ahead_ns, WallWatch()
        wall_ns = self.true_ns + self.ahead_ns
        anchored = ClockAnchored(
            source="clock", at=self.now_ns, wall_ns=wall_ns, step_ns=0, up_ns=self.up_ns
        )
        end_ns = max((one.at or 0 for one in self.entries), default=0)
        self.entries.append(anchored)
        if (back := stepped_back(anchored, end_ns)) is not None:
            self.entries.append(back)
        self._compare()
        self.sync(state)

    def sync(self, state: SyncState) -> None:
        """Journal what the kernel says of the wall clock."""
        self.entries.append(ClockSynchronisation(source="clock", at=self.now_ns, state=state))

    def run(self, time_ns: int) -> None:
        """Let the program run."""
        self.rest(time_ns)
        self._compare()
        named = [one for one in self.entries if isinstance(one, RecordingHashed | BackupMade)]
        for one in named[-1:]:
            self.made(one.folder)

    def rest(self, time_ns: int) -> None:
        """Let time pass without the program; the machine is on."""
        self.true_ns += time_ns
        self.up_ns += time_ns

    def power_off(self, time_ns: int) -> None:
        """Switch the machine off for so long, and on again."""
        self.up_ns = 20 * S
        self.true_ns += time_ns + self.up_ns

    def jump(self, by_ns: int) -> None:
        """Set the wall clock, which a running program finds soon."""
        self.ahead_ns += by_ns

    def check(self) -> None:
        """A person finds the clock right."""
        self.entries.append(ClockChecked(source="console:ann", at=self.now_ns))

    def made(self, name: str) -> None:
        """Journal that something was recorded."""
        self.entries.append(BackupMade(at=self.now_ns, folder=name))

    def _compare(self) -> None:
        self._watch.compare(self.now_ns - _COMPARED_NS, self._watch._last_apart_ns)
        found = self._watch.compare(self.now_ns, self.ahead_ns - self._clock_ns)
        if isinstance(found, ClockCompared):
            self.entries.append(found)
