"""Receivers on ports of this machine that record what they are sent, and brokers."""

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.server.service.house import until


@dataclass(frozen=True)
class Sent:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Receiver:
    """Answers with a status for each request in turn, then the last for all."""

    port: int = 0
    answers: list[int] = field(default_factory=lambda: [200])
    answer: bytes = b'{"Rsp": {"Status": "Ok"}}'
    sent: list[Sent] = field(default_factory=list)
    taken: list[Sent] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)
    tls: ssl.SSLContext | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/hook"

    def take(self, request: Sent) -> int:
        with self.lock:
            status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            self.sent.append(request)
            if 200 <= status < 300:
                self.taken.append(request)
            return status


@contextmanager
def receiving(receiver: Receiver | None = None) -> Iterator[Receiver]:
    """Run a receiver; with a port of its own where it had none."""
    found = receiver or Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length)
            if len(body) < length:  # the sender was killed as it sent: nothing was accepted
                self.close_connection = True
                return
            status = found.take(Sent(self.path, dict(self.headers.items()), body))
            self.send_response(status)
            if status == 307:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(found.answer)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # the sender was killed
                self.wfile.write(found.answer)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", found.port), Handler) as server:
        found.port = server.server_address[1]
        if found.tls is not None:
            server.socket = found.tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Broker:
    """A mosquitto on a port of this machine."""

    port: int
    start: Callable[[], None]
    stop: Callable[[], None]


@contextmanager
def broker(folder: Path, *, password: str | None = None) -> Iterator[Broker]:
    """Run Debian's mosquitto; skips where it is not installed."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if program is None:
        pytest.skip("mosquitto is not installed: apt-get install mosquitto")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    lines = [f"listener {port} 127.0.0.1", "user root", "persistence false"]
    if password is None:
        lines.append("allow_anonymous true")
    else:
        words = folder / "words"
        subprocess.run(["mosquitto_passwd", "-c", "-b", words, "pitwatch", password], check=True)
        lines += ["allow_anonymous false", f"password_file {words}"]
    config = folder / "mosquitto.conf"
    config.write_text("\n".join(lines) + "\n")
    running: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        process = subprocess.Popen([program, "-c", config], stderr=subprocess.DEVNULL)
        running.append(process)
        until(lambda: _answers(port))

    def stop() -> None:
        process = running.pop()
        process.terminate()
        process.wait(10)

    start()
    try:
        yield Broker(port, start, stop)
    finally:
        if running:
            stop()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
