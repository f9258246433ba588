"""Writes the file of a live table's rests as they come."""

from models.events import (
    Event,
    ReviewResolved,
    RoundOpened,
    ShoeLoaded,
)
from models.judgements import LedgerPosted, ReviewRaised, RoundSettled
from server.table.kept_rest import KeptRest, RestFile
from server.table.pipeline import Pipeline
from server.table.rest import Rest
from server.table.resume import Past
from server.table.status import KeptStanding, Standing
from settlement.reconcile import Learned
from stream.journal import Journal, Place
from stream.reading import UnknownEvent


class RestKeeper:
    """Follows a live table's entries, and writes the file at each of its rests.

    A rest is known only when the next shoe comes. What a later start needs is taken at the end of
    each round, and the book's part when the shoe comes. It is not written where an event since the
    last round's opening concerns an earlier round, or where the new shoe's reader has not reported
    it: the file before then stays.

    Args:
        file: where it is written.
        journal: the table's.
        past: what the table knew at its start; the journal may hold more by now.
        pipeline: the table's.
        standing: the table's; it has taken each event before :meth:`take` does.
    """

    def __init__(
        self,
        file: RestFile,
        journal: Journal,
        past: Past,
        *,
        pipeline: Pipeline,
        standing: Standing,
    ) -> None:
        self._file, self._journal = file, journal
        self._pipeline, self._standing, self._reading = pipeline, standing, past.reading
        self._round = 0
        """The round in play or played last, where its opening was received and no event since then
        concerns an earlier one; else 0."""
        self._at_end: tuple[Learned, KeptStanding] | None = None
        """What is known at its end."""
        self._loaded: set[str] = set()
        """The readers that reported a new shoe since that round's end."""
        for event in journal.read(self._reading.last_seq):
            if not isinstance(event, UnknownEvent):
                self._reading.follow(event)

    def take(self, event: Event) -> None:
        """Process the next entry; write the file if it shows a rest."""
        ended = self._reading.ended
        self._note(event)
        self._reading.follow(event)  # type: ignore[arg-type]
        rest = self._reading.ended
        if rest is not None and rest is not ended:
            self._loaded.clear()
            self._at_end = self._pipeline.learned(), self._standing.kept()
        if isinstance(event, ShoeLoaded):
            self._loaded.add(event.source)
        if rest is not None and rest is self._reading.rest and rest.shoes <= self._loaded:
            self._keep(rest, event.seq or 0)

    def _note(self, event: Event) -> None:
        match event:
            case RoundOpened():
                self._round, self._at_end = event.round, None
            case ReviewResolved():
                self._round = 0
            case ReviewRaised(round=number) | LedgerPosted(round=number):
                self._concerns(number)
            case RoundSettled(result=result):
                self._concerns(result.round)
            case _:
                pass

    def _concerns(self, number: int) -> None:
        if number < self._round:
            self._round = 0

    def _keep(self, rest: Rest, shown: int) -> None:
        """Write the file, once for each rest."""
        at_end, self._at_end = self._at_end, None
        if at_end is None or self._round != rest.played:
            return
        book = self._pipeline.kept(rest.played)
        if book is None:
            return
        learned, standing = at_end
        before = book.start.seq - 1
        self._file.write(
            KeptRest(
                place=Place(before, self._journal.hash_of(before)),
                shown=Place(shown, self._journal.hash_of(shown)),
                rest=rest,
                learned=learned,
                standing=standing,
                book=book,
            )
        )
