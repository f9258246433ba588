"""Connections that are opened and held: ``python -m lab.faults.held_connections``.

The service runs behind nginx as it ships, with a limit of 1,024 descriptors. Another process keeps
5,000 connections to nginx open and opens each again that is closed: silent ones, half a request's
head, a head whose body never comes. Meanwhile a table's journal is written, people who signed in
watch it over WebSockets, and /health is asked over a new connection each time. It prints whether
every event came to every viewer, how long /health took, and how much was logged.
"""

import argparse
import asyncio
import http.client
import json
import multiprocessing
import resource
import ssl
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing.synchronize import Event as Flag
from pathlib import Path
from typing import Any, Final

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from models.events import RoundOpened
from pitwatch_client import Client
from stream.journal import Journal
from tests.deploy.proxied import free_port, nginx_command, placed_configuration, running
from tests.deploy.tools import tool
from tests.server.certificates import self_signed
from tests.server.service.house import HELD, token_for, until

_SPARE: Final = 200
_EVENT_S: Final = 0.05
_PROBE_S: Final = 0.2
_DRAIN_S: Final = 30.0


@dataclass
class Seen:
    """What was seen."""

    health_s: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    written: int = 0
    seen: dict[int, list[int]] = field(default_factory=dict)


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; 1 where a viewer lost an event or /health took longer than a second."""
    asked = _parser().parse_args(argv)
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as place, _service(Path(place), asked.limit) as served:
        url, trusted, log = served
        found, stop, held = Seen(), spawn.Event(), spawn.Value("q", 0)
        attack = spawn.Process(target=hold, args=(url, asked, stop, held))
        with Journal.create(Path(place) / "journals" / "bj-07.journal") as journal:
            journal.append(_event(1))
            token = token_for(url, Path(place) / "state", "surveillance")
            with Client(url, token, trusted) as client:
                until(lambda: list(client.sessions()))
            before = log.stat().st_size
            asyncio.run(_watch(url, trusted, token, journal, found, asked, attack))
            grown = log.stat().st_size - before
        stop.set()
        attack.join(60)
        return _print(asked, found, grown, held.value)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--held", type=int, default=5000, help="connections that are kept open")
    parser.add_argument("--limit", type=int, default=1024, help="the service's descriptors")
    parser.add_argument("--addresses", type=int, default=200, help="they come from so many")
    parser.add_argument(
        "--again", type=float, default=1, help="a closed one is opened after so long"
    )
    parser.add_argument("--viewers", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=70)
    return parser


def _event(number: int) -> RoundOpened:
    return RoundOpened(round=number, at=time.time_ns(), table="BJ-07")


@contextmanager
def _service(folder: Path, limit: int) -> Iterator[tuple[str, ssl.SSLContext, Path]]:
    """Run the service behind nginx as it ships; yield its address, its certificate and its log."""
    (folder / "journals").mkdir()
    certificate, key = self_signed(folder)
    inner, outer = free_port(), free_port()
    placed = placed_configuration(folder, certificate, key, inner, outer, {})
    words: list[str | Path] = [sys.executable, "-m", "server", "serve", folder / "journals"]
    words += ["--state", folder / "state", "--port", str(inner), "--behind-proxy", "127.0.0.1"]
    nginx = tool("nginx", "apt-get install nginx-light")
    log, trusted = folder / "log", ssl.create_default_context(cafile=str(certificate))
    with (
        running(["prlimit", f"--nofile={limit}:{limit}", *words], log),
        running(nginx_command(nginx, folder, placed), folder / "nginx.log"),
    ):
        url = f"https://127.0.0.1:{outer}"
        until(lambda: _is_ready(url, trusted))
        yield url, trusted, log


def _is_ready(url: str, trusted: ssl.SSLContext) -> bool:
    try:
        return httpx.get(f"{url}/ready", verify=trusted).status_code == 200
    except httpx.TransportError:
        return False


# --- those who hold -------------------------------------------------------------------------


def hold(url: str, asked: argparse.Namespace, stop: Flag, opened: Any) -> None:
    """Keep connections open until ``stop`` is set; count how often one was opened."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, asked.held + _SPARE), most))
    asyncio.run(_hold_all(httpx.URL(url), asked, stop, opened))


