"""The service put together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from argon2 import PasswordHasher
from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from models.house import House
from server.integration.config import PlacedIntegration
from server.integration.relay import relaying
from server.readmodel.cases import Cases
from server.readmodel.ending import Ending
from server.readmodel.floor import POLL_NS, Floor
from server.readmodel.incident_queue import Queue
from server.readmodel.index import Index
from server.readmodel.tallies import Tallies
from server.report.certificate import Identity
from server.service.access.passwords import PasswordRules
from server.service.access.people import Right, Role, TwoPeople
from server.service.access.records import Records
from server.service.evidence.video import Recordings
from server.service.http import problems
from server.service.http.limits import Limiter, Limits
from server.service.http.shell import Meters, Shell
from server.service.own_journals import OwnJournals, keep_covered, own_journals
from server.service.request.answers import Health, document, give, said
from server.service.request.guard import guarded
from server.service.routes import clauses as clause_routes
from server.service.routes import decisions as decision_routes
from server.service.routes import exports as export_routes
from server.service.routes import find as find_routes
from server.service.routes import house as house_routes
from server.service.routes import incidents as incident_routes
from server.service.routes import live_video, streaming, video_evidence
from server.service.routes import moments as moment_routes
from server.service.routes import pages as page_routes
from server.service.routes import people as people_routes
from server.service.routes import reading as reading_routes
from server.service.routes import reports as report_routes
from server.service.routes import rulebooks as rulebook_routes
from server.service.routes import series as series_routes
from server.service.routes import snapshots as snapshot_routes
from server.service.routes import verdicts as verdict_routes
from server.service.routes import video as video_routes
from server.service.routes.streaming import Patience
from server.service.throttle import Gate
from server.table.sending import Target
from stream.clock import Clock, elapsed_ns

_ABOUT = (
    "Shows what the tables' journals hold. Money is cents, time is nanoseconds since the Unix "
    "epoch, UTC. Events come from `/api/sessions/{session}/stream` (server-sent events) or the "
    "WebSocket `/stream?from=SESSION:SEQ`; `/api/schema/events` is their JSON Schema."
)

INDEX_FILE: Final = "index.sqlite"
_COUNTED_EVERY_S: Final = 10

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Setup:
    """How a service is set up."""

    journals: Path
    """A folder of ``*.journal``; only a decision on a closed session is written there."""
    state: Path
    """Where accounts and the journal of what people did are kept."""
    is_secure: bool = False
    """Whether it is reached over TLS: cookies are then never sent without it."""
    recordings: Path | None = None
    """A folder of session folders; where it is not named, that of the journals."""
    poll_ns: int = POLL_NS
    patience: Patience = field(default_factory=Patience)
    limits: Limits = field(default_factory=Limits)
    guarded_roles: frozenset[Role] = frozenset()
    """Roles that must have a second factor."""
    two_people: frozenset[TwoPeople] = frozenset()
    """Decisions that hold only once a second person agreed."""
    passwords: PasswordRules = field(default_factory=PasswordRules)
    identity: Identity | None = None
    """Who signs PDF reports; where it is not given, a certificate that the state folder keeps."""
    checkpoints: tuple[Target, ...] = ()
    """Where checkpoints of the service's own journals go."""
    integration: PlacedIntegration | None = None
    """To whom it is told what happens; where it is not given, to nobody."""
    house: House = field(default_factory=House)
    """In whose zone, locale and currency people read and type."""


