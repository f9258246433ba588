"""The house: what pages need to write times and amounts, and to offer exports."""

import asyncio

from fastapi import APIRouter, Request, Response

from models.house import decimals
from server.readmodel.exports import forms
from server.readmodel.views import CurrencyView, HouseView
from server.service.access.people import Right
from server.service.request.answers import give
from server.service.request.guard import Who, guarded
from server.service.request.house import house_of
from server.service.request.services import services_of

router = APIRouter()


@router.get("/api/house", **guarded(Right.SEE_TABLES, HouseView, action=None))
async def house(request: Request, who: Who) -> Response:
    """Return the zone, locale and currency of a page's times and amounts, and the exports."""
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
        )
    )


def _view(code: str) -> CurrencyView:
    return CurrencyView(code, decimals(code))