async def _hold_all(url: httpx.URL, asked: argparse.Namespace, stop: Flag, opened: Any) -> None:
    holding = [
        asyncio.create_task(
            _hold_one(url, f"127.0.1.{index % asked.addresses + 1}", sent, asked.again, opened)
        )
        for index, sent in zip(range(asked.held), cycle(HELD), strict=False)
    ]
    while not stop.is_set():
        await asyncio.sleep(0.2)
    for task in holding:
        task.cancel()
    await asyncio.gather(*holding, return_exceptions=True)


async def _hold_one(url: httpx.URL, address: str, sent: bytes, again_s: float, opened: Any) -> None:
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(
                url.host, url.port, local_addr=(address, 0)
            )
            opened.value += 1
            try:
                writer.write(sent)
                await reader.read()
            finally:
                writer.close()
        await asyncio.sleep(again_s)


# --- those who look -------------------------------------------------------------------------


async def _watch(
    url: str,
    trusted: ssl.SSLContext,
    token: str,
    journal: Journal,
    found: Seen,
    asked: argparse.Namespace,
    attack: "multiprocessing.context.SpawnProcess",
) -> None:
    viewers = [
        asyncio.create_task(_view(url, trusted, token, one, found)) for one in range(asked.viewers)
    ]
    await asyncio.sleep(1)
    attack.start()
    until_s = time.monotonic() + asked.seconds
    probing = asyncio.create_task(_probe(url, trusted, found, until_s))
    found.written = 1
    while time.monotonic() < until_s:
        found.written += 1
        journal.append(_event(found.written))
        await asyncio.sleep(_EVENT_S)
    await probing
    due_s = time.monotonic() + _DRAIN_S
    while any(len(seen) < found.written for seen in found.seen.values()) and (
        time.monotonic() < due_s
    ):
        await asyncio.sleep(0.1)
    for task in viewers:
        task.cancel()
    await asyncio.gather(*viewers, return_exceptions=True)


async def _view(url: str, trusted: ssl.SSLContext, token: str, number: int, found: Seen) -> None:
    seen = found.seen.setdefault(number, [])
    address = url.replace("http", "ws") + "/stream?from=bj-07:0"
    headers = {"Authorization": f"Bearer {token}"}
    try:
        async with connect(address, ssl=trusted, additional_headers=headers, proxy=None) as stream:
            async for message in stream:
                seen.append(json.loads(message)["event"]["seq"])
    except ConnectionClosed as closed:
        found.failed.append(f"viewer {number} was sent away: {closed}")


async def _probe(url: str, trusted: ssl.SSLContext, found: Seen, until_s: float) -> None:
    while time.monotonic() < until_s:
        began_s = time.monotonic()
        try:
            status = await asyncio.to_thread(_health, httpx.URL(url), trusted)
            if status != 200:
                found.failed.append(f"/health answered {status}")
        except (OSError, http.client.HTTPException) as fault:
            found.failed.append(f"/health: {type(fault).__name__}")
        found.health_s.append(time.monotonic() - began_s)
        await asyncio.sleep(_PROBE_S)


def _health(url: httpx.URL, trusted: ssl.SSLContext) -> int:
    asking = http.client.HTTPSConnection(url.host, url.port, timeout=10, context=trusted)
    try:
        asking.request("GET", "/health")
        return asking.getresponse().status
    finally:
        asking.close()


def _print(asked: argparse.Namespace, found: Seen, grown: int, opened: int) -> int:
    short = [one for one, seen in found.seen.items() if seen != [*range(1, found.written + 1)]]
    health = sorted(found.health_s)
    print(
        f"{asked.held} connections from {asked.addresses} addresses held for {asked.seconds:g} s, "
        f"{opened} opened, at a limit of {asked.limit} descriptors\n"
        f"viewers       {asked.viewers}, {found.written} events each, {len(short)} lost some\n"
        f"/health       {len(health)} asked, median {health[len(health) // 2] * 1000:.0f} ms, "
        f"slowest {health[-1] * 1000:.0f} ms\n"
        f"log           {grown} bytes\n"
        f"failed        {len(found.failed)} {found.failed[:5]}"
    )
    return 1 if short or found.failed or health[-1] > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
