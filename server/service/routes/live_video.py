"""A camera's video during recording, for the console to play live."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from devices.cameras.broadcast import Broadcast
from models.errors import PitwatchError
from server.service.access.people import Right
from server.service.evidence.video import Found
from server.service.http.problems import Problem
from server.service.request.guard import Who, guarded
from server.service.request.recordings import cameras_live, note_look, recorded
from server.service.request.services import services_of
from server.service.request.sessions import session_of
from stream.clock import elapsed_ns
from stream.recording import video_files

MOST: Final = 64
"""Simultaneous viewers; each costs a look at a file every quarter of a second."""
LONGEST_NS: Final = 60_000_000_000
"""Nanoseconds after which the page must ask again, so that its right is checked again."""
_IDLE_NS: Final = 10_000_000_000
_TAKEN_NS: Final = 20_000_000_000
"""Nanoseconds that a viewer may take for the rest at the end."""
_LOOK_S: Final = 0.25

router = APIRouter()


def _watching() -> dict[str, Any]:
    asked = guarded(
        Right.SEE_ROUNDS,
        problems={
            404: "There is no such session or camera, or it is not being recorded.",
            503: "Too many viewers, or the video cannot be read.",
        },
        action=None,
    )
    content = {"video/mp4": {"schema": {"type": "string", "format": "binary"}}}
    asked["responses"][200] = {"description": "Fragments as they come.", "content": content}
    return asked


@router.get("/api/sessions/{session}/live/{camera}", **_watching())
async def live(request: Request, who: Who, session: str, camera: str) -> StreamingResponse:
    """Stream a camera's video as fragmented MP4 (H.264) during recording, for at most a minute.

    It begins with the newest fragment, some seconds old; its 0 s is the recording's start. After a
    minute, request it again: overlapping fragments are identical.
    """
    found = session_of(request, session)
    recording = await recorded(request, found, found.last_at or 0)
    if camera not in cameras_live(request, found, recording):
        raise Problem(404, "that camera is not being recorded")
    services = services_of(request)
    watching, seats = services.meters.viewers.labels("video"), services.seats
    if seats.locked():
        raise Problem(503, f"{MOST} viewers watch already; try again when one has left")
    await note_look(request, who, found)
    broadcast = _broadcast(recording, camera)
    first = await asyncio.to_thread(broadcast.news)

    async def pieces() -> AsyncIterator[bytes]:
        async with seats:
            with watching.track_inprogress(), suppress(PitwatchError):
                async for piece in _pieces(broadcast, first):
                    yield piece

    return _Watched(pieces(), media_type="video/mp4", headers={"Cache-Control": "no-store"})


def _broadcast(recording: Found, camera: str) -> Broadcast:
    record = next(one for one in recording.description.cameras if one.name == camera)
    return Broadcast(lambda: video_files(recording.folder, record))


async def _pieces(broadcast: Broadcast, piece: bytes) -> AsyncIterator[bytes]:
    began_ns = sent_ns = elapsed_ns()
    while min(began_ns + LONGEST_NS, sent_ns + _IDLE_NS) > elapsed_ns():
        if piece:
            yield piece
            sent_ns = elapsed_ns()
        await asyncio.sleep(_LOOK_S)
        piece = await asyncio.to_thread(broadcast.news)


class _Watched(StreamingResponse):
    """Ends shortly after the longest time, even where its viewer does not read."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout((LONGEST_NS + _TAKEN_NS) / 1e9):
                await super().__call__(scope, receive, send)
