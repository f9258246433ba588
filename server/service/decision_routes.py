"""Deciding a review item: the word goes to whoever writes that journal, and the round settles."""

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import Field

from models.cards import Card
from models.events import CardPlace, Dealt, Decision, ReviewResolved
from server.resolving import decide
from server.service.answers import give
from server.service.guard import Who, guarded, note
from server.service.incident_routes import the_round, view_of
from server.service.incidents import IncidentView
from server.service.people import Person, Right
from server.service.people_routes import Body
from server.service.problems import Problem
from server.service.reading_routes import shown
from server.service.session import Session
from server.service.veil import WITHHELD
from server.service.views import ReviewRow
from stream.clock import Clock
from stream.journal import read_on

_NAMES_A_CARD: Final = frozenset({"chosen", "dealt", "burned"})
_SEEN_WITHIN_S: Final = 5.0
_LOOK_S: Final = 0.02
_MANY: Final = 10_000
"""More entries than follow of one decision."""

router = APIRouter()


class Place(Body):
    """One card of the round, by where it was dealt."""

    to: Annotated[int, Field(ge=1, le=99)] | Annotated[str, Field(pattern="^dealer$")]
    hand: Annotated[int, Field(ge=0, le=15)] = 0
    nth: Annotated[int, Field(ge=0, le=51)] = 0


class NewDecision(Body):
    """How an item is decided."""

    decision: Decision
    choice: Annotated[str, Field(pattern=r"^[A23456789TJQK][SHDC?]$")] | None = None
    """The card, where one is named."""
    card: Place | None = None
    """The card in question, where the item's evidence does not tell; of `dealt`, its place."""
    reason: Annotated[str, Field(max_length=2000)] = ""
    """Asked for by `unreadable` and `void`."""
    instead_of: Annotated[int, Field(ge=1, le=2**63 - 1)] | None = None
    """The `seq` of the decision that this one puts right; else the item must be undecided."""


@router.post(
    "/api/incidents/{incident}/reviews/{item}/decision",
    **guarded(
        Right.RESOLVE_REVIEWS,
        IncidentView,
        problems={
            404: "There is no such round, or no such item of it.",
            409: "It cannot be decided so; the detail says why, and what can.",
            503: "The table does not answer, or the journal cannot be written.",
        },
        action=None,
    ),
)
async def decide_review(
    request: Request, who: Who, incident: str, item: int, sent: NewDecision
) -> Response:
    """Decide an item in one's own name.

    The answer comes once the decision stands in the journal and the round has settled anew. A
    table at work writes it; a journal that nobody writes is opened for it and sealed again.
    """
    async with _turn(request):
        session, row = the_round(request, incident)
        review = _undecided(session, row.round, item, sent, who)
        decision = ReviewResolved(
            source=f"console:{who.name}",
            at=_now(request),
            round=row.round,
            item=review.item,
            decision=sent.decision,
            choice=None if sent.choice is None else Card(sent.choice),
            card=None if sent.card is None else _place(sent.card),
            reason=sent.reason,
        )
        handed = await decide(session.path, decision)
    target = f"{incident} item {item}: {sent.decision}, entry {handed.seq} by the {handed.by}"
    await note(request, who.name, who.by, "review_decided", target=target)
    await _until_read(session)
    return give(view_of(request, who, incident))


def _turn(request: Request) -> asyncio.Lock:
    """Two who decide the same item at once: the second is told of the first."""
    lock: asyncio.Lock = request.app.state.deciding
    return lock


def _undecided(
    session: Session, number: int, item: int, sent: NewDecision, who: Person
) -> ReviewRow:
    items = session.reviews_of(number)
    if not 0 <= item < len(items):
        raise Problem(404, f"round {number} has no review item {item}")
    review: ReviewRow = shown(session, items[item], who)
    found = None if review.decided is None else review.decided
    if found is not None and found.seq != sent.instead_of:
        raise Problem(
            409,
            f"{found.person} has decided it, entry {found.seq}; "
            "name that entry in instead_of to put it right",
        )
    if review.what == WITHHELD and sent.decision in _NAMES_A_CARD:
        raise Problem(409, "it speaks of a card not shown; wait until its shoe has ended")
    return review


def _place(sent: Place) -> CardPlace:
    to: Dealt = sent.to if isinstance(sent.to, int) else "dealer"
    return CardPlace(to=to, hand=sent.hand, nth=sent.nth)


def _now(request: Request) -> int:
    clock: Clock = request.app.state.clock
    return clock.now_ns()


async def _until_read(session: Session) -> None:
    """Wait until the service has read all of it too, so that what is answered has it in."""
    try:
        async with asyncio.timeout(_SEEN_WITHIN_S):
            _, end = await asyncio.to_thread(read_on, session.path, session.place, _MANY)
            while session.place.seq < end.seq:
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        raise Problem(503, "it stands in the journal, which cannot be read now") from None
