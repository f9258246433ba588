"""The queue of incidents: list, open by hand, assign, comment on, close and reopen."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field
from starlette.requests import HTTPConnection

from server.readmodel.cases import (
    AnyCaseEvent,
    CaseAssigned,
    CaseClosed,
    CaseCommented,
    CaseOpened,
    CaseReopened,
)
from server.readmodel.incidents import (
    IncidentRow,
    IncidentState,
    IncidentView,
    Severity,
    incident_id,
    incident_row,
    incidents,
    known_of,
)
from server.readmodel.news import set_within
from server.readmodel.rows import before_time, cursor_of, key_of
from server.readmodel.selection import Key, Sought
from server.readmodel.views import Page, RoundRow
from server.service.access.people import RIGHTS, Person, Right
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.body import Body
from server.service.request.guard import Who, guarded, note, records_of
from server.service.request.incidents import cases_of, queued, the_round, view_of
from server.service.request.services import services_of
from server.service.request.sessions import LONGEST_PAGE, floor_of
from server.service.request.viewers import EventStream, Feed, Piece

_NO_INCIDENT: Final = {404: "There is no such session, or no such round in it."}
_AS_IT_IS: Final = {409: "The current state does not allow it; the detail gives the reason."}

router = APIRouter()

Text = Annotated[str, Field(min_length=1, max_length=4000)]


@dataclass(frozen=True, slots=True)
class WantedIncidents:
    """The requested part of the queue."""

    state: Annotated[list[IncidentState] | None, Query(description="Only these.")] = None
    severity: Annotated[list[Severity] | None, Query(description="Only these.")] = None
    table: str | None = None
    session: str | None = None
    assignee: str | None = None
    to_ns: Annotated[int | None, Query(ge=0, le=2**63 - 1)] = None
    cursor: Annotated[str | None, Query(max_length=400, description="`next` of a page.")] = None
    limit: Annotated[int, Query(ge=1, le=LONGEST_PAGE)] = 50

    def matches(self, row: IncidentRow) -> bool:
        """Return whether an incident is requested."""
        return (
            (not self.state or row.state in self.state)
            and (not self.severity or row.severity in self.severity)
            and self.assignee in (None, row.assignee)
        )


class NewIncident(
    Body,
    json_schema_extra={"example": {"session": "bj-07", "round": 2, "text": "A player complains."}},
):
    """A round to examine although nothing was found wrong."""

    session: Annotated[str, Field(min_length=1, max_length=200)]
    round: Annotated[int, Field(ge=1, le=2**63 - 1)]
    text: Text


class Assignment(Body, json_schema_extra={"example": {"to": "kim"}}):
    """The person to work on it; null for nobody."""

    to: Annotated[str, Field(min_length=1, max_length=40)] | None


class Comment(Body, json_schema_extra={"example": {"text": "Look at the other camera."}}):
    """A comment."""

    text: Text


class Reason(Body, json_schema_extra={"example": {"reason": "The player was paid the rest."}}):
    """A reason."""

    reason: Text


@router.get("/api/incidents", **guarded(Right.SEE_ROUNDS, Page[IncidentRow]))
async def list_incidents(
    request: Request, wanted: Annotated[WantedIncidents, Depends()]
) -> Response:
    """List incidents, the newest round first."""
    before = before_time(wanted.to_ns) if wanted.cursor is None else key_of(wanted.cursor)
    who: Person = request.state.person
    sought = Sought(
        RoundRow, before=before, table=wanted.table, tables=who.tables, session=wanted.session
    )
    found: list[tuple[Key, IncidentRow]] = []
    async for key, row in incidents(floor_of(request), cases_of(request), sought):
        if wanted.matches(row):
            found.append((key, row))
        if len(found) > wanted.limit:
            break
    following = cursor_of(found[wanted.limit - 1][0]) if len(found) > wanted.limit else None
    rows = (queued(floor_of(request), row, who) for _, row in found[: wanted.limit])
    return give(Page(tuple(rows), following))


@router.get(
    "/api/incidents/stream",
    **guarded(Right.SEE_ROUNDS, str, media_type=EventStream.media_type, action="watched"),
)
async def watch_incidents(request: Request) -> Response:
    """Stream each changed incident as server-sent events: an `IncidentRow` each.

    From now on, or from the `Last-Event-ID` of a returning viewer.
    """
    last = request.headers.get("Last-Event-ID", "")
    known = last.isascii() and last.isdigit() and len(last) < 20
    return EventStream(request, QueueFeed(request, int(last) if known else None))


@router.get(
    "/api/incidents/{incident}", **guarded(Right.SEE_ROUNDS, IncidentView, problems=_NO_INCIDENT)
)
async def one_incident(request: Request, who: Who, incident: str) -> Response:
    """Show one incident with its mistakes, its items and people's work on it."""
    return give(view_of(request, who, incident))


