"""The answers of a service.

Money is cents, time is nanoseconds since the Unix epoch, UTC.
Decoding ignores fields that a later service adds. `scripts/client-rows` writes this file from the
service's own types.
"""

from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec

from pitwatch_client.cards import Card


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a table's journal. ``at`` and ``seq`` are its place there."""

    session: str
    """The journal's name."""
    table: str
    at: int
    seq: int
    round: int


RoundStatus: TypeAlias = Literal["open", "final", "pending", "review"]
Status: TypeAlias = Literal["final", "pending", "review"]
DealerOutcome: TypeAlias = Literal["stand", "bust", "blackjack", "no_draw", "short", "unknown"]


class DealerResult(msgspec.Struct, frozen=True, kw_only=True):
    """The dealer's hand at settlement."""

    cards: tuple[Card | None, ...]
    burned: tuple[Card | None, ...]
    total: int | None
    soft: bool
    outcome: DealerOutcome


Cents: TypeAlias = int
"""An amount in the currency's minor unit."""
Spot: TypeAlias = int
"""A betting spot, counted from the dealer's left (first base), from 1."""


class OddCents(msgspec.Struct, frozen=True):
    """The exact payout of posted odds where the house's chips cannot pay it."""

    exact: tuple[int, int]
    """Cents as numerator and denominator: ``[75, 2]`` is 37½ cents."""
    paid: Cents
    """The amount paid instead, by the rulebook's rounding."""


class InsuranceResult(msgspec.Struct, frozen=True):
    """The settlement of an insurance wager."""

    stake: Cents
    net: Cents | None
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    """Present where its winnings were rounded."""


class TokeResult(msgspec.Struct, frozen=True, kw_only=True):
    """The dealers' bets of a spot. No total of the player or the house contains them."""

    stake: Cents
    net: Cents | None


HandNo: TypeAlias = int
"""A hand of a spot in the order of creation, from 0."""
HandOutcome: TypeAlias = Literal[
    "win", "lose", "push", "blackjack", "bust", "surrender", "void", "pending", "unknown"
]
"""``void``: the floor called the round off, and its wagers went back."""


class Possible(msgspec.Struct, frozen=True, rename={"condition": "if"}):
    """One possible outcome of a hand while a card is unknown."""

    outcome: HandOutcome
    net: Cents | None
    """``None`` where a further card would be due."""
    condition: str


class HandResult(msgspec.Struct, frozen=True, kw_only=True):
    """The settlement of one hand. ``net`` is the player's gain."""

    hand: HandNo
    cards: tuple[Card | None, ...]
    burned: tuple[Card | None, ...]
    stake: Cents
    outcome: HandOutcome
    net: Cents | None
    clauses: tuple[str, ...]
    possible: tuple[Possible, ...] | msgspec.UnsetType = msgspec.UNSET
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    """Present where its winnings, or its refund, were rounded."""


SideOutcome: TypeAlias = Literal["win", "lose", "push", "void", "pending", "unknown", "unjudged"]
"""``push``: the bet goes back. ``unjudged``: the rulebook does not declare the bet."""


class PossibleSide(msgspec.Struct, frozen=True, rename={"condition": "if"}):
    """One possible outcome of a side bet while a card is unknown."""

    outcome: SideOutcome
    net: Cents | None
    condition: str


class SideResult(msgspec.Struct, frozen=True, kw_only=True):
    """A side bet."""

    bet: str | None
    stake: Cents
    outcome: SideOutcome
    net: Cents | None
    award: str | msgspec.UnsetType = msgspec.UNSET
    """What it won, by the pay table; absent where it won nothing, or several alike."""
    clauses: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """The deciding clauses, where it is settled."""
    possible: tuple[PossibleSide, ...] | msgspec.UnsetType = msgspec.UNSET
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    """Present where its winnings were rounded."""
    paid: Cents | None = None
    """What changed hands for it; ``None`` where no payment of it was observed."""
    bettor: str | msgspec.UnsetType = msgspec.UNSET


class WagerResult(msgspec.Struct, frozen=True, kw_only=True):
    """The settlement of one bettor's wager on a hand, his insurance, coupon or side bet."""

    hand: HandNo
    kind: Literal["main", "insurance", "coupon", "side"]
    stake: Cents
    net: Cents | None
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    bet: str | msgspec.UnsetType | None = msgspec.UNSET
    """The side bet's name."""


class BettorResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one of several bettors on a spot gains, of which the spot's results are the sum."""

    bettor: str | None
    """``None`` for the spot's own player."""
    net: Cents | None
    wagers: tuple[WagerResult, ...]


