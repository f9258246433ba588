"""What a round's wagers were due, what they were paid, and what is still open. Pure.

The engine decides which payments are wrong; here each is an amount. Amounts are the player's gain.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol, TypeAlias

import msgspec

from models.events import (
    Event,
    HandCalledOff,
    HandNo,
    PaymentMade,
    RoundCalledOff,
    RoundClosed,
    Spot,
    WagerRemoved,
)
from models.judgements import (
    AnyEvent,
    HandResult,
    RoundResult,
    RoundSettled,
    SpotResult,
)
from models.money import Cents, net_sum
from models.places import hand_name
from settlement.sentences import Sentence

Account: TypeAlias = tuple[Spot, HandNo, str]
"""Spot, hand and kind of a wager: ``main`` or ``insurance``, of all bettors there, and beside the
first hand ``coupon``, ``toke`` or ``side``."""

ALL_PAID: Final = "everything due was paid"
_WAS_PAID: Final = "what was due there was paid"
_EVENS_OUT: Final = "in all the house kept what it was due"
NOTHING_SEEN: Final = "payments were not observed"
_SOME_UNSEEN: Final = "some payments were not observed"
_NO_WAGERS: Final = "the wagers were not observed, so what was due is not known"
_UNSETTLED: Final = "not every hand is settled"
_TO_DECIDE: Final = "this counts in no total until the round is decided"

_PAYMENT: Final = frozenset({"wrong_payout", "payment_missing"})
_OF_CHIPS: Final = frozenset({"wager", "double", "split", "insurance", "surrender", "even_money"})
"""The groups of clauses that say which chips count."""


class Payment(Protocol):
    """One payment of a round."""

    @property
    def spot(self) -> Spot:
        """Where it was made."""

    @property
    def hand(self) -> HandNo:
        """Which hand it was for."""

    @property
    def kind(self) -> str:
        """Which wager it was for."""

    @property
    def amount(self) -> Cents:
        """Positive to the player."""

    @property
    def late(self) -> bool:
        """Whether it was made after the round closed."""


class Mistake(Protocol):
    """A violation, or its row in a list."""

    @property
    def code(self) -> str:
        """Its code."""

    @property
    def spot(self) -> Spot | None:
        """Where it was made."""

    @property
    def hand(self) -> HandNo | None:
        """At which hand."""

    @property
    def clause(self) -> str:
        """The broken clause."""

    @property
    def detail(self) -> str:
        """What happened."""


class Paid(msgspec.Struct, frozen=True):
    """A payment of a round's facts."""

    spot: Spot
    hand: HandNo
    kind: str
    amount: Cents
    late: bool


