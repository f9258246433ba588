"""The reading of one journal: its rounds, its devices, and its hidden cards."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from models.events import Fact, Observation, ReviewResolved, RoundClosed, ShoeStarted
from models.judgements import AnyEvent
from server.readmodel.clock_standing import ClockStanding, followed
from server.readmodel.device_standing import DeviceStanding
from server.readmodel.ending import Ending
from server.readmodel.entries import Entry, Recent, entry_of
from server.readmodel.round_book import RoundBook
from server.readmodel.selection import ENDLESS
from server.readmodel.session_journal import SessionJournal
from server.readmodel.shoe_end import Moment, ShoeEnd
from server.readmodel.views import (
    PassedFault,
    Presence,
    RoundRow,
    SessionView,
    TableState,
    Trouble,
)
from settlement.phases import Phase, RoundPhases
from stream.journal import Place
from stream.reading import UnknownEvent

if TYPE_CHECKING:
    from server.readmodel.index import Index


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A session in the index, without its rows."""

    table: str | None
    seq: int
    head: bytes
    started_at: int | None
    last_at: int | None
    fact_at: int | None
    closed: tuple[int, int]
    ended: tuple[int, int]
    undecided: int
    suspected: int
    round: int | None
    troubles: tuple[Trouble, ...]
    passed: tuple[PassedFault, ...]
    clock: ClockStanding
    phases: tuple[int, ...]
    """As :meth:`RoundPhases.kept` has them."""
    rows: tuple[tuple[int, int], ...]
    """For each kind, the present and the total number of rows."""


Stored: TypeAlias = tuple[int, bytes | None]
"""A session's id in the index, and its last stored state."""


