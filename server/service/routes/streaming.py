"""The stream: events from any ``seq`` on, over a WebSocket or as server-sent events.

A viewer has no queue. What is next for it is looked up when it has taken the last piece, among
the events kept ready or in the journal, so that a slow one costs nothing and loses nothing. One
that takes nothing for a while is dropped; it goes on later from the last ``seq`` it has.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from fastapi import APIRouter, Query, Request, Response, WebSocket, WebSocketDisconnect
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send

from models.errors import InputRefused, PitwatchError
from server.readmodel.floor import Floor
from server.readmodel.session import Session
from server.readmodel.stream_schema import ASYNC_DOCUMENT, SEEN_SCHEMA
from server.service.access.people import Person, Right
from server.service.http.problems import Problem
from server.service.http.shell import Meters
from server.service.request.guard import authority, guarded, watched
from server.service.routes.reading import session_of, text_of
from stream.clock import elapsed_ns

AT_ONCE: Final = 100
"""How many events a viewer is handed between two looks at the journal."""
TRY_AGAIN_LATER: Final = 1013
POLICY: Final = 1008
INTERNAL: Final = 1011
_MOST_NAMED: Final = 200

Piece: TypeAlias = tuple[str, int, bytes]
"""An event for a viewer: session, ``seq`` and JSON."""

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a viewer is waited for, in nanoseconds."""

    stalled_ns: int = 10_000_000_000
    """A viewer that takes nothing for so long is dropped."""
    parting_ns: int = 20_000_000_000
    """So long it is given to take the close code."""
    idle_ns: int = 15_000_000_000
    """After so long without news a sign of life is sent, and the right checked again."""


class Feed:
    """What one viewer has seen, and what is next for it."""

    def __init__(self, connection: HTTPConnection, places: dict[str, int] | None) -> None:
        self._connection = connection
        floor: Floor = connection.app.state.floor
        self._floor = floor
        self._who: Person = connection.state.person
        self._checked_ns = elapsed_ns()
        self._all = places is None
        self._places = places if places is not None else _now(floor)
        self._tick, self._behind = floor.tick, set(self._places)

    async def pieces(self, idle_ns: int) -> AsyncIterator[Piece | None]:
        """Yield session, ``seq`` and JSON of every event; ``None`` where there is no news.

        Raises:
            TechnicianError: a journal cannot be read.
            Problem: the viewer may see it no longer; asked about every ``idle_ns``.
        """
        while True:
            news, had_any = self._floor.news(), False
            for session in self._sessions():
                async for piece in self._of(session):
                    had_any = True
                    yield piece
            if not had_any and not await set_within(news, idle_ns):
                yield None
            await self.check(idle_ns)

    async def check(self, every_ns: int) -> None:
        """Ask again who it is: a session may have ended, a role may have changed."""
        if elapsed_ns() - self._checked_ns < every_ns:
            return
        self._who = await authority(self._connection)
        if not self._who.may(Right.SEE_ROUNDS):
            raise Problem(403, "the right was taken back")
        self._checked_ns = elapsed_ns()

    def _sessions(self) -> list[Session]:
        """Return the sessions that have something for this viewer."""
        moved = self._floor.moved_since(self._tick)
        self._behind.update(name for name in moved if self._all or name in self._places)
        self._tick = self._floor.tick
        found = []
        for name in sorted(self._behind):
            session = self._floor.session(name)
            if session is None or not self._who.sees(session.table):
                continue
            if session.place.seq > self._places.setdefault(name, 0):
                found.append(session)
            else:
                self._behind.discard(name)
        return found

    async def _of(self, session: Session) -> AsyncIterator[Piece]:
        entries = await self._floor.entries(session, self._places[session.name], AT_ONCE)
        for entry in entries:
            self._places[session.name] = entry.seq
            text = text_of(session, entry, self._who)
            if text is not None:
                yield session.name, entry.seq, text


def _now(floor: Floor) -> dict[str, int]:
    return {session.name: session.place.seq for session in floor.sessions()}


async def set_within(news: asyncio.Event, wait_ns: int) -> bool:
    """Wait for an event at most so long; tell whether it came."""
    try:
        await asyncio.wait_for(news.wait(), wait_ns / 1e9)
    except TimeoutError:
        return False
    return True


