"""Replay a recorded session: pixels and serial bytes in, settled rounds out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from devices.cameras.frame import Frame
from models.events import AnyObservation, CardSighted, ConsoleEntry, DeviceReturned
from models.judgements import AnyEvent, RoundResult
from models.rulebook import Cited, Rulebook
from models.session import CameraRecord
from server.house.citations import Book
from server.house.known_decks import BESIDE, library, taught
from server.house.rulebooks import at_table, cited, stated
from server.process.stopwatch import Stopwatch
from server.table.clock_faults import ClockFaults
from server.table.comparison import Comparison, compare_sessions
from server.table.pipeline import Pipeline
from server.table.sources import Given, Link, Recording, open_recording, play
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from stream.clock import Clock, ReplayClock
from stream.journal import Journal
from stream.reading import UnknownEvent
from stream.recording import SESSION_FILE
from stream.replay import Timed, paced
from vision.change import Rect
from vision.crops import jpeg
from vision.sightings import CardReader, Sightings
from vision.watch import Watcher

CROP_WIDTH_PX = 120


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """The options of a replay."""

    folder: Path
    rulebook: str | None = None
    """Replaces the session's own."""
    knobs: tuple[str, ...] = ()
    speed: float | None = None
    """Multiple of real time; ``None`` is as fast as possible."""
    library: Path | None = None
    """The library of the decks in use, besides those of the session."""
    pictures: bool = False
    """Whether to keep the crop behind each sighting."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay."""

    recording: Recording
    book: Book
    """The sheet, and the rules in force: the table's own limits and the overrides."""
    rounds: tuple[RoundResult, ...]
    comparisons: tuple[Comparison, ...] | None
    """With the truth; ``None`` where the session has none."""
    events: tuple[AnyEvent, ...]
    head: str
    """Hash of the journal's last entry."""
    jpegs: Mapping[int, bytes]
    """Crops by the ``seq`` of the sighting."""
    duration_ns: int


def replay(
    options: ReplayOptions,
    journal: Journal,
    load_reader: Callable[[], CardReader],
    stopwatch: Stopwatch,
    *,
    progress: Callable[[float], None] = lambda _: None,
    clock: Clock | None = None,
    opened: Callable[[Path], Recording] = open_recording,
    stating: Callable[[int], AnyObservation] | None = None,
) -> Replayed:
    """Replay a session from its first frame to its last and settle every round of it.

    The reader is loaded only once the recording has been checked. Without a ``clock`` the replay
    uses its own, at the speed of ``options``. ``opened`` reads the session folder; a bench with
    disturbed films passes its own. ``stating`` returns the journal's first entry, given the start
    of the recording; in a stored journal it states the program.

    Raises:
        PitwatchError: the session is missing, damaged or impossible; earlier journal entries are no
            result.
    """
    recording = opened(options.folder)
    book = _rulebook(options, recording)
    rules = _site_rules(book.rules, recording, options.knobs)
    table = Reckoning(rules, recording.layout, recording.session.dealing)
    pipeline = Pipeline(recording.session.table, journal, table, Engine(rules), stopwatch)
    libraries = [library(options.folder / BESIDE), library(options.library)]
    reader = taught(load_reader(), recording.session.decks, libraries, recording.session.letters)
    player = _Player(recording, pipeline, reader, stopwatch, pictures=options.pictures)
    clock = clock or ReplayClock(recording.session.at, options.speed)
    began_ns = recording.session.at
    first = () if stating is None else (stating(began_ns),)
    pipeline.observe((*first, stated(rules, "session", began_ns)), began_ns)
    player.run(clock, progress)
    rounds = pipeline.rounds()
    truth = recording.truth
    return Replayed(
        recording=recording,
        book=Book(book, rules),
        rounds=rounds,
        comparisons=None
        if truth is None
        else compare_sessions(truth, rounds, held=rules.player_cards == "down"),
        events=tuple(e for e in journal.read() if not isinstance(e, UnknownEvent)),
        head=journal.verify().head,
        jpegs=player.jpegs,
        duration_ns=clock.now_ns() - recording.session.at,
    )


