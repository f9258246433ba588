"""`pitwatch serve` as a process of its own: how it starts, and what it prints where it cannot."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from server.commands.serve import Address, is_plain_beyond_loopback
from server.service.access.records import PASSWORD_FILE
from tests.server.service.house import until

ROOT = Path(__file__).parents[3]


def begun(state: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a service and return it with its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
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
        assert "another" in printed.splitlines()[-1]
        assert str(tmp_path) in printed.splitlines()[-1]
        assert is_ready(url)
        assert (tmp_path / PASSWORD_FILE).exists()
    finally:
        first.terminate()
        first.communicate(timeout=30)


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        (Address("0.0.0.0", 1), True),
        (Address("10.1.2.3", 1), True),
        (Address("pit.example", 1), True),
        (Address("::", 1), True),
        (Address("127.0.0.1", 1), False),
        (Address("::1", 1), False),
        (Address("localhost", 1), False),
        (Address("0.0.0.0", 1, Path("c"), Path("k")), False),
        (Address("0.0.0.0", 1, proxy="10.0.0.1"), False),
    ],
)
def test_plain_http_beyond_loopback_is_warned_of(address: Address, warned: bool) -> None:
    assert is_plain_beyond_loopback(address) is warned


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
