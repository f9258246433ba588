"""A recorded session's sources: opened, checked, and merged into one order of time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from devices.driver import Driver
from devices.registry import driver_config, make_driver
from models.errors import InputRefused, InstallerError, TechnicianError
from models.events import (
    CameraFault,
    CameraRecovered,
    ConsoleEntry,
    DeviceReturned,
    Observation,
    ReaderFault,
    ShoeCardRead,
)
from models.judgements import AnyEvent, RoundResult, RoundSettled
from models.layout import TableLayout
from models.session import CameraRecord, SerialRecord, Session
from server.table.persons import check_person
from stream.recording import (
    SESSION_FILE,
    Capture,
    Chunk,
    LostLines,
    read_capture,
    read_event_log,
    read_events,
    read_layout,
    read_session,
    video_files,
)
from stream.replay import Timed, merged, timed_chunks

Link: TypeAlias = ReaderFault | CameraFault | CameraRecovered | DeviceReturned
"""A link event of a device."""
Given: TypeAlias = Frame | bytes | ConsoleEntry | Link
"""An item of a source."""


@dataclass(frozen=True, slots=True)
class Port:
    """One serial port's capture, completely read."""

    record: SerialRecord
    folder: Path
    capture: Capture

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """The reads in their order."""
        return self.capture.chunks

    def driver(self) -> Driver[Any]:
        """Return a fresh driver for it."""
        return make_driver(self.record.driver, self._settings)

    def lost(self, start_ns: int) -> Iterator[ReaderFault]:
        """Yield the lines that the capture lost, as faults of the device."""
        config = driver_config(self.record.driver, self._settings)
        source = getattr(config, "source", self.record.port)
        return (_lost(one, source, start_ns) for one in self.capture.lost)

    @property
    def _settings(self) -> dict[str, Any]:
        settings = dict(self.record.settings)
        if "register" in settings:
            settings["register"] = str(self.folder / str(settings["register"]))
        return settings


@dataclass(frozen=True, slots=True)
class Recording:
    """A checked session folder; no picture was decoded yet."""

    session: Session
    layout: TableLayout
    cameras: tuple[tuple[CameraRecord, FileCamera], ...]
    ports: tuple[Port, ...]
    console: tuple[ConsoleEntry, ...]
    links: tuple[Link, ...]
    truth: tuple[RoundResult, ...] | None

    @property
    def frames(self) -> int:
        """The number of pictures."""
        return sum(camera.frame_count for _, camera in self.cameras)


def open_recording(folder: Path) -> Recording:
    """Read everything that can be checked before the first picture.

    Raises:
        PitwatchError: something is missing, damaged or does not match its format.
    """
    session = read_session(folder)
    ports = tuple(_port(folder, record) for record in session.serial)
    _check_shoe(folder, session, ports)
    console, unsaid = _console(folder, session)
    links = [*_links(folder, session), *unsaid]
    links += [fault for port in ports for fault in port.lost(session.at)]
    return Recording(
        session=session,
        layout=read_layout(folder / session.layout),
        cameras=tuple((camera, _filmed(folder, camera, session.at)) for camera in session.cameras),
        ports=ports,
        console=console,
        links=tuple(sorted(links, key=lambda link: link.at or session.at)),
        truth=_truth(folder, session),
    )


def play(recording: Recording, frames: Sequence[Iterator[Frame]]) -> Iterator[Timed[Given]]:
    """Yield every source's items by time; ``source`` is the port's or the camera's name.

    Args:
        recording: the session.
        frames: the pictures of each of its cameras.
    """
    start_ns = recording.session.at
    sources: list[Iterator[Timed[Given]]] = [
        (Timed(entry.at or start_ns, "console", entry) for entry in recording.console)
    ]
    sources.append(Timed(link.at or start_ns, link.source, link) for link in recording.links)
    sources += [timed_chunks(p.chunks, p.record.port, start_ns) for p in recording.ports]
    sources += [
        (Timed(frame.at_ns, camera.name, frame) for frame in pictures)
        for (camera, _), pictures in zip(recording.cameras, frames, strict=True)
    ]
    return merged(sources)


def _filmed(folder: Path, camera: CameraRecord, start_ns: int) -> FileCamera:
    first, *later = video_files(folder, camera)
    return FileCamera(first, start_ns, later, closed=camera.segments is not None)


def _port(folder: Path, record: SerialRecord) -> Port:
    """Read and decode a capture once: a port without readings is not worth a replay."""
    file = folder / record.file
    port = Port(record, folder, read_capture(file))
    readings = _decoded(folder, port)
    if port.chunks and not any(not isinstance(one, ReaderFault) for one in readings):
        size = sum(len(chunk.data) for chunk in port.chunks)
        raise TechnicianError(
            f"not one message of driver {record.driver!r} in {size} bytes",
            where=str(file),
            way_out=f"Check the port's driver in {SESSION_FILE}, or restore the capture",
        )
    return port


def _decoded(folder: Path, port: Port) -> list[Observation]:
    try:
        driver = port.driver()
    except InstallerError as refused:
        where = f"{folder / SESSION_FILE}, port {port.record.port}"
        raise InstallerError(refused.what, where=where, way_out=refused.way_out) from refused
    return [one for chunk in port.chunks for one in driver.feed(chunk.data, chunk.offset_ns)]


def _check_shoe(folder: Path, session: Session, ports: Sequence[Port]) -> None:
    readings = (one for port in ports for one in _decoded(folder, port))
    if session.dealing == "shoe" and not any(isinstance(one, ShoeCardRead) for one in readings):
        raise TechnicianError(
            "the session is dealt from a shoe, but no capture holds a card of it",
            where=str(folder / SESSION_FILE),
            way_out="Restore the shoe's capture and name it under [[serial]]",
        )


def _console(
    folder: Path, session: Session
) -> tuple[tuple[ConsoleEntry, ...], tuple[ReaderFault, ...]]:
    """Return people's entries, and a fault for each line of theirs that is torn."""
    if session.console is None:
        return (), ()
    file = folder / session.console
    events, lost = read_event_log(file)
    entries = (_entry(event, str(file), number) for number, event in enumerate(events, start=1))
    return tuple(entries), tuple(_lost(one, "console", session.at) for one in lost)


def _entry(event: AnyEvent, file: str, number: int) -> ConsoleEntry:
    if isinstance(event, ConsoleEntry) and event.at is not None:
        check_person(event, file, number)
        return event
    raise InputRefused(
        source=file,
        line=number,
        field="type" if event.at is not None else "at",
        expected="a console_entry with its time",
        found=str(type(event).__struct_config__.tag if event.at is not None else "no time"),
    )


def _links(folder: Path, session: Session) -> tuple[Link, ...]:
    if session.links is None:
        return ()
    events, lost = read_event_log(folder / session.links)
    links = tuple(event for event in events if isinstance(event, Link))
    return (*links, *(_lost(one, "links", session.at) for one in lost))


def _lost(one: LostLines, source: str, start_ns: int) -> ReaderFault:
    at_ns = one.offset_ns if one.offset_ns >= start_ns else start_ns + one.offset_ns
    return ReaderFault(source=source, at=at_ns, kind="lost_line", detail=one.what, count=one.count)


def _truth(folder: Path, session: Session) -> tuple[RoundResult, ...] | None:
    if session.truth is None:
        return None
    events = read_events(folder / session.truth)
    return tuple(event.result for event in events if isinstance(event, RoundSettled))