class CouponResult(msgspec.Struct, frozen=True, kw_only=True):
    """A coupon: on a loss it is taken, which costs its player nothing."""

    stake: Cents
    outcome: HandOutcome
    net: Cents | None
    taken: bool
    """Whether the house keeps it."""
    bettor: str | msgspec.UnsetType = msgspec.UNSET


class SpotResult(msgspec.Struct, frozen=True, kw_only=True):
    """The settlement of one spot, of all its bettors. ``net`` is ``None`` while any hand's is.

    No net contains a side bet that is not judged.
    """

    spot: Spot
    net: Cents | None
    hands: tuple[HandResult, ...]
    insurance: InsuranceResult | None
    side: tuple[SideResult, ...] | msgspec.UnsetType = msgspec.UNSET
    bettors: tuple[BettorResult, ...] | msgspec.UnsetType = msgspec.UNSET
    """Present where others than its player wagered on it; he comes first."""
    toke: TokeResult | msgspec.UnsetType = msgspec.UNSET
    coupons: tuple[CouponResult, ...] | msgspec.UnsetType = msgspec.UNSET


class Violation(msgspec.Struct, frozen=True):
    """One mistake, with the broken clause and the correct procedure."""

    code: str
    seq: int
    spot: Spot | None
    hand: HandNo | None
    clause: str
    detail: str
    suspected: bool = False
    """Whether a person must still decide an item of its round: it may not have happened. The
    round's status alone sets it, see :class:`RoundResult`."""


class Review(msgspec.Struct, frozen=True):
    """A question that a person must decide before the round is final."""

    what: str
    candidates: tuple[str, ...]
    evidence: tuple[int, ...]


TrayReason: TypeAlias = Literal[
    "buy_in", "cash_out", "fill", "credit", "colour_change", "marker", "other"
]


class TrayChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """Chips that entered or left the tray other than by wagers; positive into the tray."""

    seq: int
    amount: Cents
    reason: TrayReason
    spot: Spot | None = None
    player: str | None = None
    slip: str | None = None


class RoundResult(msgspec.Struct, frozen=True, kw_only=True):
    """One round as ``settle`` and ``replay`` print it. ``net`` is the house's gain."""

    round: int
    rulebook: str
    overrides: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    """Knobs that differ from that sheet, in the notation of ``--set``; absent where there are
    none."""
    rules_hash: str | msgspec.UnsetType = msgspec.UNSET
    """Hash of every knob in force; present with ``overrides``; see ``settlement.rulebooks``."""
    status: Status
    dealer: DealerResult
    spots: tuple[SpotResult, ...]
    violations: tuple[Violation, ...]
    net: Cents | None
    reviews: tuple[Review, ...] | msgspec.UnsetType = msgspec.UNSET
    """Present in ``replay``, where sensors may disagree; absent in ``settle``."""
    tray_changes: tuple[TrayChange, ...] | msgspec.UnsetType = msgspec.UNSET
    """Since the result before it; present where there are any."""


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


class RoundRow(Row, frozen=True, kw_only=True):
    """One round. ``at`` and ``seq`` are those of its opening."""

    status: RoundStatus
    closed_at: int | None
    last_seq: int
    """The last event of the round so far."""
    net: int | None
    violations: int
    """The number of certain mistakes."""
    suspected: int
    """The number of suspected mistakes: deciding the round's items confirms or dismisses them."""
    reviews: int
    """The number of undecided items."""
    decided: int
    result: RoundResult | None
    """As ``pitwatch replay`` prints it; ``None`` until it is settled."""
    balance: Balance | None = None
    """What was due and paid, as of the last settlement; ``None`` until it is settled."""


class HandRow(Row, frozen=True, kw_only=True):
    """One settled hand. ``at`` and ``seq`` are those of its settlement."""

    spot: Spot
    hand: int
    cards: tuple[Card | None, ...]
    burned: tuple[Card | None, ...] = ()
    """Cards that it was dealt and could not take; they do not count."""
    stake: int
    outcome: HandOutcome
    net: int | None
    """What it is due."""
    paid: int | None = None
    """What was paid; ``None`` where no payment was observed."""
    difference: int | None = None
    """What was paid beyond what was due; negative where the player is still owed. ``None`` where
    one of the two is not known, and while the round is under review."""
    clauses: tuple[str, ...]


class ViolationRow(Row, frozen=True, kw_only=True):
    """One mistake, or suspected mistake. ``at`` and ``seq`` are those of the fact that shows it."""

    code: str
    spot: Spot | None
    hand: int | None
    clause: str
    detail: str
    suspected: bool
    """Whether a person must still decide an item of its round: it may not have happened."""
    question: str
    """Whether it happened, as a question; amounts as in ``detail``."""


