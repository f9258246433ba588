"""A picture of a round as a signed file: ``pitwatch verify`` checks it."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from models.errors import OperatorError
from server.archive.snapshot import Facts, pixels_sha256, snapshot
from server.bundle.manifest import Head
from server.readmodel.session import Session
from server.readmodel.views import RoundRow
from server.service.access.people import Right
from server.service.evidence.video import Found
from server.service.http.problems import Problem
from server.service.request.answers import file_name
from server.service.request.guard import Who, guarded
from server.service.request.recordings import recorded, video_of
from server.service.request.services import services_of
from server.service.request.sessions import floor_of, session_of
from stream.clock import utc
from stream.journal import Place

_MOST_ENTRIES: Final = 5000

router = APIRouter()


def _giving() -> dict[str, Any]:
    asked = guarded(
        Right.TAKE_OUT,
        problems={404: "There is no such session, round or camera, or no picture of that time."},
        action="exported",
    )
    content = {"image/png": {"schema": {"type": "string", "format": "binary"}}}
    asked["responses"][200] = {"description": "The picture, signed.", "content": content}
    return asked


@router.get("/api/sessions/{session}/rounds/{number}/snapshots/{camera}", **_giving())
async def take_snapshot(
    request: Request,
    who: Who,
    session: str,
    number: int,
    camera: str,
    *,
    at: Annotated[int, Query(ge=0, le=2**63 - 1, description="Nanoseconds.")],
) -> Response:
    """Return the latest picture of a camera at a time as PNG, with its facts and a signature.

    It names table, round, camera, frame and time, and the journal's entry behind it with its hash.
    The key of this service's reports, `/api/report-key`, signs it.
    """
    if not who.may(Right.SEE_ROUNDS):
        raise Problem(403, f"a snapshot also requires the right {Right.SEE_ROUNDS}")
    found = session_of(request, session)
    row = found.rounds.row(number)
    if row is None:
        raise Problem(404, "there is no such round in this session")
    recording = await recorded(request, found, at)
    entry = await _last_entry(request, found, row, at)
    made = _Asked(row, found.place, camera, entry, who.name)
    async with video_of(request).turns:
        content, taken_ns = await asyncio.to_thread(_made, request, recording, made, at)
    moment = utc(taken_ns).removesuffix(" UTC").replace(" ", "T").replace(":", "")
    name = file_name(f"{row.table}-round-{row.round}-{camera}-{moment}Z.png")
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }
    return Response(content, headers=headers, media_type="image/png")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The requester, the requested picture, and the last journal entry at that time."""

    row: RoundRow
    place: Place
    camera: str
    entry: int
    person: str


def _made(request: Request, recording: Found, asked: _Asked, at_ns: int) -> tuple[bytes, int]:
    try:
        picture = recording.clips.picture(at_ns, asked.camera)
    except OperatorError as refused:
        raise Problem(404, refused.what) from refused
    services = services_of(request)
    facts = Facts(
        table=asked.row.table,
        round=asked.row.round,
        camera=asked.camera,
        file=picture.file.name,
        frame=picture.number,
        at=picture.frame.at_ns,
        entry=asked.entry,
        pixels_sha256=pixels_sha256(picture.frame.image),
        made_by=asked.person,
    )
    place = asked.place
    head = Head(name=asked.row.session, entries=place.seq, head=place.head.hex())
    made_ns = services.clock.now_ns()
    png = snapshot(picture.frame.image, facts, made_ns, head, services.signer)
    return png, picture.frame.at_ns


async def _last_entry(request: Request, session: Session, row: RoundRow, at_ns: int) -> int:
    """Return the round's last entry not later than a time; the one before it, if none."""
    entries = await floor_of(request).entries(session, row.seq - 1, _MOST_ENTRIES)
    own = [one.seq for one in entries if one.seq <= row.last_seq and one.at <= at_ns]
    return max(own, default=row.seq - 1)
