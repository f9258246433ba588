"""What the reports of a session and of an incident say. Pure: from answers to a document."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from models.cards import Card
from models.judgements import HandResult, RoundResult, SpotResult
from models.money import dollars
from models.rulebook import Cited
from server.report.citations import passages, wording
from server.report.document import (
    Block,
    Document,
    Pairs,
    Picture,
    Pictures,
    Section,
    Table,
    Text,
)
from server.rules_in_force import name_of
from server.service.cases import (
    AnyCaseEvent,
    CaseAssigned,
    CaseClosed,
    CaseCommented,
    CaseOpened,
    CaseReopened,
    DecisionApproved,
    DecisionDeclined,
    DecisionProposed,
)
from server.service.incidents import IncidentRow, IncidentView
from server.service.views import (
    LedgerRow,
    PaymentRow,
    ReviewRow,
    RoundRow,
    SessionView,
    ViolationRow,
)
from server.wording import cards_text, counted, signed

NOTHING: Final = Text("Nothing.", "quiet")


@dataclass(frozen=True, slots=True)
class Made:
    """Who asked for a report, and when."""

    by: str
    at: int


@dataclass(frozen=True, slots=True)
class SessionMatter:
    """All that a session's report tells, as whoever asked may see it. Lists are newest first."""

    session: SessionView
    rulebook: str
    rounds: Sequence[RoundRow]
    violations: Sequence[ViolationRow]
    reviews: Sequence[ReviewRow]
    incidents: Sequence[tuple[IncidentRow, Sequence[AnyCaseEvent]]]


@dataclass(frozen=True, slots=True)
class IncidentMatter:
    """All that an incident's report tells, as whoever asked may see it."""

    view: IncidentView
    session: SessionView
    book: Cited | None
    payments: Sequence[PaymentRow]
    ledger: Sequence[LedgerRow]
    pictures: Sequence[Picture]


def session_report(matter: SessionMatter, made: Made) -> Document:
    """Return the report of a session."""
    view = matter.session
    title = f"Session report: table {view.table or '?'}, {_day(view.started_at)}"
    return Document(
        title=title,
        verdict=_session_verdict(matter),
        sections=(
            Section("The session", (_about_session(matter, made),)),
            Section("Mistakes", (_violation_table(matter.violations),)),
            Section("Left to a person", _review_blocks(matter.reviews)),
            Section("Incidents", (_incident_table(matter.incidents),)),
            Section("Rounds", (_round_table(matter.rounds),)),
        ),
        foot=_foot(view, made),
    )


def incident_report(matter: IncidentMatter, made: Made) -> Document:
    """Return the report of an incident."""
    row, view = matter.view.incident, matter.view
    return Document(
        title=f"Incident report: table {row.table}, round {row.round}",
        verdict=_incident_verdict(matter),
        sections=(
            Section("The round", (_about_round(matter),)),
            Section("Due and paid", _hands(view.round.result, matter.payments)),
            Section("Mistakes", tuple(_mistakes(view, matter.book)) or (NOTHING,)),
            Section("Left to a person", _review_blocks(view.reviews)),
            Section("What the camera saw", _seen(matter.pictures)),
            Section("What people did", (_history_table(view.history),)),
            Section("Ledger", (_ledger_table(matter.ledger),)),
        ),
        foot=_foot(matter.session, made),
    )


# --- what it comes to ---------------------------------------------------------------------


def _session_verdict(matter: SessionMatter) -> str:
    open_items = sum(one.decided is None for one in matter.reviews)
    parts = [
        counted(len(matter.rounds), "round"),
        counted(len(matter.violations), "mistake") + " found",
        f"{counted(open_items, 'item')} open" if open_items else "nothing open",
    ]
    return ", ".join(parts) + "."


def _incident_verdict(matter: IncidentMatter) -> str:
    row = matter.view.incident
    parts = [f"{row.severity.capitalize()} severity", row.state]
    parts += [code.replace("_", " ") for code in row.codes]
    if row.reviews:
        parts.append(f"{counted(row.reviews, 'item')} open")
    return ", ".join(parts) + "."


def _about_session(matter: SessionMatter, made: Made) -> Pairs:
    view = matter.session
    final = [row for row in matter.rounds if row.status == "final"]
    return Pairs(
        (
            ("Table", view.table or "?"),
            ("Session", view.session),
            ("From", _moment(view.started_at)),
            ("To", _moment(view.last_at)),
            ("Rulebook", matter.rulebook),
            ("House, final rounds", signed(sum(row.net or 0 for row in final))),
            ("Rounds final", f"{len(final)} of {len(matter.rounds)}"),
            ("Journal", f"{counted(view.last_seq, 'entry', 'entries')}, head {view.head}"),
            ("Made", f"{_moment(made.at)} for {made.by}"),
        )
    )


