"""The clauses of the game, so that a verdict can be read in words."""

from fastapi import APIRouter, Response

from server.service.access.people import Right
from server.service.request.answers import give
from server.service.request.guard import guarded
from settlement.clauses import CLAUSES, Clause

router = APIRouter()


@router.get("/api/clauses", **guarded(Right.SEE_TABLES, tuple[Clause, ...], action=None))
async def clauses() -> Response:
    """List every clause that a verdict may name, in our words."""
    return give(tuple(CLAUSES.values()))
