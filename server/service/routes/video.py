"""A session's cameras: the felt in their pictures, clips of rounds, and pictures.

A picture shows only what was visible to everybody at the table, so it requires the right to see
rounds. A face-down card is face down in it too.
"""

import asyncio
import re
from collections.abc import Hashable, Mapping
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
from fastapi import APIRouter, Query, Request, Response

from devices.cameras.footage import picture_times
from models.errors import OperatorError, PitwatchError
from models.events import CardSighted, ForeignCardSighted
from models.layout import TableLayout
from server.archive.clips import Clip
from server.readmodel.session import Session
from server.readmodel.views import RoundRow
from server.service.access.people import Right
from server.service.evidence.footage import CameraView, ClipView, FootageView
from server.service.evidence.video import (
    Found,
    Sighting,
    camera_view,
    card_pictures,
    span_of,
    whole_cards,
)
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.guard import Who, guarded
from server.service.request.recordings import (
    cameras_live,
    note_look,
    recorded,
    recording_of,
    video_of,
)
from server.service.request.services import services_of
from server.service.request.sessions import floor_of, session_of
from stream.recording import table_layout

_HANDS_LOOKED_AT: Final = 200
_NEXT_ENTRIES: Final = 100
_SOON_NS: Final = 20_000_000_000
_SIGHTINGS: Final = frozenset({"card_sighted", "foreign_card_sighted"})
_RANGE: Final = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
_NO_SESSION: Final = {404: "There is no such session, or no such round in it."}
_NO_PICTURE: Final = {404: "There is no such session or camera, or no picture of that time."}

router = APIRouter()