def places_of(named: list[str]) -> dict[str, int] | None:
    """Read ``SESSION:SEQ`` after ``SESSION:SEQ``; ``None`` where there is none.

    Raises:
        InputRefused: one of them is not so.
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
    """Send the events of sessions named by ``from=SESSION:SEQ``; of all, from now on, else."""
    meters: Meters = socket.app.state.meters
    try:
        feed = Feed(socket, places_of(named or []))
    except InputRefused as refused:
        await socket.close(POLICY, str(refused.what)[:120])
        return
    await socket.accept()
    taking, patience = Taking(), socket.app.state.patience
    with meters.viewers.labels("websocket").track_inprogress():
        try:
            watching = taking.watch(patience.stalled_ns)
            await _any_of(_send_all(socket, feed, taking), _until_gone(socket), watching)
        except TimeoutError:
            meters.dropped.labels("websocket").inc()
            await _part(socket, TRY_AGAIN_LATER, "nothing was taken; go on from your last seq")


class Taking:
    """Since when a viewer has not taken what it was handed. One clock for all it is sent."""

    def __init__(self) -> None:
        self._since_ns: int | None = None

    async def wait(self, sending: Awaitable[None]) -> None:
        """Wait until it has taken something."""
        self._since_ns = elapsed_ns()
        await sending
        self._since_ns = None

    async def watch(self, stalled_ns: int) -> None:
        """Raise ``TimeoutError`` once it has taken nothing for so long."""
        while self._since_ns is None or elapsed_ns() - self._since_ns < stalled_ns:
            await asyncio.sleep(stalled_ns / 4e9)
        raise TimeoutError


async def _any_of(*doing: Coroutine[Any, Any, None]) -> None:
    """Do all of it until one ends."""
    tasks = [asyncio.create_task(one) for one in doing]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Exception) and not isinstance(ended, WebSocketDisconnect):
                raise ended


async def _until_gone(socket: WebSocket) -> None:
    """A viewer says nothing; what it sends is passed over until it goes."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def _send_all(socket: WebSocket, feed: Feed, taking: Taking) -> None:
    patience: Patience = socket.app.state.patience
    try:
        async for piece in feed.pieces(patience.idle_ns):
            if piece is None:
                continue
            await taking.wait(socket.send_text(_named(piece).decode()))
    except Problem as refused:
        await _part(socket, POLICY, refused.detail)
    except PitwatchError as fault:
        await _part(socket, INTERNAL, fault.what[:120])


def _named(piece: Piece) -> bytes:
    name, _, text = piece
    return msgspec.json.encode({"session": name, "event": msgspec.Raw(text)})


async def _part(socket: WebSocket, code: int, reason: str) -> None:
    patience: Patience = socket.app.state.patience
    with suppress(TimeoutError):
        async with asyncio.timeout(patience.parting_ns / 1e9):
            await socket.close(code, reason)


# --- server-sent events -------------------------------------------------------------------


def _numbered(piece: Piece) -> bytes:
    _, seq, text = piece
    return b"id: %d\ndata: %b\n\n" % (seq, text)


def _with_session(piece: Piece) -> bytes:
    return b"data: %b\n\n" % _named(piece)


class EventStream(Response):
    """Server-sent events, given up where the viewer takes nothing or goes."""

    media_type = "text/event-stream"

    def __init__(
        self, request: Request, feed: Feed, written: Callable[[Piece], bytes] = _numbered
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._request, self._feed, self._written = request, feed, written

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send until the viewer goes, stalls or loses the right."""
        meters: Meters = self._request.app.state.meters
        taking, patience = Taking(), self._request.app.state.patience
        with meters.viewers.labels("sse").track_inprogress():
            try:
                watching = taking.watch(patience.stalled_ns)
                await _any_of(self._send_all(send, taking), _until_closed(receive), watching)
            except TimeoutError:
                meters.dropped.labels("sse").inc()

    async def _send_all(self, send: Send, taking: Taking) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        patience: Patience = self._request.app.state.patience
        try:
            await send(start)
            async for piece in self._feed.pieces(patience.idle_ns):
                text = b": nothing new\n\n" if piece is None else self._written(piece)
                await taking.wait(send(_body(text)))
        except (Problem, PitwatchError) as ended:
            await send(_body(f"event: end\ndata: {ended}\n\n".encode()))


def _body(content: bytes) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": True}


async def _until_closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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
    """Give a session's events as server-sent events, each with its `seq` as id.

    From `after`, or the `Last-Event-ID` of a viewer that comes back; otherwise from now on.
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
    """Give the events of several sessions as server-sent events, each with its session.

    Of those named, after the `seq` of each; of all from now on, where none is named.
    """
    return EventStream(request, Feed(request, places_of(named or [])), _with_session)


@router.get("/api/schema/events", response_class=Response, include_in_schema=False)
async def event_schema() -> Response:
    """Give the JSON Schema of an event as a viewer is given it."""
    return Response(msgspec.json.encode(SEEN_SCHEMA), media_type="application/schema+json")


@router.get("/api/asyncapi.json", response_class=Response, include_in_schema=False)
async def stream_document() -> Response:
    """Give the AsyncAPI document of the streams."""
    return Response(msgspec.json.encode(ASYNC_DOCUMENT), media_type="application/json")
