"""Tables, sessions, rounds and their rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response

from server.readmodel.floor import Floor
from server.readmodel.round_phases import PhaseBegun, phases_of
from server.readmodel.rows import before_time, cursor_of, key_of
from server.readmodel.selection import Placed, Sought
from server.readmodel.session import Session
from server.readmodel.views import (
    HandRow,
    LedgerRow,
    Page,
    PaymentRow,
    ReviewRow,
    RoundRow,
    Row,
    SessionView,
    TableView,
    ViolationRow,
)
from server.service.access.people import Person, Right
from server.service.http.problems import Problem
from server.service.request.answers import Events, give
from server.service.request.guard import Who, guarded
from server.service.request.sessions import (
    LONGEST_PAGE,
    Nanoseconds,
    floor_of,
    session_of,
    shown,
    text_of,
)

_NO_TABLE: Final = {404: "There is no such table."}
_NO_SESSION: Final = {404: "There is no such session, or no such round in it."}

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Asked:
    """The requested part of a list."""

    table: Annotated[str | None, Query(description="Only this table.")] = None
    session: Annotated[str | None, Query(description="Only this session.")] = None
    from_ns: Annotated[Nanoseconds | None, Query(description="Start of the time span.")] = None
    to_ns: Annotated[Nanoseconds | None, Query(description="End of the time span.")] = None
    round: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None
    spot: Annotated[int | None, Query(ge=1, le=99)] = None
    cursor: Annotated[str | None, Query(max_length=400, description="`next` of a page.")] = None
    limit: Annotated[int, Query(ge=1, le=LONGEST_PAGE)] = 50


@dataclass(frozen=True, slots=True)
class WantedEvents:
    """The requested events of a session."""

    after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0
    limit: Annotated[int, Query(ge=1, le=LONGEST_PAGE)] = 100
    type: Annotated[str | None, Query(description="Only this type: `card_dealt`.")] = None


Wanted: TypeAlias = Annotated[Asked, Depends()]


async def page(
    request: Request, who: Person, kind: type[Row], wanted: Asked, **fields: object
) -> Response:
    """Answer one page of a kind of rows; ``fields`` filters by those that are not ``None``."""
    floor = floor_of(request)
    before = before_time(wanted.to_ns)
    if wanted.cursor is not None:
        before = min(before, key_of(wanted.cursor))
    asked = fields | {"round": wanted.round}
    sought: Sought[Any] = Sought(
        kind,
        before=before,
        table=wanted.table,
        tables=who.tables,
        session=wanted.session,
        from_ns=wanted.from_ns,
        fields=tuple((name, want) for name, want in asked.items() if want is not None),
    )
    found = await floor.index.look_up(sought, wanted.limit + 1)
    return give(_paged(found, wanted.limit, floor, who))


def _paged(found: Sequence[Placed[Any]], limit: int, floor: Floor, who: Person) -> Page[Any]:
    rows = []
    for placed in found[:limit]:
        session = floor.session(placed.row.session)
        if session is not None:  # another service may have read it only just now
            rows.append(shown(session, placed.row, who))
    return Page(tuple(rows), cursor_of(found[limit - 1].key) if len(found) > limit else None)


# --- tables and sessions ------------------------------------------------------------------


@router.get("/api/tables", **guarded(Right.SEE_TABLES, tuple[TableView, ...]))
async def tables(request: Request, who: Who) -> Response:
    """List every table with its current state."""
    return give(tuple(one for one in floor_of(request).tables() if who.sees(one.table)))


@router.get("/api/tables/{table}", **guarded(Right.SEE_TABLES, TableView, problems=_NO_TABLE))
async def table(request: Request, table: str) -> Response:
    """Show one table with its current state."""
    found = floor_of(request).table(table)
    if found is None:
        raise Problem(404, "there is no such table")
    return give(found)


@router.get("/api/sessions", **guarded(Right.SEE_TABLES, tuple[SessionView, ...]))
async def sessions(request: Request, who: Who) -> Response:
    """List every session, each a table's journal."""
    floor = floor_of(request)
    return give(tuple(floor.view(one) for one in floor.sessions() if who.sees(one.table)))


