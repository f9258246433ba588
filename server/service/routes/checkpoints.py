"""Checkpoints that tables leave here: they bound how much of a journal can be cut off unnoticed."""

import asyncio
import os
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from fastapi import APIRouter, Request, Response
from pydantic import Field

from models.errors import TechnicianError
from server.service.access.people import Person, Right
from server.service.http.problems import Problem
from server.service.request.body import Body
from server.service.request.guard import Who, guarded, note
from server.service.request.services import services_of
from stream.checkpoints import Checkpoint, utc

CHECKPOINTS_FILE: Final = "tables.checkpoints"
"""In the state folder; lines are added to it and never changed."""

Hex = Annotated[str, Field(pattern="^[0-9a-f]*$", max_length=128)]
Number = Annotated[int, Field(ge=0, le=2**63 - 1)]
Text = Annotated[str, Field(min_length=1, max_length=255)]

router = APIRouter()


class SentIdentity(Body):
    """Which journal it is."""

    journal: Hex
    name: Text
    table: Text | None = None


class SentCheckpoint(Body):
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
        problems={503: "The disk refuses it; it was not kept."},
        action=None,
    ),
)
async def leave_checkpoint(request: Request, who: Who, sent: SentCheckpoint) -> Response:
    """Keep a checkpoint of a table's journal, with who left it and when; durable once answered.

    One whose signature does not fit the key it names is refused, as is one of a table that the
    account does not see.
    """
    checkpoint = msgspec.convert(sent.model_dump(), Checkpoint)
    if not who.sees(checkpoint.identity.table):
        await _note_refused(request, who)
        raise Problem(403, "this account does not see that table")
    if checkpoint.key is not None and not checkpoint.is_signed:
        await _note_refused(request, who)
        raise Problem(422, "its signature does not fit the key that it names")
    services = services_of(request)
    said = f"{utc(services.clock.now_ns())} {who.name} {who.by} ".encode()
    line = said + msgspec.json.encode(checkpoint) + b"\n"
    await asyncio.to_thread(_append, services.records.folder / CHECKPOINTS_FILE, line)
    return Response(status_code=204)


async def _note_refused(request: Request, who: Person) -> None:
    await note(request, who.name, who.by, "left_checkpoint", outcome="refused")


def _append(file: Path, line: bytes) -> None:
    try:
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as opened:
            opened.write(line)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as fault:
        raise TechnicianError(
            f"the checkpoint cannot be kept: {fault.strerror}",
            where=str(file),
            way_out="Make room on the disk of the service's state",
        ) from fault
