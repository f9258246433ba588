"""The tables and sessions that a request names, and a person's view of them."""

import asyncio
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from fastapi import Query
from starlette.requests import HTTPConnection

from server.readmodel.entries import Entry
from server.readmodel.floor import Floor
from server.readmodel.redaction import redacted_row
from server.readmodel.session import Session
from server.readmodel.views import Row
from server.service.access.people import Person, Right
from server.service.http.problems import Problem
from server.service.request.services import services_of

LONGEST_PAGE: Final = 500
MONEY: Final = frozenset({"payment_made", "ledger_posted"})
"""Event types that require the right to see money."""

_SEEN_WITHIN_S: Final = 5.0
_LOOK_S: Final = 0.02

Nanoseconds: TypeAlias = Annotated[int, Query(ge=0, le=2**63 - 1)]
R = TypeVar("R", bound=Row)


def floor_of(request: HTTPConnection) -> Floor:
    """Return the tables."""
    return services_of(request).floor


def shown(session: Session, row: R, who: Person) -> Any:
    """Return a row as this person may see it."""
    number: int = getattr(row, "round", 0)
    return (
        row if sees_all(session, number, who) else redacted_row(row, session.rounds.hidden(number))
    )


def sees_all(session: Session, number: int, who: Person) -> bool:
    """Return whether this person may see every card of a round."""
    return who.may(Right.SEE_UNDEALT) and session.is_round_past(number)


def session_of(request: HTTPConnection, name: str) -> Session:
    """Return a session; raises ``Problem`` 404 where there is none."""
    found = floor_of(request).session(name)
    if found is None:
        raise Problem(404, "there is no such session")
    return found


def text_of(session: Session, entry: Entry, who: Person) -> bytes | None:
    """Return an event's JSON as this person may see it; ``None`` where they may not."""
    if entry.type in MONEY and not who.may(Right.SEE_MONEY):
        return None
    whole = who.may(Right.SEE_UNDEALT) and session.is_past(entry)
    return entry.plain if whole else entry.redacted


async def until_read(session: Session, seq: int) -> None:
    """Wait until the service has read a journal to its end, so that the answer includes ``seq``.

    Raises:
        Problem: 503 where that takes too long.
    """
    try:
        async with asyncio.timeout(_SEEN_WITHIN_S):
            end = max(await asyncio.to_thread(session.journal.last_seq), seq)
            while session.place.seq < end:
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        raise Problem(503, "the journal has it but cannot be read now") from None
