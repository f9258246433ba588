"""In which zone, locale and currency a request is answered."""

from fastapi import Request

from models.house import House
from server.house.formatting import Formats
from server.service.request.services import services_of


def house_of(request: Request) -> House:
    """Return the house that this service shows."""
    return services_of(request).house


def formats_of(request: Request) -> Formats:
    """Return how this service writes times and amounts."""
    return Formats(house_of(request))