class Session:
    """A journal's events, folded in their order.

    Args:
        journal: where the events are.
        index: where the rows are.
        is_worked_on: whether people work on a round of a session.
        ending: decides when the session has ended.
        stored: what the index has of the session, where that was read already.
    """

    def __init__(
        self,
        journal: SessionJournal,
        index: "Index",
        is_worked_on: Callable[[str, int], bool] = lambda _session, _round: False,
        ending: Ending | None = None,
        stored: Stored | None = None,
    ) -> None:
        self.journal = journal
        self.name = journal.name
        self.place = Place()
        self.fault: str | None = None
        self.proven: int | None = None
        """The last entry that the table's signature proves; ``None`` of its own journal."""
        self.clock = ClockStanding()
        self._index = index
        self._id, kept = index.session(self.name) if stored is None else stored
        self.rounds = RoundBook(index, self._id, self.name, is_worked_on)
        self.recent = Recent(self.rounds.hidden_at)
        self._shoe = ShoeEnd(journal, ending)
        self._devices = DeviceStanding()
        self._phases = RoundPhases()
        self._started_at: int | None = None
        self._last_at: int | None = None
        if kept is not None:
            self._go_on(msgspec.json.decode(kept, type=_Kept))

    @property
    def table(self) -> str | None:
        """The table whose journal it is; ``None`` until an event names it."""
        return self.rounds.table

    @property
    def last_at(self) -> int | None:
        """The time of its last event."""
        return self._last_at

    @property
    def phase(self) -> Phase:
        """Where the round in play stands."""
        return self._phases.phase

    @property
    def dealer_dealt(self) -> int:
        """How many cards of the initial deal are the dealer's, by the rules in force."""
        return self._phases.dealer_dealt

    # --- storing --------------------------------------------------------------------------

    def keep(self) -> tuple[RoundRow, ...]:
        """Write the results of the last events to the index; return the changed rounds."""
        changed = self.rounds.keep()
        self._index.keep(self.name, msgspec.json.encode(self._kept()), self.place)
        return changed

    def follow(self, kept: bytes, events: Sequence[AnyEvent | UnknownEvent]) -> None:
        """Take over the state that another process stored.

        Args:
            kept: the state.
            events: those that led to it from this session's state, in order; none where they
                were too many to be read for its viewers.
        """
        if not events:
            self.recent.clear()
        for event in events:
            if not isinstance(event, UnknownEvent):
                self._phases.follow_event(event)
            self.recent.add(event, self.phase)
        self._go_on(msgspec.json.decode(kept, type=_Kept))

    def forget(self) -> None:
        """Drop the session's data from the index; this object is unusable afterwards."""
        self._index.forget(self._id)

    def _kept(self) -> _Kept:
        return _Kept(
            table=self.table,
            seq=self.place.seq,
            head=self.place.head,
            started_at=self._started_at,
            last_at=self._last_at,
            fact_at=self._shoe.fact_at,
            closed=self._shoe.closed,
            ended=self._shoe.ended,
            undecided=self.rounds.undecided,
            suspected=self.rounds.suspected,
            round=self.rounds.last,
            troubles=self._devices.troubles,
            passed=self._devices.passed,
            clock=self.clock,
            phases=self._phases.kept(),
            rows=self.rounds.counts(),
        )

    def _go_on(self, kept: _Kept) -> None:
        self.place = Place(kept.seq, kept.head)
        self._started_at, self._last_at = kept.started_at, kept.last_at
        self._shoe.fact_at = kept.fact_at
        self._shoe.closed, self._shoe.ended = kept.closed, kept.ended
        self._devices, self.clock = DeviceStanding(kept.troubles, kept.passed), kept.clock
        self._phases.go_on(kept.phases)
        self.rounds.table = kept.table
        self.rounds.go_on(kept.rows, kept.undecided, kept.suspected, kept.round)

    # --- reading --------------------------------------------------------------------------

    def fold(self, event: AnyEvent | UnknownEvent) -> None:
        """Process the next event."""
        assert event.seq is not None
        if not isinstance(event, UnknownEvent):
            self._time(event)
            self._take(event)
        self.recent.add(event, self.phase)

    def _time(self, event: AnyEvent) -> None:
        self.rounds.table = event.table or self.table
        if event.at is not None:
            self._started_at = event.at if self._started_at is None else self._started_at
            if _is_of_the_table(event):
                self._last_at = max(self._last_at or 0, event.at)
            if isinstance(event, Fact):
                self._shoe.fact(event.at)

    def _take(self, event: AnyEvent) -> None:
        self._phases.follow_event(event)
        match event:
            case Observation():
                self._devices.take(event)
                self.clock = followed(self.clock, event)
            case RoundClosed():
                self._shoe.round_closed(event.seq or 0, event.at or 0)
            case ShoeStarted():
                self._shoe.shoe_started()
            case _:
                pass
        self.rounds.fold(event)

    def entry(self, event: AnyEvent | UnknownEvent) -> Entry:
        """Return an earlier event as viewers get it."""
        return entry_of(event, self.rounds.hidden_at)

    def kept_after(self, seq: int, at_most: int) -> tuple[Entry, ...] | None:
        """Return the next events after ``seq``; ``None`` where the journal must be read."""
        return self.recent.after(seq, self.place.seq, at_most)

    def is_past(self, entry: Entry) -> bool:
        """Return whether the shoe of an event has ended: by a later one, or with its session."""
        if entry.round is not None:
            return self.is_round_past(entry.round)
        last_seq, last_at = self._past()
        return entry.seq <= last_seq and 0 < entry.at <= last_at

    def is_round_past(self, number: int) -> bool:
        """Return whether the shoe of a round has ended."""
        row = self.rounds.row(number)
        if row is None:
            return False
        last_seq, last_at = self._past()
        if row.closed_at is None:
            return last_at == ENDLESS
        return row.seq <= last_seq and 0 < row.closed_at <= last_at

    def _past(self) -> Moment:
        return self._shoe.last(is_round_open=self._phases.in_play)

    def view(self, presence: Presence = "recorded") -> SessionView:
        """Return the session's state; the caller, which follows the journal, knows its presence."""
        return SessionView(
            session=self.name,
            table=self.table,
            started_at=self._started_at,
            last_at=self._last_at,
            last_seq=self.place.seq,
            head=self.place.head.hex(),
            rounds=len(self.rounds.rounds),
            violations=len(self.rounds.violations) - self.rounds.suspected,
            suspected=self.rounds.suspected,
            reviews=self.rounds.undecided,
            state="unreadable" if self.fault is not None else self._state(),
            phase=self.phase,
            presence=presence,
            round=self.rounds.last,
            troubles=self._devices.troubles,
            passed=self._devices.passed,
            fault=self.fault,
            proven=self.proven,
        )

    def _state(self) -> TableState:
        if self.rounds.last is None:
            return "no round"
        return "round open" if self._phases.in_play else "between rounds"


def _is_of_the_table(event: AnyEvent) -> bool:
    """Return whether an event happened at the table at its time; a decision may come later."""
    return isinstance(event, Fact | Observation) and not isinstance(event, ReviewResolved)