@router.post(
    "/api/incidents",
    **guarded(
        Right.WORK_INCIDENTS,
        IncidentRow,
        status=201,
        problems=_NO_INCIDENT | _AS_IT_IS,
        action=None,
    ),
)
async def open_incident(request: Request, who: Who, sent: NewIncident) -> Response:
    """Open an incident by hand."""
    incident = incident_id(sent.session, sent.round)
    the_round(request, incident)
    if cases_of(request).of(incident).by_hand:
        raise Problem(409, "it was opened by hand already; add a comment")
    event = CaseOpened(incident=incident, person=who.name, at=_now(request), text=sent.text)
    return await _noted(request, who, event, "incident_opened", 201)


@router.post(
    "/api/incidents/{incident}/assignment",
    **guarded(Right.WORK_INCIDENTS, IncidentRow, problems=_NO_INCIDENT | _AS_IT_IS, action=None),
)
async def assign(request: Request, who: Who, incident: str, sent: Assignment) -> Response:
    """Assign it to a person, or to nobody."""
    the_round(request, incident)
    if sent.to is not None:
        await _check_worker(request, sent.to)
    event = CaseAssigned(incident=incident, person=who.name, at=_now(request), to=sent.to)
    return await _noted(request, who, event, "incident_assigned")


async def _check_worker(request: Request, name: str) -> None:
    everybody = await records_of(request).accounts(lambda kept: kept.all())
    account = next((one for one in everybody if one.name == name and one.active), None)
    if account is None or Right.WORK_INCIDENTS not in RIGHTS[account.role]:
        raise Problem(409, "no active account of that name may work on incidents")


@router.post(
    "/api/incidents/{incident}/comments",
    **guarded(Right.WORK_INCIDENTS, IncidentRow, problems=_NO_INCIDENT, action=None),
)
async def comment(request: Request, who: Who, incident: str, sent: Comment) -> Response:
    """Add a comment."""
    the_round(request, incident)
    event = CaseCommented(incident=incident, person=who.name, at=_now(request), text=sent.text)
    return await _noted(request, who, event, "incident_commented")


@router.post(
    "/api/incidents/{incident}/closing",
    **guarded(Right.WORK_INCIDENTS, IncidentRow, problems=_NO_INCIDENT | _AS_IT_IS, action=None),
)
async def close(request: Request, who: Who, incident: str, sent: Reason) -> Response:
    """Close it, with a reason; not while an item of it is open."""
    _, row = the_round(request, incident)
    if row.reviews:
        raise Problem(409, "it has an open review item; decide that first")
    event = CaseClosed(
        incident=incident,
        person=who.name,
        at=_now(request),
        reason=sent.reason,
        known=known_of(row),
    )
    return await _noted(request, who, event, "incident_closed")


@router.post(
    "/api/incidents/{incident}/reopening",
    **guarded(Right.WORK_INCIDENTS, IncidentRow, problems=_NO_INCIDENT | _AS_IT_IS, action=None),
)
async def reopen(request: Request, who: Who, incident: str, sent: Reason) -> Response:
    """Reopen it, with a reason."""
    the_round(request, incident)
    if cases_of(request).of(incident).closed is None:
        raise Problem(409, "it is not closed")
    event = CaseReopened(incident=incident, person=who.name, at=_now(request), reason=sent.reason)
    return await _noted(request, who, event, "incident_reopened")


def _now(request: Request) -> int:
    return services_of(request).clock.now_ns()


async def _noted(
    request: Request, who: Person, event: AnyCaseEvent, action: str, status: int = 200
) -> Response:
    case = await cases_of(request).note(event)
    await note(request, who.name, who.by, action, target=event.incident)
    services_of(request).queue.touch(event.incident)
    row = incident_row(*the_round(request, event.incident), case)
    return give(queued(floor_of(request), row, who), status)


class QueueFeed(Feed):
    """A viewer's position in the queue, and its next changes."""

    def __init__(self, connection: HTTPConnection, after: int | None) -> None:
        super().__init__(connection, {})
        self._queue = services_of(connection).queue
        if after is None:
            self._after = self._queue.number
        else:  # a greater number is another service's: the kept incidents are sent again
            self._after = after if after <= self._queue.number else 0

    async def pieces(self, idle_ns: int) -> AsyncIterator[Piece | None]:
        """Yield each change as it comes; ``None`` where there is no news."""
        while True:
            news, changes = self._queue.news(), self._queue.after(self._after)
            for number, row in changes:
                self._after = number
                if not self._who.sees(row.table):
                    continue
                yield (
                    row.session,
                    number,
                    msgspec.json.encode(queued(self._floor, row, self._who)),
                    None,
                )
            if not changes and not await set_within(news, idle_ns):
                yield None
            await self.check(idle_ns)