def make_app(setup: Setup, clock: Clock, hasher: PasswordHasher | None = None) -> FastAPI:
    """Return the service, which opens its files when it starts.

    ``hasher`` replaces the password hash's usual cost.
    """
    meters = Meters()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        setup.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        signer = app.state.signer = report_routes.report_signer(setup.state)
        with own_journals(signer, setup.checkpoints, clock) as own:
            async with _living(app, setup, clock, hasher, own):
                yield

    app = FastAPI(
        title="Pitwatch",
        version="1",
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=life,
    )
    app.state.floor = Floor(
        setup.journals,
        lambda name, n: meters.events.labels(name).inc(n),
        Index(setup.state / INDEX_FILE),
        Ending(clock, setup.house.ended_after_hours),
        clock.now_ns,
    )
    app.state.clock, app.state.meters, app.state.patience = clock, meters, setup.patience
    app.state.is_secure, app.state.house = setup.is_secure, setup.house
    app.state.two_people = setup.two_people
    limits = setup.limits
    app.state.limiters = {
        "account": Limiter(limits.account, limits.kept),
        "sign_in": Limiter(limits.sign_in, limits.kept),
    }
    problems.install(app)
    parts = (people_routes, house_routes, reading_routes, find_routes, streaming)
    casework = (incident_routes, decision_routes, export_routes, report_routes)
    figures = (rulebook_routes, series_routes, clause_routes, page_routes, verdict_routes)
    for routes in (router, *(part.router for part in (*parts, *casework, *figures))):
        app.include_router(routes)
    page_routes.install(app)
    video_routes.install(app, Recordings(setup.recordings or setup.journals))
    app.include_router(video_evidence.router)
    app.include_router(moment_routes.router)
    app.include_router(snapshot_routes.router)
    app.state.seats = asyncio.Semaphore(live_video.MOST)
    app.include_router(live_video.router)
    app.add_middleware(Gate, limiter=Limiter(limits.address, limits.kept), meters=meters)
    app.add_middleware(Shell, meters=meters, clock=clock, is_secure=setup.is_secure)
    app.openapi = lambda: document(app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _living(
    app: FastAPI,
    setup: Setup,
    clock: Clock,
    hasher: PasswordHasher | None,
    own: OwnJournals,
) -> AsyncIterator[None]:
    app.state.records = Records.open(
        setup.state,
        clock,
        hasher,
        setup.guarded_roles,
        setup.passwords,
        journal=own.opened,
    )
    app.state.cases = Cases.open(setup.state, own.opened)
    app.state.queue = Queue(app.state.floor, app.state.cases, clock.now_ns())
    following = asyncio.create_task(app.state.floor.run(setup.poll_ns))
    app.state.deciding, app.state.tallies = asyncio.Lock(), Tallies()
    app.state.report_identity = setup.identity or report_routes.report_identity(
        setup.state, app.state.signer, clock.now_ns()
    )
    queueing = asyncio.create_task(app.state.queue.run())
    covering = asyncio.create_task(keep_covered(own, app.state.records, app.state.cases))
    counting = asyncio.create_task(_count_strangers(app.state.records, clock))
    try:
        async with _telling(setup, app.state.floor, clock, app.state.meters):
            yield
    finally:
        for task in (following, queueing, covering, counting):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await app.state.records.note_counted(clock.now_ns(), all_of_it=True)
        app.state.floor.index.close()
        await app.state.cases.close()
        await app.state.records.close()


async def _count_strangers(records: Records, clock: Clock) -> None:
    while True:
        await asyncio.sleep(_COUNTED_EVERY_S)
        await records.note_counted(clock.now_ns())


def _telling(
    setup: Setup, floor: Floor, clock: Clock, meters: Meters
) -> AbstractAsyncContextManager[None]:
    if setup.integration is None:
        return nullcontext()
    return relaying(setup.integration, setup.state, floor, clock, meters.registry)


@router.get("/health", responses=said(Health, 200, {}))
async def health() -> Response:
    """Say that the service lives."""
    return give(Health("alive"))


@router.get(
    "/ready",
    responses=said(
        Health,
        200,
        {503: "Not every journal has been read yet, or nothing can be recorded: the disk is full."},
    ),
)
async def ready(request: Request) -> Response:
    """Say whether every journal has been read to its end once, and what people do is recorded."""
    if not request.app.state.floor.is_ready:
        return problems.answer(503, "the journals are still being read; ask again")
    fault = await request.app.state.records.fault(request.app.state.clock.now_ns())
    if fault is not None:
        return problems.answer(503, f"{fault.what}. {fault.way_out}")
    return give(Health("ready"))


@router.get("/metrics", **guarded(Right.SEE_METRICS, str, media_type="text/plain", action=None))
async def metrics(request: Request) -> Response:
    """Tell Prometheus, of each table its newest journal; it comes with a token."""
    meters: Meters = request.app.state.meters
    floor: Floor = request.app.state.floor
    meters.ready.set(floor.is_ready)
    if floor.looked_ns is not None:
        meters.looked.set((elapsed_ns() - floor.looked_ns) / 1e9)
    meters.forget_sessions()
    for view in (table.now for table in floor.tables()):
        if view.last_at is not None:
            meters.last_at.labels(view.session).set(view.last_at / 1e9)
        meters.last_seq.labels(view.session).set(view.last_seq)
        meters.open_reviews.labels(view.session).set(view.reviews)
        meters.violations.labels(view.session).set(view.violations)
        at_fault = () if view.presence == "recorded" else view.troubles
        meters.faults.labels(view.session).set(len(at_fault) + (view.fault is not None))
        session = floor.session(view.session)
        if session is not None and view.presence != "recorded":
            meters.tell_clock(view.session, session.clock)
    return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)