def _rulebook(options: ReplayOptions, recording: Recording) -> Cited:
    if options.rulebook is not None:
        return cited(options.rulebook)
    folder = options.folder
    return cited(recording.session.rulebook, folder, folder / SESSION_FILE)


def _site_rules(rules: Rulebook, recording: Recording, knobs: tuple[str, ...]) -> Rulebook:
    """Return the table's own limits with the rulebook's rules and ``--set``."""
    session = recording.session
    return at_table(rules, session.table_min, session.table_max, knobs)


class _Player:
    """Passes every source's data to the pipeline in order."""

    def __init__(
        self,
        recording: Recording,
        pipeline: Pipeline,
        reader: CardReader,
        stopwatch: Stopwatch,
        *,
        pictures: bool,
    ) -> None:
        self.jpegs: dict[int, bytes] = {}
        self._recording, self._pipeline = recording, pipeline
        self._stopwatch, self._pictures = stopwatch, pictures
        self._clock_faults = ClockFaults()
        self._drivers = {port.record.port: port.driver() for port in recording.ports}
        timed = TimedReader(reader, stopwatch)
        self._watchers = {
            camera.name: _watcher(timed, recording, camera) for camera, _ in recording.cameras
        }

    def run(self, clock: Clock, progress: Callable[[float], None]) -> None:
        cameras = [
            self._stopwatch.timed(camera.frames(), "decoding")
            for _, camera in self._recording.cameras
        ]
        seen = 0
        for item in paced(play(self._recording, cameras), clock):
            self._take(item)
            if isinstance(item.value, Frame):
                seen += 1
                progress(seen / self._recording.frames)
        self._finish(clock.now_ns())

    def _take(self, item: Timed[Given]) -> None:
        given = item.value
        if isinstance(given, Frame):
            self._see(given, self._watchers[item.source])
        elif isinstance(given, ConsoleEntry):
            self._pipeline.observe((given,), item.at_ns)
        elif isinstance(given, Link):
            self._pass_link_event(given, item.at_ns)
        else:
            self._pipeline.observe(self._drivers[item.source].feed(given, item.at_ns), item.at_ns)
        news = tuple(self._clock_faults.news(self._pipeline.parted, item.at_ns))
        if news:
            self._pipeline.observe(news, item.at_ns)

    def _pass_link_event(self, link: Link, at_ns: int) -> None:
        """Pass a link event to a port's driver, whose earlier report of it is in the link file."""
        driver = self._drivers.get(link.source)
        if driver is not None:
            if isinstance(link, DeviceReturned):
                driver.returned(at_ns)
            elif link.kind == "link_lost":
                self._pipeline.observe(driver.finish(at_ns), at_ns)
        self._pipeline.observe((link,), at_ns)

    def _see(self, frame: Frame, watcher: Watcher) -> None:
        with self._stopwatch.stage("detecting"):
            observed = watcher.see(frame)
        recorded = self._pipeline.observe(observed, frame.at_ns)
        if self._pictures:
            self._keep(frame, recorded)

    def _keep(self, frame: Frame, recorded: tuple[AnyObservation, ...]) -> None:
        for one in recorded:
            if isinstance(one, CardSighted) and one.seq and one.crop[2] and one.crop[3]:
                self.jpegs[one.seq] = jpeg(frame.image, one.crop, CROP_WIDTH_PX)

    def _finish(self, at_ns: int) -> None:
        for driver in self._drivers.values():
            self._pipeline.observe(driver.finish(at_ns), at_ns)
        for watcher in self._watchers.values():
            self._pipeline.observe(watcher.finish(), at_ns)
        self._pipeline.finish()


class TimedReader:
    """Measures the time of a reader."""

    def __init__(self, reader: CardReader, stopwatch: Stopwatch) -> None:
        self._reader, self._stopwatch = reader, stopwatch

    @property
    def confident_p(self) -> float:
        """Probability from which a reading is certain."""
        return self._reader.confident_p

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        """Read the cards of ``region``, in pixels of the whole picture."""
        with self._stopwatch.stage("reading"):
            return self._reader.read(image, card_width_px=card_width_px, region=region)


def _watcher(reader: CardReader, recording: Recording, camera: CameraRecord) -> Watcher:
    return Watcher(reader, recording.layout, camera.view, camera.name)
