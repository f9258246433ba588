"""The stream: events from any ``seq`` on, over a WebSocket or as server-sent events."""

import asyncio
from contextlib import suppress
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Query, Request, Response, WebSocket

from models.errors import InputRefused, PitwatchError
from server.readmodel.stream_schema import ASYNC_DOCUMENT, SEEN_SCHEMA
from server.service.access.people import Right
from server.service.http.problems import Problem
from server.service.request.guard import guarded, watched
from server.service.request.services import services_of
from server.service.request.sessions import session_of
from server.service.request.viewers import EventStream, Feed, Taking, any_of, with_session

TRY_AGAIN_LATER: Final = 1013
POLICY: Final = 1008
INTERNAL: Final = 1011
_MOST_NAMED: Final = 200

router = APIRouter()


def places_of(named: list[str]) -> dict[str, int] | None:
    """Read a list of ``SESSION:SEQ``; ``None`` for an empty one.

    Raises:
        InputRefused: one of them has another form.
    """
    places = {}
    for text in named:
        name, _, seq = text.rpartition(":")
        if not (name and seq.isascii() and seq.isdigit() and len(seq) < 19):
            raise InputRefused(
                source="query", field="from", expected="SESSION:SEQ", found=repr(text)
            )
        places[name] = int(seq)
    return places or None


# --- WebSocket ----------------------------------------------------------------------------


@router.websocket("/stream", dependencies=watched(Right.SEE_ROUNDS))
async def stream(
    socket: WebSocket,
    named: Annotated[list[str] | None, Query(alias="from", max_length=_MOST_NAMED)] = None,
) -> None:
    """Send the events of the sessions in ``from=SESSION:SEQ``; by default of all, from now on."""
    services = services_of(socket)
    try:
        feed = Feed(socket, places_of(named or []))
    except InputRefused as refused:
        await socket.close(POLICY, str(refused.what)[:120])
        return
    await socket.accept()
    meters, taking, patience = services.meters, Taking(), services.patience
    with meters.viewers.labels("websocket").track_inprogress():
        try:
            watching = taking.watch(patience.stalled_ns)
            await any_of(_send_all(socket, feed, taking), _until_gone(socket), watching)
        except TimeoutError:
            meters.dropped.labels("websocket").inc()
            await _part(
                socket,
                TRY_AGAIN_LATER,
                "nothing was read for too long; continue from your last seq",
            )


async def _until_gone(socket: WebSocket) -> None:
    """Ignore everything that a viewer sends, until it leaves."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def _send_all(socket: WebSocket, feed: Feed, taking: Taking) -> None:
    patience = services_of(socket).patience
    try:
        async for piece in feed.pieces(patience.idle_ns):
            if piece is None:
                continue
            await taking.wait(socket.send_text(with_session(piece).decode()))
    except Problem as refused:
        await _part(socket, POLICY, refused.detail)
    except PitwatchError as fault:
        await _part(socket, INTERNAL, fault.what[:120])


async def _part(socket: WebSocket, code: int, reason: str) -> None:
    patience = services_of(socket).patience
    with suppress(TimeoutError):
        async with asyncio.timeout(patience.parting_ns / 1e9):
            await socket.close(code, reason)


# --- server-sent events -------------------------------------------------------------------


@router.get(
    "/api/sessions/{session}/stream",
    **guarded(
        Right.SEE_ROUNDS,
        str,
        problems={404: "There is no such session."},
        media_type=EventStream.media_type,
        action="watched",
    ),
)
async def server_sent(
    request: Request,
    session: str,
    after: Annotated[int | None, Query(ge=0, le=2**63 - 1)] = None,
) -> Response:
    """Stream a session's events as server-sent events, each with its `seq` as id.

    From `after`, or the `Last-Event-ID` of a returning viewer; otherwise from now on.
    """
    found = session_of(request, session)
    last = request.headers.get("Last-Event-ID", "")
    if after is None:
        known = last.isascii() and last.isdigit() and len(last) < 19
        after = int(last) if known else found.place.seq
    return EventStream(request, Feed(request, {session: after}))


@router.get(
    "/api/stream",
    **guarded(Right.SEE_ROUNDS, str, media_type=EventStream.media_type, action="watched"),
)
async def all_server_sent(
    request: Request,
    named: Annotated[
        list[str] | None,
        Query(alias="from", max_length=_MOST_NAMED, description="SESSION:SEQ, once a session."),
    ] = None,
) -> Response:
    """Stream the events of several sessions as server-sent events, each with its session.

    Of the named ones, after the `seq` of each; by default of all, from now on.
    """
    feed = Feed(request, places_of(named or []))
    return EventStream(request, feed, lambda piece: b"data: %b\n\n" % with_session(piece))


@router.get("/api/schema/events", response_class=Response, include_in_schema=False)
async def event_schema() -> Response:
    """Return the JSON Schema of an event as viewers get it."""
    return Response(msgspec.json.encode(SEEN_SCHEMA), media_type="application/schema+json")


@router.get("/api/asyncapi.json", response_class=Response, include_in_schema=False)
async def stream_document() -> Response:
    """Return the AsyncAPI document of the streams."""
    return Response(msgspec.json.encode(ASYNC_DOCUMENT), media_type="application/json")
