"""Play a recorded session in real time to a live table: real ports, a real HTTP camera.

It replaces the devices at the table's cables: each serial capture plays on a pseudo-terminal, each
video as motion JPEG from an HTTP server, and people's entries in a pipe.
"""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Final

import av
import msgspec

from devices.cameras.config import CameraConfig
from devices.cameras.frame import Frame
from devices.simulators import SimulatedPort
from models.session import CameraRecord, Session
from server.table.config import Camera, Port, Recorder, TableConfig
from server.table.sources import Recording, open_recording
from stream.clock import HostClock
from stream.toml import to_toml

TABLE_FILE: Final = "table.toml"
_CONSOLE: Final = "console"
_BOUNDARY: Final = "frame"
_QUALITY: Final = "3"
_STILL_S: Final = 0.1
"""Seconds between pictures before the session and after it."""


@dataclass
class Playing:
    """A session on simulated devices; nothing moves until :meth:`play`."""

    config: Path
    """The configuration of the table that reads the devices."""
    recording: Recording
    _ports: dict[str, SimulatedPort]
    _console: Path
    _clock: HostClock = field(default_factory=HostClock)
    _begun: Event = field(default_factory=Event)
    _start_ns: int = 0
    _threads: list[Thread] = field(default_factory=list)
    watched: Event = field(default_factory=Event)
    """Set once a table reads a camera."""
    left: Event = field(default_factory=Event)
    """Set once a table that read a camera has gone."""

    @property
    def start_ns(self) -> int:
        """Start of the playing, on the host's clock."""
        return self._start_ns

    def play(self, start_ns: int | None = None) -> None:
        """Start: from now on everything comes at its time.

        Args:
            start_ns: the start of the session; given where a separate camera began to show it.
        """
        self._start_ns = self._clock.now_ns() if start_ns is None else start_ns
        self._begun.set()
        work = [self._play_port(name) for name in self._ports]
        self._threads = [*work, Thread(target=self._enter, daemon=True)]
        for thread in self._threads:
            thread.start()

    def wait(self) -> None:
        """Return once every port and the console have sent everything."""
        for thread in self._threads:
            thread.join()

    def pictures(self, camera: CameraRecord) -> Iterator[bytes]:
        """Yield a camera's pictures as JPEG at their times, without end.

        A client that connects during playing gets the pictures from then on.
        """
        coder, joined_ns = _Jpeg(), self._clock.now_ns() if self._begun.is_set() else 0
        source = {record.name: film for record, film in self.recording.cameras}
        frames = source[camera.name].frames()
        # Shown in turn while nothing moves: two pictures of one scene are never identical.
        shown = deque((coder.encoded(next(frames)), coder.encoded(next(frames))), maxlen=2)
        while not self._begun.wait(_STILL_S):
            yield shown[0]
            shown.rotate()
        for frame in frames:
            shown_ns = self._start_ns + frame.at_ns - self.recording.session.at
            if shown_ns < joined_ns:
                continue
            self._clock.wait_until(shown_ns)
            shown.append(coder.encoded(frame))
            yield shown[-1]
        while True:
            yield shown[0]
            shown.rotate()
            self._clock.wait_until(self._clock.now_ns() + int(_STILL_S * 1e9))

    def _play_port(self, name: str) -> Thread:
        (chunks,) = (one.chunks for one in self.recording.ports if one.record.port == name)
        port = self._ports[name]
        return Thread(target=port.play, args=(chunks, self._start_ns, self._clock), daemon=True)

    def _enter(self) -> None:
        shift_ns = self._start_ns - self.recording.session.at
        # Also open for reading: a pipe then survives the change from one table to another.
        with self._console.open("r+b", buffering=0) as pipe:
            for entry in self.recording.console:
                at_ns = (entry.at or 0) + shift_ns
                self._clock.wait_until(at_ns)
                fact = msgspec.structs.replace(entry.fact, at=at_ns)
                moved = msgspec.structs.replace(entry, at=at_ns, fact=fact)
                pipe.write(msgspec.json.encode(moved) + b"\n")


