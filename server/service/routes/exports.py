"""Exports: a whole list as a file of any length, sent while it is read."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.responses import StreamingResponse

from server.readmodel.exports import (
    ROWS,
    CsvPieces,
    Form,
    Kind,
    ParquetPieces,
    Pieces,
    Place,
    pieces,
)
from server.readmodel.rows import before_time
from server.readmodel.selection import Key, Sought
from server.readmodel.views import Row
from server.service.access.people import Person, Right
from server.service.http.problems import Problem
from server.service.request.answers import file_name
from server.service.request.guard import Who, guarded
from server.service.request.house import house_of
from server.service.request.recordings import video_of
from server.service.request.sessions import Nanoseconds, floor_of, shown

_AT_ONCE: Final = 500
"""Rows of a piece: each export that is being sent holds one."""
_MONEY: Final = frozenset({"payments", "ledger"})

router = APIRouter()


@dataclass(frozen=True, slots=True)
class WantedExport:
    """The requested part of a list."""

    table: Annotated[str | None, Query(description="Only this table.")] = None
    session: Annotated[str | None, Query(description="Only this session.")] = None
    from_ns: Annotated[Nanoseconds | None, Query(description="Start of the time span.")] = None
    to_ns: Annotated[Nanoseconds | None, Query(description="End of the time span.")] = None

    def sought(self, kind: Kind) -> Sought[Any]:
        """Return the selection of the list."""
        return Sought(
            ROWS[kind],
            before=before_time(self.to_ns),
            table=self.table,
            session=self.session,
            from_ns=self.from_ns,
        )


_FILE: Final = {"schema": {"type": "string", "format": "binary"}}


def _exporting() -> dict[str, Any]:
    needed = guarded(
        Right.TAKE_OUT,
        problems={501: "Parquet files need pyarrow, which is not installed here."},
        action="exported",
    )
    kinds = {CsvPieces.media_type: _FILE, ParquetPieces.media_type: _FILE}
    needed["responses"][200] = {"description": "The file.", "content": kinds}
    return needed


@router.get("/api/exports/{kind}.{form}", **_exporting())
async def export(
    request: Request,
    who: Who,
    kind: Kind,
    form: Form,
    wanted: Annotated[WantedExport, Depends()],
) -> Response:
    """Return a list as CSV or Parquet, the newest first, redacted like the list itself."""
    right = Right.SEE_MONEY if kind in _MONEY else Right.SEE_ROUNDS
    if not who.may(right):
        raise Problem(403, f"this export also requires the right {right}")
    async with video_of(request).turns:
        own = await asyncio.to_thread(video_of(request).recordings.currencies)
    try:
        table = pieces(kind, form, Place(house_of(request), own))
    except ImportError:
        way_out = "request csv, or install it: pip install 'pitwatch[parquet]'"
        raise Problem(501, f"Parquet needs pyarrow, which is not installed; {way_out}") from None
    name = file_name(f"{wanted.session or wanted.table or 'all'}-{kind}.{form}")
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }
    content = _content(request, who, table, wanted.sought(kind))
    return StreamingResponse(content, headers=headers, media_type=table.media_type)


async def _content(
    request: Request, who: Person, table: Pieces, sought: Sought[Any]
) -> AsyncIterator[bytes]:
    yield table.start()
    sought = replace(sought, tables=who.tables)
    while found := await _piece(request, who, table, sought):
        piece, last = found
        del found  # while a slow reader takes it, a piece is held once
        yield piece
        sought = replace(sought, before=last)
    yield table.end()


async def _piece(
    request: Request, who: Person, table: Pieces, sought: Sought[Any]
) -> tuple[bytes, Key] | None:
    """Return the next rows as bytes, and the key of the last; ``None`` at the end."""
    async with video_of(request).turns.next():
        rows = await floor_of(request).index.look_up(sought, _AT_ONCE)
        if not rows:
            return None
        visible = _visible(request, who, [placed.row for placed in rows])
        return await asyncio.to_thread(table.more, visible), rows[-1].key


def _visible(request: Request, who: Person, rows: Sequence[Row]) -> list[Row]:
    floor = floor_of(request)
    found = ((floor.session(row.session), row) for row in rows)
    return [shown(session, row, who) for session, row in found if session is not None]
