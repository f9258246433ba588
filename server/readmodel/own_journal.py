"""A journal of the service itself: people's actions, or their work on incidents."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from models.events import Event
from models.judgements import AnyEvent
from stream.reading import UnknownEvent

E = TypeVar("E", bound=Event)


class OwnJournal(Protocol):
    """Append-only and hash-chained. A file has one writer, a database those of every service."""

    @property
    def last_seq(self) -> int:
        """The number of the last entry, 0 while there is none."""

    def append(self, event: E) -> E:
        """Append an event and return it with its ``seq``; durable on return."""

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append events, all or none."""

    def read(self, after_seq: int = 0) -> Iterator[AnyEvent | UnknownEvent]:
        """Yield the events after ``after_seq`` in order."""

    def checkpoint(self) -> None:
        """Sign the entries that no checkpoint of this service covers, and send it away."""

    def close(self) -> None:
        """Close it in order."""
