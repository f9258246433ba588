"""What a service answers with. Money is cents, time is nanoseconds since the Unix epoch, UTC.

Fields that a later service adds are passed over.
"""

from enum import StrEnum
from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")
TableState: TypeAlias = Literal["no round", "round open", "between rounds", "unreadable"]
Presence: TypeAlias = Literal["live", "quiet", "recorded"]
"""``live``: its journal is being written and its last event is minutes old at most; ``quiet``: it
is being written, but its last event is older, as in a replay; ``recorded``: it is closed."""
RoundStatus: TypeAlias = Literal["open", "final", "pending", "review"]
SettledStatus: TypeAlias = Literal["final", "pending", "review"]
DealerOutcome: TypeAlias = Literal["stand", "bust", "blackjack", "no_draw", "short", "unknown"]
HandOutcome: TypeAlias = Literal[
    "win", "lose", "push", "blackjack", "bust", "surrender", "pending", "unknown"
]
Decision: TypeAlias = Literal["chosen", "dealt", "burned", "stands", "unreadable", "void"]
IncidentState: TypeAlias = Literal["open", "assigned", "closed"]
Severity: TypeAlias = Literal["high", "medium", "low"]


class Card(StrEnum):
    """One card face, written rank then suit: ``AS``, ``TD``, ``9C``; ``A?`` is of any suit.

    A card of which nothing is known is ``None``, never a member.
    """

    AS, AH, AD, AC, ANY_A = "AS", "AH", "AD", "AC", "A?"
    TWO_S, TWO_H, TWO_D, TWO_C, ANY_2 = "2S", "2H", "2D", "2C", "2?"
    THREE_S, THREE_H, THREE_D, THREE_C, ANY_3 = "3S", "3H", "3D", "3C", "3?"
    FOUR_S, FOUR_H, FOUR_D, FOUR_C, ANY_4 = "4S", "4H", "4D", "4C", "4?"
    FIVE_S, FIVE_H, FIVE_D, FIVE_C, ANY_5 = "5S", "5H", "5D", "5C", "5?"
    SIX_S, SIX_H, SIX_D, SIX_C, ANY_6 = "6S", "6H", "6D", "6C", "6?"
    SEVEN_S, SEVEN_H, SEVEN_D, SEVEN_C, ANY_7 = "7S", "7H", "7D", "7C", "7?"
    EIGHT_S, EIGHT_H, EIGHT_D, EIGHT_C, ANY_8 = "8S", "8H", "8D", "8C", "8?"
    NINE_S, NINE_H, NINE_D, NINE_C, ANY_9 = "9S", "9H", "9D", "9C", "9?"
    TS, TH, TD, TC, ANY_T = "TS", "TH", "TD", "TC", "T?"
    JS, JH, JD, JC, ANY_J = "JS", "JH", "JD", "JC", "J?"
    QS, QH, QD, QC, ANY_Q = "QS", "QH", "QD", "QC", "Q?"
    KS, KH, KD, KC, ANY_K = "KS", "KH", "KD", "KC", "K?"

    @property
    def rank(self) -> str:
        """``A``, ``2`` … ``9``, ``T``, ``J``, ``Q``, ``K``."""
        return self.value[0]

    @property
    def suit(self) -> str:
        """``S``, ``H``, ``D``, ``C``; ``?`` where it is not known."""
        return self.value[1]


# --- a settled round ----------------------------------------------------------------------


class Possible(msgspec.Struct, frozen=True, rename={"condition": "if"}):
    """One way a hand may turn out while a card is not known."""

    outcome: HandOutcome
    net: int | None
    """``None`` where a card would still be due."""
    condition: str


class Violation(msgspec.Struct, frozen=True):
    """One mistake of a round, with the clause it breaks and what should have been."""

    code: str
    seq: int
    spot: int | None
    hand: int | None
    clause: str
    detail: str


class OddCents(msgspec.Struct, frozen=True):
    """What posted odds give exactly, where the house's chips cannot pay it."""

    exact: tuple[int, int]
    """Cents as numerator and denominator: ``[75, 2]`` is 37½ cents."""
    paid: int
    """What is paid for it, by the rulebook's rounding."""


class HandResult(msgspec.Struct, frozen=True, kw_only=True):
    """One hand as it settles. ``net`` is the player's gain."""

    hand: int
    cards: tuple[Card | None, ...]
    burned: tuple[Card | None, ...]
    stake: int
    outcome: HandOutcome
    net: int | None
    clauses: tuple[str, ...]
    possible: tuple[Possible, ...] | msgspec.UnsetType = msgspec.UNSET
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    """Present where what it wins, or gets back, was rounded."""


