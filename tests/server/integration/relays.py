"""A relay over a folder of journals, run in a thread and stopped as a process is stopped."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry

from server.integration.config import (
    Destination,
    IntegrationConfig,
    PlacedIntegration,
)
from server.integration.relay import Relay, opened
from server.readmodel.floor import Floor
from server.readmodel.folder_floor import FolderFloor
from stream.clock import HostClock

KEY: Final = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
RAW_KEY: Final = b"0123456789abcdef0123456789abcdef"
SERVICE: Final = "https://pit.example"


def hook(url: str, **options: Any) -> Destination:
    """A webhook that waits no longer than a test may."""
    quick: dict[str, Any] = {"first_wait_ms": 1, "longest_wait_s": 0.02, "start": "beginning"}
    settings = {"url": url, "secrets": [{"file": "key"}], "timeout_ms": 2000}
    return Destination(name="hook", kind="webhook", settings=settings, **(quick | options))


def configured(folder: Path, *destinations: Destination) -> PlacedIntegration:
    """A configuration in ``folder``, with the webhooks' secret beside it."""
    (folder / "key").write_text(KEY + "\n")
    return PlacedIntegration(
        folder / "integration.toml",
        IntegrationConfig(service_url=SERVICE + "/", destinations=destinations),
    )


@contextmanager
def relaying(
    journals: Path, state: Path, configuration: PlacedIntegration
) -> Iterator[CollectorRegistry]:
    """Run a relay; it ends with the block, wherever it is then."""
    registry, floor = CollectorRegistry(), FolderFloor(journals)
    with opened(configuration, state, floor, HostClock(), registry) as relay:
        loop = asyncio.new_event_loop()
        both = loop.create_task(_both(floor, relay))
        thread = threading.Thread(target=_run, args=(loop, both))
        thread.start()
        try:
            yield registry
        finally:
            loop.call_soon_threadsafe(both.cancel)
            thread.join(20)


async def _both(floor: Floor, relay: Relay) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(floor.run(10_000_000))
        group.create_task(relay.run())


def _run(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[None]") -> None:
    try:
        loop.run_until_complete(task)
    except asyncio.CancelledError:
        pass
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


def metric(registry: CollectorRegistry, name: str, destination: str = "hook") -> float:
    """The value of a destination's meter."""
    labels: Mapping[str, str] = {"destination": destination}
    return registry.get_sample_value(f"pitwatch_relay_{name}", dict(labels)) or 0.0
