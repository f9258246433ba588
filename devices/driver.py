"""What every driver of a byte device is, and how one runs over a live link."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Generic, Protocol, TypeAlias, TypeVar

from devices.framing import FrameFault
from devices.transport import Transport
from models.events import PlateRead, ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded
from stream.clock import Clock

Reading: TypeAlias = ShoeCardRead | ShoeCutCard | ShoeLoaded | PlateRead | ReaderFault
"""What a byte device observes."""

F = TypeVar("F")
F_co = TypeVar("F_co", covariant=True)


class Framer(Protocol[F_co]):
    """Cuts bytes into frames; where it is cut, a stream says nothing."""

    def feed(self, chunk: bytes) -> Iterator[F_co | FrameFault]:
        """Yield each frame completed by ``chunk``, or the fault found in its place."""

    def finish(self) -> Iterator[FrameFault]:
        """Yield the fault of a frame that the end of the stream cut short."""


class Driver(ABC, Generic[F]):
    """Turns bytes into observations. Pure: it asks no clock and opens no port."""

    def __init__(self, framer: Framer[F], source: str) -> None:
        self._framer = framer
        self._source = source

    def feed(self, chunk: bytes, at_ns: int) -> tuple[Reading, ...]:
        """Return what ``chunk``, which arrived at ``at_ns``, completes."""
        readings: list[Reading] = []
        for found in self._framer.feed(chunk):
            if isinstance(found, FrameFault):
                readings.append(found.observed(self._source, at_ns))
            else:
                readings.extend(self._read(found, at_ns))
        return tuple(readings)

    def greeting(self) -> bytes:
        """Return what is sent to the device whenever the link to it is made, often nothing."""
        return b""

    def returned(self, at_ns: int) -> tuple[Reading, ...]:
        """Take note that the link was lost and is back; return what may have been missed."""
        return self.finish(at_ns)

    def finish(self, at_ns: int) -> tuple[Reading, ...]:
        """Return what the end of the stream leaves unfinished, as faults."""
        return tuple(fault.observed(self._source, at_ns) for fault in self._framer.finish())

    @abstractmethod
    def _read(self, frame: F, at_ns: int) -> Iterator[Reading]:
        """Yield what one sound frame says."""


async def observations(
    driver: Driver[F], transport: Transport, clock: Clock
) -> AsyncIterator[Reading]:
    """Yield until the source ends or the link is lost; reconnecting is the supervisor's work.

    Raises:
        LinkLost: the port is gone.
    """
    while chunk := await transport.read():
        for reading in driver.feed(chunk, clock.now_ns()):
            yield reading
    for reading in driver.finish(clock.now_ns()):
        yield reading
