"""The service's health and readiness, and its Prometheus metrics."""

from typing import Final

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from models.events import HELD_BACK
from server.service.access.people import Right
from server.service.http import problems
from server.service.request.answers import Health, give, responses_of
from server.service.request.guard import guarded
from server.service.request.services import services_of
from stream.clock import elapsed_ns

router = APIRouter()
SECOND_NS: Final = 1_000_000_000


@router.get("/health", responses=responses_of(Health, 200, {}))
async def health() -> Response:
    """Confirm that the service is alive."""
    return give(Health("alive"))


@router.get(
    "/ready",
    responses=responses_of(
        Health,
        200,
        {503: "Not every journal has been read yet, or nothing can be recorded: the disk is full."},
    ),
)
async def ready(request: Request) -> Response:
    """Return whether every journal has been read once, and people's actions can be recorded."""
    services = services_of(request)
    if not services.floor.is_ready:
        detail = f"the journals are still being read ({services.reading()}); try again"
        return problems.answer(503, detail, problems.retry_after(SECOND_NS))
    fault = await services.records.fault(services.clock.now_ns())
    if fault is not None:
        return problems.answer(503, f"{fault.what}. {fault.way_out}")
    return give(Health("ready"))


@router.get("/metrics", **guarded(Right.SEE_METRICS, str, media_type="text/plain", action=None))
async def metrics(request: Request) -> Response:
    """Return the Prometheus metrics, of each table its newest journal; this requires a token."""
    services = services_of(request)
    meters, floor = services.meters, services.floor
    sessions = meters.sessions
    meters.ready.set(floor.is_ready)
    if floor.looked_ns is not None:
        meters.looked.set((elapsed_ns() - floor.looked_ns) / 1e9)
    sessions.forget()
    for view in (table.now for table in floor.tables()):
        if view.last_at is not None:
            sessions.last_at.labels(view.session).set(view.last_at / 1e9)
        sessions.last_seq.labels(view.session).set(view.last_seq)
        sessions.open_reviews.labels(view.session).set(view.reviews)
        sessions.violations.labels(view.session).set(view.violations)
        sessions.suspected.labels(view.session).set(view.suspected)
        at_fault = () if view.presence == "recorded" else view.troubles
        sessions.faults.labels(view.session).set(len(at_fault) + (view.fault is not None))
        overloaded = sum(one.kind == "overloaded" for one in at_fault)
        sessions.overloaded.labels(view.session).set(overloaded)
        left_out = sum(one.count for one in view.passed if one.kind == "left_out")
        sessions.left_out.labels(view.session).set(left_out)
        held_back = sum(one.count for one in view.passed if one.kind.startswith(HELD_BACK))
        sessions.held_back.labels(view.session).set(held_back)
        session = floor.session(view.session)
        if session is not None and view.presence != "recorded":
            sessions.set_clock(view.session, session.clock)
    return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)
