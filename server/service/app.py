"""Assemble the service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    closing,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from argon2 import PasswordHasher
from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

from models.house import House
from server.integration.config import PlacedIntegration
from server.integration.relay import relaying
from server.readmodel.cases import Cases
from server.readmodel.ending import Ending
from server.readmodel.floor import POLL_NS
from server.readmodel.incident_queue import Queue
from server.readmodel.tallies import Tallies
from server.report.certificate import Identity
from server.service.access.passwords import PasswordRules
from server.service.access.people import Role, TwoPeople
from server.service.access.records import Records
from server.service.evidence.video import Recordings, Video
from server.service.http import problems
from server.service.http.limits import Limiter, Limits
from server.service.http.meters import Meters
from server.service.http.patience import Patience
from server.service.http.shell import Shell
from server.service.left_checkpoints import CHECKPOINTS_FILE, LeftCheckpoints
from server.service.own_journals import OwnJournals, keep_covered, own_journals
from server.service.request.answers import document
from server.service.request.services import Services, install
from server.service.routes import (
    accounts,
    activity,
    checkpoints,
    clauses,
    decisions,
    exports,
    find,
    health,
    house,
    incidents,
    live_video,
    moments,
    pages,
    reading,
    reference,
    reports,
    rulebooks,
    rulings,
    second_factor,
    series,
    sign_in,
    snapshots,
    streaming,
    tokens,
    verdicts,
    video,
    video_evidence,
)
from server.service.routes.reports import report_identity, report_signer
from server.service.store import Files, Store
from server.service.throttle import Throttle
from server.table.sending import Target
from stream.clock import Clock

_ABOUT = (
    "Reads the tables' journals. Money is cents, time is nanoseconds since the Unix "
    "epoch, UTC. Events come from `/api/sessions/{session}/stream` (server-sent events) or the "
    "WebSocket `/stream?from=SESSION:SEQ`; `/api/schema/events` is their JSON Schema."
)

_NO_TELEMETRY: Final[TelemetryConfig] = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""Without it the machine's ``FASTAPI_OTEL_AUTO_CONFIGURE`` and ``OTEL_…`` settings, made for some
other program, would make FastAPI send every request's address and errors there."""

_COUNTED_EVERY_S: Final = 10
ROUTES: Final = {
    "Tables and rounds": (reading, find, verdicts, moments),
    "Incidents and decisions": (incidents, decisions, rulings),
    "Streams": (streaming,),
    "Pictures and video": (video, video_evidence, snapshots, live_video),
    "Reports and exports": (reports, exports),
    "Figures": (series,),
    "Rules": (rulebooks, clauses),
    "Accounts": (sign_in, second_factor, accounts, tokens, activity),
    "Checkpoints": (checkpoints,),
    "Service": (health, house),
}
"""The files of routes by subject, the tag of their operations."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The configuration of a service."""

    journals: Path
    """A folder of ``*.journal``; the service writes only decisions on closed sessions there."""
    state: Path
    """The folder of accounts and the journal of people's actions."""
    is_secure: bool = False
    """Whether clients use TLS: cookies are then never sent without it."""
    recordings: Path | None = None
    """A folder of session folders; by default that of the journals."""
    poll_ns: int = POLL_NS
    patience: Patience = field(default_factory=Patience)
    limits: Limits = field(default_factory=Limits)
    guarded_roles: frozenset[Role] = frozenset()
    """Roles that require a second factor."""
    passwords: PasswordRules = field(default_factory=PasswordRules)
    identity: Identity | None = None
    """The signer of PDF reports; by default a certificate in the state folder."""
    checkpoints: tuple[Target, ...] = ()
    """Destinations of the own journals' checkpoints."""
    integration: PlacedIntegration | None = None
    """The destinations of messages; by default none."""
    house: House = field(default_factory=House)
    """Gives the zone, locale and currency for people."""
    store: Store | None = None
    """Where the tables are; by default in ``journals``."""


