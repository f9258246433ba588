"""The house: what pages need to write times and amounts, and to offer exports."""

import asyncio
from collections.abc import Iterable

from fastapi import APIRouter, Request, Response

from models.house import decimals
from server.readmodel.exports import forms
from server.readmodel.session import Session
from server.readmodel.views import CurrencyView, HouseView, Unsigned
from server.service.access.people import Person, Right
from server.service.request.answers import give
from server.service.request.guard import Who, guarded
from server.service.request.house import house_of
from server.service.request.services import services_of
from server.service.request.sessions import floor_of

router = APIRouter()


@router.get("/api/house", **guarded(Right.SEE_TABLES, HouseView, action=None))
async def house(request: Request, who: Who) -> Response:
    """Return the formats of a page's times and amounts, the exports, and what is not signed."""
    found = house_of(request)
    recordings = services_of(request).video.recordings
    own = await asyncio.to_thread(recordings.currencies)
    return give(
        HouseView(
            zone=found.zone,
            locale=found.locale,
            currency=_view(found.currency),
            shifts=found.shifts,
            others={
                table: _view(code)
                for table, code in own.items()
                if code != found.currency and who.sees(table)
            },
            exports=forms(),
            unsigned=_unsigned(floor_of(request).sessions(), who),
        )
    )


def _unsigned(sessions: Iterable[Session], who: Person) -> Unsigned | None:
    """Count the entries on a floor record that no signature of their table proves."""
    left = [
        (one.table, one.place.seq - one.proven)
        for one in sessions
        if one.proven is not None and one.proven < one.place.seq and who.sees(one.table)
    ]
    if not left:
        return None
    return Unsigned(entries=sum(many for _, many in left), tables=len({table for table, _ in left}))


def _view(code: str) -> CurrencyView:
    return CurrencyView(code, decimals(code))
