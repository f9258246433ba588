"""The clauses and sentences of violations, for display."""

from fastapi import APIRouter, Response

from server.service.access.people import Right
from server.service.request.answers import give
from server.service.request.guard import guarded
from settlement.clauses import CLAUSES, Clause
from settlement.sentences import Sentence

router = APIRouter()


@router.get("/api/clauses", **guarded(Right.SEE_TABLES, tuple[Clause, ...], action=None))
async def clauses() -> Response:
    """List every clause in Pitwatch's wording."""
    return give(tuple(CLAUSES.values()))


@router.get("/api/sentences", **guarded(Right.SEE_TABLES, tuple[str, ...], action=None))
async def sentences() -> Response:
    """List the sentences that name amounts in a mistake's ``detail``.

    ``{amount}`` stands for an amount in its plain form, ``-1,234.50`` for 123450 minor units less,
    ``{number}`` for another number. A page uses them to write the amounts in its house's format.
    """
    return give(tuple(sentence.value for sentence in Sentence))