def make_app(setup: Setup, clock: Clock, hasher: PasswordHasher | None = None) -> FastAPI:
    """Return the service, which opens its files at its start.

    ``hasher`` replaces the password hash of the usual cost.
    """
    store = setup.store or Files(setup.journals, setup.state)
    services = _services(setup, store, clock)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        setup.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        services.signer = report_signer(setup.state)
        opened = own_journals(store.own_journal, services.signer, setup.checkpoints, clock)
        with closing(store), opened as own:
            async with _living(services, setup, store, hasher, own):
                yield

    app = FastAPI(
        title="Pitwatch",
        version="1",
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=life,
        telemetry=_NO_TELEMETRY,
    )
    install(app, services)
    problems.install(app)
    for tag, subject in ROUTES.items():
        for routes in subject:
            app.include_router(routes.router, tags=[tag])
    for page in (pages, reference):
        app.include_router(page.router)
    pages.install(app)
    limiter = Limiter(setup.limits.address, setup.limits.kept)
    app.add_middleware(Throttle, limiter=limiter, meters=services.meters)
    app.add_middleware(
        Shell,
        meters=services.meters,
        clock=clock,
        is_secure=setup.is_secure,
        refuse=services.refuse,
        reading=services.reading,
    )
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    return app


def _services(setup: Setup, store: Store, clock: Clock) -> Services:
    """Return the parts of the service; those with open files are added at its start."""
    meters, limits = Meters(), setup.limits
    store.measure(meters.registry)
    floor = store.floor(
        lambda name, n: meters.events.labels(name).inc(n),
        Ending(clock, setup.house.ended_after_hours),
        clock.now_ns,
    )
    return Services(
        floor=floor,
        clock=clock,
        meters=meters,
        patience=setup.patience,
        house=setup.house,
        is_secure=setup.is_secure,
        two_people=frozenset(map(TwoPeople, setup.house.two_people)),
        limiters={
            "account": store.turnstile("account", limits.account, limits.kept),
            "sign_in": store.turnstile("sign_in", limits.sign_in, limits.kept),
        },
        left=LeftCheckpoints(setup.state / CHECKPOINTS_FILE),
        video=Video(Recordings(setup.recordings or setup.journals)),
        seats=asyncio.Semaphore(live_video.MOST),
        tallies=Tallies(),
        deciding=store.turn,
        no_recordings=store.no_recordings,
    )


@asynccontextmanager
async def _living(
    services: Services,
    setup: Setup,
    store: Store,
    hasher: PasswordHasher | None,
    own: OwnJournals,
) -> AsyncIterator[None]:
    clock, floor = services.clock, services.floor
    records = services.records = Records.open(
        setup.state,
        clock,
        hasher,
        setup.guarded_roles,
        setup.passwords,
        journal=own.opened,
        database=store.accounts,
    )
    cases = services.cases = Cases.open(setup.state, own.opened)
    queue = services.queue = Queue(floor, cases, clock.now_ns())
    following = asyncio.create_task(floor.run(setup.poll_ns))
    services.identity = setup.identity or report_identity(
        setup.state, services.signer, clock.now_ns()
    )
    queueing = asyncio.create_task(queue.run())
    covering = asyncio.create_task(keep_covered(own, records, cases))
    counting = asyncio.create_task(_count_strangers(records, clock))
    reading = asyncio.create_task(asyncio.to_thread(services.left.read_ahead))
    tasks = [following, queueing, covering, counting, reading]
    if store.is_shared:
        tasks.append(asyncio.create_task(cases.follow(queue.touch)))
    try:
        async with _relaying(setup, services):
            yield
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await records.note_counted(clock.now_ns(), all_of_it=True)
        floor.close()
        await cases.close()
        await records.close()


async def _count_strangers(records: Records, clock: Clock) -> None:
    while True:
        await asyncio.sleep(_COUNTED_EVERY_S)
        await records.note_counted(clock.now_ns())


def _relaying(setup: Setup, services: Services) -> AbstractAsyncContextManager[None]:
    if setup.integration is None:
        return nullcontext()
    registry = services.meters.registry
    return relaying(setup.integration, setup.state, services.floor, services.clock, registry)
