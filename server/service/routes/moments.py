"""The time at which an event is visible: resting cards, chips without a hand over them."""

from functools import partial
from itertools import chain
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Path, Request, Response

from models.errors import PitwatchError
from models.events import (
    CardBurned,
    CardDealt,
    CardExposed,
    CardSighted,
    Fact,
    PaymentMade,
    PlateRead,
    WagerPlaced,
    WagerRemoved,
)
from models.judgements import AnyEvent
from server.archive.lying import LOOKED_AT_NS, chips_rect, free_times, patches
from server.readmodel.session import Session
from server.readmodel.views import SeenMoment, Shows
from server.service.access.people import Right
from server.service.evidence.video import Found, card_seen_ns
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.guard import guarded
from server.service.request.recordings import recording_of, video_of
from server.service.request.sessions import floor_of, session_of

_CARDS: Final = (CardDealt, CardExposed, CardBurned)
_CHIPS: Final = (PaymentMade, WagerPlaced, WagerRemoved)
_NEXT_ENTRIES: Final = 100
_NOT_SEEN: Final = 0
_EVENT: Final[msgspec.json.Decoder[AnyEvent]] = msgspec.json.Decoder(AnyEvent)

router = APIRouter()


@router.get(
    "/api/sessions/{session}/moments/{seq}",
    **guarded(
        Right.SEE_ROUNDS,
        SeenMoment,
        problems={404: "There is no such session, or no such event in it."},
    ),
)
async def moment(
    request: Request, session: str, seq: Annotated[int, Path(ge=1, le=2**63 - 1)]
) -> Response:
    """Return the time at which an event is visible.

    A card is dealt when it leaves the shoe; it is visible once it rests and its picture was read.
    Chips are weighed under the hand; they are visible once no hand covers their circle.
    """
    found = session_of(request, session)
    if seq > found.place.seq:
        raise Problem(404, "there is no such event")
    event = await _event(request, found, seq)
    at: int = event.at or 0
    shows: Shows = "event"
    if isinstance(event, _CARDS):
        at, shows = await _card(request, found, event)
    elif isinstance(event, _CHIPS):
        at, shows = await _chips(request, found, event)
    return give(SeenMoment(seq=seq, told_at=event.at or 0, at=at, shows=shows))


async def _event(request: Request, session: Session, seq: int) -> AnyEvent:
    (entry,) = await floor_of(request).entries(session, seq - 1, 1)
    try:
        return _EVENT.decode(entry.plain)
    except msgspec.ValidationError as fault:
        raise Problem(404, "that event is of a kind that this program does not know") from fault


async def _evidence(request: Request, session: Session, fact: Fact) -> list[AnyEvent]:
    return [await _event(request, session, seq) for seq in fact.evidence]


async def _card(request: Request, session: Session, fact: Fact) -> tuple[int, Shows]:
    """Return when a card was at rest and uncovered; without a picture, when it came to rest."""
    looks = [one for one in await _evidence(request, session, fact) if isinstance(one, CardSighted)]
    # A card turned up rests on the looks at its back, too, and they came first.
    for seen in sorted(looks, key=lambda one: one.face != "up"):
        found = await recording_of(request, session, seen.at or 0)
        if found is not None:
            video, camera = video_of(request), seen.source.partition(":")[2]
            seen_ns = await video.moments.get(
                (found.folder, seen.seq), partial(_card_seen, found, camera, seen), video.turns
            )
            if seen_ns != _NOT_SEEN:
                return seen_ns, "card"
        return seen.at or 0, "card"
    return fact.at or 0, "event"


async def _chips(request: Request, session: Session, fact: Fact) -> tuple[int, Shows]:
    """Return when a circle was uncovered; without a picture, when its plate was read."""
    read = [one for one in await _evidence(request, session, fact) if isinstance(one, PlateRead)]
    if not read:
        return fact.at or 0, "event"
    plate, at_ns = read[-1], fact.at or 0
    found = await recording_of(request, session, at_ns)
    free_ns = _NOT_SEEN
    if found is not None:
        until_ns = min(at_ns + LOOKED_AT_NS, await _next_change(request, session, plate))
        video = video_of(request)
        free_ns = await video.moments.get(
            (found.folder, fact.seq), lambda: _free(found, plate, (at_ns, until_ns)), video.turns
        )
    return (plate.at or 0, "event") if free_ns == _NOT_SEEN else (free_ns, "chips")


async def _next_change(request: Request, session: Session, plate: PlateRead) -> int:
    """Return the next change of chips on the same circle."""
    later = await floor_of(request).entries(session, plate.seq or 0, _NEXT_ENTRIES)
    for entry in later:
        if entry.type == "plate_read":
            one = msgspec.json.decode(entry.plain, type=PlateRead)
            if (one.spot, one.circle) == (plate.spot, plate.circle):
                return one.at or 0
    return (plate.at or 0) + LOOKED_AT_NS


def _card_seen(found: Found, camera: str, seen: CardSighted) -> int:
    try:
        return card_seen_ns(found, camera, seen) or _NOT_SEEN
    except PitwatchError:
        return _NOT_SEEN


def _free(found: Found, plate: PlateRead, span_ns: tuple[int, int]) -> int:
    """Search the recording for an uncovered circle; :data:`_NOT_SEEN` where there is none."""
    if not found.clips.cameras:
        return _NOT_SEEN
    try:
        frames = found.clips.frames(*span_ns)
        first = next(frames, None)
        if first is None:
            return _NOT_SEEN
        at = (plate.spot, plate.circle)
        rect = chips_rect(found.clips.felt(), found.layout, at, first.size_px)
        return next(iter(free_times(patches(chain([first], frames), rect))), _NOT_SEEN)
    except (PitwatchError, KeyError):
        return _NOT_SEEN
