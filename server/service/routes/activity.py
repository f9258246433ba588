"""People's actions at this service."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from server.readmodel.views import Page
from server.service.access.activity import PersonActed
from server.service.access.people import Right
from server.service.request.answers import give
from server.service.request.guard import guarded, records_of

router = APIRouter()


@router.get("/api/activity", **guarded(Right.SEE_ACTIVITY, Page[PersonActed]))
async def activity(
    request: Request,
    cursor: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Response:
    """Show people's actions at this service, the newest first."""
    found = await records_of(request).activity(cursor, limit)
    last = found[-1].seq if found else None
    return give(Page(found, str(last) if last is not None and last > 1 else None))
