"""A camera that names other addresses is lost with the reason, and nobody else is asked."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from devices.cameras.elsewhere import checked_rtsp, http_leads_to
from models.events import CameraFault
from tests.devices.camera_servers import http_camera, mjpeg, transport_stream
from tests.devices.live import LiveTable


@dataclass
class Server:
    """An HTTP server that answers each path with a status, a ``Location`` and a content."""

    answers: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""


@contextmanager
def served() -> Iterator[Server]:
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            status, location, content = server.answers.get(self.path, (404, "", b""))
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listening.server_port}"
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()


def lost(url: str) -> str:
    """Why a table says that it lost the camera."""
    table = LiveTable()

    async def run() -> str:
        table.keep([table.camera(url)])
        await table.until(lambda: any(isinstance(one, CameraFault) for one in table.reported))
        await table.leave()
        return next(one.detail for one in table.reported if isinstance(one, CameraFault))

    return asyncio.run(run())


def test_a_redirect_to_another_host_is_refused_and_nobody_there_is_asked() -> None:
    with served() as camera, served() as victim:
        camera.answers["/table"] = (302, f"{victim.url}/secret", b"")
        detail = lost(f"{camera.url}/table")
        assert f"redirects to {victim.url.removeprefix('http://')}" in detail
        assert victim.asked == []


@pytest.mark.parametrize(
    "playlist",
    [
        pytest.param("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{}/a.ts\n", id="hls"),
        pytest.param('<?xml version="1.0"?><MPD><BaseURL>{}/</BaseURL></MPD>', id="dash"),
        pytest.param("ffconcat version 1.0\nfile {}/a.ts\n", id="concat"),
        pytest.param("v=0\nc=IN IP4 127.0.0.2\nm=video 5004 RTP/AVP 96\n{}", id="sdp"),
    ],
)
@pytest.mark.parametrize("path", ["/table.m3u8", "/table.ts"])
def test_a_playlist_is_refused_and_nobody_in_it_is_asked(playlist: str, path: str) -> None:
    with served() as camera, served() as victim:
        camera.answers[path] = (200, "", playlist.format(victim.url).encode())
        assert "a playlist of other addresses" in lost(f"{camera.url}{path}")
        assert victim.asked == []


def test_a_redirect_of_a_camera_to_itself_is_followed(tmp_path: Path) -> None:
    stream = transport_stream(tmp_path / "table.ts", 30)
    table = LiveTable()
    with served() as camera:
        camera.answers["/table"] = (307, "/live/table.ts", b"")
        camera.answers["/live/table.ts"] = (200, "", stream)

        async def run() -> None:
            table.keep([table.camera(f"{camera.url}/table")])
            await table.until(lambda: len(table.frames) >= 10)
            await table.leave()

        asyncio.run(run())


def test_redirects_without_end_are_given_up() -> None:
    with served() as camera:
        camera.answers["/table"] = (302, "/table", b"")
        assert "redirects without end" in lost(f"{camera.url}/table")


def test_what_leads_nowhere_is_asked_no_further() -> None:
    with http_camera(lambda: mjpeg(3)) as camera:
        assert http_leads_to(camera.url, 5) is None
    assert http_leads_to("http://127.0.0.1:1/", 1) is None
    with checked_rtsp("rtsp://127.0.0.1:1/table", 1):
        pass


@pytest.mark.parametrize("at", [1, 2], ids=["OPTIONS", "DESCRIBE"])
def test_an_rtsp_redirect_to_another_host_is_refused_before_it_is_followed(at: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as victim, rtsp(at, victim.getsockname()[1]) as url:
        victim.settimeout(0.2)
        assert "which is not the configured camera" in lost(url)
        with pytest.raises(TimeoutError):
            victim.accept()


@contextmanager
def rtsp(at: int, elsewhere: int) -> Iterator[str]:
    """A camera that answers its ``at``-th request with a redirect to another port."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                with client, suppress(OSError):
                    number = 0
                    while (request := client.recv(4096)).strip():
                        number += 1
                        says = f"302 Moved\r\nLocation: rtsp://127.0.0.1:{elsewhere}/table"
                        status = says if number == at else "200 OK\r\nPublic: DESCRIBE, SETUP"
                        sequence = request.decode().split("CSeq: ")[1].split("\r\n")[0]
                        client.sendall(f"RTSP/1.0 {status}\r\nCSeq: {sequence}\r\n\r\n".encode())

    threading.Thread(target=answer, daemon=True).start()
    try:
        yield f"rtsp://127.0.0.1:{listening.getsockname()[1]}/table"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
