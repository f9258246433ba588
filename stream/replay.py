"""Merge a recording's sources into one order of time, at the clock's pace."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Generic, TypeVar

from models.errors import TechnicianError
from stream.clock import Clock
from stream.recording import Chunk

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Timed(Generic[T_co]):
    """An item of a source with its time."""

    at_ns: int
    source: str
    value: T_co


def timed_chunks(chunks: Iterable[Chunk], source: str, start_ns: int) -> Iterator[Timed[bytes]]:
    """Yield a capture's reads with their times; the session started at ``start_ns``."""
    for chunk in chunks:
        yield Timed(start_ns + chunk.offset_ns, source, chunk.data)


def merged(sources: Iterable[Iterable[Timed[T]]]) -> Iterator[Timed[T]]:
    """Yield all sources' items by time; items of one instant in the order of the sources.

    Each source is read one item ahead at most.

    Raises:
        TechnicianError: a source's time steps back.
    """
    yield from heapq.merge(*map(_ascending, sources), key=attrgetter("at_ns"))


def paced(items: Iterable[Timed[T]], clock: Clock) -> Iterator[Timed[T]]:
    """Yield each item when ``clock`` has reached its time."""
    for item in items:
        clock.wait_until(item.at_ns)
        yield item


def _ascending(source: Iterable[Timed[T]]) -> Iterator[Timed[T]]:
    latest_ns = 0
    for item in source:
        if item.at_ns < latest_ns:
            raise TechnicianError(
                f"time steps back from {latest_ns} to {item.at_ns} ns",
                where=item.source,
                way_out="Record again, or restore the recording",
            )
        latest_ns = item.at_ns
        yield item
