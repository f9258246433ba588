"""Viewers of a stream: the next events for each, and the responses that carry them.

A viewer has no queue. Once it has read the last event, the service looks up the next among the
events kept ready or in the journal. So a slow viewer costs nothing and loses nothing. One that
reads nothing for a while is dropped; it can continue later from its last ``seq``.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, Final, TypeAlias

import msgspec
from fastapi import Request, Response, WebSocketDisconnect
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send

from models.errors import PitwatchError
from server.readmodel.floor import Floor
from server.readmodel.news import set_within
from server.readmodel.session import Session
from server.service.access.people import Person, Right
from server.service.http.problems import Problem
from server.service.request.guard import authority
from server.service.request.services import services_of
from server.service.request.sessions import text_of
from settlement.phases import Phase
from stream.clock import elapsed_ns

AT_ONCE: Final = 100
"""Events that a viewer gets between two looks at the journal."""
Piece: TypeAlias = tuple[str, int, bytes, Phase | None]
"""An event for a viewer: session, ``seq``, JSON, and where the round stood after it if known."""


class Feed:
    """A viewer's position, and its next events."""

    def __init__(self, connection: HTTPConnection, places: dict[str, int] | None) -> None:
        self._connection = connection
        floor = services_of(connection).floor
        self._floor = floor
        self._who: Person = connection.state.person
        self._checked_ns = elapsed_ns()
        self._all = places is None
        self._places = places if places is not None else _now(floor)
        self._tick, self._behind = floor.tick, set(self._places)

    async def pieces(self, idle_ns: int) -> AsyncIterator[Piece | None]:
        """Yield every event for this viewer; ``None`` where there is no news.

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
        """Check the person again: a session may have ended, a role may have changed."""
        if elapsed_ns() - self._checked_ns < every_ns:
            return
        self._who = await authority(self._connection)
        if not self._who.may(Right.SEE_ROUNDS):
            raise Problem(403, "the right was withdrawn")
        self._checked_ns = elapsed_ns()

    def _sessions(self) -> list[Session]:
        """Return the sessions with news for this viewer."""
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
                yield session.name, entry.seq, text, entry.phase


def _now(floor: Floor) -> dict[str, int]:
    return {session.name: session.place.seq for session in floor.sessions()}


class Taking:
    """The start of a viewer's wait for reading. One clock for everything sent to it."""

    def __init__(self) -> None:
        self._since_ns: int | None = None

    async def wait(self, sending: Awaitable[None]) -> None:
        """Wait until it has read something."""
        self._since_ns = elapsed_ns()
        await sending
        self._since_ns = None

    async def watch(self, stalled_ns: int) -> None:
        """Raise ``TimeoutError`` once it has read nothing for ``stalled_ns``."""
        while self._since_ns is None or elapsed_ns() - self._since_ns < stalled_ns:
            await asyncio.sleep(stalled_ns / 4e9)
        raise TimeoutError


async def any_of(*doing: Coroutine[Any, Any, None]) -> None:
    """Run all until one ends."""
    tasks = [asyncio.create_task(one) for one in doing]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Exception) and not isinstance(ended, WebSocketDisconnect):
                raise ended


class EventStream(Response):
    """Server-sent events, ended when the viewer stops reading or leaves."""

    media_type = "text/event-stream"

    def __init__(
        self, request: Request, feed: Feed, written: Callable[[Piece], bytes] | None = None
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._request, self._feed, self._written = request, feed, written or _numbered

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send until the viewer leaves, stalls or loses the right."""
        services = services_of(self._request)
        meters, taking, patience = services.meters, Taking(), services.patience
        with meters.viewers.labels("sse").track_inprogress():
            try:
                watching = taking.watch(patience.stalled_ns)
                await any_of(self._send_all(send, taking), _until_closed(receive), watching)
            except TimeoutError:
                meters.dropped.labels("sse").inc()

    async def _send_all(self, send: Send, taking: Taking) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        patience = services_of(self._request).patience
        try:
            await send(start)
            async for piece in self._feed.pieces(patience.idle_ns):
                text = b": nothing new\n\n" if piece is None else self._written(piece)
                await taking.wait(send(_body(text)))
        except (Problem, PitwatchError) as ended:
            await send(_body(f"event: end\ndata: {ended}\n\n".encode()))


def with_session(piece: Piece) -> bytes:
    """Return an event's JSON with its session's name, and the phase where that is known."""
    name, _, text, phase = piece
    message = {"session": name, "event": msgspec.Raw(text)}
    return msgspec.json.encode(message if phase is None else message | {"phase": phase})


def _numbered(piece: Piece) -> bytes:
    _, seq, text, _ = piece
    return b"id: %d\ndata: %b\n\n" % (seq, text)


def _body(content: bytes) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": True}


async def _until_closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
