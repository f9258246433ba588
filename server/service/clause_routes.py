"""The clauses of the game, so that a verdict can be read in words."""

from fastapi import APIRouter, Response

from server.service.answers import give
from server.service.guard import guarded
from server.service.people import Right
from settlement.clauses import CLAUSES, Clause

router = APIRouter()


@router.get("/api/clauses", **guarded(Right.SEE_TABLES, tuple[Clause, ...], action=None))
async def clauses() -> Response:
    """List every clause that a verdict may name, in our words."""
    return give(tuple(CLAUSES.values()))
