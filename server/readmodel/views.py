"""The service's answers. Money is cents, time is nanoseconds since the Unix epoch, UTC."""

from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec

from models.cards import Card
from models.events import CardPlace, Decision, Spot
from models.judgements import HandOutcome, RoundResult
from settlement.balance import Balance
from settlement.phases import Phase

TableState: TypeAlias = Literal["no round", "round open", "between rounds", "unreadable"]
Presence: TypeAlias = Literal["live", "quiet", "recorded"]
"""``live``: a process writes its journal, and its last event is at most minutes old. ``quiet``: a
process writes it, but its last event is older, as in a replay. ``recorded``: it is closed."""
RoundStatus: TypeAlias = Literal["open", "final", "pending", "review"]
T = TypeVar("T")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a table's journal. ``at`` and ``seq`` are its place there."""

    session: str
    """The journal's name."""
    table: str
    at: int
    seq: int
    round: int


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


Shows: TypeAlias = Literal["card", "chips", "event"]


class SeenMoment(msgspec.Struct, frozen=True, kw_only=True):
    """The time at which an event's cards or chips are visible."""

    seq: int
    told_at: int
    """The event's own time."""
    at: int
    shows: Shows
    """A resting card, uncovered chips, or only that the event happened."""


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


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question such as ``BJ-07 at 21:14``."""

    table: str
    says: str
    """For people: what the moments are, and why there are several or no round."""
    moments: tuple[Moment, ...]
    """Never empty; the answer is certain only for a single moment with a round."""


class CurrencyView(msgspec.Struct, frozen=True):
    """A currency, with the decimals of its minor unit."""

    code: str
    decimals: int


class Unsigned(msgspec.Struct, frozen=True, kw_only=True):
    """What the tables' signatures do not prove yet of a floor record."""

    entries: int
    tables: int
    """The number of tables whose entries these are."""


class HouseView(msgspec.Struct, frozen=True, kw_only=True):
    """The house's formats of times and amounts."""

    zone: str
    """IANA name."""
    locale: str
    """BCP 47."""
    currency: CurrencyView
    shifts: tuple[str, ...]
    """Local times of the day."""
    others: dict[str, CurrencyView]
    """The currency of each table that differs from the house's."""
    exports: tuple[str, ...]
    """The formats of exported lists: ``parquet`` only where pyarrow is installed."""
    unsigned: Unsigned | None
    """``null`` where all entries are signed, or the service reads the tables' own journals."""


class Page(msgspec.Struct, Generic[T], frozen=True):
    """One page of a list, the newest first."""

    items: tuple[T, ...]
    next: str | None
    """The ``cursor`` of the next page; ``None`` at the end."""
