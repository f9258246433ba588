"""Record a live table as a session folder for ``pitwatch replay``.

Bytes and entries are passed to the disk at once, video fragment by fragment: the remains of a
killed process can be replayed up to their last seconds.
"""

import io
import shutil
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import av
import msgspec

from devices.cameras.frame import Frame
from models.errors import TechnicianError
from models.events import (
    CameraFault,
    CameraRecovered,
    ConsoleEntry,
    DeviceReturned,
    Observation,
    ReaderFault,
)
from models.layout import TableLayout
from models.session import CameraRecord, SerialRecord, Session
from server.table.config import Camera, Placed, Port, Recorder
from server.table.hashed_video import HashedVideo
from server.table.retention import alarm
from stream.recorded import Hashing, Piece, RecordingHashed, whole
from stream.recording import SESSION_FILE, CaptureWriter, Chunk, write_session
from stream.toml import to_toml

HOLD_FILE: Final = "HOLD"
"""In a session's folder: the session is never removed for age or room."""
HOLDS: Final = "holds"
"""A folder beside the sessions, for holds by a program without write access to a session."""
_MICROSECOND: Final = Fraction(1, 1_000_000)
_CONSOLE: Final = "console.jsonl"
_LINKS: Final = "links.jsonl"
_OF_A_LINK: Final = ("link_lost", "restarts_spent", "refusal", "uncounted")


class Film:
    """One camera's video, every picture with its own time, in independent segments.

    Args:
        folder: the session's.
        camera: its record there, with the names of the files.
        start_ns: the session's start, the origin of every segment's time stamps.
        recorder: the length of a segment, and its compression.
    """

    def __init__(
        self, folder: Path, camera: CameraRecord, start_ns: int, recorder: Recorder
    ) -> None:
        self._folder, self._camera, self._start_ns = folder, camera, start_ns
        self._rate = Fraction(camera.fps).limit_denominator(1001)
        self._recorder = recorder
        self._size_px: tuple[int, int] | None = None
        self._last_us = -1
        self._ends_us = 0
        self.segments = 0
        """The number of files."""
        self.pieces: deque[Piece] = deque()
        """Hashes of the written bytes, for the journal; their reader removes them."""

    def add(self, frame: Frame) -> None:
        """Write one picture; a change of size begins a segment.

        Raises:
            TechnicianError: the disk refuses it.
        """
        try:
            timed = self._timed(frame)
            if self._last_us >= self._ends_us or frame.size_px != self._size_px:
                self._finish()
                self._open(frame)
            self._mux(timed, frame.at_ns)
        except (OSError, av.error.FFmpegError) as fault:
            raise self._unwritten(fault) from fault

    def close(self) -> None:
        """Finish the file; raises as :meth:`add`."""
        try:
            self._finish()
        except (OSError, av.error.FFmpegError) as fault:
            raise self._unwritten(fault) from fault

    def _finish(self) -> None:
        if self._size_px is not None:
            self._size_px = None
            with self._file:
                self._container.mux(self._stream.encode(None))
                self._container.close()
            self._file.check()
            self._file.hashed.close()

    def _mux(self, timed: av.VideoFrame, at_ns: int) -> None:
        packets = self._stream.encode(timed)
        self._container.mux(packets)
        is_key = any(packet.is_keyframe for packet in packets)
        self._file.hashed.pictured(at_ns, begins_fragment=is_key)

    def _open(self, frame: Frame) -> None:
        name = self._camera.segment(self.segments)
        hashed = HashedVideo(name, self._camera.name, self.pieces)
        self._file = _VideoFile(self._folder / name, hashed)
        self.segments += 1
        # Without delay_moov FFmpeg would set the first picture's time to 0.
        form = "frag_keyframe+delay_moov+default_base_moof"
        options = {"movflags": form, "flush_packets": "1"}
        self._container = av.open(self._file, "w", format="mp4", options=options)
        crf = str(self._recorder.crf)
        coding = {"crf": crf, "preset": "ultrafast", "bf": "0", "tune": "zerolatency"}
        stream = self._container.add_stream("libx264", rate=self._rate, options=coding)
        stream.width, stream.height = frame.size_px
        stream.pix_fmt = "yuv420p"
        stream.time_base = stream.codec_context.time_base = _MICROSECOND
        stream.gop_size = max(1, round(2 * float(self._rate)))
        self._stream, self._size_px = stream, frame.size_px
        self._ends_us = self._last_us + round(self._recorder.segment_minutes * 60_000_000)

    def _timed(self, frame: Frame) -> av.VideoFrame:
        # Two pictures may have the same time; a video's times must increase.
        at_us = (frame.at_ns - self._start_ns) // 1000
        self._last_us = max(at_us, self._last_us + 1)
        return frame.encodable(self._last_us, _MICROSECOND)

    def _unwritten(self, fault: Exception) -> TechnicianError:
        why = (getattr(fault, "strerror", None) or str(fault)).lower()
        return TechnicianError(
            f"the video cannot be written ({why})",
            where=str(self._folder / self._camera.segment(max(0, self.segments - 1))),
            way_out="Make room on the disk, or name another folder for the recordings",
        )