@router.get(
    "/api/sessions/{session}", **guarded(Right.SEE_TABLES, SessionView, problems=_NO_SESSION)
)
async def session(request: Request, session: str) -> Response:
    """Show one session."""
    return give(floor_of(request).view(session_of(request, session)))


# --- rounds -------------------------------------------------------------------------------


@router.get("/api/rounds", **guarded(Right.SEE_ROUNDS, Page[RoundRow]))
async def rounds(
    request: Request,
    who: Who,
    wanted: Wanted,
    status: Literal["open", "final", "pending", "review"] | None = None,
) -> Response:
    """List rounds, the newest first."""
    return await page(request, who, RoundRow, wanted, status=status)


@router.get(
    "/api/sessions/{session}/rounds/{number}",
    **guarded(Right.SEE_ROUNDS, RoundRow, problems=_NO_SESSION),
)
async def one_round(request: Request, who: Who, session: str, number: int) -> Response:
    """Show one round."""
    found = session_of(request, session)
    return give(shown(found, _row_of(found, number), who))


@router.get(
    "/api/sessions/{session}/rounds/{number}/phases",
    **guarded(Right.SEE_ROUNDS, tuple[PhaseBegun, ...], problems=_NO_SESSION),
)
async def round_phases(request: Request, session: str, number: int) -> Response:
    """Show the event that began each phase of a round."""
    found = session_of(request, session)
    return give(await phases_of(found, _row_of(found, number)))


def _row_of(session: Session, number: int) -> RoundRow:
    row = session.rounds.row(number)
    if row is None:
        raise Problem(404, "there is no such round in this session")
    return row


# --- what belongs to rounds ---------------------------------------------------------------


@router.get("/api/hands", **guarded(Right.SEE_ROUNDS, Page[HandRow]))
async def hands(request: Request, who: Who, wanted: Wanted) -> Response:
    """List settled hands, the newest first."""
    return await page(request, who, HandRow, wanted, spot=wanted.spot)


@router.get("/api/violations", **guarded(Right.SEE_ROUNDS, Page[ViolationRow]))
async def violations(
    request: Request,
    who: Who,
    wanted: Wanted,
    code: Annotated[str | None, Query(description="As `formats` lists them.")] = None,
) -> Response:
    """List mistakes and suspected mistakes, the newest first."""
    return await page(request, who, ViolationRow, wanted, spot=wanted.spot, code=code)


@router.get("/api/reviews", **guarded(Right.SEE_ROUNDS, Page[ReviewRow]))
async def reviews(request: Request, who: Who, wanted: Wanted) -> Response:
    """List review items, the newest first."""
    return await page(request, who, ReviewRow, wanted)


@router.get("/api/payments", **guarded(Right.SEE_MONEY, Page[PaymentRow]))
async def payments(request: Request, who: Who, wanted: Wanted) -> Response:
    """List payments, the newest first."""
    return await page(request, who, PaymentRow, wanted, spot=wanted.spot)


@router.get("/api/ledger", **guarded(Right.SEE_MONEY, Page[LedgerRow]))
async def ledger(
    request: Request, who: Who, wanted: Wanted, account: str | None = None
) -> Response:
    """List the ledger's lines, the newest first."""
    return await page(request, who, LedgerRow, wanted, account=account)


@router.get(
    "/api/sessions/{session}/events",
    **guarded(Right.SEE_ROUNDS, Events, problems=_NO_SESSION),
)
async def events(
    request: Request,
    who: Who,
    session: str,
    wanted: Annotated[WantedEvents, Depends()],
) -> Response:
    """Return a session's events after `after` in order: observations, facts, judgements.

    It examines `limit` events; `last` is the last examined one.
    """
    found = session_of(request, session)
    entries = await floor_of(request).entries(found, wanted.after, wanted.limit)
    texts = [
        msgspec.Raw(text)
        for entry in entries
        if wanted.type in (None, entry.type) and (text := text_of(found, entry, who)) is not None
    ]
    return give(Events(tuple(texts), entries[-1].seq if entries else wanted.after))
