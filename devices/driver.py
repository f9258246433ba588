"""The interface of every driver of a byte device."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from devices.flood import FaultLimiter
from devices.framing import FrameFault
from devices.reading import Reading


@dataclass(frozen=True, slots=True)
class Answer:
    """A device's answer to a command."""

    taken: bool
    detail: str = ""
    """The reason of a refusal."""


F = TypeVar("F")
F_co = TypeVar("F_co", covariant=True)


class Framer(Protocol[F_co]):
    """Cuts bytes into frames; the result does not depend on where the stream is cut."""

    def feed(self, chunk: bytes) -> Iterator[F_co | FrameFault]:
        """Yield each frame completed by ``chunk``, or the fault found in its place."""

    def finish(self) -> Iterator[FrameFault]:
        """Yield the fault of a frame that the end of the stream cut short."""


class Driver(ABC, Generic[F]):
    """Turns bytes into observations. Pure: it reads no clock and opens no port.

    A flood of faults is reported as a count, live and in replay alike.
    """

    def __init__(self, framer: Framer[F], source: str) -> None:
        self._framer = framer
        self._source = source
        self._limiter = FaultLimiter()

    def feed(self, chunk: bytes, at_ns: int) -> tuple[Reading, ...]:
        """Return the readings that ``chunk`` completes, which arrived at ``at_ns``."""
        readings: list[Reading] = []
        for found in self._framer.feed(chunk):
            for reading in self._readings(found, at_ns):
                readings.extend(self._limiter.let(reading))
        return tuple(readings)

    def greeting(self) -> bytes:
        """Return the bytes to send to the device after every connection, often none."""
        return b""

    def answers(self) -> tuple[Answer, ...]:
        """Return the last answer to a command since the last call, if any."""
        return ()

    def returned(self, at_ns: int) -> tuple[Reading, ...]:
        """Handle the return of a lost link; return readings of what may have been missed."""
        return self.finish(at_ns)

    def finish(self, at_ns: int) -> tuple[Reading, ...]:
        """Return faults for what the end of the stream leaves unfinished."""
        readings: list[Reading] = []
        for fault in self._framer.finish():
            readings.extend(self._limiter.let(fault.observed(self._source, at_ns)))
        return (*readings, *self._limiter.end(at_ns))

    def _readings(self, found: F | FrameFault, at_ns: int) -> Iterator[Reading]:
        if isinstance(found, FrameFault):
            yield found.observed(self._source, at_ns)
        else:
            yield from self._read(found, at_ns)

    @abstractmethod
    def _read(self, frame: F, at_ns: int) -> Iterator[Reading]:
        """Yield the readings of one sound frame."""
