"""The content of session and incident reports. Pure: from answers to a document."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from models.judgements import RoundResult
from server.house.citations import Book, deciding, passages, settled_by, wording
from server.house.formatting import Formats
from server.house.rules_in_force import name_of
from server.house.wording import counted, place, proven_words, with_pips
from server.readmodel.cases import (
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
from server.readmodel.incidents import IncidentRow, IncidentView
from server.readmodel.views import (
    LedgerRow,
    ReviewRow,
    RoundRow,
    SessionView,
    ViolationRow,
)
from server.report.document import (
    Block,
    Document,
    Pairs,
    Quote,
    Section,
    Table,
    Text,
)
from server.service.evidence.report_entries import cited_entries, entries_text
from server.service.evidence.report_hands import hands_table
from server.service.evidence.report_pictures import seen
from server.service.evidence.report_words import Words
from server.service.evidence.round_pictures import RoundEvidence
from settlement.balance import Totals, bottom_line, totals

NOTHING: Final = Text("Nothing.", "quiet")


@dataclass(frozen=True, slots=True)
class Made:
    """The requester and time of a report, and the house's formats."""

    by: str
    at: int
    formats: Formats


@dataclass(frozen=True, slots=True)
class SessionMatter:
    """The content of a session's report, as the requester may see it. Lists are newest first."""

    session: SessionView
    rulebook: str
    rounds: Sequence[RoundRow]
    violations: Sequence[ViolationRow]
    reviews: Sequence[ReviewRow]
    incidents: Sequence[tuple[IncidentRow, Sequence[AnyCaseEvent]]]
    currency: str


@dataclass(frozen=True, slots=True)
class IncidentMatter:
    """The content of an incident's report, as the requester may see it."""

    view: IncidentView
    session: SessionView
    book: Book | None
    ledger: Sequence[LedgerRow]
    evidence: RoundEvidence
    currency: str


def session_report(matter: SessionMatter, made: Made) -> Document:
    """Return the report of a session."""
    view, words = matter.session, Words(made.formats, matter.currency)
    day = made.formats.day(view.started_at) if view.started_at else "day not known"
    title = f"Session report: table {view.table or '?'}, {day}"
    return Document(
        title=title,
        verdict=_session_verdict(matter),
        sections=(
            Section("The session", (_about_session(matter, made, words),)),
            Section("Mistakes", (_mistake_table(matter, words),)),
            Section("Suspected mistakes", (_suspected_table(matter.violations, words),)),
            Section("Review items", _review_blocks(matter.reviews, words)),
            Section("Incidents", (_incident_table(matter.incidents),)),
            Section("Rounds", (_round_table(matter.rounds, words),)),
        ),
        foot=_foot(view, made),
        made_ns=made.at,
    )


def incident_report(matter: IncidentMatter, made: Made) -> Document:
    """Return the report of an incident."""
    row, view = matter.view.incident, matter.view
    words = Words(made.formats, matter.currency)
    return Document(
        title=f"Incident report: table {row.table}, round {row.round}",
        verdict=_incident_verdict(matter),
        sections=(
            Section("The round", (_about_round(matter, words),)),
            Section("Due and paid", hands_table(view.round, words)),
            Section("Mistakes", _mistakes(view, matter.book, words, suspected=False)),
            Section("Suspected mistakes", _mistakes(view, matter.book, words, suspected=True)),
            Section("Review items", _review_blocks(view.reviews, words)),
            Section("What the camera saw", tuple(seen(matter.evidence, words))),
            Section("What people did", (_history_table(view.history, words),)),
            Section("Ledger", (_ledger_table(matter.ledger, words),)),
        ),
        foot=_foot(matter.session, made),
        made_ns=made.at,
    )


# --- what it comes to ---------------------------------------------------------------------


def _session_verdict(matter: SessionMatter) -> str:
    parts = [
        counted(len(matter.rounds), "round"),
        counted(matter.session.violations, "mistake") + " found",
    ]
    if matter.session.suspected:
        parts.append(counted(matter.session.suspected, "suspected mistake") + " to decide")
    return ", ".join((*parts, *_open(matter))) + "."


def _open(matter: SessionMatter) -> Sequence[str]:
    """Say what waits for a person: items, rounds that are not final, incidents."""
    waiting = (
        (sum(one.decided is None for one in matter.reviews), "item"),
        (sum(one.status != "final" for one in matter.rounds), "round"),
        (sum(one.state != "closed" for one, _ in matter.incidents), "incident"),
    )
    return [f"{counted(many, what)} open" for many, what in waiting if many] or ["nothing open"]


