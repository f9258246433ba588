"""Continue a table's journal: restore everything that was known.

Its facts are settled again. Its observations go through the same pipeline from the table's last
rest. The drivers process the shoe's frames again, so that their counts continue. The cameras' cards
keep their identity.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import hypot
from typing import Any, Final

from msgspec.structs import replace

from devices.driver import Driver
from models.errors import TechnicianError
from models.events import (
    AnyObservation,
    CameraFault,
    CardGone,
    CardSighted,
    Observation,
    ReviewResolved,
    RulesStated,
    ShoeCardRead,
    ShoeCutCard,
    ShoeLoaded,
)
from models.judgements import AnyEvent
from server.table.kept_rest import KeptRest
from server.table.pipeline import STEP_NS, Pipeline
from server.table.record import TableRecord
from server.table.rest import Rest, RestReading
from stream.journal import Journal
from stream.reading import UnknownEvent

_MS: Final = 1_000_000
_LONGEST_NS: Final = 600_000 * _MS
_SAME_PLACE_MM: Final = 30.0
_LOOKED_NS: Final = 2_500 * _MS
"""Nanoseconds after its first picture within which a camera has found the cards still there: sooner
than a card without a shoe's report is dealt, so that cards of a next round do not go to the last
one."""
_BEFORE_NS: Final = 1_000 * _MS
"""Nanoseconds. A card missing in the first picture went this long before, or as soon as nobody
watched."""


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier run's entries, in order."""

    observations: tuple[AnyObservation, ...] = ()
    concluded: tuple[AnyEvent, ...] = ()
    """Facts and judgements."""
    rest: Rest | None = None
    """The table's last rest."""
    reading: RestReading = field(default_factory=RestReading)
    """The state of the table at the end; it may go on from there."""
    end_ns: int = 0
    """The time of the last observation."""
    tracks: Mapping[str, int] = field(default_factory=dict)
    """The highest track that each camera has used."""
    kept: KeptRest | None = None
    """The rest after which the observations and conclusions begin; ``None`` where none is left
    out."""
    last_round: tuple[AnyEvent, ...] = ()
    """With ``kept``: the entries from the opening of the last round before that rest up to it."""

    @property
    def rules_stated(self) -> bool:
        """Whether it states the rules in force; the rest was kept of a run that had stated them."""
        return self.kept is not None or any(
            isinstance(one, RulesStated) for one in self.observations
        )

    @property
    def decisions(self) -> tuple[ReviewResolved, ...]:
        """People's decisions, in order."""
        before = () if self.kept is None else self.kept.book.decisions
        return (*before, *(one for one in self.observations if isinstance(one, ReviewResolved)))

    def lying(self, source: str) -> dict[int, CardSighted]:
        """Return a camera's cards on the felt at the end, by their track."""
        found: dict[int, CardSighted] = {}
        for one in self.observations:
            if isinstance(one, CardSighted) and one.source == source:
                found[one.track] = one
            elif isinstance(one, CardGone) and one.source == source:
                found.pop(one.track, None)
        return found


def past_of(journal: Journal, kept: KeptRest | None = None) -> Past:
    """Read an earlier run's entries; with ``kept``, only those that a start from there needs."""
    after_seq = 0 if kept is None else kept.place.seq
    events = [event for event in journal.read(after_seq) if not isinstance(event, UnknownEvent)]
    last_round: tuple[AnyEvent, ...] = ()
    reading = RestReading()
    if kept is not None:
        last_round = tuple(one for one in events if (one.seq or 0) <= kept.rest.seq)
        events = events[len(last_round) :]
        reading = RestReading.after(kept.rest)
    for event in events:
        reading.follow(event)
    return Past(
        tuple(one for one in events if isinstance(one, Observation)),
        tuple(one for one in events if not isinstance(one, Observation)),
        reading.rest if kept is None else kept.rest,
        reading,
        reading.end_ns,
        dict(reading.tracks),
        kept,
        last_round,
    )


def recall(past: Past, pipeline: Pipeline, record: TableRecord, rest: Rest | None = None) -> None:
    """Process an earlier run again.

    Args:
        past: that run's entries.
        pipeline: a fresh one; its reconciler counts from the rounds before ``rest``.
        record: the pipeline's.
        rest: earlier observations are skipped; their facts are settled again.

    Raises:
        TechnicianError: the results differ from that run's entries.
        OperatorError: under these rules the facts do not settle as they did.
    """
    after_seq = 0 if rest is None else rest.seq
    if rest is not None and past.kept is not None:
        kept = past.kept
        pipeline.go_on(past.last_round, rest.owed, book=kept.book, learned=kept.learned)
    elif rest is not None:
        before = _in_order(past, rest.seq)
        record.pass_over(before)
        pipeline.go_on(before, rest.owed)
    record.expect(one for one in past.concluded if (one.seq or 0) > after_seq)
    left = [one for one in past.observations if (one.seq or 0) > after_seq]
    through_ns = 0
    for one, following in pairwise([*left, None]):
        assert one is not None
        if rest is not None and _is_over(one, rest):
            record.pass_over((one,))
            continue
        through_ns = max(through_ns, one.heard or 0, one.at or 0)
        pipeline.observe((one,), through_ns)
        next_seq = None if following is None else following.seq
        through_ns = _wait(record, pipeline, through_ns, next_seq)