def _about_round(matter: IncidentMatter) -> Pairs:
    row, view = matter.view.round, matter.session
    book = "not known" if matter.book is None else _named(matter.book)
    return Pairs(
        (
            ("Table", row.table),
            ("Session", row.session),
            ("Opened", _moment(row.at)),
            ("Closed", _moment(row.closed_at)),
            ("Status", row.status),
            ("House", signed(row.net)),
            ("Rulebook", book),
            ("Entries", f"{row.seq} to {row.last_seq} of the session's journal"),
            ("Journal", f"{counted(view.last_seq, 'entry', 'entries')}, head {view.head}"),
        )
    )


def _named(book: Cited) -> str:
    return f"{name_of(book.rules).text}: {book.title}"


# --- lists --------------------------------------------------------------------------------


def _violation_table(rows: Iterable[ViolationRow]) -> Block:
    cells = [
        (str(row.round), _moment(row.at), _place(row.spot, row.hand), row.code, row.detail)
        for row in reversed(list(rows))
    ]
    return Table(("#Round", "When", "Where", "Mistake", "What"), tuple(cells)) if cells else NOTHING


def _review_blocks(rows: Iterable[ReviewRow]) -> tuple[Block, ...]:
    cells = [
        (str(row.round), str(row.item), row.what, " or ".join(row.candidates), _decided(row))
        for row in sorted(rows, key=lambda row: (row.round, row.item))
    ]
    if not cells:
        return (NOTHING,)
    return (Table(("#Round", "#Item", "What", "Candidates", "Decided"), tuple(cells)),)


def _decided(row: ReviewRow) -> str:
    if row.decided is None:
        return "open"
    one = row.decided
    said = [one.decision, str(one.choice or ""), one.reason]
    words = " ".join(word for word in said if word)
    return f"{words}; {one.person}, {_moment(one.at)}, entry {one.seq}"


def _incident_table(rows: Iterable[tuple[IncidentRow, Sequence[AnyCaseEvent]]]) -> Block:
    cells = [
        (str(row.round), row.severity, row.state, row.assignee or "", _why_closed(history))
        for row, history in reversed(list(rows))
    ]
    headings = ("#Round", "Severity", "State", "Assigned to", "Closed because")
    return Table(headings, tuple(cells)) if cells else NOTHING


def _why_closed(history: Iterable[AnyCaseEvent]) -> str:
    reasons = [one.reason for one in history if isinstance(one, CaseClosed)]
    return reasons[-1] if reasons else ""


def _round_table(rows: Iterable[RoundRow]) -> Block:
    cells = [
        (
            str(row.round),
            _moment(row.at),
            row.status,
            signed(row.net),
            str(row.violations),
            str(row.reviews),
        )
        for row in reversed(list(rows))
    ]
    headings = ("#Round", "Opened", "Status", "#House", "#Mistakes", "#Open")
    return Table(headings, tuple(cells)) if cells else NOTHING


def _history_table(history: Iterable[AnyCaseEvent]) -> Block:
    cells = [(_moment(one.at), one.person, _deed(one)) for one in history]
    return Table(("When", "Who", "What"), tuple(cells)) if cells else NOTHING


def _deed(event: AnyCaseEvent) -> str:
    match event:
        case DecisionProposed() | DecisionApproved() | DecisionDeclined():
            return _decision_deed(event)
        case CaseOpened():
            return f"opened it: {event.text}"
        case CaseAssigned():
            return f"gave it to {event.to}" if event.to else "took it back from whoever had it"
        case CaseCommented():
            return event.text
        case CaseClosed() | CaseReopened():
            done = "closed it" if isinstance(event, CaseClosed) else "opened it again"
            return f"{done}: {event.reason}"


def _decision_deed(event: DecisionProposed | DecisionApproved | DecisionDeclined) -> str:
    match event:
        case DecisionProposed():
            return f"proposed for item {event.item}: {event.decision}. {event.reason}".strip()
        case DecisionApproved():
            return f"agreed with {event.proposed_by} on item {event.item}, entry {event.entry}"
        case DecisionDeclined():
            return f"declined what {event.proposed_by} proposed for item {event.item}"