class BalanceLine(msgspec.Struct, frozen=True, kw_only=True):
    """One hand, insurance, coupon or toke, or the side bets of a spot, of all bettors there."""

    spot: Spot
    hand: HandNo
    kind: str
    stake: Cents
    due: Cents | None
    """``None`` while it is not settled."""
    paid: Cents | None
    """``None`` where no payment was observed."""
    difference: Cents | None
    """What was paid beyond what was due; negative where the player is still owed. ``None`` where
    one of the two is not known, and in a round under review."""
    recovered: Cents = 0
    """The part of a difference at the close that payments after it made good."""
    says: str = ""
    """The difference as a sentence of :class:`Sentence`; empty where there is none."""


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """All wagers of a round. A sum is ``None`` while an amount in it is not known.

    Tokes are in no sum, nor are side bets that the rulebook does not declare.
    """

    lines: tuple[BalanceLine, ...]
    observed: bool
    """Whether any payment was observed."""
    stake: Cents
    due: Cents | None
    paid: Cents | None
    difference: Cents | None
    underpaid: Cents
    """What the house still owes."""
    overpaid: Cents
    """What players were paid too much."""
    recovered: Cents
    says: tuple[str, ...]
    """What it came to for the house, then what was made good after the close; as sentences of
    :class:`Sentence` or as plain text."""


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What is still open over several rounds, and the rounds that it does not count."""

    underpaid: Cents
    overpaid: Cents
    rounds: int
    """The counted ones: payments observed, nothing to decide."""
    to_decide: int
    unsettled: int
    """Counted only as far as their hands are settled."""
    unobserved: int


def totals(rounds: Iterable[tuple[str, Balance]]) -> Totals:
    """Add up what is still open over rounds, each with its status."""
    found = tuple(rounds)
    decided = [(status, one) for status, one in found if status != "review"]
    counted = [(status, one) for status, one in decided if one.observed]
    return Totals(
        underpaid=sum(one.underpaid for _, one in counted),
        overpaid=sum(one.overpaid for _, one in counted),
        rounds=len(counted),
        to_decide=len(found) - len(decided),
        unsettled=sum(status == "pending" for status, _ in counted),
        unobserved=len(decided) - len(counted),
    )


def added(one: Totals | None, other: Totals) -> Totals:
    """Add the totals of further rounds."""
    if one is None:
        return other
    return Totals(
        **{name: getattr(one, name) + getattr(other, name) for name in Totals.__struct_fields__}
    )


_COUNTED: Final = (HandCalledOff, PaymentMade, RoundCalledOff, RoundClosed, WagerRemoved)
"""Facts by which :func:`payments_in` counts."""


def payments_in(facts: Iterable[Event]) -> Iterator[Paid]:
    """Yield the payments of a round's facts, which are in order.

    Chips returned of a hand that was called off after they had been taken are one, too.
    """
    closed, off = False, set[tuple[int, int | None]]()
    taken = dict[tuple[int, int, str | None], Cents]()
    for fact in facts:
        if isinstance(fact, RoundCalledOff):
            off.add((0, None))
        elif isinstance(fact, HandCalledOff):
            off.add((fact.spot, fact.hand))
        elif isinstance(fact, PaymentMade) and fact.kind == "main":
            place = (fact.spot, fact.hand, fact.bettor)
            taken[place] = taken.get(place, 0) - fact.amount
        elif isinstance(fact, WagerRemoved) and fact.kind in ("main", "split", "double"):
            place = (fact.spot, fact.hand, fact.bettor)
            back = min(fact.amount, taken.get(place, 0))
            if back > 0 and off & {(0, None), (fact.spot, None), (fact.spot, fact.hand)}:
                taken[place] -= back
                yield Paid(fact.spot, fact.hand, "main", back, closed)
        if isinstance(fact, RoundClosed):
            closed = True
        elif isinstance(fact, PaymentMade):
            hand = fact.hand if fact.kind in ("main", "insurance") else 0
            yield Paid(fact.spot, hand, fact.kind, fact.amount, closed)


def balance(result: RoundResult, payments: Iterable[Payment]) -> Balance:
    """Put what was paid beside what was due."""
    made = tuple(payments)
    every = tuple(_lines(result, made))
    unjudged = _with_unjudged(result)
    lines = tuple(
        one
        for one in every
        if one.kind != "toke" and not (one.kind == "side" and one.spot in unjudged)
    )
    due, paid = net_sum(one.due for one in lines), net_sum(one.paid for one in lines)
    differences = [one.difference or 0 for one in lines]
    return Balance(
        lines=every,
        observed=bool(made),
        stake=sum(one.stake for one in lines),
        due=due,
        paid=paid,
        difference=net_sum(one.difference for one in lines),
        underpaid=-sum(one for one in differences if one < 0),
        overpaid=sum(one for one in differences if one > 0),
        recovered=sum(one.recovered for one in lines),
        says=(
            _unsaid(result, made, due, paid) or _house(lines, due or 0, paid or 0),
            *(one.says for one in lines if one.says and not one.difference),
        ),
    )


def hands_of(
    result: RoundResult, balance: Balance
) -> Iterator[tuple[BalanceLine, SpotResult | None, HandResult | None]]:
    """Yield each line with its spot and its hand; ``None`` where the round has none."""
    spots = {one.spot: one for one in result.spots}
    for line in balance.lines:
        spot = spots.get(line.spot)
        own = spot.hands if spot is not None and line.kind == "main" else ()
        yield line, spot, next((one for one in own if one.hand == line.hand), None)


def balances(events: Iterable[AnyEvent], results: Iterable[RoundResult]) -> tuple[Balance, ...]:
    """Return the balance of each round, from a journal's events."""
    because, facts = dict[int, tuple[int, ...]](), dict[int | None, AnyEvent]()
    for event in events:
        if isinstance(event, RoundSettled):
            because[event.result.round] = event.because
        elif isinstance(event, _COUNTED):
            facts[event.seq] = event
    return tuple(
        balance(one, payments_in(facts[seq] for seq in because.get(one.round, ()) if seq in facts))
        for one in results
    )


_NAMED: Final = {
    "due": "main",
    "hand": "main",
    "insurance": "insurance",
    "toke": "toke",
    "coupon": "coupon",
    "side bet": "side",
}
"""Which wager a payment's mistake names first."""


def bottom_line(balance: Balance, found: Mistake) -> tuple[str, ...]:
    """Return what a mistake about money came to: sentences of its wagers, then the house's.

    Empty for other mistakes, and where no difference is known.
    """
    is_payment = found.code in _PAYMENT
    if not (is_payment or _is_of_chips(found)):
        return ()
    own = [one for one in balance.lines if one.spot == found.spot and one.hand == (found.hand or 0)]
    if is_payment:
        own = [one for one in own if _names(found.detail, one.kind)]
    if not own or any(one.difference is None for one in own):
        return ()
    said = tuple(one.says for one in own if one.says) or (_WAS_PAID,)
    is_open = any(one.difference for one in own) and balance.difference is not None
    return (*said, balance.says[0]) if is_open else said


def _names(detail: str, kind: str) -> bool:
    """Return whether a payment's mistake may be that wager's; a withheld detail names neither."""
    for start, named in _NAMED.items():
        if detail.startswith(start):
            return kind == named
    return kind in ("main", "insurance")