class InsuranceResult(msgspec.Struct, frozen=True):
    """An insurance wager as it settles."""

    stake: int
    net: int | None
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    """Present where what it wins was rounded."""


class SpotResult(msgspec.Struct, frozen=True, kw_only=True):
    """One spot as it settles. ``net`` is ``None`` while any hand's is."""

    spot: int
    net: int | None
    hands: tuple[HandResult, ...]
    insurance: InsuranceResult | None


class DealerResult(msgspec.Struct, frozen=True, kw_only=True):
    """The dealer's hand as it settles."""

    cards: tuple[Card | None, ...]
    burned: tuple[Card | None, ...]
    total: int | None
    soft: bool
    outcome: DealerOutcome


class Review(msgspec.Struct, frozen=True):
    """Something a person must decide before the round is final."""

    what: str
    candidates: tuple[str, ...]
    evidence: tuple[int, ...]


class RoundResult(msgspec.Struct, frozen=True, kw_only=True):
    """One round as ``pitwatch replay`` prints it. ``net`` is the house's gain."""

    round: int
    rulebook: str
    overrides: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    """Knobs in force otherwise than in that rulebook; absent where there are none."""
    rules_hash: str | msgspec.UnsetType = msgspec.UNSET
    """Hash of every knob in force, beside ``overrides``."""
    status: SettledStatus
    dealer: DealerResult
    spots: tuple[SpotResult, ...]
    violations: tuple[Violation, ...]
    net: int | None
    reviews: tuple[Review, ...] | msgspec.UnsetType = msgspec.UNSET


# --- lists --------------------------------------------------------------------------------


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Something of a table's journal. ``at`` and ``seq`` place it there."""

    session: str
    """The journal's name."""
    table: str
    at: int
    seq: int
    round: int


class RoundRow(Row, frozen=True, kw_only=True):
    """One round. ``at`` and ``seq`` are its opening's."""

    status: RoundStatus
    closed_at: int | None
    last_seq: int
    """The last event that belongs to it so far."""
    net: int | None
    violations: int
    reviews: int
    """Items that nobody has decided yet."""
    decided: int
    result: RoundResult | None
    """``None`` until it is settled."""


class HandRow(Row, frozen=True, kw_only=True):
    """One settled hand. ``at`` and ``seq`` are its settlement's."""

    spot: int
    hand: int
    cards: tuple[Card | None, ...]
    stake: int
    outcome: HandOutcome
    net: int | None
    clauses: tuple[str, ...]


class ViolationRow(Row, frozen=True, kw_only=True):
    """One mistake. ``at`` and ``seq`` are those of the fact that shows it."""

    code: str
    spot: int | None
    hand: int | None
    clause: str
    detail: str


class CardPlace(msgspec.Struct, frozen=True, kw_only=True):
    """One card of a round, by where it was dealt."""

    to: int | Literal["dealer"]
    hand: int = 0
    nth: int = 0
    """Which of the cards dealt to that hand, from 0."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """How a person decided a review item."""

    person: str
    at: int
    seq: int
    decision: Decision
    choice: Card | None
    card: CardPlace | None
    reason: str
    approved_by: str = ""
    """The second person, where the house asks for two."""


class ReviewRow(Row, frozen=True, kw_only=True):
    """Something that a person must decide."""

    item: int
    """Which of the round's items, from 0."""
    what: str
    candidates: tuple[str, ...]
    evidence: tuple[int, ...]
    decided: Decided | None = None
    """``None`` until somebody has."""


class PaymentRow(Row, frozen=True, kw_only=True):
    """What changed hands: positive to the player on top of the stake."""

    spot: int
    hand: int
    kind: Literal["main", "insurance"]
    amount: int


