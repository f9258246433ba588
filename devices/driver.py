"""What every driver of a byte device is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from devices.framing import FrameFault
from models.events import PlateRead, ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded

Reading: TypeAlias = ShoeCardRead | ShoeCutCard | ShoeLoaded | PlateRead | ReaderFault
"""What a byte device observes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a device answered to a command."""

    taken: bool
    detail: str = ""
    """Why it was refused."""


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

    def answers(self) -> tuple[Answer, ...]:
        """Return the last answer to a command since this was asked, if there was one."""
        return ()

    def returned(self, at_ns: int) -> tuple[Reading, ...]:
        """Take note that the link was lost and is back; return what may have been missed."""
        return self.finish(at_ns)

    def finish(self, at_ns: int) -> tuple[Reading, ...]:
        """Return what the end of the stream leaves unfinished, as faults."""
        return tuple(fault.observed(self._source, at_ns) for fault in self._framer.finish())

    @abstractmethod
    def _read(self, frame: F, at_ns: int) -> Iterator[Reading]:
        """Yield what one sound frame says."""