def _in_order(past: Past, last_seq: int) -> list[AnyEvent]:
    events = [one for one in (*past.observations, *past.concluded) if (one.seq or 0) <= last_seq]
    return sorted(events, key=lambda one: one.seq or 0)


def _is_over(one: AnyObservation, rest: Rest) -> bool:
    """Return whether it concerns a card of a finished round."""
    return isinstance(one, CardSighted | CardGone) and (one.source, one.track) in rest.over


def _wait(record: TableRecord, pipeline: Pipeline, at_ns: int, before_seq: int | None) -> int:
    """Advance the time until everything concluded before an entry is concluded again."""
    begun_ns = at_ns
    while record.lacks(before_seq):
        if at_ns - begun_ns > _LONGEST_NS:
            raise TechnicianError(
                "a fact in it does not follow from the observations before it",
                where=f"the table's journal, before entry {before_seq}",
                way_out="It was written by another version or under other rules: "
                "name a new journal, and keep this one",
            )
        at_ns = (at_ns // STEP_NS + 1) * STEP_NS
        pipeline.observe((), at_ns)
    return at_ns


def catch_up(driver: Driver[Any], source: str, past: Past, now_ns: int) -> tuple[Any, ...]:
    """Restore the counts of a shoe's driver; return readings of what may have been missed since."""
    frames = [
        one
        for one in past.observations
        if isinstance(one, ShoeCardRead | ShoeCutCard | ShoeLoaded) and one.source == source
    ]
    loaded = [n for n, one in enumerate(frames) if isinstance(one, ShoeLoaded)]
    for one in frames[loaded[-1] if loaded else 0 :]:
        driver.feed(bytes.fromhex(one.raw), one.at or 0)
    return driver.returned(now_ns) if frames else ()


class Identities:
    """Maps a camera's cards to their numbers in the journal.

    A restarted camera counts its cards from 1. This gives them unused numbers; cards that are still
    in place keep theirs.
    """

    def __init__(self, source: str, past: Past) -> None:
        self._source = source
        self._lying = past.lying(source)
        self._base = past.tracks.get(source, 0)
        self._end_ns = past.end_ns
        self._laid = 0
        self._known: dict[int, int] = {}
        self._first_ns: int | None = None

    def of(
        self, observed: Sequence[AnyObservation], at_ns: int, frame: int
    ) -> tuple[AnyObservation, ...]:
        """Return the observations of the picture of ``at_ns`` with the journal's numbers."""
        self._first_ns = at_ns if self._first_ns is None else self._first_ns
        renamed = [self._renamed(one) for one in observed]
        if self._lying and at_ns - self._first_ns > _LOOKED_NS:
            renamed += self._gone(frame)
        return tuple(renamed)

    def _renamed(self, one: AnyObservation) -> AnyObservation:
        match one:
            case CardSighted():
                known = one.track in self._known
                number = self._known.setdefault(one.track, self._number(one))
                again = not known and number <= self._base
                change = "read" if again and one.change == "new" else one.change
                return replace(one, track=number, change=change)
            case CardGone():
                return replace(one, track=self._known.get(one.track, self._base + one.track))
            case _:
                return one

    def _number(self, seen: CardSighted) -> int:
        if seen.track in self._known:
            return self._known[seen.track]
        near = [number for number, old in self._lying.items() if _same(old, seen)]
        if not near:
            self._laid += 1
            return self._base + seen.track
        number = min(near, key=lambda n: _apart_mm(self._lying[n], seen))
        del self._lying[number]
        return number

    def _gone(self, frame: int) -> Iterator[CardGone | CameraFault]:
        """Yield the cards taken up while nobody watched; later cards belong to another round."""
        at_ns = max(self._end_ns + 1, (self._first_ns or 0) - _BEFORE_NS)
        for number in self._lying:
            yield CardGone(source=self._source, at=at_ns, track=number, frame=frame)
        self._lying = {}
        if self._laid:
            detail = f"{self._laid} cards were laid while others were taken up"
            yield CameraFault(
                source=self._source, at=at_ns + 1, kind="unwatched", detail=detail, frame=frame
            )


def unwatched(past: Past, cameras: Iterable[str], now_ns: int) -> tuple[CameraFault, ...]:
    """Return a fault for each camera with cards before it: it saw nothing until ``now_ns``."""
    away_s = (now_ns - past.end_ns) / 1e9
    return tuple(
        CameraFault(
            source=source,
            at=now_ns,
            kind="unwatched",
            detail=f"for {away_s:.1f} s while {len(past.lying(source))} cards lay on it",
            frame=0,
        )
        for source in cameras
        if past.lying(source)
    )


def _same(old: CardSighted, seen: CardSighted) -> bool:
    alike = old.card is None or seen.card is None or old.card is seen.card
    return alike and old.face == seen.face and _apart_mm(old, seen) <= _SAME_PLACE_MM


def _apart_mm(old: CardSighted, seen: CardSighted) -> float:
    return hypot(old.x_mm - seen.x_mm, old.y_mm - seen.y_mm)