Decision: TypeAlias = Literal[
    "chosen", "dealt", "burned", "account", "stands", "unreadable", "void"
]
Dealt: TypeAlias = Spot | Literal["dealer"]


class CardPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One card of a round, by the hand that received it."""

    to: Dealt
    hand: HandNo = 0
    nth: int = 0
    """Index among the round's ``card_dealt`` to that hand, from 0."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A person's decision on a review item, as in ``review_resolved``."""

    person: str
    at: int
    seq: int
    decision: Decision
    choice: Card | None
    card: CardPlace | None
    reason: str
    account: int | None = None
    """The item's account that holds, for ``account``."""
    says: str = ""
    """The answer in words; empty where the decision was given without any."""
    approved_by: str = ""
    """The second person, where the house requires two."""


class ReviewRow(Row, frozen=True, kw_only=True):
    """A question that a person must decide."""

    item: int
    """Index among the round's items, from 0."""
    what: str
    candidates: tuple[str, ...]
    evidence: tuple[int, ...]
    decided: Decided | None = None
    """``None`` while it is open."""


class PaymentRow(Row, frozen=True, kw_only=True):
    """One payment: positive to the player, on top of the stake."""

    spot: Spot
    hand: int
    kind: Literal["main", "insurance", "side", "toke", "coupon"]
    amount: int
    late: bool = False
    """Whether it was made after the round closed."""
    bet: str | None = None
    """The side bet's name."""
    bettor: str | None = None
    """Whose wager it is for; ``None`` for the spot's own player."""


class LedgerRow(Row, frozen=True, kw_only=True):
    """One line of a double entry. The lines of a posting sum to zero."""

    account: str
    amount: int
    memo: str


T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """One page of a list, the newest first."""

    items: tuple[T, ...]
    next: str | None
    """The ``cursor`` of the next page; ``None`` at the end."""


TableState: TypeAlias = Literal["no round", "round open", "between rounds", "unreadable"]
Phase: TypeAlias = Literal["waiting", "wagers", "deal", "players", "dealer", "settling", "taken_up"]
"""``waiting``: no wager and no card. ``wagers``: wagers are open. ``deal``: the initial cards.
``players``: they decide. ``dealer``: the hole card was turned up, or the dealer drew a second card
where there is no hole card. ``settling``: a payment was made after that. ``taken_up``: the round is
closed, until the next one opens. A round that the floor called off is ``settling`` as well: its
wagers go back."""
Presence: TypeAlias = Literal["live", "quiet", "recorded"]
"""``live``: a process writes its journal, and its last event is at most minutes old. ``quiet``: a
process writes it, but its last event is older, as in a replay. ``recorded``: it is closed."""


class Trouble(msgspec.Struct, frozen=True):
    """A present fault of a device."""

    source: str
    kind: str
    since: int | None


class PassedFault(msgspec.Struct, frozen=True):
    """The count of a device's past faults of one kind, such as dropped pictures."""

    source: str
    kind: str
    count: int
    last_at: int | None


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One journal."""

    session: str
    table: str | None
    started_at: int | None
    last_at: int | None
    """Time of the last observation by a sensor or a person; later decisions do not count."""
    last_seq: int
    head: str
    """Hash of the last entry read, in hex; it covers every entry before it."""
    rounds: int
    violations: int
    """The number of certain mistakes."""
    suspected: int
    """The number of suspected mistakes."""
    reviews: int
    """The number of undecided items."""
    state: TableState
    phase: Phase
    """Where the round in play stands; ``taken_up`` from its end until the next one opens."""
    presence: Presence
    round: int | None
    """The round in play, or the last one."""
    troubles: tuple[Trouble, ...]
    """Present faults; for a recorded session, those at its end."""
    passed: tuple[PassedFault, ...]
    fault: str | None
    """Why the rest of the journal cannot be read; the entries before it stand."""
    proven: int | None
    """On a floor record, the last entry that the table's signature proves, 0 where there is none;
    ``null`` where the service reads the table's own journal."""


class TableView(msgspec.Struct, frozen=True, kw_only=True):
    """One table, as its newest session shows it."""

    table: str
    now: SessionView
    sessions: tuple[str, ...]
    """Its journals, oldest first."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a table at a time."""

    at: int
    """The requested time."""
    written: str
    """The same time in the house's format."""
    go_to: int | None
    """Where to start the video: that time, or the round's opening; ``None`` where no round was in
    play."""
    round: RoundRow | None
    """The round in play; ``None`` between rounds."""
    before: RoundRow | None
    """Between rounds, the last round before."""
    after: RoundRow | None
    """Between rounds, the first round after."""


FactorState: TypeAlias = Literal["off", "on", "due"]
"""``due``: the account's role requires a second factor, and none is set up yet."""
PasswordState: TypeAlias = Literal["own", "due"]
"""``due``: somebody else set it or it is too old; it must be changed first."""


