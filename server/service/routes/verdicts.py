"""The clauses and passages behind a round's violations, in the house's own words."""

from fastapi import APIRouter, Request, Response

from server.house.citations import Book, Passage, deciding, passages, settled_by, wording
from server.readmodel.citation_views import CitedClause, ViolationSources
from server.readmodel.views import RoundRow, ViolationRow
from server.service.access.people import Right
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.guard import Who, guarded
from server.service.request.rules import book_of
from server.service.request.sessions import session_of, shown
from settlement.balance import bottom_line

router = APIRouter()


@router.get(
    "/api/sessions/{session}/rounds/{number}/verdicts",
    **guarded(
        Right.SEE_ROUNDS,
        tuple[ViolationSources, ...],
        problems={404: "There is no such session, or no such round in it."},
        action=None,
    ),
)
async def verdicts(request: Request, who: Who, session: str, number: int) -> Response:
    """Return each mistake's broken rule, the clause behind the amount due, and its settlement."""
    found = session_of(request, session)
    row = found.rounds.row(number)
    if row is None:
        raise Problem(404, "there is no such round in this session")
    book = await book_of(request, found)
    rows = [shown(found, one, who) for one in found.rounds.violations_of(number)]
    return give(tuple(_sources(one, row, book) for one in rows))


def _sources(row: ViolationRow, of: RoundRow, book: Book | None) -> ViolationSources:
    due: list[str] = []
    if of.result is not None:
        due = deciding(of.result, row.clause, row.spot, row.hand, row.detail)
    after = None if book is None else settled_by(book, row.code)
    return ViolationSources(
        seq=row.seq,
        code=row.code,
        spot=row.spot,
        hand=row.hand,
        question=row.question,
        breaks=_cited(row.clause, book, row.code, row.detail),
        due=tuple(_cited(clause, book) for clause in due),
        came_to=() if of.balance is None else bottom_line(of.balance, row),
        settled_by=after,
    )


def _cited(
    clause: str, book: Book | None, code: str | None = None, detail: str = ""
) -> CitedClause:
    found: tuple[Passage, ...] = ()
    if book is not None:
        found = passages(book, clause, code, detail)
    return CitedClause(clause=clause, says=wording(clause), passages=found)
