"""Real servers of real streams on this machine: HTTP in a thread, RTSP in a process."""

import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, TypeAlias

import av
import cv2
import numpy as np

SIZE: Final = (320, 240)
GAP_S: Final = 1 / 30
Body: TypeAlias = Callable[[], Iterator[bytes]]

_TCP_REPAIR: Final = 19
_POLL_S: Final = 0.1
_SYSTEM_PYTHON: Final = "/usr/bin/python3"
_RTSP_PIPELINE: Final = (
    "( videotestsrc is-live=true pattern=ball ! video/x-raw,width={},height={},framerate=30/1"
    " ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=10"
    " ! rtph264pay name=pay0 pt=96 config-interval=1 )"
)
_FILM_PIPELINE: Final = (
    "( filesrc location={} ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=1 )"
)


def picture(number: int, size: tuple[int, int] = SIZE) -> "cv2.typing.MatLike":
    """A picture that the one after it differs from."""
    image = np.full((size[1], size[0], 3), 90, np.uint8)
    cv2.circle(image, (20 + 7 * number % (size[0] - 40), size[1] // 2), 15, (40, 200, 250), -1)
    return image


def mjpeg_part(number: int, size: tuple[int, int] = SIZE) -> bytes:
    """One picture of a multipart stream, by its number."""
    return jpeg_part(picture(number, size))


def jpeg_part(image: "cv2.typing.MatLike") -> bytes:
    """One picture of a multipart stream."""
    _, jpeg = cv2.imencode(".jpg", image)
    head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
    return head.encode() + jpeg.tobytes() + b"\r\n"


def mjpeg(count: int, size: tuple[int, int] = SIZE, gap_s: float = GAP_S) -> Iterator[bytes]:
    """So many pictures, at their pace."""
    for number in range(count):
        yield mjpeg_part(number, size)
        time.sleep(gap_s)


def transport_stream(path: Path, count: int) -> bytes:
    """An MPEG transport stream of H.264, 30 pictures a second, a whole one every 15."""
    with av.open(str(path), "w", format="mpegts") as container:
        stream = container.add_stream("libx264", rate=30, options={"g": "15", "bf": "0"})
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        for number in range(count):
            image = np.asarray(picture(number), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="bgr24")))
        container.mux(stream.encode(None))
    return path.read_bytes()


class HttpCamera:
    """An HTTP camera. ``body`` makes what the next connection gets; changing it is allowed."""

    def __init__(self, body: Body, kind: str = "multipart/x-mixed-replace; boundary=frame") -> None:
        self.body = body
        camera = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.end_headers()
                try:
                    for part in camera.body():
                        self.wfile.write(part)
                except OSError:
                    pass  # the watcher has gone

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/table"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class RtspCamera:
    """An RTSP camera that can be switched off, on, and frozen."""

    def __init__(self, size: tuple[int, int] = SIZE, pipeline: str = _RTSP_PIPELINE) -> None:
        self._pipeline = pipeline
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"rtsp://127.0.0.1:{self._port}/table"
        self.process = self._started(size)

    def _started(self, size: tuple[int, int]) -> "subprocess.Popen[str]":
        script = Path(__file__).with_name("rtsp_server.py")
        process = subprocess.Popen(
            [_SYSTEM_PYTHON, str(script), str(self._port), self._pipeline.format(*size)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "listening\n"
        return process

    def begun_ns(self) -> int:
        """Return when it began to show; waits for that."""
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def off(self) -> None:
        """Switch it off."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def on(self, size: tuple[int, int] = SIZE) -> None:
        """Switch it on again."""
        self.process = self._started(size)


class Cable:
    """A TCP connection to a camera through this process, that can be cut without a word."""

    def __init__(self, to_port: int) -> None:
        self._to_port, self._ends = to_port, list[socket.socket]()
        self._cut = self._closed = False
        self._threads: list[threading.Thread] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._begin(self._accept)

    def cut(self) -> None:
        """Let both ends vanish as with the power: no end of the stream, no reset, no answer."""
        self._cut = True
        for end in self._ends:
            # Closed under repair, a socket sends nothing; without that right it stays silent.
            with suppress(OSError):
                end.setsockopt(socket.IPPROTO_TCP, _TCP_REPAIR, 1)
                end.close()

    def mend(self) -> None:
        """Let new connections through."""
        self._cut = False

    def close(self) -> None:
        """Take no connection any more."""
        self._cut = self._closed = True
        for thread in self._threads:
            thread.join()
        for end in (self._listening, *self._ends):
            end.close()

    def _accept(self) -> None:
        self._listening.settimeout(_POLL_S)
        while not self._closed:
            with suppress(TimeoutError):
                near, _ = self._listening.accept()
                self._ends.append(near)
                if not self._cut:
                    self._join(near, socket.create_connection(("127.0.0.1", self._to_port)))

    def _join(self, near: socket.socket, far: socket.socket) -> None:
        self._ends.append(far)
        for ends in ((near, far), (far, near)):
            ends[0].settimeout(_POLL_S)
            self._begin(self._carry, *ends)

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while not self._cut:
                with suppress(TimeoutError):
                    data = source.recv(65536)
                    target.sendall(data)
                    if not data:
                        target.shutdown(socket.SHUT_WR)
                        return

    def _begin(self, work: Callable[..., None], *given: object) -> None:
        thread = threading.Thread(target=work, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()


@contextmanager
def cable(url: str) -> Iterator[tuple[Cable, str]]:
    """A cable to the camera of an address, and the address at its near end."""
    port = int(url.rpartition(":")[2].partition("/")[0])
    laid = Cable(port)
    try:
        yield laid, url.replace(f":{port}/", f":{laid.port}/")
    finally:
        laid.close()


@contextmanager
def http_camera(
    body: Body, kind: str = "multipart/x-mixed-replace; boundary=frame"
) -> Iterator[HttpCamera]:
    """An HTTP camera for a test."""
    camera = HttpCamera(body, kind)
    try:
        yield camera
    finally:
        camera.close()


@contextmanager
def rtsp_camera(film: Path | None = None) -> Iterator[RtspCamera]:
    """An RTSP camera for a test; with a film it shows that from when it is first watched."""
    camera = RtspCamera() if film is None else RtspCamera(pipeline=_FILM_PIPELINE.format(film))
    try:
        yield camera
    finally:
        camera.off()


@cache
def rtsp_lacks() -> str | None:
    """Return what this machine lacks to serve RTSP, ``None`` if nothing."""
    probe = (
        "import gi; gi.require_version('GstRtspServer', '1.0');"
        "from gi.repository import Gst, GstRtspServer; Gst.init(None);"
        "missing = [name for name in ('x264enc', 'rtph264pay', 'videotestsrc')"
        " if not Gst.ElementFactory.find(name)]; raise SystemExit(' '.join(missing) or 0)"
    )
    try:
        done = subprocess.run(
            [_SYSTEM_PYTHON, "-c", probe], capture_output=True, text=True, check=False
        )
    except OSError as fault:
        return str(fault)
    if done.returncode == 0:
        return None
    return (
        "GStreamer's RTSP server; apt-get install python3-gi gir1.2-gst-rtsp-server-1.0"
        f" gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly ({done.stderr.strip()[-80:]})"
    )
