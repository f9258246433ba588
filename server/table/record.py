"""The table's journal as the pipeline writes it: new entries, and those of an earlier run.

A run that goes on with a journal hears its observations again first. What they give stands in
the journal already, up to the moment that the earlier run ended: it is recognized, not written
twice. Whatever that run had not come to write is written now.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

from msgspec.structs import replace

from models.errors import TechnicianError
from models.events import Event
from models.judgements import AnyEvent
from stream.journal import Journal, UnknownEvent

E = TypeVar("E", bound=Event)


class TableRecord:
    """Writes to a journal and tells of every entry.

    Args:
        journal: the table's.
        told: is given every entry, new ones and those recognized.
    """

    def __init__(self, journal: Journal, told: Callable[[Event], None]) -> None:
        self._journal, self._told = journal, told
        self._expected: deque[AnyEvent] = deque()

    def expect(self, events: Iterable[AnyEvent]) -> None:
        """Name the facts and judgements of the earlier run, in order."""
        self._expected.extend(events)

    def pass_over(self, events: Iterable[Event]) -> None:
        """Tell of entries that are taken as they stand."""
        for event in events:
            self._told(event)

    def lacks(self, before_seq: int | None) -> bool:
        """Return whether an entry is still expected that stands before ``before_seq``."""
        if not self._expected:
            return False
        return before_seq is None or (self._expected[0].seq or 0) < before_seq

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append what is new, recognize what is not, and return all with their ``seq``.

        Raises:
            TechnicianError: the disk refuses; or what the observations of an earlier run give
                is not what that run wrote.
        """
        waiting = deque(events)
        known: list[E] = []
        while waiting and (waiting[0].seq is not None or self._expected):
            event = waiting.popleft()
            known.append(event if event.seq is not None else self._recognized(event))
        new = self._journal.append_all(waiting) if waiting else ()
        entries = (*known, *new)
        for entry in entries:
            self._told(entry)
        return entries

    def read(self, after_seq: int = 0) -> Iterator[AnyEvent | UnknownEvent]:
        """Yield every entry of the journal after ``after_seq``, in order."""
        return self._journal.read(after_seq)

    def _recognized(self, event: E) -> E:
        written = cast(Event, self._expected.popleft())
        if replace(written, seq=None) != event:
            raise TechnicianError(
                f"entry {written.seq} differs from what the observations before it give now",
                where="the table's journal",
                way_out="It was written by another version or under other rules: "
                "name a new journal, and keep this one",
            )
        return cast(E, written)
