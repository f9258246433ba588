"""One live table: the devices, connected to the same pipeline as a replay."""

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from devices.cameras.frame import Frame
from devices.cameras.live import LiveCamera
from devices.link import ByteDevice, serial_port
from devices.presence import local_path
from devices.registry import driver_config, make_driver
from devices.supervisor import Report, Supervised, Supervisor
from models.errors import InputRefused, PitwatchError
from models.events import (
    AnyObservation,
    ConsoleEntry,
    Event,
    Observation,
    ReviewResolved,
)
from models.layout import TableLayout
from server.house.rulebooks import stated
from server.process.program import this_program
from server.process.stopwatch import Stopwatch
from server.table.clearing import Clearing
from server.table.clock_faults import ClockFaults
from server.table.config import Camera, Placed, Port, layout_of, rules_of
from server.table.decision_requests import Words, open_for_requests
from server.table.entries import Entries
from server.table.eye import Eye
from server.table.gc_pauses import rare_collections
from server.table.host_clock import check_not_before, stepped_back
from server.table.kept_rest import RestFile
from server.table.order import Order
from server.table.overload import Overload
from server.table.persons import Word, check_spots
from server.table.pipeline import Pipeline
from server.table.record import TableRecord
from server.table.recorder import SessionRecorder, room_alarm
from server.table.recordings import Recordings, may_turn_over
from server.table.rest import Rest
from server.table.rest_keeper import RestKeeper
from server.table.resume import Identities, catch_up, past_of, recall, unwatched
from server.table.status import Standing
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from stream.clock import HostClock, elapsed_ns
from stream.drift import watch_sync, watch_wall
from stream.journal import Journal, verify_journal
from stream.replay import Timed
from vision.sightings import CardReader
from vision.watch import Watcher

T = TypeVar("T")

_MS: Final = 1_000_000
_TICK_NS: Final = 40 * _MS
_HASH_EVERY_NS: Final = 10_000 * _MS
"""Nanoseconds between journal entries with the hashes of the recording. Not measured."""
_ROUNDS_KEPT: Final = 200
"""Rounds kept in memory; earlier ones are read from the journal."""
_TIDY_NS: Final = 600_000 * _MS
_BEGIN_TIDY_NS: Final = 60_000 * _MS
"""Nanoseconds by which the journal states whether the clock is synchronised."""