class _VideoFile(io.FileIO):
    """A file that remembers the disk's first error: FFmpeg reports none at the end."""

    _refused: OSError | None = None

    def __init__(self, path: Path, hashed: HashedVideo) -> None:
        super().__init__(path, "w")
        self.hashed = hashed

    def write(self, data: Any) -> int:
        """Write all of it."""
        left = written = memoryview(data).cast("B")
        size = len(left)
        try:
            while left:
                left = left[super().write(left) :]
        except OSError as fault:
            self._refused = self._refused or fault
            raise
        self.hashed.wrote(written)
        return size

    def check(self) -> None:
        """Raise the disk's error, if any."""
        if self._refused is not None:
            raise self._refused


class SessionRecorder:
    """Writes one session folder while the table runs.

    Args:
        placed: the table's configuration.
        recorder: its part about recording.
        layout: the felt.
        start_ns: the session's start.

    Raises:
        TechnicianError: the folder cannot be made.
    """

    def __init__(
        self, placed: Placed, recorder: Recorder, layout: TableLayout, start_ns: int
    ) -> None:
        config = placed.config
        self.start_ns = start_ns
        self.folder = placed.beside(recorder.folder) / f"{config.table}-{start_ns}"
        try:
            self.folder.mkdir(parents=True)
            (self.folder / "layout.toml").write_text(to_toml(layout), "utf-8")
            self._captures = {
                port.name: CaptureWriter(self.folder / f"{port.name}.cap") for port in config.ports
            }
            self._hashings = {
                port.name: Hashing(f"{port.name}.cap", port.name) for port in config.ports
            }
            self._console = (self.folder / _CONSOLE).open("wb", buffering=0)
            self._links = (self.folder / _LINKS).open("wb", buffering=0)
            ports = tuple(self._described(placed, port) for port in config.ports)
            rulebook = self._rulebook(placed)
        except OSError as fault:
            raise _no_room(self.folder, fault) from fault
        records = tuple(_filmed(placed, camera) for camera in config.cameras)
        self.films = {
            camera.name: Film(self.folder, camera, start_ns, recorder) for camera in records
        }
        self._session = Session(
            table=config.table,
            rulebook=rulebook,
            currency=config.currency,
            table_min=config.table_min,
            table_max=config.table_max,
            chips=config.chips,
            layout="layout.toml",
            at=start_ns,
            dealing=config.dealing,
            cameras=records,
            decks=config.decks,
            letters=config.letters,
            serial=ports,
            console=_CONSOLE,
            links=_LINKS,
        )
        write_session(self.folder, self._session)
        self._described_now = [whole(file) for file in sorted(self.folder.glob("*.toml"))]
        self._is_closed = False

    def received(self, port: str, at_ns: int, data: bytes) -> None:
        """Record one read of a port."""
        line = self._captures[port].add(Chunk(max(0, at_ns - self.start_ns), data))
        self._hashings[port].add(line)
        self._hashings[port].note(at_ns)

    def hashed(self, now_ns: int) -> RecordingHashed:
        """Return the hashes of the recording since the last call."""
        described, self._described_now = self._described_now, []
        received = [one.cut(closed=self._is_closed) for one in self._hashings.values()]
        filmed = [piece for film in self.films.values() for piece in _taken(film.pieces)]
        return RecordingHashed(
            at=now_ns,
            table=self._session.table,
            folder=self.folder.name,
            pieces=(*described, *received, *filmed),
        )

    def entered(self, entry: ConsoleEntry) -> None:
        """Record a person's entry."""
        self._console.write(msgspec.json.encode(entry) + b"\n")

    def link_event(self, observation: Observation) -> None:
        """Record a link event: neither bytes nor pictures show it."""
        if is_of_a_link(observation):
            self._links.write(msgspec.json.encode(observation) + b"\n")

    def close(self) -> None:
        """Finish every file; remove a camera without pictures from the description."""
        for capture in self._captures.values():
            capture.close()
        self._console.close()
        self._links.close()
        for film in self.films.values():
            film.close()
        there = tuple(
            msgspec.structs.replace(camera, segments=self.films[camera.name].segments)
            for camera in self._session.cameras
            if self.films[camera.name].segments
        )
        write_session(self.folder, msgspec.structs.replace(self._session, cameras=there))
        self._described_now.append(whole(self.folder / SESSION_FILE))
        self._is_closed = True

    def _described(self, placed: Placed, port: Port) -> SerialRecord:
        settings = dict(port.settings)
        if "register" in settings:
            copied = f"{port.name}-tags.toml"
            shutil.copyfile(placed.beside(str(settings["register"])), self.folder / copied)
            settings["register"] = copied
        return SerialRecord(
            port=port.name, driver=port.driver, file=f"{port.name}.cap", settings=settings
        )

    def _rulebook(self, placed: Placed) -> str:
        """Copy a site's own rulebook into the session."""
        file = placed.beside(placed.config.rulebook)
        if file.suffix == ".toml" and file.is_file():
            shutil.copyfile(file, self.folder / file.name)
            return file.name
        return placed.config.rulebook


