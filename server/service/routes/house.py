"""The house: in which zone, locale and currency a page writes what it shows."""

import asyncio

from fastapi import APIRouter, Request, Response

from models.house import House, decimals
from server.house.formatting import Formats
from server.readmodel.views import CurrencyView, HouseView
from server.service.access.people import Right
from server.service.evidence.video import Recordings
from server.service.request.answers import give
from server.service.request.guard import Who, guarded

router = APIRouter()


def house_of(request: Request) -> House:
    """Return the house that this service shows."""
    found: House = request.app.state.house
    return found


def formats_of(request: Request) -> Formats:
    """Return how this service writes times and amounts."""
    return Formats(house_of(request))


@router.get("/api/house", **guarded(Right.SEE_TABLES, HouseView, action=None))
async def house(request: Request, who: Who) -> Response:
    """Say in which zone, locale and currency a page writes times and amounts."""
    found = house_of(request)
    recordings: Recordings = request.app.state.video.recordings
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
        )
    )


def _view(code: str) -> CurrencyView:
    return CurrencyView(code, decimals(code))
