"""The recording of a request, and the record of who looked at it."""

import asyncio

from fastapi import Request

from server.readmodel.session import Session
from server.service.access.people import Person
from server.service.evidence.video import Found, Video
from server.service.http.problems import Problem
from server.service.request.guard import note
from server.service.request.services import services_of
from server.service.request.sessions import floor_of


def video_of(request: Request) -> Video:
    """Return the shared state of recordings."""
    return services_of(request).video


def cameras_live(request: Request, session: Session, found: Found) -> frozenset[str]:
    """Return the cameras in recording: none that was closed, or whose session was."""
    if not floor_of(request).is_written(session):
        return frozenset()
    return frozenset(one.name for one in found.description.cameras if one.segments is None)


async def recording_of(request: Request, session: Session, at_ns: int) -> Found | None:
    """Return the recording of a session at a time."""
    if session.table is None:
        return None
    recordings = video_of(request).recordings
    return await asyncio.to_thread(recordings.of, session.table, at_ns, session.name)


async def recorded(request: Request, session: Session, at_ns: int) -> Found:
    """Return the recording of a session at a time; raises ``Problem`` 404 where there is none."""
    found = await recording_of(request, session, at_ns)
    if found is None:
        elsewhere = services_of(request).no_recordings
        raise Problem(404, elsewhere or "there is no recording of that table and time")
    return found


async def note_look(request: Request, who: Person, session: Session) -> None:
    """Record a look: a page requests many pictures, so once a minute and session."""
    now_ns = services_of(request).clock.now_ns()
    if video_of(request).is_new_look(who.name, session.name, now_ns):
        await note(request, who.name, who.by, "watched")
