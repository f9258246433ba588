"""What the service answers with. Money is cents, time is nanoseconds since the Unix epoch, UTC."""

from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec

from models.cards import Card
from models.events import CardPlace, Decision, Spot
from models.judgements import HandOutcome, RoundResult
from settlement.phases import Phase

TableState: TypeAlias = Literal["no round", "round open", "between rounds", "unreadable"]
Presence: TypeAlias = Literal["live", "quiet", "recorded"]
"""``live``: its journal is being written and its last event is minutes old at most; ``quiet``: it
is being written, but what it tells is older, as in a replay; ``recorded``: it is closed."""
RoundStatus: TypeAlias = Literal["open", "final", "pending", "review"]
T = TypeVar("T")


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
    """As ``pitwatch replay`` prints it; ``None`` until it is settled."""


class HandRow(Row, frozen=True, kw_only=True):
    """One settled hand. ``at`` and ``seq`` are its settlement's."""

    spot: Spot
    hand: int
    cards: tuple[Card | None, ...]
    stake: int
    outcome: HandOutcome
    net: int | None
    clauses: tuple[str, ...]


class ViolationRow(Row, frozen=True, kw_only=True):
    """One mistake. ``at`` and ``seq`` are those of the fact that shows it."""

    code: str
    spot: Spot | None
    hand: int | None
    clause: str
    detail: str


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """How a person decided a review item, as ``review_resolved`` says it."""

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

    spot: Spot
    hand: int
    kind: Literal["main", "insurance"]
    amount: int


class LedgerRow(Row, frozen=True, kw_only=True):
    """One line of a double entry. The lines of a posting sum to zero."""

    account: str
    amount: int
    memo: str


class Trouble(msgspec.Struct, frozen=True):
    """A device that is at fault now."""

    source: str
    kind: str
    since: int | None


class PassedFault(msgspec.Struct, frozen=True):
    """How often a device had a fault that is over: a dropped picture, a link that came back."""

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
    phase: Phase
    """Where the round in play stands; ``taken_up`` from its end until the next one opens."""
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


Shows: TypeAlias = Literal["card", "chips", "event"]


class SeenMoment(msgspec.Struct, frozen=True, kw_only=True):
    """When what an event tells of is to be seen."""

    seq: int
    told_at: int
    """The event's own time."""
    at: int
    shows: Shows
    """A card that lies, chips free of the hand, or no more than that the event happened."""


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


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a question such as ``BJ-07 at 21:14`` found."""

    table: str
    says: str
    """For people: what the moments are, and why there may be several or no round."""
    moments: tuple[Moment, ...]
    """Never empty; only where there is one, and it has a round, is the answer certain."""


class CurrencyView(msgspec.Struct, frozen=True):
    """A currency, and how many decimals an amount of whole minor units has in it."""

    code: str
    decimals: int


class HouseView(msgspec.Struct, frozen=True, kw_only=True):
    """How people read and type times and amounts here."""

    zone: str
    """IANA name."""
    locale: str
    """BCP 47."""
    currency: CurrencyView
    shifts: tuple[str, ...]
    """Local times of the day."""
    others: dict[str, CurrencyView]
    """The currency of each table that deals in another than the house's."""


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a list, the newest first."""

    items: tuple[T, ...]
    next: str | None
    """Ask again with this as ``cursor`` for what comes after; ``None`` at the end."""
