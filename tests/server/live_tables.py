"""Whole live tables for tests: a simulated session played through real ports to a real table."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from models.events import CardDealt, Event, RoundOpened
from models.judgements import RoundResult, RoundSettled
from server.house.formatting import Formats
from server.table.check import checked
from server.table.live import LiveTable
from server.table.playing import Playing
from simulation.session import Settings, prepare
from stream.clock import Clock, HostClock, ReplayClock
from stream.journal import Journal
from tests.vision.truth_reader import TruthReader
from vision.change import Rect
from vision.felt import locate
from vision.scenes.look import Look
from vision.sightings import Sightings
from vision.watch import Observed, Picture, Watcher

SETTINGS = Settings(
    rounds=1,
    seed=4,
    spots=(1, 3),
    look=Look(width_px=640, height_px=360, fps=10, noise_sigma=1.0),
)


class PictureClock(ReplayClock):
    """The time of the picture that is being read: on a busy machine that is not now."""

    def __init__(self, busy: Callable[[], None]) -> None:
        super().__init__(0)
        self._busy = busy

    def watcher(self, *given: Any) -> Watcher:
        """Return a watcher that sets the clock to the time of each picture it sees."""
        pictured = self

        class TimingWatcher(Watcher):
            def see(self, frame: Picture) -> tuple[Observed, ...]:
                pictured._busy()
                pictured.wait_until(frame.at_ns)
                return super().see(frame)

        return TimingWatcher(*given)


class TruthfulReader:
    """A reader that knows what is played and when the picture was taken."""

    confident_p = 0.98

    def __init__(self, settings: Settings, playing: Playing, clock: Clock) -> None:
        (camera,) = playing.recording.session.cameras
        felt = locate(camera.view, where="test")
        self._truth = TruthReader(prepare(settings).staged.performance, felt)
        self._playing, self._clock = playing, clock

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        begun_ns = self._playing.start_ns
        self._truth.now_ns = self._clock.now_ns() - begun_ns if begun_ns else 0
        return self._truth.read(image, card_width_px=card_width_px, region=region)


class Run:
    """One run of a table; ``settled`` fills as rounds settle.

    ``busy_s``: what else the machine does, as seconds before each picture is read.
    """

    def __init__(self, playing: Playing, settings: Settings, journal: Path) -> None:
        self._playing, self._settings, self._path = playing, settings, journal
        self.settled: list[RoundResult] = []
        self.recording: Path | None = None
        self.busy_s = 0.0
        self.lines: list[str] = []
        """The status line, each time that it changed."""
        self._entries: list[Event] = []

    def _take(self, event: Event) -> None:
        self._entries.append(event)
        if isinstance(event, RoundSettled):
            self.settled.append(event.result)

    @property
    def line(self) -> str:
        """The last status line."""
        return self.lines[-1]

    def entries(self) -> tuple[Event, ...]:
        """Every entry of the journal that this run wrote so far."""
        return tuple(self._entries)

    def in_play(self) -> bool:
        """Whether a round has begun."""
        return any(isinstance(event, RoundOpened) for event in self._entries)

    def cards(self) -> int:
        """How many cards were dealt."""
        return sum(isinstance(event, CardDealt) for event in self._entries)

    async def until(
        self,
        enough: Callable[["Run"], bool],
        *,
        begin: bool = True,
        begun_ns: Callable[[], int] | None = None,
        within_s: float = 150,
    ) -> None:
        """Run the table until ``enough``.

        With ``begin`` the session begins to play once every device is connected; or it began by
        itself, with what a camera of its own shows, at ``begun_ns``.
        """
        there = self._path.exists()
        with Journal.open(self._path) if there else Journal.create(self._path) as journal:
            pictured = PictureClock(lambda: time.sleep(self.busy_s))
            reader = TruthfulReader(self._settings, self._playing, pictured)
            placed = checked(self._playing.config)
            table = LiveTable(placed, journal, HostClock(), reader, self._take)
            self.recording = table.recording
            stop = asyncio.Event()
            with patch("server.table.live.Watcher", pictured.watcher):
                running = asyncio.create_task(table.run(stop))
                await asyncio.sleep(0)
            if begin:
                while len(table.standing.connected) < len(table.standing.sources):
                    if running.done():
                        raise AssertionError(f"ended unconnected: {running.exception()!r}")
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0 if begun_ns else 0.5)
                self._playing.play(begun_ns() if begun_ns else None)
            due_s = time.monotonic() + within_s
            while not (enough(self) or running.done() or time.monotonic() > due_s):
                self._look(table)
                await asyncio.sleep(0.05)
            self._look(table)
            stop.set()
            await running
            assert enough(self), f"not within {within_s} s: {self.line}\n{self._listing()}"

    def _look(self, table: LiveTable) -> None:
        line = table.standing.line(Formats())
        if line not in self.lines[-1:]:
            self.lines.append(line)

    def _listing(self) -> str:
        """List the entries, to find out why a run did not come far enough."""
        return "\n".join(str(event)[:200] for event in self._entries)