def _ledger_table(rows: Iterable[LedgerRow]) -> Block:
    cells = [
        (str(row.seq), row.account, row.memo, signed(row.amount)) for row in reversed(list(rows))
    ]
    return Table(("#Entry", "Account", "For", "#Amount"), tuple(cells)) if cells else NOTHING


# --- a round ------------------------------------------------------------------------------


def _hands(result: RoundResult | None, payments: Iterable[PaymentRow]) -> tuple[Block, ...]:
    if result is None:
        return (Text("The round is not settled yet.", "doubt"),)
    paid = _paid(payments)
    dealer = result.dealer
    points = "" if dealer.total is None else f"{'soft ' if dealer.soft else ''}{dealer.total} "
    said = f"{points}{dealer.outcome.replace('_', ' ')}"
    rows: list[tuple[str, ...]] = [
        ("dealer", _cards(dealer.cards, dealer.burned), "", said, "", "")
    ]
    for spot in result.spots:
        rows += [_hand(spot, hand, paid) for hand in spot.hands]
        rows += _insurance(spot, paid)
    headings = ("Spot", "Cards", "#Stake", "Outcome", "#Due", "#Paid")
    total = Text(f"The house's gain: {signed(result.net)}. Amounts are the player's gain.", "quiet")
    return (Table(headings, tuple(rows)), total)


def _hand(
    spot: SpotResult, hand: HandResult, paid: Mapping[tuple[int, int, str], int]
) -> tuple[str, ...]:
    name = str(spot.spot) if len(spot.hands) == 1 else f"{spot.spot}, hand {hand.hand}"
    found = paid.get((spot.spot, hand.hand, "main"))
    return (
        name,
        _cards(hand.cards, hand.burned),
        dollars(hand.stake),
        f"{hand.outcome} ({', '.join(hand.clauses)})" if hand.clauses else hand.outcome,
        signed(hand.net),
        "not seen" if found is None else signed(found),
    )


def _insurance(spot: SpotResult, paid: Mapping[tuple[int, int, str], int]) -> list[tuple[str, ...]]:
    if spot.insurance is None:
        return []
    found = paid.get((spot.spot, 0, "insurance"))
    stake, due = dollars(spot.insurance.stake), signed(spot.insurance.net)
    seen = "not seen" if found is None else signed(found)
    return [(str(spot.spot), "", stake, "insurance", due, seen)]


def _paid(payments: Iterable[PaymentRow]) -> dict[tuple[int, int, str], int]:
    found: dict[tuple[int, int, str], int] = {}
    for row in payments:
        key = (row.spot, row.hand, row.kind)
        found[key] = found.get(key, 0) + row.amount
    return found


def _cards(cards: Sequence[Card | None], burned: Sequence[Card | None]) -> str:
    aside = f" (not counted: {cards_text(burned)})" if burned else ""
    return cards_text(cards) + aside


def _mistakes(view: IncidentView, book: Cited | None) -> Iterable[Block]:
    for row in view.violations:
        where = _place(row.spot, row.hand)
        yield Text(f"{row.code}, {where}, entry {row.seq}, {_moment(row.at)}", "bad")
        yield Text(row.detail)
        yield Text(f"{row.clause}: {wording(row.clause)}", "quiet")
        for one in () if book is None else passages(row.clause, book):
            yield Text(f"{one.says} {one.origin}", "quiet")


def _seen(pictures: Sequence[Picture]) -> tuple[Block, ...]:
    if not pictures:
        return (Text("No recording of this round lies here.", "quiet"),)
    return (Pictures(tuple(pictures)),)


def _place(spot: int | None, hand: int | None) -> str:
    if spot is None:
        return "dealer"
    return f"spot {spot}" if not hand else f"spot {spot}, hand {hand}"


def _foot(view: SessionView, made: Made) -> str:
    return (
        f"Made by Pitwatch for {made.by}, {_moment(made.at)}, from journal {view.session} up to "
        f"entry {view.last_seq}, hash {view.head}. The last line of this file is its signature: "
        "pitwatch report verify proves it unchanged, pitwatch journal verify the journal."
    )


def _moment(at_ns: int | None) -> str:
    if not at_ns:
        return "not known"
    moment = datetime.fromtimestamp(at_ns // 1_000_000_000, UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _day(at_ns: int | None) -> str:
    return _moment(at_ns).partition(" ")[0] if at_ns else "day not known"