class LiveTable:
    """Runs one table with one journal.

    Args:
        placed: the table's configuration.
        journal: the table's; an earlier run's entries are continued.
        clock: the table's time.
        reader: reads cards.
        on_entry: receives every journal entry of this run.
        stating: returns the entry that states the program, given the time of the start.
        rests: keeps the table's rests, and opened ``journal``; ``None`` keeps none.

    Raises:
        PitwatchError: something that the configuration names is missing, or the journal is another
            table's.
    """

    def __init__(
        self,
        placed: Placed,
        journal: Journal,
        clock: HostClock,
        reader: CardReader,
        on_entry: Callable[[Event], None] = lambda _: None,
        *,
        stating: Callable[[int], Observation] | None = None,
        rests: RestFile | None = None,
    ) -> None:
        config = placed.config
        self._placed, self._journal, self._clock = placed, journal, clock
        self._reader, self._on_entry, self._stating = reader, on_entry, stating
        self._layout: TableLayout = layout_of(placed)
        self._sources = tuple(f"camera:{camera.name}" for camera in config.cameras)
        self._order = Order(self._sources, config.hold_ms * _MS)
        self._overload = Overload()
        self._rules = rules_of(placed)
        with rare_collections():
            self._rests = rests
            self._past = past_of(journal, None if rests is None else rests.found)
            self._words = Words(self._past.decisions)
            check_not_before(placed, clock.now_ns(), self._past.end_ns)
            self._recalling = True
            self._pipeline = self._recalled()
            self._recalling = False
        self._clock_faults = ClockFaults()
        self._keeper = self._rest_keeper()
        self._recordings = self._begin_recording()
        self._hash_due_ns = 0
        self._failed: asyncio.Future[None]

    @property
    def recording(self) -> Path | None:
        """The session folder being written."""
        return None if self._recordings is None else self._recordings.current.folder

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set; the next run continues an open round.

        Raises:
            PitwatchError: the journal cannot be written, or a part of the table failed; the
                acknowledged entries are in the journal.
        """
        self._failed = asyncio.get_running_loop().create_future()
        self._begin()
        eyes = {camera.name: self._eye(camera) for camera in self._placed.config.cameras}
        devices: list[Supervised] = [self._device(port) for port in self._placed.config.ports]
        devices += [self._camera(camera, eyes) for camera in self._placed.config.cameras]
        entries = self._entries()
        devices = [_Noted(device, self.standing.connected) for device in devices]
        supervisor = Supervisor(self._clock, self._report, random.random)
        tasks = [
            asyncio.create_task(work)
            for work in (
                supervisor.keep_all(devices),
                watch_wall(self._clock, self._report),
                watch_sync(self._clock, self._report),
                self._keep_going(),
                self._keep_room(),
                self._verify_all(),
            )
        ]
        try:
            async with open_for_requests(
                self._placed.beside(self._placed.config.journal), self._journal_entry
            ):
                await self._until(stop, tasks)
        finally:
            if entries is not None:
                entries.stop()
            await _cancelled(tasks)
            for eye in eyes.values():
                await eye.close()
            await asyncio.sleep(0)
            self._keep(Recordings.close)
        self._give(self._order.rest(self._clock.now_ns()))
        self._hash_recordings(self._clock.now_ns())

    # --- start and end --------------------------------------------------------------------

    def _recalled(self) -> Pipeline:
        """Process the earlier run again, from the table's last rest if that is enough."""
        last_seq, rest = self._journal.last_seq, self._rest()
        try:
            return self._recalled_from(rest)
        except PitwatchError as fault:
            if rest is None or self._journal.last_seq != last_seq:
                raise
            if self._past.kept is None or self._rests is None:
                return self._recalled_from(None)
            self._rests.ignored(fault.what)
            self._journal.verify()
            self._past = past_of(self._journal)
        return self._recalled()

    def _rest(self) -> Rest | None:
        if self._stating is None or self._past.kept is not None:
            return self._past.rest
        return self._past.reading.rest_under(this_program().program_hash)

    def _rest_keeper(self) -> RestKeeper | None:
        """Return what keeps the rests from now on."""
        if self._rests is None:
            return None
        return RestKeeper(
            self._rests,
            self._journal,
            self._past,
            pipeline=self._pipeline,
            standing=self.standing,
        )

    def _recalled_from(self, rest: Rest | None) -> Pipeline:
        config = self._placed.config
        self.standing = Standing((*(port.name for port in config.ports), *self._sources))
        record = TableRecord(self._journal, self._publish)
        played = 0 if rest is None else rest.played
        if rest is not None and self._past.kept is not None:
            self.standing.go_on(self._past.kept.standing, rest)
        pipeline = Pipeline(
            config.table,
            record,
            Reckoning(self._rules, self._layout, config.dealing, played=played),
            Engine(self._rules),
            Stopwatch(elapsed_ns),
            kept=_ROUNDS_KEPT,
        )
        recall(self._past, pipeline, record, rest)
        return pipeline

    def _begin(self) -> None:
        anchored = self._clock.anchor()
        self._report(anchored)
        if (back := stepped_back(anchored, self._past.end_ns)) is not None:
            self._report(back)
        if self._stating is not None:
            self._report(self._stating(anchored.at or 0))
        rules = stated(self._rules, "configuration", anchored.at or 0)
        if not self._past.rules_stated:
            self._report(rules)
        if self._past.observations:
            for fault in unwatched(self._past, self._sources, anchored.at or 0):
                self._report(fault)

    async def _until(self, stop: asyncio.Event, tasks: Sequence["asyncio.Task[None]"]) -> None:
        """Return when ``stop`` is set; raise the error of a task, a camera or the journal."""
        stopped = asyncio.create_task(stop.wait())
        # The end of all devices (files, in tests) is no reason to stop: time goes on.
        going: set[asyncio.Future[Any]] = {*tasks, stopped, self._failed}
        try:
            while not stopped.done():
                done, going = await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
                for one in done:
                    one.result()
        except BaseExceptionGroup as faults:
            raise faults.exceptions[0] from faults
        finally:
            stopped.cancel()

    # --- wiring -----------------------------------------------------------------------------

    def _device(self, port: Port) -> ByteDevice:
        settings = self._placed.settings(port)
        config = driver_config(port.driver, settings)
        driver = make_driver(port.driver, settings)
        now_ns = self._clock.now_ns()
        for missed in catch_up(driver, getattr(config, "source", port.name), self._past, now_ns):
            self._report(missed)
        return ByteDevice(
            port.name,
            driver,
            serial_port(port.url, config),
            self._clock,
            tap=lambda at_ns, data: self._keep(lambda kept: kept.received(port.name, at_ns, data)),
            path=local_path(port.url),
        )

    def _camera(self, camera: Camera, eyes: dict[str, Eye]) -> LiveCamera:
        return LiveCamera(
            f"camera:{camera.name}", camera.stream, self._clock, eyes[camera.name].see
        )

    def _eye(self, camera: Camera) -> Eye:
        source = f"camera:{camera.name}"
        watcher = Watcher(self._reader, self._layout, self._placed.view(camera), camera.name)
        identities = Identities(source, self._past)

        def looked(frame: Frame, observed: Sequence[AnyObservation]) -> None:
            for over in self._overload.over_with(source, frame.at_ns, frame.index):
                self._report(over)
            named = identities.of(observed, frame.at_ns, frame.index)
            if named:
                self._order.take(Timed(frame.at_ns, source, named))
            self._order.seen(source, frame.at_ns)

        def film(frame: Frame) -> None:
            self._keep(lambda kept: kept.filmed(camera.name, frame))

        return Eye(watcher, film, looked, self._fail)

    def _entries(self) -> Entries | None:
        place = self._placed.config.console
        if place is None:
            return None
        loop = asyncio.get_running_loop()
        known = {
            (one.source, one.at, one.fact)
            for one in self._past.observations
            if isinstance(one, ConsoleEntry)
        }

        def take(entry: ConsoleEntry) -> None:
            # Every start reads a file from its beginning.
            if (entry.source, entry.at, entry.fact) not in known:
                self._enter(entry)

        entries = Entries(
            place if place == "-" else str(self._placed.beside(place)),
            lambda entry: _from_thread(loop, take, entry),
            lambda refused: _from_thread(loop, self._refuse, refused),
            self._clock.now_ns,
        )
        entries.start()
        return entries

    def _begin_recording(self) -> Recordings | None:
        recorder = self._placed.config.recorder
        if recorder is None:
            return None
        return Recordings(
            lambda start_ns: SessionRecorder(self._placed, recorder, self._layout, start_ns),
            self._clock.now_ns(),
        )

    # --- incoming data ----------------------------------------------------------------------

    def _report(self, observation: Observation) -> None:
        for begun in self._overload.begun_by(observation):
            self._report(begun)
        at_ns = observation.at if observation.at is not None else self._clock.now_ns()
        self._keep(lambda kept: kept.link_event(observation, at_ns))
        self._order.take(Timed(at_ns, observation.source, (observation,)))  # type: ignore[arg-type]

    def _enter(self, entry: ConsoleEntry) -> None:
        self._keep(lambda kept: kept.entered(entry, self._clock.now_ns()))
        self._report(entry)

    async def _journal_entry(self, word: Word) -> int:
        """Journal a person's entry, and return its ``seq``.

        Raises:
            OperatorError: it is an impossible decision, or about a spot that is not there.
        """
        now_ns = self._clock.now_ns()
        word = replace(word, at=now_ns if word.at is None else min(word.at, now_ns))
        known = self._words.seq_of(word)
        if known is not None:
            return known
        if isinstance(word, ReviewResolved):
            self._pipeline.check(word)
        elif isinstance(word, ConsoleEntry):
            check_spots(word, self._layout)
        journalled, is_new = self._words.expect(word)
        if is_new:
            new = replace(word, seq=None, table=None)
            if isinstance(new, ConsoleEntry):
                self._enter(new)
            else:
                self._report(new)
        return await asyncio.shield(journalled)

    def _keep(self, write: Callable[[Recordings], None]) -> None:
        """Record something; a failing recording is reported, and does not stop the table."""
        if self._recordings is not None:
            write(self._recordings)
            self.standing.unrecorded = self._recordings.broken

    def _refuse(self, refused: InputRefused) -> None:
        self.standing.refused = str(refused)

    def _fail(self, fault: Exception) -> None:
        if not self._failed.done():
            self._failed.set_exception(fault)

    async def _keep_going(self) -> None:
        while True:
            now_ns = self._clock.now_ns()
            in_play = self.standing.in_play
            self._journal.check_in_place()
            self._give(self._order.due(now_ns))
            self._pipeline.observe((), self._order.through_ns)
            if in_play is not None and self.standing.in_play is None:
                self._journal.checkpoint()
            self._turn_over_if_due(now_ns)
            if now_ns >= self._hash_due_ns:
                self._hash_recordings(now_ns)
            await self._clock.reached(now_ns + _TICK_NS)

    def _hash_recordings(self, now_ns: int) -> None:
        """Journal the hashes of the recording, each entry with a checkpoint of its own."""
        self._hash_due_ns = now_ns + _HASH_EVERY_NS
        for hashed in () if self._recordings is None else self._recordings.hashed(now_ns):
            self._journal.append(hashed)
            self._journal.checkpoint()

    def _turn_over_if_due(self, now_ns: int) -> None:
        config, kept = self._placed.config, self._recordings
        if config.recorder is None or kept is None or self._order.holds:
            return
        lasted_ns = now_ns - kept.current.start_ns
        if may_turn_over(lasted_ns, config.recorder, self.standing, config.dealing):
            self.standing.shoe_out = False
            self._keep(lambda kept: kept.turn_over(self._clock.now_ns()))

    def _give(self, observations: Iterable[Timed[tuple[AnyObservation, ...]]]) -> None:
        for one in observations:
            self._pipeline.observe(one.value, one.at_ns)
            news = tuple(self._clock_faults.news(self._pipeline.parted, one.at_ns))
            if news:
                self._pipeline.observe(news, one.at_ns)

    async def _verify_all(self) -> None:
        """Between two rounds, verify the entries that the start took as they were.

        Raises:
            TechnicianError: the journal is damaged.
        """
        if self._past.kept is None:
            return
        while self.standing.in_play is not None:
            await self._clock.reached(self._clock.now_ns() + _TICK_NS)
        place = self._placed.beside(self._placed.config.journal)
        await asyncio.to_thread(verify_journal, place)

    async def _keep_room(self) -> None:
        recorder = self._placed.config.recorder
        if recorder is None:
            return
        config, folder = self._placed.config, self._placed.beside(recorder.folder)
        journal = self._placed.beside(config.journal)
        clearing = Clearing(folder, config.table, recorder, journal)
        wait_ns = _BEGIN_TIDY_NS
        while True:
            now_ns = self._clock.now_ns()
            self._keep(lambda kept: kept.look_after(self._clock.now_ns()))
            self.standing.alarm = room_alarm(folder, recorder)
            await self._clock.reached(now_ns + wait_ns)
            await self._clear(clearing)
            wait_ns = _TIDY_NS

    async def _clear(self, clearing: Clearing) -> None:
        """Journal which recordings go, and remove them."""
        now_ns = self._clock.now_ns()
        writing = frozenset[str]() if self._recordings is None else self._recordings.writing
        verdict = await asyncio.to_thread(clearing.decide, writing, now_ns)
        self.standing.overdue = verdict.in_words()
        if verdict.going:
            table = self._placed.config.table
            self._journal.append_all(replace(one, table=table) for one in verdict.going)
            self._journal.checkpoint()
            await asyncio.to_thread(clearing.remove, verdict.going)

    def _publish(self, event: Event) -> None:
        self.standing.take(event)
        self._words.journalled(event)
        if not self._recalling:
            if self._keeper is not None:
                self._keeper.take(event)
            self._on_entry(event)


class _Noted:
    """A device whose first connection is noted."""

    def __init__(self, device: Supervised, connected: set[str]) -> None:
        self._device, self._connected = device, connected
        self.source, self.path = device.source, device.path
        self.fault = device.fault

    async def run(self, connected: Callable[[], None], report: Report) -> None:
        """Run the device."""

        def noted() -> None:
            self._connected.add(self.source)
            connected()

        await self._device.run(noted, report)


def _from_thread(loop: asyncio.AbstractEventLoop, call: Callable[[T], None], value: T) -> None:
    with suppress(RuntimeError):  # the table stopped and closed its loop
        loop.call_soon_threadsafe(call, value)


async def _cancelled(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, Exception):
            await task