def _with_unjudged(result: RoundResult) -> frozenset[Spot]:
    """Return the spots with a side bet that the rulebook does not declare."""
    sides = ((spot.spot, side) for spot in result.spots for side in spot.side or ())
    return frozenset(spot for spot, side in sides if side.outcome == "unjudged")


def _is_of_chips(found: Mistake) -> bool:
    return found.clause.partition(".")[0] in _OF_CHIPS


def _lines(result: RoundResult, made: Iterable[Payment]) -> Iterator[BalanceLine]:
    paid, late = dict[Account, Cents](), dict[Account, Cents]()
    for one in made:
        account = (one.spot, one.hand, one.kind)
        paid[account] = paid.get(account, 0) + one.amount
        late[account] = late.get(account, 0) + (one.amount if one.late else 0)
    in_time = any(not one.late for one in made)
    seen = bool(paid) and _wagers_seen(result)
    judged = seen and result.status != "review"
    unpaid = {(one.spot, one.hand) for one in result.violations if one.code == "payment_missing"}
    wagers = dict(_wagers(result))
    for account in (*wagers, *sorted(paid.keys() - wagers)):
        stake, due, place = wagers.get(account) or (0, 0, _place(account, several=False))
        is_nil = seen and (due == 0 or account[:2] in unpaid)
        amount = paid.get(account, 0 if is_nil else None)
        off = amount - due if judged and due is not None and amount is not None else None
        before = (off or 0) - late.get(account, 0)
        good = max(0, abs(before) - abs(off)) if in_time and off is not None else 0
        yield BalanceLine(
            spot=account[0],
            hand=account[1],
            kind=account[2],
            stake=stake,
            due=due,
            paid=amount,
            difference=off,
            recovered=good,
            says=_line_says(place, off, good, before),
        )


def _wagers(result: RoundResult) -> Iterator[tuple[Account, tuple[Cents, Cents | None, str]]]:
    """Yield each wager with its stake, the amount due to it and its name."""
    for spot in result.spots:
        several = len(spot.hands) > 1
        for hand in spot.hands:
            account = (spot.spot, hand.hand, "main")
            yield account, (hand.stake, hand.net, _place(account, several=several))
        if spot.insurance is not None:
            account = (spot.spot, 0, "insurance")
            insured = spot.insurance
            yield account, (insured.stake, insured.net, _place(account, several=False))
        for kind, stake, due in beside(spot):
            account = (spot.spot, 0, kind)
            yield account, (stake, due, _place(account, several=False))


def beside(spot: SpotResult) -> Iterator[tuple[str, Cents, Cents | None]]:
    """Yield the kind, stake and amount due of each sort of wager beside a spot's hands."""
    if spot.coupons:
        yield "coupon", sum(one.stake for one in spot.coupons), net_sum(c.net for c in spot.coupons)
    if spot.toke:
        yield "toke", spot.toke.stake, spot.toke.net
    if spot.side:
        yield "side", sum(one.stake for one in spot.side), net_sum(one.net for one in spot.side)


def _place(account: Account, *, several: bool) -> str:
    spot, hand, kind = account
    if kind == "side":
        return f"side betting at spot {spot}"
    if kind != "main":
        return f"the {kind} of spot {spot}"
    return f"spot {spot}, {hand_name(hand)}" if several or hand else f"spot {spot}"


def _wagers_seen(result: RoundResult) -> bool:
    """Return whether the engine compared payments: it knew a wager, or found one wrong."""
    staked = any(hand.stake for spot in result.spots for hand in spot.hands)
    return staked or any(one.code in _PAYMENT for one in result.violations)


def _line_says(place: str, off: Cents | None, good: Cents, before: Cents) -> str:
    if off:
        return (Sentence.OWED if off < 0 else Sentence.OVERPAID).write(place, abs(off))
    if good:
        return (Sentence.PAID_LATER if before < 0 else Sentence.GIVEN_BACK).write(place, good)
    return ""


def _unsaid(
    result: RoundResult, made: tuple[Payment, ...], due: Cents | None, paid: Cents | None
) -> str:
    """Say why it cannot be said what the house kept; empty where it can."""
    for holds, why in (
        (not made, NOTHING_SEEN),
        (not _wagers_seen(result), _NO_WAGERS),
        (result.status == "review", _TO_DECIDE),
        (due is None, _UNSETTLED),
        (paid is None, _SOME_UNSEEN),
    ):
        if holds:
            return why
    return ""


def _house(lines: tuple[BalanceLine, ...], due: Cents, paid: Cents) -> str:
    """Write what the house kept beside what it was due, or what it paid beside what it had to."""
    if due == paid:
        return _EVENS_OUT if any(one.difference for one in lines) else ALL_PAID
    if due * paid >= 0:
        kind = Sentence.HOUSE_KEPT if due + paid < 0 else Sentence.HOUSE_PAID
    else:
        kind = Sentence.HOUSE_KEPT_INSTEAD if paid < 0 else Sentence.HOUSE_PAID_INSTEAD
    return kind.write(abs(paid), abs(due))
