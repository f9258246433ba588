"""Checkpoints that tables leave here: they limit how much of a journal can be cut off unnoticed."""

import asyncio
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from server.service.access.people import Person, Right
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.body import Body
from server.service.request.guard import Who, guarded, note
from server.service.request.services import services_of
from stream.checkpoints import Checkpoint, utc

Hex = Annotated[str, Field(pattern="^[0-9a-f]*$", max_length=128)]
Number = Annotated[int, Field(ge=0, le=2**63 - 1)]
Text = Annotated[str, Field(min_length=1, max_length=255)]

router = APIRouter()


class SentIdentity(Body):
    """The identity of a journal."""

    journal: Hex
    name: Text
    table: Text | None = None


class SentCheckpoint(
    Body,
    json_schema_extra={
        "example": {
            "type": "journal_checkpoint",
            "identity": {"journal": "6d0f0c2a", "name": "bj-07", "table": "BJ-07"},
            "seq": 120,
            "head": "9f" * 32,
            "at": 1780341240000000000,
        }
    },
):
    """A checkpoint, as the table's journal made it."""

    type: Literal["journal_checkpoint"]
    identity: SentIdentity
    seq: Number
    head: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    at: Number
    key: Hex | None = None
    signature: Hex | None = None


@router.post(
    "/api/checkpoints",
    **guarded(
        Right.LEAVE_CHECKPOINTS,
        status=204,
        problems={503: "The disk refused the write; it was not stored."},
        action=None,
    ),
)
async def leave_checkpoint(request: Request, who: Who, sent: SentCheckpoint) -> Response:
    """Store a checkpoint of a table's journal, with sender and time; durable once answered.

    It refuses a checkpoint whose signature does not match its key, and one of a table that the
    account may not see.
    """
    checkpoint = msgspec.convert(sent.model_dump(), Checkpoint)
    if not who.sees(checkpoint.identity.table):
        await _note_refused(request, who)
        raise Problem(403, "this account does not see that table")
    if checkpoint.key is not None and not checkpoint.is_signed:
        await _note_refused(request, who)
        raise Problem(422, "its signature does not fit the key that it names")
    services = services_of(request)
    prefix = f"{utc(services.clock.now_ns())} {who.name} {who.by}"
    await asyncio.to_thread(services.left.keep, checkpoint, prefix)
    return Response(status_code=204)


@router.get(
    "/api/tables/{table}/checkpoints",
    **guarded(
        Right.LEAVE_CHECKPOINTS,
        tuple[Checkpoint, ...],
        problems={
            404: "The account does not see that table.",
            503: "What is kept cannot be read.",
        },
    ),
)
async def last_checkpoints(
    request: Request, table: str, key: Annotated[Hex | None, Query()] = None
) -> Response:
    """Return for each of a table's journals the latest checkpoint and that with most entries.

    A starting table compares its journal with them. With ``key``, only those that it signed.
    """
    left = services_of(request).left
    return give(await asyncio.to_thread(left.last_of, table, key))


async def _note_refused(request: Request, who: Person) -> None:
    await note(request, who.name, who.by, "left_checkpoint", outcome="refused")
