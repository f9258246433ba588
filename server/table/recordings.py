"""A live table's recordings: consecutive session folders and their clean-up."""

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
"""Nanoseconds after which data from before a folder's change has arrived."""

_HOUR_NS: Final = 3_600_000_000_000


class Recordings:
    """Records data in the session folder of its own time.

    :attr:`broken` reports a failing recording, which stops nothing. Once the disk works again,
    :meth:`look_after` begins a new folder.

    Args:
        begin: begins the session folder of an instant.
        now_ns: the start of the first.

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
        """The folder being written."""
        return self._current

    @property
    def writing(self) -> frozenset[str]:
        """The names of the folders that data may still come to."""
        return frozenset(one.folder.name for one in (*self._ended, self._current))

    def received(self, port: str, at_ns: int, data: bytes) -> None:
        """Record one read of a port."""
        self._keep(lambda: self._of(at_ns).received(port, at_ns, data))

    def filmed(self, camera: str, frame: Frame) -> None:
        """Record a picture."""
        self._keep(lambda: self._of(frame.at_ns).films[camera].add(frame))

    def entered(self, entry: ConsoleEntry, at_ns: int) -> None:
        """Record a person's entry."""
        self._keep(lambda: self._of(at_ns).entered(entry))

    def link_event(self, observation: Observation, at_ns: int) -> None:
        """Record a link event."""
        self._keep(lambda: self._of(at_ns).link_event(observation))

    def turn_over(self, now_ns: int) -> None:
        """Begin a new session folder; the old one is closed once no data can arrive for it."""
        self._keep(lambda: self._renew(now_ns))

    def look_after(self, now_ns: int) -> None:
        """Close finished folders; begin a new one after a failure."""
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
        """Return the hashes of the recording since the last call, an entry for each folder."""
        closed, self._closed = self._closed, []
        return tuple(one.hashed(now_ns) for one in (*closed, *self._ended, self._current))

    def _of(self, at_ns: int) -> SessionRecorder:
        """Return the folder of an instant: a camera's data may come after the next was begun."""
        current = self._current
        if at_ns < current.start_ns and self._ended:
            return self._ended[-1]
        return current

    def _renew(self, now_ns: int) -> None:
        begun = self._begin(now_ns)
        # A camera's thread reads both: the old one must be found first, then the new.
        self._ended += (self._current,)
        self._current, self._ended_ns = begun, now_ns

    def _close_ended(self) -> None:
        ended, self._ended = self._ended, ()
        self._closed += ended
        for old in ended:
            # The failure was reported; the whole part can be replayed unclosed.
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
