"""One journal as it is read: its events folded into rows, and what of them is not shown yet."""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from models.events import (
    CardDealt,
    CardExposed,
    Dealt,
    Fact,
    Observation,
    PaymentMade,
    ReviewResolved,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
)
from models.judgements import (
    AnyEvent,
    LedgerPosted,
    Review,
    ReviewRaised,
    RoundResult,
    RoundSettled,
)
from server.readmodel.clock_standing import ClockStanding, followed
from server.readmodel.device_standing import DeviceStanding
from server.readmodel.ending import Ending
from server.readmodel.index import ENDLESS, Index, Key, Sought
from server.readmodel.redaction import Hidden, plain, veiled
from server.readmodel.rows import Rows
from server.readmodel.views import (
    Decided,
    HandRow,
    LedgerRow,
    PassedFault,
    PaymentRow,
    Presence,
    ReviewRow,
    RoundRow,
    Row,
    SessionView,
    TableState,
    Trouble,
    ViolationRow,
)
from stream.journal import Place, UnknownEvent
from stream.seal import has_seal
from stream.store import waiting

KEPT: Final = 512
"""How many of a session's last events are kept ready for those who watch it live."""

_SHOWN_ALL: Final[Hidden] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """One event, as it is given to viewers."""

    seq: int
    at: int
    type: str
    plain: bytes
    veiled: bytes
    round: int | None
    """Of a judgement, the round it is about."""


@dataclass(slots=True)
class _Round:
    """What is gathered about a round while it goes on."""

    key: Key
    row: RoundRow
    times: dict[int, int] = field(default_factory=dict)
    down: Counter[Dealt] = field(default_factory=Counter)
    unread: Counter[Dealt] = field(default_factory=Counter)

    def open_ends(self) -> "_OpenEnds":
        """Return what must be known of it later beside its row."""
        return _OpenEnds(self.times, tuple((+self.down).items()), tuple((+self.unread).items()))

    def take_up(self, ends: "_OpenEnds") -> None:
        """Go on from what was kept."""
        self.times.update(ends.times)
        self.down.update(dict(ends.down))
        self.unread.update(dict(ends.unread))


