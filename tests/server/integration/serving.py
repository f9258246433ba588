"""`pitwatch serve` as a process of its own, with a token that may read its metrics."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.server.service.house import token_for, until

ROOT = Path(__file__).parents[3]


@contextmanager
def served(folder: Path, config: Path) -> Iterator[tuple[str, str]]:
    """Yield the address of a service over ``folder`` and a token for its metrics."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--port", str(port), "--state", str(folder), "--integration", str(config)]
    process = subprocess.Popen(
        [sys.executable, "-m", "server", "serve", str(folder), *options],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: _is_ready(url))
        yield url, token_for(url, folder, "admin")
    finally:
        process.terminate()
        process.wait(30)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", verify=False).status_code == 200
    except httpx.TransportError:
        return False