def _incident_verdict(matter: IncidentMatter) -> str:
    row = matter.view.incident
    parts = [f"{row.severity.capitalize()} severity", row.state]
    parts += [code.replace("_", " ") for code in row.codes]
    if row.suspected:
        parts.append(counted(row.suspected, "suspected mistake") + " to decide")
    if row.reviews:
        parts.append(f"{counted(row.reviews, 'item')} open")
    return ", ".join(parts) + "."


def _about_session(matter: SessionMatter, made: Made, words: Words) -> Pairs:
    view = matter.session
    final = [row for row in matter.rounds if row.status == "final"]
    return Pairs(
        (
            ("Table", view.table or "?"),
            ("Session", view.session),
            ("From", words.moment(view.started_at)),
            ("To", words.moment(view.last_at)),
            ("Rulebook", matter.rulebook),
            (
                "House, final rounds",
                f"{words.signed(sum(row.net or 0 for row in final))} {words.currency}",
            ),
            ("Balance", words.still_open(_balances(matter))),
            ("Rounds final", f"{len(final)} of {len(matter.rounds)}"),
            ("Journal", f"{counted(view.last_seq, 'entry', 'entries')}, head {view.head}"),
            *_proof(view),
            ("Made", f"{words.moment(made.at)} for {made.by}"),
            *words.about(view.started_at or made.at),
        )
    )


def _proof(view: SessionView) -> tuple[tuple[str, str], ...]:
    """Say of a record on the floor how far the table's signature proves it."""
    if view.proven is None:
        return ()
    return (("Signed by the table", proven_words(view.proven, view.last_seq)),)


def _balances(matter: SessionMatter) -> Totals:
    found = ((row.status, row.balance) for row in matter.rounds)
    return totals((status, one) for status, one in found if one is not None)


def _about_round(matter: IncidentMatter, words: Words) -> Pairs:
    row, view = matter.view.round, matter.session
    book = "not known" if matter.book is None else _named(matter.book)
    return Pairs(
        (
            ("Table", row.table),
            ("Session", row.session),
            ("Opened", words.moment(row.at)),
            ("Closed", words.moment(row.closed_at)),
            ("Status", row.status),
            ("House", f"{words.signed(row.net)} {words.currency}{_if_confirmed(row)}"),
            ("Rulebook", book),
            *words.about(row.at),
            ("Entries", entries_text(row, _cited(matter))),
            ("Journal", f"{counted(view.last_seq, 'entry', 'entries')}, head {view.head}"),
            *_proof(view),
        )
    )


def _if_confirmed(row: RoundRow) -> str:
    return ", if the review confirms it" if row.status == "review" else ""


def _cited(matter: IncidentMatter) -> Iterable[int]:
    view = matter.view
    return cited_entries(
        matter.evidence, view.violations, view.reviews, matter.ledger, view.history
    )


def _named(book: Book) -> str:
    return f"{name_of(book.rules).text}: {book.cited.title}"


# --- lists --------------------------------------------------------------------------------


def _mistake_table(matter: SessionMatter, words: Words) -> Block:
    rounds = {row.round: row for row in matter.rounds}
    cells = [
        (
            str(row.round),
            words.moment(row.at),
            place(row.spot, row.hand),
            row.code,
            words.sentence(row.detail),
            _came_to(rounds[row.round], row, words),
        )
        for row in reversed(matter.violations)
        if not row.suspected
    ]
    headings = ("#Round", "When", "Where", "Mistake", "What", "What it came to")
    return Table(headings, tuple(cells)) if cells else NOTHING


def _came_to(round_: RoundRow, row: ViolationRow, words: Words) -> str:
    return "" if round_.balance is None else words.sentences(bottom_line(round_.balance, row))


def _suspected_table(rows: Sequence[ViolationRow], words: Words) -> Block:
    cells = [
        (str(row.round), words.moment(row.at), words.question(row.question), row.code)
        for row in reversed(rows)
        if row.suspected
    ]
    headings = ("#Round", "When", "Question", "Suspected mistake")
    return Table(headings, tuple(cells)) if cells else NOTHING


def _review_blocks(rows: Iterable[ReviewRow], words: Words) -> tuple[Block, ...]:
    cells = [
        (
            str(row.round),
            str(row.item),
            with_pips(row.what),
            with_pips(" or ".join(row.candidates)),
            _decided(row, words),
        )
        for row in sorted(rows, key=lambda row: (row.round, row.item))
    ]
    if not cells:
        return (NOTHING,)
    return (Table(("#Round", "#Item", "What", "Candidates", "Decided"), tuple(cells)),)


