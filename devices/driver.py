"""What every driver of a byte device is, and how one runs over a live link."""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from devices.transport import Transport
from models.events import PlateRead, ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded
from stream.clock import Clock

Reading = ShoeCardRead | ShoeCutCard | ShoeLoaded | PlateRead | ReaderFault
"""What a byte device observes."""


class Driver(Protocol):
    """Turns bytes into observations. Pure: it asks no clock and opens no port."""

    def feed(self, chunk: bytes, at_ns: int) -> tuple[Reading, ...]:
        """Return what ``chunk``, which arrived at ``at_ns``, completes."""

    def finish(self, at_ns: int) -> tuple[Reading, ...]:
        """Return what the end of the stream leaves unfinished, as faults."""


async def observations(
    driver: Driver, transport: Transport, clock: Clock
) -> AsyncIterator[Reading]:
    """Yield until the source ends or the link is lost; reconnecting is the supervisor's work.

    Raises:
        LinkLost: the port is gone.
    """
    while chunk := await transport.read():
        for reading in driver.feed(chunk, clock.now_ns()):
            yield reading
    await asyncio.sleep(0)
    for reading in driver.finish(clock.now_ns()):
        yield reading
