"""The rules in force in the session that a request names."""

from dataclasses import dataclass

from fastapi import Request

from models.errors import PitwatchError
from models.events import RulesStated
from models.rulebook import Cited, Rulebook
from server.house.citations import Book
from server.house.rulebooks import as_stated, cited
from server.readmodel.rows import newest_first
from server.readmodel.selection import Sought
from server.readmodel.session import Session
from server.readmodel.views import RoundRow
from server.service.request.services import services_of
from server.service.request.sessions import floor_of
from stream import library


@dataclass(frozen=True, slots=True)
class InForce:
    """The rules that a journal states, or the id that its settlements name."""

    seq: int
    at: int
    rulebook: str
    stated: RulesStated | None


async def book_of(request: Request, session: Session) -> Book | None:
    """Return the rulebook in force in a session; ``None`` where its sheet is not shipped."""
    found = await in_force(request, session)
    sheet = None if found is None else shipped_sheet(found.rulebook)
    if found is None or sheet is None:
        return None
    return Book(sheet, rules_of(found) or sheet.rules)


async def in_force(request: Request, session: Session) -> InForce | None:
    """Return the rules that a session states, or that its settlements name."""
    stated = await services_of(request).tallies.stated(session)
    if stated is not None:
        return InForce(stated.seq or 0, stated.at or 0, stated.rulebook, stated)
    sought = Sought(RoundRow, session=session.name)
    async for placed in newest_first(floor_of(request).index, sought):
        row = placed.row
        if row.result is not None:
            at = session.view().started_at or row.at
            return InForce(row.seq, at, row.result.rulebook, None)
    return None


def rules_of(found: InForce) -> Rulebook | None:
    """Return the rules themselves, where this version knows them."""
    if found.stated is None:
        book = shipped_sheet(found.rulebook)
        return None if book is None else book.rules
    try:
        return as_stated(found.stated)
    except PitwatchError:  # a newer version's rules may use unknown knobs
        return None


def shipped_sheet(name: str) -> Cited | None:
    """Return a shipped sheet."""
    return cited(name) if name in library.rulebook_ids() else None
