"""`pitwatch serve` as a process of its own: how it starts, and what it prints where it cannot."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from server.commands.serve import Address, network_warnings
from server.service.access.records import PASSWORD_FILE
from tests.server.service.house import until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def begun(state: Path, port: int | None = None) -> tuple[subprocess.Popen[str], str]:
    """Start a service and return it with its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = port or free.getsockname()[1]
    words = ["-m", "server", "serve", str(state), "--state", str(state), "--port", str(port)]
    service = subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    return service, f"http://127.0.0.1:{port}"


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", verify=False).status_code == 200
    except httpx.TransportError:
        return False


def test_a_second_service_with_the_same_state_is_refused_in_one_line(tmp_path: Path) -> None:
    first, url = begun(tmp_path)
    try:
        until(lambda: is_ready(url))
        second, _ = begun(tmp_path)
        _, printed = second.communicate(timeout=60)
        assert second.returncode == 2
        assert "Traceback" not in printed
        assert "://" not in printed, "an address is printed only once it answers"
        assert "another" in printed.splitlines()[-1]
        assert str(tmp_path) in printed.splitlines()[-1]
        assert is_ready(url)
        assert (tmp_path / PASSWORD_FILE).exists()
    finally:
        first.terminate()
        first.communicate(timeout=30)


def test_on_a_taken_port_it_prints_one_line_and_no_address(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        service, _ = begun(tmp_path, port)
        _, printed = service.communicate(timeout=60)
    assert service.returncode == 2
    (refused,) = printed.splitlines()
    assert f"port {port} of 127.0.0.1 is taken" in refused
    assert "another `pitwatch console` or `pitwatch serve`" in refused
    assert "://" not in refused


def test_requests_are_logged_where_the_log_is_kept(tmp_path: Path) -> None:
    """stderr is no terminal here."""
    service, url = begun(tmp_path)
    try:
        until(lambda: is_ready(url))
    finally:
        service.terminate()
    _, printed = service.communicate(timeout=30)
    address, sign_in, *log = printed.splitlines()
    assert address.startswith(url)
    assert str(tmp_path / PASSWORD_FILE) in sign_in
    assert any(json.loads(line).get("route") == "/ready" for line in log)


def test_a_terminal_shows_no_requests(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["-m", "server", "serve", str(tmp_path), "--port", str(port)]
    terminal, end = os.openpty()
    service = subprocess.Popen([sys.executable, *words], cwd=ROOT, stderr=end)
    os.close(end)
    try:
        until(lambda: is_ready(f"http://127.0.0.1:{port}"))
    finally:
        service.terminate()
        service.wait(timeout=30)
        shown = os.read(terminal, 65536).decode()
        os.close(terminal)
    assert PASSWORD_FILE in shown.splitlines()[-1], shown


PLAIN, HELD = "cross the network in the clear", "can hold connections"


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        (Address("0.0.0.0", 1), (PLAIN, HELD)),
        (Address("10.1.2.3", 1), (PLAIN, HELD)),
        (Address("pit.example", 1), (PLAIN, HELD)),
        (Address("::", 1), (PLAIN, HELD)),
        (Address("127.0.0.1", 1), ()),
        (Address("::1", 1), ()),
        (Address("localhost", 1), ()),
        (Address("0.0.0.0", 1, Path("c"), Path("k")), (HELD,)),
        (Address("0.0.0.0", 1, proxy="10.0.0.1"), ()),
    ],
)
def test_a_service_on_a_network_without_a_proxy_warns_of_what_is_missing(
    address: Address, warned: tuple[str, ...]
) -> None:
    found = network_warnings(address)
    assert len(found) == len(warned)
    assert all(part in text for part, text in zip(warned, found, strict=True))


def test_a_service_without_tls_warns_when_it_starts(tmp_path: Path) -> None:
    with socket.create_server(("0.0.0.0", 0)) as free:
        port = free.getsockname()[1]
    words = ["-m", "server", "serve", str(tmp_path), "--host", "0.0.0.0", "--port", str(port)]
    with subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stderr is not None
        lines = [service.stderr.readline() for _ in range(2)]
        service.terminate()  # while it starts: at no moment is a signal lost
        assert service.wait(timeout=30) in {0, -signal.SIGTERM}
    assert "WARNING: plain HTTP on 0.0.0.0" in "".join(lines)