def _media(kind: str, statuses: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
    """Describe answers that are not text."""
    content = {"content": {kind: {"schema": {"type": "string", "format": "binary"}}}}
    return {status: {"description": text} | content for status, text in statuses.items()}


def _showing(kind: str, statuses: Mapping[int, str], problems: dict[int, str]) -> dict[str, Any]:
    asked = guarded(Right.SEE_ROUNDS, problems=problems, action=None)
    return asked | {"responses": asked["responses"] | _media(kind, statuses)}


# --- the cameras --------------------------------------------------------------------------


@router.get(
    "/api/sessions/{session}/footage",
    **guarded(Right.SEE_ROUNDS, FootageView, problems=_NO_SESSION, action="watched"),
)
async def footage(request: Request, session: str) -> Response:
    """Return the layout of a session's felt, and the cameras that show it now."""
    found = session_of(request, session)
    return give(await _footage(request, found, None))


@router.get(
    "/api/sessions/{session}/rounds/{number}/footage",
    **guarded(Right.SEE_ROUNDS, FootageView, problems=_NO_SESSION, action="watched"),
)
async def round_footage(request: Request, session: str, number: int) -> Response:
    """Return the layout of the felt in a round, and the addresses of its clips."""
    found = session_of(request, session)
    return give(await _footage(request, found, _round(found, number)))


def _round(session: Session, number: int) -> RoundRow:
    row = session.rounds.row(number)
    if row is None:
        raise Problem(404, "there is no such round in this session")
    return row


async def _footage(request: Request, session: Session, row: RoundRow | None) -> FootageView:
    at_ns = (session.view().last_at or 0) if row is None else row.at
    found = await recording_of(request, session, at_ns)
    if found is None:
        elsewhere = services_of(request).no_recordings
        return FootageView(
            layout=_shipped_layout(session),
            is_own_layout=False,
            currency=None,
            cameras=(),
            missing=() if elsewhere is None else (elsewhere,),
        )
    cameras, missing = [], []
    for camera in found.clips.cameras:
        try:
            cameras.append(await _camera(request, session, found, camera, row))
        except PitwatchError as fault:
            missing.append(f"camera {camera}: {fault.what}")
    return FootageView(
        layout=found.layout,
        is_own_layout=True,
        currency=found.description.currency,
        cameras=tuple(cameras),
        missing=tuple(missing),
    )


async def _camera(
    request: Request, session: Session, found: Found, name: str, row: RoundRow | None
) -> CameraView:
    base = f"/api/sessions/{quote(session.name, '')}"
    clip = None
    if row is not None:
        cut = await _clip(request, session, found, name, row)
        url = f"{base}/rounds/{row.round}/clips/{quote(name, '')}"
        frames = await asyncio.to_thread(picture_times, cut.mp4)
        clip = ClipView(url, cut.span.begin_ns, cut.span.end_ns, frames)
    pictures = f"{base}/pictures/{quote(name, '')}"
    live = (
        f"{base}/live/{quote(name, '')}" if name in cameras_live(request, session, found) else None
    )
    return await asyncio.to_thread(camera_view, found, name, (pictures, live), clip)


def _shipped_layout(session: Session) -> TableLayout:
    """Return the smallest shipped felt with enough spots for the recent rounds."""
    newest = session.rounds.newest_hands(_HANDS_LOOKED_AT)
    highest = max((row.spot for row in newest), default=7)
    return table_layout(
        {4: "four-spots", 5: "five-spots", 6: "six-spots"}.get(max(highest, 4), "seven-spots")
    )


# --- clips and pictures -------------------------------------------------------------------


@router.get(
    "/api/sessions/{session}/rounds/{number}/clips/{camera}",
    **_showing(
        "video/mp4",
        {200: "The round's video.", 206: "The requested byte range."},
        {404: _NO_PICTURE[404], 416: "The range is not satisfiable."},
    ),
)
async def clip(request: Request, who: Who, session: str, number: int, camera: str) -> Response:
    """Return a round's video as MP4 (H.264), whole or the part that `Range` names."""
    found = session_of(request, session)
    row = _round(found, number)
    recording = await recorded(request, found, row.at)
    await note_look(request, who, found)
    return ranged((await _shown(_clip(request, found, recording, camera, row))).mp4, request)


async def _clip(
    request: Request, session: Session, found: Found, camera: str, row: RoundRow
) -> Clip:
    begin_ns, end_ns = span_of(row.at, row.closed_at, session.view().last_at or row.at)
    video = video_of(request)
    return await video.clips.get(
        (found.folder, camera, begin_ns, end_ns),
        lambda: found.clips.clip(begin_ns, end_ns, camera),
        video.turns,
    )


@router.get(
    "/api/sessions/{session}/pictures/{camera}",
    **_showing("image/jpeg", {200: "The picture."}, _NO_PICTURE),
)
async def picture(
    request: Request,
    who: Who,
    session: str,
    camera: str,
    at: Annotated[int, Query(ge=0, le=2**63 - 1, description="Nanoseconds.")],
) -> Response:
    """Return the latest picture of a camera at a time, at most two seconds old."""
    found = session_of(request, session)
    recording = await recorded(request, found, at)
    await note_look(request, who, found)
    video = video_of(request)
    jpeg = await _shown(
        video.pictures.get(
            (recording.folder, camera, at), lambda: recording.clips.still(at, camera), video.turns
        )
    )
    return _jpeg(jpeg)


@router.get(
    "/api/sessions/{session}/cards/{seq}",
    **_showing("image/jpeg", {200: "The piece of the picture."}, _NO_PICTURE),
)
async def card(
    request: Request,
    who: Who,
    session: str,
    seq: int,
    whole: Annotated[
        bool, Query(description="The whole card, marked, with its surroundings.")
    ] = False,
) -> Response:
    """Return the crop of the picture behind a sighting of a card."""
    found = session_of(request, session)
    near = await _sightings(request, found, seq)
    recording = await recorded(request, found, near[0].at or 0)
    await note_look(request, who, found)
    video, source = video_of(request), near[0].source
    key = (recording.folder, "whole card" if whole else "card")
    pictures = whole_cards if whole else card_pictures

    def cut() -> Mapping[Hashable, bytes]:
        same = [one for one in near if one.source == source]
        pieces = pictures(recording, source.partition(":")[2], same)
        return {(*key, number): piece for number, piece in pieces.items()}

    jpeg = await _shown(video.pictures.one_of_many((*key, seq), cut, video.turns))
    if jpeg is None:
        raise Problem(404, "there is no picture of that sighting")
    return _jpeg(jpeg)


async def _sightings(request: Request, session: Session, seq: int) -> list[Sighting]:
    """Return a sighting, and those soon after it: they are usually requested next."""
    if not 0 < seq <= session.place.seq:
        raise Problem(404, "there is no such event")
    entries = await floor_of(request).entries(session, seq - 1, _NEXT_ENTRIES)
    if entries[0].type not in _SIGHTINGS:
        raise Problem(404, "that event is no sighting of a card")
    found = [
        msgspec.json.decode(entry.plain, type=CardSighted | ForeignCardSighted)
        for entry in entries
        if entry.type in _SIGHTINGS
    ]
    return [one for one in found if (one.at or 0) - (found[0].at or 0) <= _SOON_NS]


async def _shown(work: Any) -> Any:
    """Await a picture; a missing one is no fault of the service."""
    try:
        return await work
    except OperatorError as refused:
        raise Problem(404, refused.what) from refused


def _jpeg(content: bytes) -> Response:
    return Response(
        content, headers={"Cache-Control": "private, max-age=600"}, media_type="image/jpeg"
    )


def ranged(content: bytes, request: Request) -> Response:
    """Answer with bytes, or with the part of them that ``Range`` requests (RFC 9110)."""
    headers = {"Accept-Ranges": "bytes", "Cache-Control": "no-store"}
    asked = _RANGE.fullmatch(request.headers.get("Range", ""))
    if asked is None or asked[0] == "bytes=-":
        return Response(content, headers=headers, media_type="video/mp4")
    first, last = _part(asked[1], asked[2], len(content))
    if first > last:
        unmet = {"Content-Range": f"bytes */{len(content)}"}
        raise Problem(416, f"it has {len(content)} bytes", unmet)
    headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    return Response(content[first : last + 1], 206, headers, media_type="video/mp4")


def _part(first: str, last: str, size: int) -> tuple[int, int]:
    """Return first and last byte of a part; without a first, it is the end of that length."""
    if not first:
        return max(0, size - int(last)), size - 1 if int(last) else -1
    return int(first), min(int(last), size - 1) if last else size - 1