def _decided(row: ReviewRow, words: Words) -> str:
    if row.decided is None:
        return "open"
    one = row.decided
    parts = [with_pips(one.says) or f"{one.decision} {one.choice or ''}".strip(), one.reason]
    choice = ". ".join(part for part in parts if part)
    return f"{choice}; {one.person}, {words.moment(one.at)}, entry {one.seq}"


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


def _round_table(rows: Iterable[RoundRow], words: Words) -> Block:
    cells = [
        (
            str(row.round),
            words.moment(row.at),
            row.status,
            words.signed(row.net),
            str(row.violations),
            str(row.suspected),
            str(row.reviews),
        )
        for row in reversed(list(rows))
    ]
    headings = ("#Round", "Opened", "Status", "#House", "#Mistakes", "#Suspected", "#To decide")
    return Table(headings, tuple(cells)) if cells else NOTHING


def _history_table(history: Iterable[AnyCaseEvent], words: Words) -> Block:
    cells = [(words.moment(one.at), one.person, _deed(one)) for one in history]
    return Table(("When", "Who", "What"), tuple(cells)) if cells else NOTHING


def _deed(event: AnyCaseEvent) -> str:
    match event:
        case DecisionProposed() | DecisionApproved() | DecisionDeclined():
            return _decision_deed(event)
        case CaseOpened():
            return f"opened the incident: {event.text}"
        case CaseAssigned():
            return f"assigned it to {event.to}" if event.to else "removed the assignment"
        case CaseCommented():
            return event.text
        case CaseClosed() | CaseReopened():
            done = "closed it" if isinstance(event, CaseClosed) else "reopened it"
            return f"{done}: {event.reason}"


def _decision_deed(event: DecisionProposed | DecisionApproved | DecisionDeclined) -> str:
    what = "a ruling" if event.item is None else f"item {event.item}"
    match event:
        case DecisionProposed():
            says = event.says if event.item is None else event.decision
            return f"proposed on {what}: {says}. {event.reason}".strip()
        case DecisionApproved():
            return f"approved {event.proposed_by}'s decision on {what}, entry {event.entry}"
        case DecisionDeclined():
            return f"declined {event.proposed_by}'s decision on {what}"


def _ledger_table(rows: Iterable[LedgerRow], words: Words) -> Block:
    cells = [
        (str(row.seq), row.account, row.memo, words.signed(row.amount))
        for row in reversed(list(rows))
    ]
    return Table(("#Entry", "Account", "For", "#Amount"), tuple(cells)) if cells else NOTHING


# --- a round ------------------------------------------------------------------------------


def _mistakes(
    view: IncidentView, book: Book | None, words: Words, *, suspected: bool
) -> tuple[Block, ...]:
    found = (row for row in view.violations if row.suspected == suspected)
    return tuple(block for row in found for block in _mistake(row, view, book, words)) or (NOTHING,)


def _mistake(
    row: ViolationRow, view: IncidentView, book: Book | None, words: Words
) -> Iterable[Block]:
    named = f"{row.code}, {place(row.spot, row.hand)}, entry {row.seq}, {words.fine(row.at)}"
    if row.suspected:
        yield Text(words.question(row.question), "doubt")
        yield Text(named, "quiet")
    else:
        yield Text(named, "bad")
    yield Text(words.sentence(row.detail))
    if came_to := _came_to(view.round, row, words):
        yield Text(f"{came_to}.")
    if book is None:
        yield Text(f"{row.clause}: {wording(row.clause)}", "quiet")
    else:
        yield from _verdict(row, view.round.result, book)


def _verdict(row: ViolationRow, result: RoundResult | None, book: Book) -> Iterable[Block]:
    """Quote the broken rule, the clause behind the amount due, and the rule of the settlement."""
    yield Text(f"{row.clause}: {wording(row.clause)}", "quiet")
    for one in passages(book, row.clause, row.code, row.detail):
        yield Quote(one.says, one.origin)
    due = [] if result is None else deciding(result, row.clause, row.spot, row.hand, row.detail)
    for clause in due:
        yield Text(f"Due by {clause}: {wording(clause)}", "quiet")
        for one in passages(book, clause):
            yield Quote(one.says, one.origin)
    after = settled_by(book, row.code)
    if after is not None:
        yield Text("How it is settled:", "quiet")
        yield Quote(after.says, after.origin)


def _foot(view: SessionView, made: Made) -> str:
    return (
        f"Made by Pitwatch for {made.by}, {made.formats.moment(made.at)}, from journal "
        f"{view.session} up to entry {view.last_seq}, hash {view.head}. This file is signed: "
        "pitwatch verify proves it unchanged, pitwatch journal verify the journal."
    )