class _OpenEnds(msgspec.Struct, frozen=True):
    times: dict[int, int] = {}
    down: tuple[tuple[Dealt, int], ...] = ()
    unread: tuple[tuple[Dealt, int], ...] = ()


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A session as the index keeps it, beside its rows."""

    table: str | None
    seq: int
    head: bytes
    started_at: int | None
    last_at: int | None
    fact_at: int | None
    closed: tuple[int, int]
    ended: tuple[int, int]
    undecided: int
    round: int | None
    troubles: tuple[Trouble, ...]
    passed: tuple[PassedFault, ...]
    clock: ClockStanding
    rows: tuple[tuple[int, int], ...]
    """Of each kind, how many there are and how many were ever made."""


_NO_ENDS: Final = _OpenEnds()
_HIDDEN: Final = msgspec.json.Decoder(tuple[Dealt, ...])
R = TypeVar("R", bound=Row)


class Session:
    """Fold a journal's events in their order. The rows are frozen values."""

    def __init__(
        self,
        path: Path,
        index: Index,
        is_worked_on: Callable[[str, int], bool] = lambda _session, _round: False,
        ending: Ending | None = None,
    ) -> None:
        self.path = path
        self.name = path.name.removesuffix(".journal")
        self.table: str | None = None
        self.place = Place()
        self.fault: str | None = None
        self.clock = ClockStanding()
        self._index = index
        self._is_worked_on = is_worked_on
        self._ending = ending
        self._sealed: tuple[tuple[int, int], bool] = ((0, 0), False)
        self._fact_at: int | None = None
        self._id, kept = index.session(self.name)
        self.rounds, self.hands = self._rows(RoundRow), self._rows(HandRow)
        self.violations, self.reviews = self._rows(ViolationRow), self._rows(ReviewRow)
        self.payments, self.ledger = self._rows(PaymentRow), self._rows(LedgerRow)
        self.recent: deque[list[Any]] = deque(maxlen=KEPT)
        """Events, each with its entry once somebody has asked for it."""
        self._in_hand: dict[int, _Round] = {}
        self._round: _Round | None = None
        self._devices = DeviceStanding()
        self._started_at: int | None = None
        self._last_at: int | None = None
        self._closed = (0, 0)
        self._ended = (0, 0)
        self._undecided = 0
        if kept is not None:
            self._go_on(msgspec.json.decode(kept, type=_Kept))

    def _rows(self, kind: type[R]) -> Rows[R]:
        return Rows(self._index, self._id, kind)

    # --- keeping --------------------------------------------------------------------------

    def keep(self) -> tuple[RoundRow, ...]:
        """Write to the index what the last events came to; return the rounds they changed."""
        changed = []
        for number, own in self._in_hand.items():
            self.rounds.change(own.key, own.row, noticed=self._is_noticed(own.row))
            ends = own.open_ends()
            body = None if ends == _NO_ENDS else msgspec.json.encode(ends)
            self._index.note(self._id, "round", number, body)
            changed.append(own.row)
        self._in_hand.clear()
        self._index.keep(self._id, msgspec.json.encode(self._kept()))
        return tuple(changed)

    def look_again(self, number: int) -> None:
        """Write a round anew: whether somebody should look at it may have changed."""
        own = self._own(number)
        if own is not None:
            self.rounds.change(own.key, own.row, noticed=self._is_noticed(own.row))

    def forget(self) -> None:
        """Drop from the index all that was read; this session is of no use afterwards."""
        self._index.forget(self._id)

    def _is_noticed(self, row: RoundRow) -> bool:
        found = row.violations or row.reviews or row.decided
        return bool(found) or self._is_worked_on(self.name, row.round)

    def _kept(self) -> "_Kept":
        return _Kept(
            table=self.table,
            seq=self.place.seq,
            head=self.place.head,
            started_at=self._started_at,
            last_at=self._last_at,
            fact_at=self._fact_at,
            closed=self._closed,
            ended=self._ended,
            undecided=self._undecided,
            round=None if self._round is None else self._round.row.round,
            troubles=self._devices.troubles,
            passed=self._devices.passed,
            clock=self.clock,
            rows=tuple((rows.count, rows.made) for rows in self._every_rows()),
        )

    def _go_on(self, kept: "_Kept") -> None:
        self.table, self.place = kept.table, Place(kept.seq, kept.head)
        self._started_at, self._last_at = kept.started_at, kept.last_at
        self._fact_at = kept.fact_at
        self._closed, self._ended, self._undecided = kept.closed, kept.ended, kept.undecided
        self._devices, self.clock = DeviceStanding(kept.troubles, kept.passed), kept.clock
        for rows, (count, made) in zip(self._every_rows(), kept.rows, strict=True):
            rows.go_on(count, made)
        self._round = None if kept.round is None else self._own(kept.round)

    def _every_rows(self) -> tuple[Rows[Any], ...]:
        return (
            self.rounds,
            self.hands,
            self.violations,
            self.reviews,
            self.payments,
            self.ledger,
        )

    def _own(self, number: int) -> _Round | None:
        """Return a round: the one in play, one that was just changed, or from the index."""
        if self._round is not None and self._round.row.round == number:
            return self._round
        return self._in_hand.get(number) or self._read_round(number)

    def _read_round(self, number: int) -> _Round | None:
        found = self.rounds.of_round(number)
        if not found:
            return None
        noted = self._index.noted(self._id, "round", number)
        own = _Round(found[-1].key, found[-1].row)
        if noted is not None:
            own.take_up(msgspec.json.decode(noted, type=_OpenEnds))
        return own

    # --- reading --------------------------------------------------------------------------

    def fold(self, event: AnyEvent | UnknownEvent) -> None:
        """Take in the next event."""
        assert event.seq is not None
        if not isinstance(event, UnknownEvent):
            self._time(event)
            self._take(event)
        self.recent.append([event, None])

    def entry(self, event: AnyEvent | UnknownEvent) -> Entry:
        """Return an event that was folded before as it is given to viewers."""
        seq = event.seq or 0
        at = 0 if isinstance(event, UnknownEvent) else event.at or 0
        kind = (
            event.type
            if isinstance(event, UnknownEvent)
            else str(type(event).__struct_config__.tag)
        )
        hidden = self._hidden_at(event)
        return Entry(seq, at, kind, plain(event), veiled(event, hidden), _judged(event))

    def kept_after(self, seq: int, at_most: int) -> tuple[Entry, ...] | None:
        """Return the next events after ``seq``; ``None`` where the journal must be read."""
        if seq >= self.place.seq:
            return ()
        kept_from = self.place.seq + 1 - len(self.recent)
        if kept_from > seq + 1:
            return None
        first = seq + 1 - kept_from
        return tuple(map(self._entry_of, islice(self.recent, first, first + at_most)))

    def _entry_of(self, kept: list[Any]) -> Entry:
        """Write an event once, when the first viewer is given it."""
        if kept[1] is None:
            kept[1] = self.entry(kept[0])
        found: Entry = kept[1]
        return found

    def _hidden_at(self, event: AnyEvent | UnknownEvent) -> Hidden:
        """Return what was hidden when a judgement was given."""
        if not isinstance(event, RoundSettled | ReviewRaised):
            return _SHOWN_ALL
        noted = self._index.noted(self._id, "hidden", event.seq or 0)
        return _SHOWN_ALL if noted is None else frozenset(_HIDDEN.decode(noted))

    def is_past(self, entry: Entry) -> bool:
        """Tell whether the shoe of an event has ended: by a later one, or with its session."""
        if entry.round is not None:
            return self.is_round_past(entry.round)
        last_seq, last_at = self._past()
        return entry.seq <= last_seq and 0 < entry.at <= last_at

    def is_round_past(self, number: int) -> bool:
        """Tell whether the shoe that a round was dealt from has ended."""
        row = self.round_row(number)
        if row is None:
            return False
        last_seq, last_at = self._past()
        if row.closed_at is None:
            return last_at == ENDLESS
        return row.seq <= last_seq and 0 < row.closed_at <= last_at

    def _past(self) -> tuple[int, int]:
        """Return the last event, and its time, that no shoe in play can be told from."""
        if self._ending is None or self._fact_at is None:
            return self._ended
        if self._ending.is_abandoned(self._fact_at):
            return ENDLESS, ENDLESS
        if not self._ending.is_closed(self._fact_at, is_sealed=self._is_sealed()):
            return self._ended
        is_on_the_felt = self._round is not None and self._round.row.closed_at is None
        return self._ended if is_on_the_felt else (ENDLESS, ENDLESS)

    def _is_sealed(self) -> bool:
        """Tell whether the journal lies closed in order; looked at anew whenever it changes."""
        if waiting(self.path):
            return False
        try:
            state = self.path.stat()
            stamp = state.st_mtime_ns, state.st_size
            if self._sealed[0] != stamp:
                self._sealed = stamp, has_seal(self.path)
        except OSError:
            return False
        return self._sealed[1]

    def hidden(self, number: int) -> Hidden:
        """Return the places of a round with a card that was not shown so far."""
        found = self._own(number)
        return _SHOWN_ALL if found is None else _places(found)

    def round_row(self, number: int) -> RoundRow | None:
        """Return a round of this session."""
        found = self._own(number)
        return None if found is None else found.row

    def violations_of(self, number: int) -> tuple[ViolationRow, ...]:
        """Return the mistakes of a round, in the order of its time."""
        found = sorted(self.violations.of_round(number), key=lambda placed: placed.key)
        return tuple(placed.row for placed in found)

    def newest_hands(self, at_most: int) -> tuple[HandRow, ...]:
        """Return the hands that were settled last, the newest first."""
        sought = Sought(HandRow, session=self.name)
        return tuple(placed.row for placed in self._index.newest(sought, at_most))

    def reviews_of(self, number: int) -> tuple[ReviewRow, ...]:
        """Return the items of a round in the order in which they were raised."""
        return tuple(placed.row for placed in self.reviews.of_round(number))

    @property
    def last_at(self) -> int | None:
        """The time of its last event."""
        return self._last_at

    def view(self, presence: Presence = "recorded") -> SessionView:
        """Return the session as it stands; only who follows its journal knows its presence."""
        return SessionView(
            session=self.name,
            table=self.table,
            started_at=self._started_at,
            last_at=self._last_at,
            last_seq=self.place.seq,
            head=self.place.head.hex(),
            rounds=len(self.rounds),
            violations=len(self.violations),
            reviews=self._undecided,
            state=self._state(),
            presence=presence,
            round=None if self._round is None else self._round.row.round,
            troubles=self._devices.troubles,
            passed=self._devices.passed,
            fault=self.fault,
        )

    # --- folding --------------------------------------------------------------------------

    def _state(self) -> TableState:
        if self.fault is not None:
            return "unreadable"
        if self._round is None:
            return "no round"
        return "round open" if self._round.row.closed_at is None else "between rounds"

    def _time(self, event: AnyEvent) -> None:
        self.table = event.table or self.table
        if event.at is not None:
            self._started_at = event.at if self._started_at is None else self._started_at
            if _is_of_the_table(event):
                self._last_at = max(self._last_at or 0, event.at)
            if isinstance(event, Fact):
                self._fact_at = max(self._fact_at or 0, event.at)

    def _take(self, event: AnyEvent) -> None:
        if isinstance(event, Observation):
            self._devices.take(event)
            self.clock = followed(self.clock, event)
        if isinstance(event, RoundOpened):
            self._open(event)
        elif self._round is not None and isinstance(event, Fact):
            self._round.times[event.seq or 0] = event.at or 0
            self._touch(self._round, event.seq)
        act = _ACTS.get(type(event))
        if act is not None:
            act(self, event)

    def _open(self, event: RoundOpened) -> None:
        row = RoundRow(
            **self._head(event),
            round=event.round,
            status="open",
            closed_at=None,
            last_seq=event.seq or 0,
            net=None,
            violations=0,
            reviews=0,
            decided=0,
            result=None,
        )
        self._leave_round()
        self._round = _Round(self.rounds.add(row), row)
        self._in_hand[event.round] = self._round

    def _leave_round(self) -> None:
        """Of a settled round the times of its facts are not asked for any more."""
        if self._round is not None and self._round.row.result is not None:
            self._round.times.clear()
            self._in_hand[self._round.row.round] = self._round

    def _head(self, event: AnyEvent) -> dict[str, Any]:
        return {
            "session": self.name,
            "table": self.table or self.name,
            "at": event.at or 0,
            "seq": event.seq or 0,
        }

    def _put(self, own: _Round, row: RoundRow) -> None:
        own.row = row
        self._in_hand[row.round] = own

    def _touch(self, own: _Round, seq: int | None) -> None:
        self._put(own, replace(own.row, last_seq=max(own.row.last_seq, seq or 0)))

    def _dealt(self, event: CardDealt) -> None:
        if self._round is None:
            return
        if event.face == "down":
            self._round.down[event.to] += 1
        elif event.card is None:
            self._round.unread[event.to] += 1

    def _exposed(self, event: CardExposed) -> None:
        """Of an unread card and a face-down one at a place, the unread one is taken to be it."""
        if self._round is None:
            return
        if self._round.unread[event.to]:
            self._round.unread[event.to] -= 1
        elif self._round.down[event.to]:
            self._round.down[event.to] -= 1

    def _close(self, event: RoundClosed) -> None:
        self._closed = (event.seq or 0, event.at or 0)
        if self._round is not None:
            self._put(self._round, replace(self._round.row, closed_at=event.at))

    def _shoe(self, _: ShoeStarted) -> None:
        self._ended = self._closed

    def _settled(self, event: RoundSettled) -> None:
        own = self._own(event.result.round)
        if own is None:
            return
        result = event.result
        self._mark(event, own)
        if own.row.result is not None:
            self._forget(own)
        self._put(
            own,
            replace(
                own.row,
                status=result.status,
                last_seq=max(own.row.last_seq, event.seq or 0),
                net=result.net,
                violations=len(result.violations),
                result=result,
            ),
        )
        self._add_hands(event, result)
        self._add_violations(event, own, result)
        own.times.clear()
        self._answer(own, result)

    def _forget(self, own: _Round) -> None:
        """Drop what a round came to before; when its mistakes were made stays known."""
        number = own.row.round
        own.times.update({one.seq: one.at for one in self.violations_of(number)})
        self.hands.drop_round(number)
        self.violations.drop_round(number)

    def _answer(self, own: _Round, result: RoundResult) -> None:
        """Mark as decided what a decision on another item of the round has answered as well."""
        items = self.reviews.of_round(result.round)
        said = [item.row.decided for item in items if item.row.decided is not None]
        if not said:
            return
        still_open = list(result.reviews or ())
        for item in items:
            row = item.row
            review = Review(row.what, row.candidates, row.evidence)
            if row.decided is None and review not in still_open:
                last = max(said, key=lambda one: one.seq)
                self.reviews.change(item.key, replace(row, decided=last))
                self._count_decided(own)

    def _add_hands(self, event: RoundSettled, result: RoundResult) -> None:
        for spot in result.spots:
            for hand in spot.hands:
                self.hands.add(
                    HandRow(
                        **self._head(event),
                        round=result.round,
                        spot=spot.spot,
                        hand=hand.hand,
                        cards=hand.cards,
                        stake=hand.stake,
                        outcome=hand.outcome,
                        net=hand.net,
                        clauses=hand.clauses,
                    )
                )

    def _add_violations(self, event: RoundSettled, own: _Round, result: RoundResult) -> None:
        for one in result.violations:
            made_at = own.times.get(one.seq, own.row.closed_at or event.at or 0)
            place = {"seq": one.seq, "at": made_at}
            self.violations.add(
                ViolationRow(
                    **(self._head(event) | place),
                    round=result.round,
                    code=one.code,
                    spot=one.spot,
                    hand=one.hand,
                    clause=one.clause,
                    detail=one.detail,
                )
            )

    def _review(self, event: ReviewRaised) -> None:
        own = self._own(event.round)
        if own is not None:
            self._mark(event, own)
            status = own.row.status if own.row.status == "open" else "review"
            self._put(own, replace(own.row, status=status, reviews=own.row.reviews + 1))
        row = ReviewRow(
            **self._head(event),
            round=event.round,
            item=len(self.reviews.of_round(event.round)),
            what=event.review.what,
            candidates=event.review.candidates,
            evidence=event.review.evidence,
        )
        self.reviews.add(row)
        self._undecided += 1

    def _resolved(self, event: ReviewResolved) -> None:
        items = self.reviews.of_round(event.round)
        if event.item >= len(items):
            return
        item = items[event.item]
        self.reviews.change(item.key, replace(item.row, decided=_decided(event)))
        own = self._own(event.round)
        if item.row.decided is None and own is not None:
            self._count_decided(own)

    def _count_decided(self, own: _Round) -> None:
        self._undecided -= 1
        left, done = own.row.reviews - 1, own.row.decided + 1
        self._put(own, replace(own.row, reviews=left, decided=done))

    def _mark(self, event: RoundSettled | ReviewRaised, own: _Round) -> None:
        """Keep what was hidden when a judgement was given, to veil it again when it is reread."""
        if places := _places(own):
            body = msgspec.json.encode(sorted(places, key=str))
            self._index.note(self._id, "hidden", event.seq or 0, body)

    def _paid(self, event: PaymentMade) -> None:
        self.payments.add(
            PaymentRow(
                **self._head(event),
                round=0 if self._round is None else self._round.row.round,
                spot=event.spot,
                hand=event.hand,
                kind=event.kind,
                amount=event.amount,
            )
        )

    def _posted(self, event: LedgerPosted) -> None:
        self.ledger.add(
            LedgerRow(
                **self._head(event),
                round=event.round,
                account=event.account,
                amount=event.amount,
                memo=event.memo,
            )
        )


def _is_of_the_table(event: AnyEvent) -> bool:
    """Tell whether something happened at the table then; a decision may come days later."""
    return isinstance(event, Fact | Observation) and not isinstance(event, ReviewResolved)


def _judged(event: AnyEvent | UnknownEvent) -> int | None:
    if isinstance(event, RoundSettled):
        return event.result.round
    return event.round if isinstance(event, ReviewRaised) else None


def _decided(event: ReviewResolved) -> Decided:
    return Decided(
        person=event.source.removeprefix("console:"),
        at=event.at or 0,
        seq=event.seq or 0,
        decision=event.decision,
        choice=event.choice,
        card=event.card,
        reason=event.reason,
        approved_by=event.approved_by,
    )


def _places(own: _Round) -> Hidden:
    return frozenset(place for place, cards in own.down.items() if cards > 0)


_ACTS: Final[Mapping[type, Callable[[Session, Any], None]]] = {
    CardDealt: Session._dealt,
    CardExposed: Session._exposed,
    RoundClosed: Session._close,
    ShoeStarted: Session._shoe,
    RoundSettled: Session._settled,
    ReviewRaised: Session._review,
    ReviewResolved: Session._resolved,
    PaymentMade: Session._paid,
    LedgerPosted: Session._posted,
}
