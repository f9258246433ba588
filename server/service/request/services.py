"""The parts of a running service, in one typed place."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import HTTPConnection

from models.errors import PitwatchError
from models.house import House
from server.readmodel.cases import Cases
from server.readmodel.floor import Floor
from server.readmodel.incident_queue import Queue
from server.readmodel.tallies import Tallies
from server.report.certificate import Identity
from server.service.access.people import TwoPeople
from server.service.access.records import Records
from server.service.evidence.video import Video
from server.service.http.limits import Turnstile
from server.service.http.meters import Meters
from server.service.http.patience import Patience
from server.service.left_checkpoints import LeftCheckpoints
from stream.clock import Clock
from stream.signing import Signer


@dataclass(slots=True)
class Services:
    """The parts that routes use. The second half has open files: it exists only at run time."""

    floor: Floor
    clock: Clock
    meters: Meters
    patience: Patience
    house: House
    is_secure: bool
    """Whether clients use TLS."""
    two_people: frozenset[TwoPeople]
    limiters: Mapping[str, Turnstile]
    """By the kind of count: ``account`` and ``sign_in``."""
    left: LeftCheckpoints
    """What tables left here."""
    video: Video
    seats: asyncio.Semaphore
    """One for each viewer of live video."""
    tallies: Tallies
    deciding: Callable[[], AbstractAsyncContextManager[None]]
    """Serialises decisions: the second of two on the same item sees the first."""
    no_recordings: str | None
    """Why recordings are not here; ``None`` where they are."""
    signer: Signer = field(init=False)
    """The service's key: it signs reports and the service's own journals."""
    identity: Identity = field(init=False)
    """The signer of PDF reports for PDF readers."""
    records: Records = field(init=False)
    cases: Cases = field(init=False)
    queue: Queue = field(init=False)
    refused: PitwatchError | None = None
    """The reason of a failed start."""

    def reading(self) -> str | None:
        """Return how much of the journals was read; ``None`` once all of them were."""
        if self.floor.is_ready:
            return None
        percent = self.floor.read_percent()
        return "in part" if percent is None else f"{percent}%"

    def refuse(self, fault: PitwatchError) -> None:
        """Store the reason of a failed start, for the caller."""
        self.refused = fault


def services_of(connection: HTTPConnection) -> Services:
    """Return the parts of the service behind a request."""
    return services_in(connection.app)


def services_in(app: Starlette) -> Services:
    """Return the parts of a service."""
    found: Services = app.state.services
    return found


def install(app: Starlette, services: Services) -> None:
    """Attach these parts to a service."""
    app.state.services = services