class LedgerRow(Row, frozen=True, kw_only=True):
    """One line of a double entry. The lines of a posting sum to zero."""

    account: str
    amount: int
    memo: str


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a list, the newest first."""

    items: tuple[T, ...]
    next: str | None
    """Ask again with this as ``cursor`` for what comes after; ``None`` at the end."""


# --- tables, sessions, times, whoever asks ------------------------------------------------


class Trouble(msgspec.Struct, frozen=True):
    """A device that is at fault now."""

    source: str
    kind: str
    since: int | None


class PassedFault(msgspec.Struct, frozen=True):
    """How often a device had a fault that is over."""

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
    """When a sensor or a person at the table was heard last; later decisions do not count."""
    last_seq: int
    head: str
    """Hash of the last entry read, in hex; it stands for every entry before it."""
    rounds: int
    violations: int
    reviews: int
    """Items that nobody has decided yet."""
    state: TableState
    presence: Presence
    round: int | None
    """The round in play, or the last one."""
    troubles: tuple[Trouble, ...]
    """Faults that last; of a recorded session, those that lasted at its end."""
    passed: tuple[PassedFault, ...]
    fault: str | None
    """Why the journal cannot be read on; what was read before stands."""


class TableView(msgspec.Struct, frozen=True, kw_only=True):
    """One table, as its newest session has it."""

    table: str
    now: SessionView
    sessions: tuple[str, ...]
    """Its journals, oldest first."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """What was on a table at a time."""

    at: int
    """The time that was asked for."""
    written: str
    """The same, as the house writes it."""
    go_to: int | None
    """Where to begin to watch: then, or when the round opened; ``None`` where none was in play."""
    round: RoundRow | None
    """The round in play; ``None`` where nothing was dealt."""
    before: RoundRow | None
    """Where nothing was dealt, the last round before."""
    after: RoundRow | None
    """Where nothing was dealt, the first round after."""


class Me(msgspec.Struct, frozen=True):
    """Whoever asks."""

    name: str
    role: str
    rights: tuple[str, ...]
    second_factor: Literal["off", "on", "due"]
    """``due``: the account's role asks for a second factor, and it has none yet."""
    password: Literal["own", "due"]
    """``due``: it must be changed before anything else."""


# --- incidents ----------------------------------------------------------------------------


class IncidentRow(msgspec.Struct, frozen=True, kw_only=True):
    """One incident in the queue."""

    id: str
    """``SESSION.ROUND``."""
    session: str
    table: str
    round: int
    at: int
    """When the round was opened."""
    state: IncidentState
    """``closed`` only as long as nothing more was found since."""
    severity: Severity
    codes: tuple[str, ...]
    """The codes of its mistakes, each once."""
    violations: int
    reviews: int
    """Items that nobody has decided yet."""
    decided: int
    by_hand: bool
    """Whether a person opened it."""
    assignee: str | None
    comments: int
    changed_at: int | None
    """When somebody last did something with it."""


class CaseEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Something that a person did with an incident."""

    seq: int | None = None
    at: int | None = None
    table: str | None = None
    incident: str
    person: str


class CaseOpened(CaseEvent, frozen=True, kw_only=True, tag="case_opened"):
    """A person opened an incident by hand, where nothing was found wrong."""

    text: str


class CaseAssigned(CaseEvent, frozen=True, kw_only=True, tag="case_assigned"):
    """It is somebody's to work on, or nobody's any more."""

    to: str | None


class CaseCommented(CaseEvent, frozen=True, kw_only=True, tag="case_commented"):
    """A remark."""

    text: str


class CaseClosed(CaseEvent, frozen=True, kw_only=True, tag="case_closed"):
    """It is done with, for a reason. What is found afterwards opens it again."""

    reason: str
    known: int
    """How many mistakes and items it had then."""


class CaseReopened(CaseEvent, frozen=True, kw_only=True, tag="case_reopened"):
    """It is not done with after all."""

    reason: str


class DecisionProposed(CaseEvent, frozen=True, kw_only=True, tag="decision_proposed"):
    """A person decided an item that needs two; nothing of it holds before another agrees."""

    item: int
    decision: Decision
    choice: Card | None = None
    card: CardPlace | None = None
    reason: str = ""
    instead_of: int | None = None
    """The decision that it would put right."""


class DecisionApproved(CaseEvent, frozen=True, kw_only=True, tag="decision_approved"):
    """A second person agreed, and the decision was journalled."""

    item: int
    proposed_by: str
    entry: int
    """The decision's ``seq`` in the table's journal."""


class DecisionDeclined(CaseEvent, frozen=True, kw_only=True, tag="decision_declined"):
    """A person did not agree, or took their own proposal back."""

    item: int
    proposed_by: str
    reason: str = ""


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
    """One incident with all that belongs to it."""

    incident: IncidentRow
    round: RoundRow
    violations: tuple[ViolationRow, ...]
    reviews: tuple[ReviewRow, ...]
    proposals: tuple[DecisionProposed, ...]
    """Decisions that wait for a second person."""
    history: tuple[AnyCaseEvent, ...]
    """What people did with it, in order; its last ``case_closed`` says why it was closed."""
