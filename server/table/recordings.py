"""A live table's recordings: session folders, one after the other, and what becomes of them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from devices.cameras.frame import Frame
from models.errors import TechnicianError
from models.events import ConsoleEntry, Observation
from server.table.config import Recorder
from server.table.recorder import SessionRecorder
from server.table.status import Standing
from stream.recorded import RecordingHashed

IN_FLIGHT_NS: Final = 60_000_000_000
"""What was taken before a folder was turned over has come to it after so long."""

_HOUR_NS: Final = 3_600_000_000_000


class Recordings:
    """Keeps what comes in the session folder of its own time.

    A recording that cannot be written is told by :attr:`broken` and stops nothing; once the
    disk is well again, :meth:`look_after` begins a new folder.

    Args:
        begin: begins the session folder of an instant.
        now_ns: when the first begins.

    Raises:
        TechnicianError: the first cannot be begun.
    """

    def __init__(self, begin: Callable[[int], SessionRecorder], now_ns: int) -> None:
        self._begin = begin
        self._current = begin(now_ns)
        self._ended: tuple[SessionRecorder, ...] = ()
        self._ended_ns = now_ns
        self._closed: list[SessionRecorder] = []
        self.broken: str | None = None
        """Why nothing is recorded at present."""

    @property
    def current(self) -> SessionRecorder:
        """What is written now."""
        return self._current

    def heard(self, port: str, at_ns: int, data: bytes) -> None:
        """Keep what one read of a port returned."""
        self._keep(lambda: self._of(at_ns).heard(port, at_ns, data))

    def filmed(self, camera: str, frame: Frame) -> None:
        """Keep a picture."""
        self._keep(lambda: self._of(frame.at_ns).films[camera].add(frame))

    def entered(self, entry: ConsoleEntry, at_ns: int) -> None:
        """Keep what a person entered."""
        self._keep(lambda: self._of(at_ns).entered(entry))

    def told(self, observation: Observation, at_ns: int) -> None:
        """Keep what was told of a device's link."""
        self._keep(lambda: self._of(at_ns).told(observation))

    def turn_over(self, now_ns: int) -> None:
        """Begin a new session folder; the old one is closed once nothing can come to it."""
        self._keep(lambda: self._renew(now_ns))

    def look_after(self, now_ns: int) -> None:
        """Close what has ended; begin anew where the recording broke off."""
        if self.broken is not None:
            self.broken = None
            self.turn_over(now_ns)
        if now_ns - self._ended_ns > IN_FLIGHT_NS:
            self._close_ended()

    def close(self) -> None:
        """Finish every file."""
        self._close_ended()
        self._keep(self._current.close)

    def hashed(self, now_ns: int) -> tuple[RecordingHashed, ...]:
        """Return the hashes of what was recorded since the last call, an entry for each folder."""
        closed, self._closed = self._closed, []
        return tuple(one.hashed(now_ns) for one in (*closed, *self._ended, self._current))

    def _of(self, at_ns: int) -> SessionRecorder:
        """The folder of an instant: a camera's word may come after the next was begun."""
        current = self._current
        if at_ns < current.start_ns and self._ended:
            return self._ended[-1]
        return current

    def _renew(self, now_ns: int) -> None:
        begun = self._begin(now_ns)
        # A camera's thread asks for both: first the old one is to be found, then the new.
        self._ended += (self._current,)
        self._current, self._ended_ns = begun, now_ns

    def _close_ended(self) -> None:
        ended, self._ended = self._ended, ()
        self._closed += ended
        for old in ended:
            # What broke off was told then; what is whole in it can be replayed unclosed.
            with suppress(OSError, TechnicianError):
                old.close()

    def _keep(self, write: Callable[[], None]) -> None:
        if self.broken is None:
            try:
                write()
            except (OSError, TechnicianError) as fault:
                self.broken = str(fault)


def may_turn_over(lasted_ns: int, recorder: Recorder, standing: Standing, dealing: str) -> bool:
    """Return whether a session folder is old enough, and the next would begin with nothing open.

    Between two shoes, so that the next folder knows its shoe from the first card; where no shoe
    comes to its end, between two rounds after twice the time.
    """
    lasted = lasted_ns / (recorder.session_hours * _HOUR_NS)
    quiet = standing.in_play is None and not standing.lying
    return quiet and lasted >= (1 if standing.shoe_out or dealing == "pitch" else 2)
