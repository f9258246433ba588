"""Every device unplugged and plugged in again.

All at once in one session: each serial device on a pseudo-terminal that keeps its name, an HTTP
camera and, where this machine can serve it, an RTSP camera. Before each plug is
pulled garbage comes, and half a frame. Beside them a shoe that refuses every command, a port that
another program takes again and again, and a camera that stalls, changes the size of its picture,
sends damage, a page of text, or nothing. The outcome is what the journal holds of each.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle as cycle_of
from pathlib import Path

from devices.shoes.angel_eye import encode_command
from devices.simulated import (
    AngelEyeDevice,
    LineShoeDevice,
    PlatesDevice,
    SimulatedDevice,
    TagDevice,
)
from devices.simulators import SimulatedPort
from devices.transport import SerialTransport
from models.cards import DECK
from models.errors import TechnicianError
from models.events import CameraFault, DeviceReturned, Observation, ReaderFault
from stream.journal import Journal, verify_journal
from stream.reading import read_journal
from tests.devices.camera_servers import RtspCamera, http_camera, mjpeg, mjpeg_part, rtsp_camera
from tests.devices.live import LiveTable
from tests.devices.wires import CUT_TAGS, START_TAGS, mark, tag_of

CAMERA = "camera:overhead"
ROUGH = "camera:rough"
REFUSING = "refusing"
TAKEN = "taken"
GARBAGE = b"\xff\x00\x15\x15" * 5
LOCK = encode_command("LK", 2)


@dataclass(frozen=True)
class Gear:
    """A device, and what it sends in the n-th cycle."""

    driver: str
    device: SimulatedDevice
    message: Callable[[int], bytes]


def serial_gear() -> Iterator[Gear]:
    """One of each serial device."""
    angel_eye, line, plates = AngelEyeDevice(copies=3), LineShoeDevice(), PlatesDevice()
    yield Gear("angel-eye", angel_eye, lambda cycle: angel_eye.draw(DECK[cycle % 52]))
    yield Gear("line", line, lambda cycle: line.draw(DECK[cycle % 52]))
    yield Gear("plate", plates, lambda cycle: plates.put(1, "0", 500 * (cycle + 1)))
    for driver, length in (("id12", 10), ("rdm6300", 10), ("idteck", 8)):
        yield _tags(driver, length)


def _tags(driver: str, length: int) -> Gear:
    reader = TagDevice(driver)
    fresh = reader.show(mark(CUT_TAGS, length)) + reader.show(mark(START_TAGS, length))

    def message(cycle: int) -> bytes:
        shown = reader.show(tag_of(DECK[cycle % 52], length), times=2)
        return shown if cycle % 52 or not cycle else fresh + shown

    return Gear(driver, reader, message)


@dataclass(frozen=True)
class Outcome:
    """What the journal holds of one device."""

    losses: int
    returns: int
    readings: int
    faults: Counter[str]
    """Other faults, by their kind."""


def replugged(folder: Path, cycles: int, *, rtsp_cycles: int = 0) -> dict[str, Outcome]:
    """Run the session; return what the journal, once verified, holds of each device."""
    journal_file = folder / "table.journal"
    with Journal.create(journal_file) as journal:
        asyncio.run(_session(folder, journal, cycles, rtsp_cycles))
    verify_journal(journal_file)
    by_source: dict[str, list[Observation]] = {}
    for event in read_journal(journal_file):
        if isinstance(event, Observation):
            by_source.setdefault(event.source, []).append(event)
    return {source: _counted(events) for source, events in by_source.items()}


async def _session(folder: Path, journal: Journal, cycles: int, rtsp_cycles: int) -> None:
    table = LiveTable(journal=journal)
    with ExitStack() as held:
        serial = [
            (gear, held.enter_context(SimulatedPort(folder / gear.driver, gear.device)))
            for gear in serial_gear()
        ]
        camera = held.enter_context(http_camera(lambda: mjpeg(3, gap_s=0.005)))
        table.keep([table.device(port.port, gear.driver, gear.driver) for gear, port in serial])
        table.keep([table.camera(camera.url)])
        rough = held.enter_context(http_camera(_rough_pictures()))
        settings = {"source": ROUGH, "stall_ms": 300, "open_ms": 300}
        table.keep([table.camera(rough.url, **settings)])  # type: ignore[arg-type]
        tasks = [_replug(table, gear, port, cycles) for gear, port in serial]
        tasks += [_refused(held, table, folder, cycles), _taken(held, table, folder, cycles // 10)]
        tasks.append(_until_rough(table))
        tasks.append(_until_lost(table, CAMERA, cycles))
        if rtsp_cycles:
            rtsp = held.enter_context(rtsp_camera())
            table.keep([table.camera(rtsp.url, source="camera:rtsp", stall_ms=1000)])
            tasks.append(_switch(table, rtsp, rtsp_cycles))
        await asyncio.gather(*tasks)
        await table.leave()


async def _replug(table: LiveTable, gear: Gear, port: SimulatedPort, cycles: int) -> None:
    source = gear.driver
    await table.until_open(source)
    for cycle in range(cycles):
        before = _readings(table, source)
        sent = gear.message(cycle)
        port.send(GARBAGE + sent)
        await table.until(lambda due=before: _readings(table, source) > due)  # type: ignore[misc]
        port.send(GARBAGE + sent[: len(sent) // 2])
        await asyncio.to_thread(port.unplug)
        await _until_lost(table, source, cycle + 1)
        port.replug()
        await table.until(lambda due=cycle: _count(table, source, DeviceReturned) > due)  # type: ignore[misc]


async def _refused(held: ExitStack, table: LiveTable, folder: Path, cycles: int) -> None:
    """A shoe that answers every command with a refusal is read all the same."""
    shoe = AngelEyeDevice(refusal="21")
    port = held.enter_context(SimulatedPort(folder / REFUSING, shoe))
    kept = table.device(port.port, "angel-eye", REFUSING)
    table.keep([kept])
    await table.until_open(REFUSING)
    for cycle in range(cycles):
        assert not await kept.command(LOCK)
        port.send(shoe.draw(DECK[cycle % 52]))
        await table.until(lambda due=cycle: _readings(table, REFUSING) > due)  # type: ignore[misc]


async def _taken(held: ExitStack, table: LiveTable, folder: Path, cycles: int) -> None:
    """A port that another program holds whenever the plug was out."""
    shoe = LineShoeDevice()
    port = held.enter_context(SimulatedPort(folder / TAKEN, shoe))
    table.keep([table.device(port.port, "line", TAKEN)])
    await table.until_open(TAKEN)
    for cycle in range(cycles):
        await asyncio.to_thread(port.unplug)
        await _until_lost(table, TAKEN, cycle + 1)
        with other_program(port):
            await asyncio.sleep(0.1)
            assert _count(table, TAKEN, DeviceReturned) == cycle
        await table.until(lambda due=cycle: _count(table, TAKEN, DeviceReturned) > due)  # type: ignore[misc]
        port.send(shoe.draw(DECK[cycle % 52]))
        await table.until(lambda due=cycle: _readings(table, TAKEN) > due)  # type: ignore[misc]


@contextmanager
def other_program(port: SimulatedPort) -> Iterator[None]:
    """Plug a port in, and hold it before anybody else can."""
    while True:
        port.replug()
        try:
            other = SerialTransport(port.port, 9600)
            break
        except TechnicianError:  # the table was quicker
            port.unplug()
    try:
        yield
    finally:
        other.close()


def _rough_pictures() -> Callable[[], Iterator[bytes]]:
    """What a bad camera sends: something else at each connection."""

    def stalls() -> Iterator[bytes]:
        yield from mjpeg(3, gap_s=0.005)
        time.sleep(0.6)

    def changes_size() -> Iterator[bytes]:
        yield from mjpeg(6, gap_s=0.005)
        yield from mjpeg(12, (160, 120), gap_s=0.005)

    def damaged() -> Iterator[bytes]:
        yield from mjpeg(3, gap_s=0.005)
        for number in range(3, 30):
            yield mjpeg_part(number)[:-600] + bytes(598) + b"\r\n"
            time.sleep(0.005)

    def page() -> Iterator[bytes]:
        yield b"<html>log in</html>" * 50

    def silent() -> Iterator[bytes]:
        time.sleep(0.6)
        yield b""

    bodies = cycle_of((stalls, changes_size, damaged, page, silent))

    def next_body() -> Iterator[bytes]:
        return next(bodies)()

    return next_body


async def _until_rough(table: LiveTable) -> None:
    """Return once the bad camera has been through all of it several times."""
    await _until_lost(table, ROUGH, 15)
    await table.until(lambda: "size_changed" in {each.kind for each in _faults(table.of(ROUGH))})


async def _switch(table: LiveTable, camera: RtspCamera, cycles: int) -> None:
    for cycle in range(cycles):
        await asyncio.to_thread(camera.off)
        await _until_lost(table, "camera:rtsp", cycle + 1)
        await asyncio.to_thread(camera.on)
        await table.until(
            lambda due=cycle: _count(table, "camera:rtsp", DeviceReturned) > due  # type: ignore[misc]
        )


async def _until_lost(table: LiveTable, source: str, times: int) -> None:
    await table.until(lambda: _losses(table.of(source)) >= times, within_s=60 + times)


def _faults(observations: list[Observation]) -> list[ReaderFault | CameraFault]:
    return [each for each in observations if isinstance(each, ReaderFault | CameraFault)]


def _losses(observations: list[Observation]) -> int:
    return sum(each.kind == "link_lost" for each in _faults(observations))


def _readings(table: LiveTable, source: str) -> int:
    of_plates = source == "plate"
    return sum(
        not isinstance(each, ReaderFault | CameraFault | DeviceReturned)
        for each in table.reported
        if each.source == source or (of_plates and each.source.startswith("plate:"))
    )


def _count(table: LiveTable, source: str, kind: type[Observation]) -> int:
    return sum(isinstance(each, kind) for each in table.of(source))


def _counted(events: list[Observation]) -> Outcome:
    kinds = Counter(each.kind for each in _faults(events))
    losses, returns = _losses(events), sum(isinstance(each, DeviceReturned) for each in events)
    readings = len(events) - kinds.total() - returns
    del kinds["link_lost"]
    return Outcome(losses, returns, readings, kinds)


def open_files() -> int:
    """How many files this process holds open."""
    return len([*Path("/proc/self/fd").iterdir()])