class Me(msgspec.Struct, frozen=True):
    """The account behind a request."""

    name: str
    role: str
    rights: tuple[str, ...]
    second_factor: FactorState
    password: PasswordState
    """``due``: it must be changed before anything else."""


IncidentState: TypeAlias = Literal["open", "assigned", "closed"]
Severity: TypeAlias = Literal["high", "medium", "low"]


class IncidentRow(msgspec.Struct, frozen=True, kw_only=True):
    """One incident in the queue."""

    id: str
    """``SESSION.ROUND``."""
    session: str
    table: str
    round: int
    at: int
    """When the round was opened, nanoseconds since the Unix epoch, UTC."""
    state: IncidentState
    """``closed`` only while nothing new was found after the closing."""
    severity: Severity
    codes: tuple[str, ...]
    """The codes of its certain mistakes, without repeats, as in ``formats``."""
    questions: tuple[str, ...]
    """Its suspected mistakes as questions, without repeats and amounts; without a mistake and a
    suspected one, the question of its first undecided item, unless that is withheld."""
    violations: int
    """The number of certain mistakes."""
    suspected: int
    """The number of suspected mistakes."""
    reviews: int
    """The number of undecided items."""
    decided: int
    by_hand: bool
    """Whether a person opened it."""
    assignee: str | None
    comments: int
    changed_at: int | None
    """Time of a person's last action on it."""


Number: TypeAlias = int
"""A count from 1 that fits into 64 bits."""


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Any event of the stream. A hand-written file may omit these three fields."""

    seq: Number | None = None
    """Place in the table's journal, 1, 2, 3 … without gaps: the only order."""
    at: int | None = None
    """When it happened at the table, nanoseconds since the Unix epoch, UTC."""
    table: str | None = None


class CaseEvent(Event, frozen=True, kw_only=True):
    """A person's action on an incident."""

    incident: str
    person: str


class DecisionProposed(CaseEvent, frozen=True, kw_only=True, tag="decision_proposed"):
    """A person decided what needs two people. It takes effect once another approves."""

    item: int | None
    """``None`` for a ruling at the table: ``void`` then calls off the round, or a hand of it."""
    decision: Decision
    spot: int | None = None
    """The spot that a ruling calls off; ``None`` for the whole round."""
    hand: int | None = None
    """Its hand; ``None`` for every hand of it."""
    choice: Card | None = None
    card: CardPlace | None = None
    account: int | None = None
    says: str = ""
    """The answer in words."""
    reason: str = ""
    instead_of: int | None = None
    """The decision that this one replaces."""


class DecisionDeclined(CaseEvent, frozen=True, kw_only=True, tag="decision_declined"):
    """A person declined, or withdrew their own proposal."""

    item: int | None
    proposed_by: str
    reason: str = ""


class DecisionApproved(CaseEvent, frozen=True, kw_only=True, tag="decision_approved"):
    """A second person approved, and the decision was journalled."""

    item: int | None
    proposed_by: str
    entry: int
    """The decision's ``seq`` in the table's journal."""


class CaseReopened(CaseEvent, frozen=True, kw_only=True, tag="case_reopened"):
    """A person reopened the incident."""

    reason: str


class CaseClosed(CaseEvent, frozen=True, kw_only=True, tag="case_closed"):
    """A person closed the incident, with a reason. A later finding opens it again."""

    reason: str
    known: int
    """The number of its mistakes and items at that time."""


class CaseCommented(CaseEvent, frozen=True, kw_only=True, tag="case_commented"):
    """A person's comment."""

    text: str


class CaseOpened(CaseEvent, frozen=True, kw_only=True, tag="case_opened"):
    """A person opened an incident by hand, without a finding."""

    text: str


class CaseAssigned(CaseEvent, frozen=True, kw_only=True, tag="case_assigned"):
    """The incident was assigned to a person, or to nobody."""

    to: str | None


AnyCaseEvent: TypeAlias = (
    CaseOpened
    | CaseAssigned
    | CaseCommented
    | CaseClosed
    | CaseReopened
    | DecisionProposed
    | DecisionApproved
    | DecisionDeclined
)


class IncidentView(msgspec.Struct, frozen=True, kw_only=True):
    """One incident with all its details."""

    incident: IncidentRow
    round: RoundRow
    violations: tuple[ViolationRow, ...]
    reviews: tuple[ReviewRow, ...]
    proposals: tuple[DecisionProposed, ...]
    """Decisions that wait for approval by a second person."""
    history: tuple[AnyCaseEvent, ...]
    """People's actions, in order; the last ``case_closed`` holds the reason for closing."""