@contextmanager
def played(session: Path, place: Path, *, record: bool = True) -> Iterator[Playing]:
    """Create a session's devices and write the table's configuration.

    Args:
        session: a session folder.
        place: an empty folder for configuration, journal, pipe and recordings.
        record: whether that table records.

    Raises:
        PitwatchError: the session is missing or damaged.
    """
    recording = open_recording(session)
    console = place / _CONSOLE
    os.mkfifo(console)
    with ExitStack() as cables:
        ports = {
            port.record.port: cables.enter_context(SimulatedPort(place / port.record.port))
            for port in recording.ports
        }
        playing = Playing(place / TABLE_FILE, recording, ports, console)
        urls = {
            camera.name: cables.enter_context(_served(playing, camera))
            for camera in recording.session.cameras
        }
        (place / "layout.toml").write_text(to_toml(recording.layout), "utf-8")
        config = _configured(place, session, recording.session, urls, record=record)
        playing.config.write_text(to_toml(config), "utf-8")
        yield playing


def _configured(
    place: Path, folder: Path, session: Session, urls: dict[str, str], *, record: bool
) -> TableConfig:
    own = folder / session.rulebook
    return TableConfig(
        table=session.table,
        rulebook=str(own.resolve()) if own.is_file() else session.rulebook,
        currency=session.currency,
        table_min=session.table_min,
        table_max=session.table_max,
        chips=session.chips,
        layout="layout.toml",
        dealing=session.dealing,
        journal=f"{session.table}.journal",
        console=_CONSOLE,
        decks=session.decks,
        letters=session.letters,
        cameras=tuple(_camera(place, camera, urls[camera.name]) for camera in session.cameras),
        ports=tuple(
            Port(
                name=port.port,
                url=str(place.resolve() / port.port),
                driver=port.driver,
                settings=port.settings,
            )
            for port in session.serial
        ),
        recorder=Recorder(folder="recordings", least_free_gb=0.0) if record else None,
    )


def _camera(place: Path, camera: CameraRecord, url: str) -> Camera:
    pose = None
    if camera.pose is not None:
        pose = f"{camera.name}.toml"
        (place / pose).write_text(to_toml(camera.pose), "utf-8")
    return Camera(
        name=camera.name,
        stream=CameraConfig(url=url),
        pose=pose,
        reference_points=camera.reference_points,
        fps=camera.fps,
        deck=camera.deck,
    )


class _Jpeg:
    """Encodes pictures as JPEG."""

    def __init__(self) -> None:
        self._coder: av.VideoCodecContext | None = None
        self._number = 0

    def encoded(self, frame: Frame) -> bytes:
        """Return one picture."""
        coder = self._coder = self._coder or self._new(frame)
        self._number += 1
        return b"".join(map(bytes, coder.encode(frame.encodable(self._number, Fraction(1, 1000)))))

    def _new(self, frame: Frame) -> av.VideoCodecContext:
        coder = av.CodecContext.create("mjpeg", "w")
        coder.width, coder.height = frame.size_px
        coder.pix_fmt = "yuv420p"
        coder.time_base = Fraction(1, 1000)
        coder.options = {"qmin": _QUALITY, "qmax": _QUALITY, "strict": "unofficial"}
        return coder


@contextmanager
def _served(playing: Playing, camera: CameraRecord) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={_BOUNDARY}")
            self.end_headers()
            playing.watched.set()
            try:
                for jpeg in playing.pictures(camera):
                    head = f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\n"
                    head += f"Content-Length: {len(jpeg)}\r\n\r\n"
                    self.wfile.write(head.encode() + jpeg + b"\r\n")
            except OSError:
                playing.left.set()  # the client has gone

        def log_message(self, *_: object) -> None:
            """Log nothing: the table reports what it reads."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{camera.name}"
    finally:
        server.shutdown()
        server.server_close()
