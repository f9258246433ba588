"""Writes the file of a live table's rests as they come."""

from dataclasses import dataclass

from models.events import (
    CardSighted,
    Event,
    Observation,
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
from stream.journal import Journal
from stream.reading import UnknownEvent


@dataclass(frozen=True, slots=True)
class _AtEnd:
    """What is known at the end of a round."""

    end_ns: int
    tracks: dict[str, int]
    learned: Learned
    standing: KeptStanding


class RestKeeper:
    """Follows a live table's entries, and writes the file at each of its rests.

    A rest is known only when the next shoe comes. What a later start needs is taken at the end of
    each round, and the book's part when the shoe comes. It is not written where an event since the
    last round's opening concerns an earlier round, or where the new shoe's reader has not reported
    it: the file before then stays.

    Args:
        file: where it is written.
        journal: the table's.
        made_by: as in :class:`KeptRest`.
        past: what the table knew at its start; the journal may hold more by now.
        pipeline: the table's.
        standing: the table's; it has taken each event before :meth:`take` does.
    """

    def __init__(
        self,
        file: RestFile,
        journal: Journal,
        made_by: str,
        past: Past,
        *,
        pipeline: Pipeline,
        standing: Standing,
    ) -> None:
        self._file, self._journal, self._made_by = file, journal, made_by
        self._pipeline, self._standing, self._reading = pipeline, standing, past.reading
        self._end_ns, self._tracks = past.end_ns, past.tracks
        self._round = 0
        """The round in play or played last, where its opening was received and no event since then
        concerns an earlier one; else 0."""
        self._at_end: _AtEnd | None = None
        self._loaded: set[str] = set()
        """The readers that reported a new shoe since that round's end."""
        for event in journal.read(past.last_seq):
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
            self._at_end = self._taken()
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
            case CardSighted():
                latest = max(self._tracks.get(event.source, 0), event.track)
                self._tracks[event.source] = latest
            case _:
                pass
        if isinstance(event, Observation):
            self._end_ns = max(self._end_ns, event.at or 0)

    def _concerns(self, number: int) -> None:
        if number < self._round:
            self._round = 0

    def _taken(self) -> _AtEnd:
        return _AtEnd(
            self._end_ns, dict(self._tracks), self._pipeline.learned(), self._standing.kept()
        )

    def _keep(self, rest: Rest, shown: int) -> None:
        """Write the file, once for each rest."""
        at_end, self._at_end = self._at_end, None
        if at_end is None or self._round != rest.played:
            return
        book = self._pipeline.kept(rest.played)
        if book is None:
            return
        self._file.write(
            KeptRest(
                made_by=self._made_by,
                journal=self._journal.identity.journal,
                head=self._journal.hash_of(book.starts.start.seq - 1).hex(),
                rest=rest,
                shown=shown,
                shown_hash=self._journal.hash_of(shown).hex(),
                end_ns=at_end.end_ns,
                tracks=at_end.tracks,
                learned=at_end.learned,
                standing=at_end.standing,
                book=book,
            )
        )
