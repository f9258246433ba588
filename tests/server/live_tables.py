"""Whole live tables for tests: a simulated session played through real ports to a real table."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.events import CardDealt, Event, RoundOpened
from models.judgements import RoundResult, RoundSettled
from server.live.check import checked
from server.live.playing import Playing
from server.live.table import LiveTable
from simulation.session import Settings, prepare
from stream.clock import Clock, HostClock
from stream.journal import Journal
from tests.vision.truth_reader import TruthReader
from vision.change import Rect
from vision.felt import locate
from vision.scenes.look import Look
from vision.sightings import Sightings

SETTINGS = Settings(
    rounds=1,
    seed=4,
    spots=(1, 3),
    look=Look(width_px=640, height_px=360, fps=10, noise_sigma=1.0),
)


class Told:
    """A reader that knows what is played and looks at the clock."""

    confident_p = 0.98

    def __init__(self, settings: Settings, playing: Playing, clock: Clock | None = None) -> None:
        (camera,) = playing.recording.session.cameras
        felt = locate(camera.view, where="test")
        self._truth = TruthReader(prepare(settings).staged.performance, felt)
        self._playing, self._clock = playing, clock or HostClock()

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
    """One run of a table; ``settled`` fills as rounds settle."""

    def __init__(self, playing: Playing, settings: Settings, journal: Path) -> None:
        self._playing, self._settings, self._path = playing, settings, journal
        self.settled: list[RoundResult] = []
        self.recording: Path | None = None
        self.line = ""
        self._said: list[Event] = []

    def _take(self, event: Event) -> None:
        self._said.append(event)
        if isinstance(event, RoundSettled):
            self.settled.append(event.result)

    def said(self) -> tuple[Event, ...]:
        """Every entry of the journal that this run wrote so far."""
        return tuple(self._said)

    def in_play(self) -> bool:
        """Whether a round has begun."""
        return any(isinstance(event, RoundOpened) for event in self._said)

    def cards(self) -> int:
        """How many cards were dealt."""
        return sum(isinstance(event, CardDealt) for event in self._said)

    async def until(
        self,
        enough: Callable[["Run"], bool],
        *,
        begin: bool = True,
        within_s: float = 90,
    ) -> None:
        """Run the table until ``enough``; with ``begin`` the session begins to play."""
        there = self._path.exists()
        with Journal.open(self._path) if there else Journal.create(self._path) as journal:
            reader = Told(self._settings, self._playing)
            placed = checked(self._playing.config)
            table = LiveTable(placed, journal, HostClock(), reader, self._take)
            self.recording = table.recording
            stop = asyncio.Event()
            running = asyncio.create_task(table.run(stop))
            if begin:
                while len(table.standing.heard) < len(table.standing.sources):
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0.5)
                self._playing.play()
            async with asyncio.timeout(within_s):
                while not (enough(self) or running.done()):
                    await asyncio.sleep(0.05)
            self.line = table.standing.line()
            stop.set()
            await running
