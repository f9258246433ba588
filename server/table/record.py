"""The table's journal for the pipeline: new entries, and those of an earlier run.

A run that continues a journal processes its observations again first. Their results are in the
journal already, up to the end of the earlier run: they are recognised, not written twice. Results
that the earlier run did not write are written now.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

from msgspec.structs import replace

from models.errors import TechnicianError
from models.events import Event
from models.judgements import AnyEvent
from stream.journal import Journal
from stream.reading import UnknownEvent

E = TypeVar("E", bound=Event)


class TableRecord:
    """Writes to a journal and reports every entry.

    Args:
        journal: the table's.
        on_entry: receives every entry, new or recognised.
    """

    def __init__(self, journal: Journal, on_entry: Callable[[Event], None]) -> None:
        self._journal, self._on_entry = journal, on_entry
        self._expected: deque[AnyEvent] = deque()

    def expect(self, events: Iterable[AnyEvent]) -> None:
        """Set the facts and judgements of the earlier run, in order."""
        self._expected.extend(events)

    def pass_over(self, events: Iterable[Event]) -> None:
        """Report entries that stand as they are."""
        for event in events:
            self._on_entry(event)

    def lacks(self, before_seq: int | None) -> bool:
        """Return whether an expected entry before ``before_seq`` is still missing."""
        if not self._expected:
            return False
        return before_seq is None or (self._expected[0].seq or 0) < before_seq

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append new events, recognise earlier ones, and return all with their ``seq``.

        Raises:
            TechnicianError: the disk refuses; or the results of an earlier run's observations
                differ from its entries.
        """
        waiting = deque(events)
        known: list[E] = []
        while waiting and (waiting[0].seq is not None or self._expected):
            event = waiting.popleft()
            known.append(event if event.seq is not None else self._recognized(event))
        new = self._journal.append_all(waiting) if waiting else ()
        entries = (*known, *new)
        for entry in entries:
            self._on_entry(entry)
        return entries

    def read(self, after_seq: int = 0) -> Iterator[AnyEvent | UnknownEvent]:
        """Yield every entry of the journal after ``after_seq``, in order."""
        return self._journal.read(after_seq)

    def _recognized(self, event: E) -> E:
        written = cast(Event, self._expected.popleft())
        made = event if written.at is not None else replace(event, at=None)
        if replace(written, seq=None) != made:
            raise TechnicianError(
                f"entry {written.seq} differs from what the observations before it give now",
                where="the table's journal",
                way_out="It was written by another version or under other rules: "
                "name a new journal, and keep this one",
            )
        return cast(E, written)
