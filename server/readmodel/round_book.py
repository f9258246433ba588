"""A session's rounds from its events: rows of rounds, hands, mistakes, items and money."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from models.events import (
    CardDealt,
    CardExposed,
    Dealt,
    Fact,
    HandCalledOff,
    PaymentMade,
    ReviewResolved,
    RoundCalledOff,
    RoundClosed,
    RoundOpened,
)
from models.judgements import (
    AnyEvent,
    LedgerPosted,
    Review,
    ReviewRaised,
    RoundResult,
    RoundSettled,
)
from models.places import whose
from server.readmodel.redaction import Hidden
from server.readmodel.rows import Rows
from server.readmodel.selection import Key, Sought
from server.readmodel.views import (
    Decided,
    HandRow,
    LedgerRow,
    PaymentRow,
    ReviewRow,
    RoundRow,
    Row,
    ViolationRow,
)
from settlement.balance import Balance, balance, hands_of
from settlement.questions import question

if TYPE_CHECKING:
    from server.readmodel.index import Index

_SHOWN_ALL: Final[Hidden] = frozenset()


@dataclass(slots=True)
class _Round:
    """The data of a round in progress."""

    key: Key
    row: RoundRow
    times: dict[int, int] = field(default_factory=dict)
    down: Counter[Dealt] = field(default_factory=Counter)
    unread: Counter[Dealt] = field(default_factory=Counter)
    paid: list[PaymentRow] | None = None
    """Its payments, where they are known without a look at the index."""
    is_noted: bool = True
    """Whether the index may have a note of these, or of an earlier round of that number."""

    def open_ends(self) -> "_OpenEnds":
        """Return the data of a round that its row does not hold."""
        return _OpenEnds(self.times, tuple((+self.down).items()), tuple((+self.unread).items()))

    def take_up(self, ends: "_OpenEnds") -> None:
        """Continue from stored data."""
        self.times.update(ends.times)
        self.down.update(dict(ends.down))
        self.unread.update(dict(ends.unread))


class _OpenEnds(msgspec.Struct, frozen=True):
    times: dict[int, int] = {}
    down: tuple[tuple[Dealt, int], ...] = ()
    unread: tuple[tuple[Dealt, int], ...] = ()


_NO_ENDS: Final = _OpenEnds()
_HIDDEN: Final = msgspec.json.Decoder(tuple[Dealt, ...])
R = TypeVar("R", bound=Row)


class RoundBook:
    """Folds a session's events into rows of the index. Rows are frozen values."""

    def __init__(
        self,
        index: "Index",
        session_id: int,
        session: str,
        is_worked_on: Callable[[str, int], bool],
    ) -> None:
        self._index, self._id, self._session = index, session_id, session
        self._is_worked_on = is_worked_on
        self.table: str | None = None
        self.rounds, self.hands = self._rows(RoundRow), self._rows(HandRow)
        self.violations, self.reviews = self._rows(ViolationRow), self._rows(ReviewRow)
        self.payments, self.ledger = self._rows(PaymentRow), self._rows(LedgerRow)
        self._ruling: tuple[int, Decided] | None = None
        """The last ruling that called off a round, or a hand of it, once it was over."""
        self.undecided = 0
        """The number of undecided items."""
        self.suspected = 0
        """The number of suspected mistakes among the violations."""
        self._in_hand: dict[int, _Round] = {}
        self._present: _Round | None = None
        self._stored: int | None = None
        """The number of the last round, while it is still to be read from the index."""

    def _rows(self, kind: type[R]) -> Rows[R]:
        return Rows(self._index, self._id, kind)

    @property
    def _round(self) -> _Round | None:
        """The round in play, or the last one."""
        if self._stored is not None:
            number, self._stored = self._stored, None
            self._present = self._read_round(number)
        return self._present

    @property
    def last(self) -> int | None:
        """The number of the round in play, or of the last one."""
        if self._stored is not None:
            return self._stored
        return None if self._present is None else self._present.row.round

    # --- storing --------------------------------------------------------------------------

    def keep(self) -> tuple[RoundRow, ...]:
        """Write the results of the last events to the index; return the changed rounds."""
        changed = []
        for number, own in self._in_hand.items():
            self.rounds.change(own.key, own.row, noticed=self._is_noticed(own.row))
            ends = own.open_ends()
            is_noted = ends != _NO_ENDS
            if is_noted or own.is_noted:
                body = msgspec.json.encode(ends) if is_noted else None
                self._index.note(self._id, "round", number, body)
            own.is_noted = is_noted
            changed.append(own.row)
        self._in_hand.clear()
        return tuple(changed)

    def look_again(self, number: int) -> None:
        """Write a round again: its need for attention may have changed."""
        own = self._own(number)
        if own is not None:
            self.rounds.change(own.key, own.row, noticed=self._is_noticed(own.row))

    def _is_noticed(self, row: RoundRow) -> bool:
        found = row.violations or row.suspected or row.reviews or row.decided
        return bool(found) or self._is_worked_on(self._session, row.round)

    def counts(self) -> tuple[tuple[int, int], ...]:
        """Return the present and the total number of each kind of rows."""
        return tuple((rows.count, rows.made) for rows in self._every_rows())

    def go_on(
        self,
        counts: tuple[tuple[int, int], ...],
        undecided: int,
        suspected: int,
        number: int | None,
    ) -> None:
        """Continue from stored data; ``number`` is the last round's."""
        self.undecided, self.suspected = undecided, suspected
        for rows, (count, made) in zip(self._every_rows(), counts, strict=True):
            rows.go_on(count, made)
        self._present, self._stored = None, number

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
        """Return a round: the one in play, a recently changed one, or one from the index."""
        if self._round is not None and self._round.row.round == number:
            return self._round
        return self._in_hand.get(number) or self._read_round(number)

    def _read_round(self, number: int) -> _Round | None:
        found = self.rounds.of_round(number)
        if not found:
            return None
        noted = self._index.noted(self._id, "round", number)
        own = _Round(found[-1].key, found[-1].row)
        own.is_noted = noted is not None
        if noted is not None:
            own.take_up(msgspec.json.decode(noted, type=_OpenEnds))
        return own

    # --- reading --------------------------------------------------------------------------

    def hidden(self, number: int) -> Hidden:
        """Return the places of a round with a card not shown so far."""
        found = self._own(number)
        return _SHOWN_ALL if found is None else _places(found)

    def row(self, number: int) -> RoundRow | None:
        """Return a round of this session."""
        found = self._own(number)
        return None if found is None else found.row

    def violations_of(self, number: int) -> tuple[ViolationRow, ...]:
        """Return the mistakes of a round, in order of time."""
        found = sorted(self.violations.of_round(number), key=lambda placed: placed.key)
        return tuple(placed.row for placed in found)

    def newest_hands(self, at_most: int) -> tuple[HandRow, ...]:
        """Return the last settled hands, the newest first."""
        sought = Sought(HandRow, session=self._session)
        return tuple(placed.row for placed in self._index.newest(sought, at_most))

    def reviews_of(self, number: int) -> tuple[ReviewRow, ...]:
        """Return the items of a round in the order in which they were raised."""
        return tuple(placed.row for placed in self.reviews.of_round(number))

    def hidden_at(self, seq: int) -> Hidden:
        """Return the hidden places at the time of a judgement."""
        noted = self._index.noted(self._id, "hidden", seq)
        return _SHOWN_ALL if noted is None else frozenset(_HIDDEN.decode(noted))

    # --- folding --------------------------------------------------------------------------

    def fold(self, event: AnyEvent) -> None:
        """Process the next event."""
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
            suspected=0,
            reviews=0,
            decided=0,
            result=None,
        )
        self._leave_round()
        self._present = _Round(self.rounds.add(row), row, paid=[])
        self._in_hand[event.round] = self._present

    def _leave_round(self) -> None:
        """Drop the fact times of a settled round: nothing needs them any more."""
        if self._round is not None and self._round.row.result is not None:
            self._round.times.clear()
            self._in_hand[self._round.row.round] = self._round

    def _head(self, event: AnyEvent) -> dict[str, Any]:
        return {
            "session": self._session,
            "table": self.table or self._session,
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
        """Turn up a card: of an unread and a face-down one at a place, the unread one."""
        if self._round is None:
            return
        if self._round.unread[event.to]:
            self._round.unread[event.to] -= 1
        elif self._round.down[event.to]:
            self._round.down[event.to] -= 1

    def _close(self, event: RoundClosed) -> None:
        if self._round is not None:
            self._put(self._round, replace(self._round.row, closed_at=event.at))

    def _settled(self, event: RoundSettled) -> None:
        own = self._own(event.result.round)
        if own is None:
            return
        result = event.result
        self._mark(event, own)
        if own.row.result is not None:
            self._forget(own)
        found = self._take_result(own, result)
        self._touch(own, event.seq)
        self._add_hands(event, result, found)
        self._add_violations(event, own, result)
        own.times.clear()
        self._answer(own, result)

    def _take_result(self, own: _Round, result: RoundResult) -> Balance:
        found = balance(result, self._payments_of(own))
        row = replace(
            own.row,
            status=result.status,
            net=result.net,
            violations=len(result.mistakes),
            suspected=len(result.suspected),
            result=result,
            balance=found,
        )
        self.suspected += row.suspected - own.row.suspected
        self._put(own, row)
        return found

    def _payments_of(self, own: _Round) -> list[PaymentRow]:
        """Return the payments since a round was opened: an earlier one may have had its number."""
        if own.paid is None:
            paid = (placed.row for placed in self.payments.of_round(own.row.round))
            own.paid = [one for one in paid if one.seq > own.row.seq]
        return own.paid

    def _forget(self, own: _Round) -> None:
        """Drop a round's earlier results; the times of its mistakes stay known."""
        number = own.row.round
        own.times.update({one.seq: one.at for one in self.violations_of(number)})
        self.hands.drop_round(number)
        self.violations.drop_round(number)

    def _answer(self, own: _Round, result: RoundResult) -> None:
        """Mark items as decided that another decision, or a ruling, of the round has answered."""
        if not (own.row.reviews or own.row.decided):
            return
        items = self.reviews.of_round(result.round)
        decisions = [item.row.decided for item in items if item.row.decided is not None]
        if self._ruling is not None and self._ruling[0] == result.round:
            decisions.append(self._ruling[1])
        if not decisions:
            return
        still_open = list(result.reviews or ())
        for item in items:
            row = item.row
            review = Review(row.what, row.candidates, row.evidence)
            if row.decided is None and review not in still_open:
                last = max(decisions, key=lambda one: one.seq)
                self.reviews.change(item.key, replace(row, decided=last))
                self._count_decided(own)

    def _add_hands(self, event: RoundSettled, result: RoundResult, found: Balance) -> None:
        for line, _, hand in hands_of(result, found):
            if hand is not None:
                self.hands.add(
                    HandRow(
                        **self._head(event),
                        round=result.round,
                        spot=line.spot,
                        hand=hand.hand,
                        cards=hand.cards,
                        burned=hand.burned,
                        stake=hand.stake,
                        outcome=hand.outcome,
                        net=hand.net,
                        paid=line.paid,
                        difference=line.difference,
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
                    suspected=one.suspected,
                    question=question(one.code, one.spot, one.hand, one.detail),
                )
            )

    def _review(self, event: ReviewRaised) -> None:
        own = self._own(event.round)
        if own is not None:
            self._mark(event, own)
            self._put(own, replace(own.row, reviews=own.row.reviews + 1))
            if own.row.result is not None:
                self._hold(own, own.row.result, event)
        item = ReviewRow(
            **self._head(event),
            round=event.round,
            item=len(self.reviews.of_round(event.round)),
            what=event.review.what,
            candidates=event.review.candidates,
            evidence=event.review.evidence,
        )
        self.reviews.add(item)
        self.undecided += 1

    def _hold(self, own: _Round, result: RoundResult, event: ReviewRaised) -> None:
        """Add an item to a round that has settled: its mistakes become suspected."""
        reviews = (*(result.reviews or ()), event.review)
        status = result.status if event.settles_alike else "review"
        self._take_result(own, replace(result, status=status, reviews=reviews))
        if status == "review":
            for placed in self.violations.of_round(event.round):
                self.violations.change(placed.key, replace(placed.row, suspected=True))
            for hand in self.hands.of_round(event.round):
                self.hands.change(hand.key, replace(hand.row, difference=None))

    def _resolved(self, event: ReviewResolved) -> None:
        items = self.reviews.of_round(event.round)
        if event.item >= len(items):
            return
        item = items[event.item]
        self.reviews.change(item.key, replace(item.row, decided=_decided(event)))
        own = self._own(event.round)
        if item.row.decided is None and own is not None:
            self._count_decided(own)

    def _ruled(self, event: HandCalledOff | RoundCalledOff) -> None:
        """Note a ruling on a round that is over: it may answer what was asked of it."""
        if self._round is not None and self._round.row.closed_at is not None:
            self._ruling = self._round.row.round, _by_ruling(event)

    def _count_decided(self, own: _Round) -> None:
        self.undecided -= 1
        left, done = own.row.reviews - 1, own.row.decided + 1
        self._put(own, replace(own.row, reviews=left, decided=done))

    def _mark(self, event: RoundSettled | ReviewRaised, own: _Round) -> None:
        """Store the hidden places of a judgement, for redacting it again later."""
        if places := _places(own):
            body = msgspec.json.encode(sorted(places, key=str))
            self._index.note(self._id, "hidden", event.seq or 0, body)

    def _paid(self, event: PaymentMade) -> None:
        own = self._round
        row = PaymentRow(
            **self._head(event),
            round=0 if own is None else own.row.round,
            spot=event.spot,
            hand=event.hand,
            kind=event.kind,
            amount=event.amount,
            late=own is not None and own.row.closed_at is not None,
            bet=event.bet,
            bettor=event.bettor,
        )
        self.payments.add(row)
        if own is not None and own.paid is not None:
            own.paid.append(row)

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


def _decided(event: ReviewResolved) -> Decided:
    return Decided(
        person=event.source.removeprefix("console:"),
        at=event.at or 0,
        seq=event.seq or 0,
        decision=event.decision,
        choice=event.choice,
        card=event.card,
        reason=event.reason,
        account=event.account,
        says=event.says,
        approved_by=event.approved_by,
    )


def _by_ruling(event: HandCalledOff | RoundCalledOff) -> Decided:
    what = "the round" if isinstance(event, RoundCalledOff) else whose(event.spot, event.hand)
    reason = f": {event.reason}" if event.reason else ""
    return Decided(
        person=event.by,
        at=event.at or 0,
        seq=event.seq or 0,
        decision="stands",
        choice=None,
        card=None,
        reason=f"the floor called {what} off{reason}",
        says="the ruling leaves it without consequence",
    )


def _places(own: _Round) -> Hidden:
    return frozenset(place for place, cards in own.down.items() if cards > 0)


_ACTS: Final[Mapping[type, Callable[[RoundBook, Any], None]]] = {
    CardDealt: RoundBook._dealt,
    CardExposed: RoundBook._exposed,
    RoundClosed: RoundBook._close,
    RoundSettled: RoundBook._settled,
    ReviewRaised: RoundBook._review,
    ReviewResolved: RoundBook._resolved,
    HandCalledOff: RoundBook._ruled,
    RoundCalledOff: RoundBook._ruled,
    PaymentMade: RoundBook._paid,
    LedgerPosted: RoundBook._posted,
}
