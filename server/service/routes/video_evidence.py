"""An incident as one file that proves itself: video, events, bytes and their proof."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from string import ascii_letters, digits
from typing import Any, BinaryIO, Final

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse

from server.archive.incident import Asked, hold, packed, recordings, round_asked
from server.readmodel.session import Session
from server.service.access.people import Right
from server.service.http.problems import Problem
from server.service.request.guard import Who, guarded, note
from server.service.request.incidents import the_round
from server.service.request.recordings import recorded, video_of
from server.service.request.services import services_of
from server.service.request.sessions import floor_of

MARGIN_NS: Final = 3_000_000_000
"""Nanoseconds before and after the round in the file."""
_HASHED_WITHIN_NS: Final = 20_000_000_000
"""Nanoseconds that recorded bytes may extend beyond the span: they are hashed every 10 s."""

_BLOCK_BYTES: Final = 1 << 18

IN_USE: Final = "{} may still be in use; try again once a new shoe is started or the session ends"
_PLAIN: Final = frozenset(ascii_letters + digits + "-._")

router = APIRouter()


def _giving() -> dict[str, Any]:
    asked = guarded(
        Right.TAKE_OUT,
        problems={
            403: "This account lacks the rights take_out and see_undealt.",
            404: "There is no such incident, or no recording of it.",
            409: "Its shoe is still in use, or it was not recorded then.",
            503: "The recording or the journal cannot be read, or the recording not be held.",
        },
        action=None,
    )
    content = {"application/zip": {"schema": {"type": "string", "format": "binary"}}}
    asked["responses"][200] = {"description": "The file.", "content": content}
    return asked


@router.get("/api/incidents/{incident}/evidence.zip", **_giving())
async def evidence(request: Request, who: Who, incident: str) -> Response:
    """Return the incident's file for `pitwatch verify`, and put a hold on its recording.

    The key of this service's reports, `/api/report-key`, signs it.

    It holds the round's journal entries with the face-down cards. So the service returns it only
    once the shoe or its session has ended, to people with the right to see them.
    """
    if not who.may(Right.SEE_UNDEALT):
        raise Problem(
            403,
            "the file holds cards that were not shown: it also requires the right "
            f"{Right.SEE_UNDEALT}",
        )
    session, row = the_round(request, incident)
    if not session.is_round_past(row.round):
        raise Problem(409, IN_USE.format("its shoe"))
    found = await recorded(request, session, row.at)
    made_ns = services_of(request).clock.now_ns()
    async with video_of(request).turns:
        asked = await asyncio.to_thread(round_asked, session.journal.file(), row.round, MARGIN_NS)
        reach_ns = MARGIN_NS + _HASHED_WITHIN_NS
        reached = await asyncio.to_thread(round_asked, session.journal.file(), row.round, reach_ns)
        await _check_past(request, session, reached)
        content = await asyncio.to_thread(
            packed,
            found.folder,
            session.journal.file(),
            asked,
            made_ns,
            services_of(request).signer,
        )
        file = await asyncio.to_thread(_on_disk, content)
        size = str(len(content))
        del content  # while a slow reader takes it, it is on disk and not in memory
        for part in await asyncio.to_thread(recordings, found.folder, asked):
            await asyncio.to_thread(hold, part.folder, f"{incident} taken out by {who.name}")
    await note(request, who.name, who.by, "exported")
    name = f'attachment; filename="{_plain(session.name)}-{row.round}.zip"'
    headers = {"Content-Disposition": name, "Cache-Control": "no-store", "Content-Length": size}
    return StreamingResponse(_blocks(file), headers=headers, media_type="application/zip")


def _on_disk(content: bytes) -> BinaryIO:
    """Return a file of this content that vanishes once it is closed."""
    file: BinaryIO = tempfile.TemporaryFile(prefix="pitwatch-")  # noqa: SIM115 - sent later
    file.write(content)
    file.seek(0)
    return file


async def _blocks(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while block := await asyncio.to_thread(file.read, _BLOCK_BYTES):
            yield block


async def _check_past(request: Request, session: Session, asked: Asked) -> None:
    """Refuse a span that reaches into a shoe in use."""
    (last,) = await floor_of(request).entries(session, asked.last - 1, 1)
    if not session.is_past(last):
        raise Problem(409, IN_USE.format("the shoe after it"))


def _plain(name: str) -> str:
    """Return a name that is safe in a header."""
    return "".join(one if one in _PLAIN else "_" for one in name)
