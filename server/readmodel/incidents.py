"""Incidents: the rounds of all tables that need attention, and the work on them.

An incident is a round with a mistake, an item to decide, or both; or one that a person opened. It
derives from the tables' journals, so none can be lost. :mod:`server.readmodel.cases` holds people's
work on it.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Final, Literal, TypeAlias

import msgspec

from server.readmodel.cases import AnyCaseEvent, Case, Cases, DecisionProposed
from server.readmodel.floor import Floor
from server.readmodel.rows import newest_first
from server.readmodel.selection import Key, Sought
from server.readmodel.session import Session
from server.readmodel.views import ReviewRow, RoundRow, ViolationRow
from settlement.questions import question

IncidentState: TypeAlias = Literal["open", "assigned", "closed"]
Severity: TypeAlias = Literal["high", "medium", "low"]

_HIGH: Final = frozenset(
    {
        "foreign_card",
        "hole_card_misread",
        "impossible_card",
        "payment_missing",
        "stake_increased_after_deal",
        "stake_reduced_after_deal",
        "tray_mismatch",
        "wager_after_deal",
        "wager_on_no_hand",
        "wrong_deck_count",
        "wrong_payout",
    }
)
"""Codes of misdirected money and of possible cheating."""
_LOW: Final = frozenset(
    {
        "above_table_max",
        "below_table_min",
        "burn_missing",
        "deal_face",
        "mid_shoe_entry",
        "multi_spot_minimum",
        "player_touched_cards",
        "settle_order",
        "side_wager_prohibited",
        "signal_not_accepted",
        "too_many_spots",
    }
)
"""Codes of procedure: they do not change what is due on the spots."""


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


def incident_id(session: str, number: int) -> str:
    """Return the id of the incident of a round."""
    return f"{session}.{number}"


def found_round(floor: Floor, incident: str) -> tuple[Session, RoundRow] | None:
    """Return the session and the round of an incident's id; ``None`` where there is none."""
    name, _, number = incident.rpartition(".")
    session = floor.session(name)
    if session is None or not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    row = session.rounds.row(int(number))
    return None if row is None else (session, row)


class Entered(msgspec.Struct, frozen=True):
    """What became of an entry."""

    seq: int | None
    """Its place in the table's journal; ``null`` while it waits for a second person."""
    incident: str | None = None
    """The incident in which it waits, as a proposal, where the house requires two people."""


async def incidents(
    floor: Floor, cases: Cases, sought: Sought[RoundRow]
) -> AsyncIterator[tuple[Key, IncidentRow]]:
    """Yield the incidents among the selected rounds, the newest first.

    Raises:
        TechnicianError: the index cannot be read.
    """
    async for placed in newest_first(floor.index, replace(sought, noticed=True)):
        row = placed.row
        case = cases.of(incident_id(row.session, row.round))
        if is_incident(row, case):
            session = floor.session(row.session)
            if session is not None:
                yield placed.key, incident_row(session, row, case)


def is_incident(row: RoundRow, case: Case) -> bool:
    """Return whether a round needs, or had, a person's attention."""
    return bool(known_of(row) or case.history)


def incident_row(session: Session, row: RoundRow, case: Case) -> IncidentRow:
    """Return a round's row in the queue."""
    certain, suspected = (row.result.mistakes, row.result.suspected) if row.result else ((), ())
    codes = tuple(dict.fromkeys(one.code for one in certain))
    asked = [question(one.code, one.spot, one.hand) for one in suspected]
    if not (certain or suspected) and row.reviews:
        items = session.rounds.reviews_of(row.round)
        asked = [one.what for one in items if one.decided is None][:1]
    return IncidentRow(
        id=incident_id(row.session, row.round),
        session=row.session,
        table=session.table or row.table,
        round=row.round,
        at=row.at,
        state=_state(case, known_of(row)),
        severity=_severity(codes, row),
        codes=codes,
        questions=tuple(dict.fromkeys(asked)),
        violations=row.violations,
        suspected=row.suspected,
        reviews=row.reviews,
        decided=row.decided,
        by_hand=case.by_hand,
        assignee=case.assignee,
        comments=case.comments,
        changed_at=case.changed_at,
    )


def known_of(row: RoundRow) -> int:
    """Return the number of a round's mistakes, suspected mistakes and items."""
    return row.violations + row.suspected + row.reviews + row.decided


def _state(case: Case, known: int) -> IncidentState:
    if case.closed is not None and case.closed.known >= known:
        return "closed"
    return "open" if case.assignee is None else "assigned"


def _severity(codes: tuple[str, ...], row: RoundRow) -> Severity:
    if _HIGH.intersection(codes):
        return "high"
    if row.reviews or not _LOW.issuperset(codes):
        return "medium"
    return "low"
