"""The zone, locale and currency of a request's answer."""

from fastapi import Request

from models.house import House
from server.house.formatting import Formats
from server.service.request.services import services_of


def house_of(request: Request) -> House:
    """Return the house that this service shows."""
    return services_of(request).house


def formats_of(request: Request) -> Formats:
    """Return this service's formats of times and amounts."""
    return Formats(house_of(request))
