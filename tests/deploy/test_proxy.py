"""nginx with the shipped configuration before the service: pages, streams, video and abuse."""

import io
import json
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import av
import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from models.events import RoundOpened
from simulation.session import simulate
from stream.journal import Journal
from tests.deploy.proxied import free_port, nginx_command, placed_configuration, running
from tests.deploy.tools import tool
from tests.golden.sessions import SESSIONS
from tests.server.certificates import self_signed
from tests.server.service.house import HELD, House, play, until
from vision.scenes.look import Look

pytestmark = pytest.mark.slow

SMALL: Final = Look(width_px=640, height_px=360, fps=10, noise_sigma=1.0)
SHORT: Final = {
    "client_header_timeout 15s": "client_header_timeout 2s",
    "client_body_timeout 15s": "client_body_timeout 2s",
    "send_timeout 60s": "send_timeout 2s",
}
"""The waits for a client, as a test has time for."""
ELSEWHERE: Final = "203.0.113.9"


@dataclass(frozen=True)
class Site(House):
    """A service behind nginx."""

    service: int = 0
    """The process of the service."""
    log: Path = Path()
    """The proxy's."""

    @property
    def descriptors(self) -> int:
        """How many the service has open."""
        return sum(1 for _ in Path(f"/proc/{self.service}/fd").iterdir())

    @property
    def place(self) -> tuple[str, int]:
        return "127.0.0.1", int(self.url.rpartition(":")[2])

    @property
    def trusted(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    nginx = tool("nginx", "apt-get install nginx-light")
    folder = tmp_path_factory.mktemp("proxied")
    journals = folder / "journals"
    journals.mkdir()
    simulate(replace(SESSIONS["mistake"], table="BJ-07", look=SMALL), journals / "bj-07")
    play(journals / "bj-07.journal", "mistake", "BJ-07")
    certificate, key = self_signed(folder)
    inner, outer = free_port(), free_port()
    placed = placed_configuration(folder, certificate, key, inner, outer, SHORT)
    serve: list[str | Path] = [sys.executable, "-m", "server", "serve", journals]
    serve += ["--state", folder / "state", "--port", str(inner), "--behind-proxy", "127.0.0.1"]
    front = nginx_command(nginx, folder, placed)
    with running(serve, folder / "service.log") as service, running(front, folder / "nginx.log"):
        found = Site(
            f"https://127.0.0.1:{outer}",
            journals,
            folder / "state",
            certificate,
            service,
            folder / "pitwatch.log",
        )
        until(lambda: is_ready(found))
        found.staff()
        yield found


def is_ready(site: Site) -> bool:
    with suppress(httpx.TransportError), site.anyone() as client:
        return client.get("/ready").status_code == 200
    return False


def test_nginx_finds_the_configuration_sound(tmp_path: Path) -> None:
    nginx = tool("nginx", "apt-get install nginx-light")
    placed = placed_configuration(tmp_path, *self_signed(tmp_path), 1, 2, SHORT)
    asked = [nginx, "-t", "-q", "-p", tmp_path, "-c", placed, "-e", "stderr"]
    done = subprocess.run(list(map(str, asked)), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_page_the_api_and_a_part_of_a_clip_come_through(site: Site) -> None:
    with site.signed_in("surveillance") as officer:
        page = officer.get("/")
        assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
        assert "Pitwatch" in page.text
        assert site.get(officer, "/api/sessions")
        clip = officer.get("/api/sessions/bj-07/rounds/1/clips/overhead")
        with av.open(io.BytesIO(clip.content)) as video:
            assert video.streams.video[0].codec_context.name == "h264"
        part = officer.get(clip.request.url.path, headers={"Range": "bytes=100-299"})
        assert (part.status_code, part.content) == (206, clip.content[100:300])


@contextmanager
def viewed(
    site: Site, officer: httpx.Client, table: str
) -> Iterator[tuple[Journal, ClientConnection]]:
    """A new table's journal with one entry, and a viewer of its stream."""
    name = table.lower()
    with Journal.create(site.journals / f"{name}.journal") as journal:
        journal.append(RoundOpened(round=1, at=1, table=table))
        until(lambda: name in officer.get("/api/sessions").text)
        cookie = {"Cookie": f"pitwatch={officer.cookies['pitwatch']}", "Origin": site.url}
        address = f"{site.url.replace('https', 'wss')}/stream?from={name}:0"
        with connect(address, ssl=site.trusted, additional_headers=cookie, proxy=None) as viewer:
            yield journal, viewer


def test_events_come_at_once_by_socket_and_as_server_sent_events(site: Site) -> None:
    with (
        site.signed_in("surveillance") as officer,
        viewed(site, officer, "BJ-20") as (journal, viewer),
        officer.stream("GET", "/api/sessions/bj-20/stream", params={"after": 0}) as sent,
    ):
        lines = (line for line in sent.iter_lines() if line.startswith("id: "))
        for seq in range(1, 4):
            if seq > 1:
                journal.append(RoundOpened(round=seq, at=seq, table="BJ-20"))
            assert json.loads(viewer.recv(5))["event"]["seq"] == seq
            assert next(lines) == f"id: {seq}"


def test_a_page_of_another_site_opens_no_stream(site: Site) -> None:
    with site.signed_in("surveillance") as officer:
        foreign = {
            "Cookie": f"pitwatch={officer.cookies['pitwatch']}",
            "Origin": "https://evil.example",
        }
        address = f"{site.url.replace('https', 'wss')}/stream"
        with (
            pytest.raises(Exception, match="403"),
            connect(address, ssl=site.trusted, additional_headers=foreign, proxy=None),
        ):
            pass


def test_the_service_knows_each_client_by_its_own_address_whatever_it_claims(site: Site) -> None:
    wrong = {"name": "pit", "password": "not the password"}
    claim = {"X-Forwarded-For": ELSEWHERE}
    with site.anyone("127.0.1.5") as guessing, site.anyone("127.0.1.6") as other:
        answers = [
            guessing.post("/api/sign-in", json=wrong, headers=claim).status_code for _ in range(30)
        ]
        assert answers[-1] == 429
        assert other.post("/api/sign-in", json=wrong | {"name": "ghost"}).status_code == 401
    with site.signed_in("admin") as admin:
        found = admin.get("/api/activity").text
    assert "127.0.1.5" in found
    assert ELSEWHERE not in found
    logged = [json.loads(line)["address"] for line in site.log.read_text().splitlines()]
    assert {"127.0.1.5", "127.0.1.6"} <= set(logged)
    assert ELSEWHERE not in logged


def test_a_body_too_large_is_refused_before_the_service_hears_of_it(site: Site) -> None:
    with site.anyone() as client:
        assert client.post("/api/sign-in", content=b" " * 66_000).status_code == 413
        assert client.get("/health").status_code == 200


def is_closed(one: socket.socket) -> bool:
    one.settimeout(0.01)
    try:
        return one.recv(1 << 12) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


@contextmanager
def holding(site: Site, number: int) -> Iterator[list[socket.socket]]:
    """Keep connections open: silent ones, half a handshake, and requests that never end."""
    with ExitStack() as kept:
        held = []
        for index in range(number):
            one = socket.create_connection(site.place, 5, (f"127.0.1.{index % 20 + 1}", 0))
            if index % 5 == 0:
                one = site.trusted.wrap_socket(one, server_hostname="127.0.0.1")
                one.sendall(HELD[index // 5 % len(HELD)])
            else:
                one.sendall(b"\x16\x03\x01" if index % 2 else b"")
            held.append(kept.enter_context(one))
        yield held


def test_held_connections_cost_the_service_nothing_and_end_in_time(site: Site) -> None:
    before = site.descriptors
    with holding(site, 300) as held:
        with site.anyone() as client:
            for _ in range(5):
                began_s = time.monotonic()
                assert client.get("/health").status_code == 200
                assert time.monotonic() - began_s < 2
        assert site.descriptors <= before + 5
        until(lambda: all(map(is_closed, held)), 400)


def test_a_viewer_loses_nothing_while_hundreds_are_held(site: Site) -> None:
    with (
        site.signed_in("surveillance") as officer,
        viewed(site, officer, "BJ-21") as (journal, viewer),
        holding(site, 300),
    ):
        journal.append_all(RoundOpened(round=n, at=n, table="BJ-21") for n in range(2, 51))
        seen = [json.loads(viewer.recv(20))["event"]["seq"] for _ in range(50)]
    assert seen == [*range(1, 51)]


def test_prometheus_reads_the_metrics_with_its_token(site: Site) -> None:
    with site.signed_in("engineer") as engineer:
        made = engineer.post("/api/tokens", json={"label": "prom", "scopes": ["see_metrics"]})
        token = made.json()["secret"]
    with site.anyone() as prometheus:
        assert prometheus.get("/metrics").status_code == 401
        read = prometheus.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert "\npitwatch_connections " in read.text


def test_who_reads_nothing_is_dropped(site: Site) -> None:
    asking = b"GET /page/vendor/uPlot.iife.min.js HTTP/1.1\r\nHost: pit\r\n\r\n"
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.bind(("127.0.1.30", 0))
    plain.connect(site.place)
    with site.trusted.wrap_socket(plain, server_hostname="127.0.0.1") as reader:
        reader.sendall(asking * 300)  # 15 MB of answers: more than any buffer on the way

        def is_reset() -> bool:
            try:
                reader.sendall(b"\r\n")
            except OSError:
                return True
            return False

        began_s = time.monotonic()
        until(is_reset, 400)
        assert time.monotonic() - began_s > 1
    with site.anyone() as client:
        assert client.get("/health").status_code == 200
