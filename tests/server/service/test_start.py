"""`pitwatch serve` as a process of its own: how it begins, and what it says where it cannot."""

import socket
import subprocess
import sys
from pathlib import Path

import httpx

from server.service.records import PASSWORD_FILE
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
        return httpx.get(f"{url}/ready").status_code == 200
    except httpx.TransportError:
        return False


def test_a_second_service_with_the_same_state_is_told_so_in_one_line(tmp_path: Path) -> None:
    first, url = begun(tmp_path)
    try:
        until(lambda: is_ready(url))
        second, _ = begun(tmp_path)
        _, said = second.communicate(timeout=60)
        assert second.returncode == 2
        assert "Traceback" not in said
        assert "another" in said.splitlines()[-1]
        assert str(tmp_path) in said.splitlines()[-1]
        assert is_ready(url)
        assert (tmp_path / PASSWORD_FILE).exists()
    finally:
        first.terminate()
        first.communicate(timeout=30)
