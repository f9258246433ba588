"""What every driver of a byte device is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from devices.flood import FaultGate
from devices.framing import FrameFault
from devices.reading import Reading


@dataclass(frozen=True, slots=True)
class Answer:
    """What a device answered to a command."""

    taken: bool
    detail: str = ""
    """Why it was refused."""


F = TypeVar("F")
F_co = TypeVar("F_co", covariant=True)


class Framer(Protocol[F_co]):
    """Cuts bytes into frames; the result does not depend on where the stream is cut."""

    def feed(self, chunk: bytes) -> Iterator[F_co | FrameFault]:
        """Yield each frame completed by ``chunk``, or the fault found in its place."""

    def finish(self) -> Iterator[FrameFault]:
        """Yield the fault of a frame that the end of the stream cut short."""


class Driver(ABC, Generic[F]):
    """Turns bytes into observations. Pure: it asks no clock and opens no port.

    Faults that come in a flood are reported as a count, live and in replay alike.
    """

    def __init__(self, framer: Framer[F], source: str) -> None:
        self._framer = framer
        self._source = source
        self._gate = FaultGate()

    def feed(self, chunk: bytes, at_ns: int) -> tuple[Reading, ...]:
        """Return what ``chunk``, which arrived at ``at_ns``, completes."""
        told: list[Reading] = []
        for found in self._framer.feed(chunk):
            for reading in self._readings(found, at_ns):
                told.extend(self._gate.let(reading))
        return tuple(told)

    def greeting(self) -> bytes:
        """Return what is sent to the device whenever the link to it is made, often nothing."""
        return b""

    def answers(self) -> tuple[Answer, ...]:
        """Return the last answer to a command since this was asked, if there was one."""
        return ()

    def returned(self, at_ns: int) -> tuple[Reading, ...]:
        """Take note that the link was lost and is back; return what may have been missed."""
        return self.finish(at_ns)

    def finish(self, at_ns: int) -> tuple[Reading, ...]:
        """Return what the end of the stream leaves unfinished, as faults."""
        told: list[Reading] = []
        for fault in self._framer.finish():
            told.extend(self._gate.let(fault.observed(self._source, at_ns)))
        return (*told, *self._gate.end(at_ns))

    def _readings(self, found: F | FrameFault, at_ns: int) -> Iterator[Reading]:
        if isinstance(found, FrameFault):
            yield found.observed(self._source, at_ns)
        else:
            yield from self._read(found, at_ns)

    @abstractmethod
    def _read(self, frame: F, at_ns: int) -> Iterator[Reading]:
        """Yield the readings of one sound frame."""