def _taken(pieces: deque[Piece]) -> Iterator[Piece]:
    # The camera's thread may append meanwhile: its additions wait for the next call.
    for _ in range(len(pieces)):
        yield pieces.popleft()


def is_of_a_link(observation: Observation) -> bool:
    """Return whether an observation concerns a device's link, not its data."""
    match observation:
        case ReaderFault():
            return observation.kind in _OF_A_LINK
        case _:
            return isinstance(observation, CameraFault | CameraRecovered | DeviceReturned)


def hold_file(session: Path) -> Path:
    """Return the path of a session's hold file: in ``holds`` where that folder exists."""
    holds = session.parent / HOLDS
    return holds / session.name if holds.is_dir() else session / HOLD_FILE


def is_held(session: Path) -> bool:
    """Return whether a session is held, by a file in its own folder or in ``holds`` beside it."""
    return (session / HOLD_FILE).exists() or (session.parent / HOLDS / session.name).exists()


def room_alarm(folder: Path, recorder: Recorder) -> str | None:
    """Return the alarm where the disk of ``folder`` has too little room left."""
    return alarm(shutil.disk_usage(folder).free, recorder)


def _filmed(placed: Placed, camera: Camera) -> CameraRecord:
    view = placed.view(camera)
    return CameraRecord(
        name=camera.name,
        file=f"{camera.name}.mp4",
        fps=camera.fps,
        reference_points=view if isinstance(view, tuple) else (),
        pose=None if isinstance(view, tuple) else view,
        deck=camera.deck,
    )


def _no_room(folder: Path, fault: OSError) -> TechnicianError:
    return TechnicianError(
        f"the session cannot be recorded ({fault.strerror})",
        where=str(folder),
        way_out="Check that the folder may be written and the disk has space",
    )
