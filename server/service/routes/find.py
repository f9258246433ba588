"""Find a round by table and time, from a person's input or a program's request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from models.errors import InputRefused
from server.house.asked_time import EXAMPLE, Asked, Reading, instants, read_question
from server.readmodel.rows import before_time
from server.readmodel.selection import ENDLESS, Sought
from server.readmodel.views import Finding, Moment, RoundRow
from server.service.access.people import Person, Right
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.guard import Who, guarded
from server.service.request.house import formats_of, house_of
from server.service.request.services import services_of
from server.service.request.sessions import floor_of, session_of, shown

_ROUNDS_LOOKED_AT: Final = 16
"""More rounds than can overlap a minute at a table."""

router = APIRouter()


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Looks up one table's rounds for one person."""

    request: Request
    who: Person
    table: str

    async def moment(self, at_ns: int, span_ns: int = 1) -> Moment:
        """Return the table's state at an instant, or for rounds opened within a span from it."""
        end_ns = min(at_ns + span_ns, ENDLESS)
        found = await self._newest(end_ns, _ROUNDS_LOOKED_AT)
        ends = self._ends(found)
        in_play = [row for row, end in zip(found, ends, strict=True) if end >= at_ns]
        over = [row for row, end in zip(found, ends, strict=True) if end < at_ns]
        row = in_play[-1] if in_play else None
        return Moment(
            at=at_ns,
            written=formats_of(self.request).moment(at_ns),
            go_to=None if row is None else max(at_ns, row.at),
            round=self._given(row),
            before=None if row else self._given(over[0] if over else None),
            after=None if row else self._given(await self._next(end_ns)),
        )

    async def _newest(self, before_ns: int, at_most: int) -> list[RoundRow]:
        sought = Sought(RoundRow, before=before_time(before_ns - 1), table=self.table)
        floor = floor_of(self.request)
        found = await floor.index.look_up(sought, at_most)
        return [placed.row for placed in found if floor.session(placed.row.session) is not None]

    async def _next(self, from_ns: int) -> RoundRow | None:
        sought = Sought(RoundRow, table=self.table, from_ns=from_ns, oldest_first=True)
        found = await floor_of(self.request).index.look_up(sought, 1)
        return found[0].row if found else None

    def _ends(self, newest_first: Sequence[RoundRow]) -> list[int]:
        """Return the end of each round.

        A round that was never closed lasts until the next one opens, or its session ends.
        """
        ends: list[int] = []
        newer_ns = ENDLESS
        for row in newest_first:
            session = session_of(self.request, row.session)
            is_last = session.view().round == row.round
            if row.closed_at is not None:
                ends.append(row.closed_at)
            elif is_last and floor_of(self.request).is_written(session):
                ends.append(ENDLESS)
            elif is_last:
                ends.append(session.last_at or row.at)
            else:
                ends.append(newer_ns - 1)
            newer_ns = row.at
        return ends

    def _given(self, row: RoundRow | None) -> RoundRow | None:
        if row is None:
            return None
        given: RoundRow = shown(session_of(self.request, row.session), row, self.who)
        return given


@router.get(
    "/api/find",
    **guarded(
        Right.SEE_ROUNDS,
        Finding,
        problems={
            404: "There is no such table.",
            422: "No table and time can be read from it; the detail shows an example.",
        },
    ),
)
async def find(
    request: Request,
    who: Who,
    what: Annotated[str, Query(max_length=200, description="`BJ-07 at 21:14`")],
    table: Annotated[str | None, Query(description="The table, if `what` names none.")] = None,
) -> Response:
    """Find the rounds at a table at a time, in the house's time zone.

    A time that the clocks showed twice gives two moments; a time between rounds gives the rounds
    before and after. Without a day it is the last such time. Where nothing was dealt then, the
    answer adds the last such time at which the table was open.
    """
    now_ns = services_of(request).clock.now_ns()
    house = house_of(request)
    names = [one.table for one in floor_of(request).tables() if who.sees(one.table)]
    try:
        asked = read_question(what, names, house, now_ns)
        reading = instants(asked, house, now_ns)
    except InputRefused as refused:
        detail = f"{refused.field}: expected {refused.expected}, found {refused.found}"
        raise Problem(422, detail) from refused
    name = asked.table or table or (names[0] if len(names) == 1 else None)
    if name is None:
        raise Problem(422, f"which table? Name one, such as {EXAMPLE}")
    if name not in names:
        raise Problem(404, f"there is no table {name}")
    lookup = _Lookup(request, who, name)
    moments = [await lookup.moment(at_ns, reading.span_ns) for at_ns in reading.at_ns]
    if asked.day is None and asked.at_ns is None and all(one.round is None for one in moments):
        moments += await _when_open(lookup, asked, moments)
    return give(
        Finding(table=name, says=_describe(name, reading, moments, now_ns), moments=tuple(moments))
    )


async def _when_open(lookup: _Lookup, asked: Asked, known: Sequence[Moment]) -> list[Moment]:
    """Return the last time of that name with rounds at the table, if any."""
    last_at = max(one.last_at or 0 for one in floor_of(lookup.request).of_table(lookup.table))
    reading = instants(asked, house_of(lookup.request), last_at)
    fresh = [at for at in reading.at_ns if at not in {one.at for one in known}]
    found = [await lookup.moment(at_ns, reading.span_ns) for at_ns in fresh]
    return [one for one in found if one.round is not None]


def _describe(table: str, reading: Reading, moments: Sequence[Moment], now_ns: int) -> str:
    """Describe the moments in a sentence."""
    first = moments[0]
    if reading.shown == "never":
        return f"That local time did not exist: the clocks went forward, to {first.written}."
    if reading.shown == "twice":
        return f"That local time came twice that night. Which one at {table}?"
    if first.at > now_ns:
        return f"{first.written} is in the future."
    if first.round is None:
        other = " It was dealt at that time on another day." if len(moments) > 1 else ""
        return f"Nothing was dealt at {table} at {first.written}.{other}"
    return f"{table}, {first.written}: round {first.round.round}."


@router.get(
    "/api/tables/{table}/rounds/at/{time}",
    **guarded(
        Right.SEE_ROUNDS,
        Moment,
        problems={404: "There is no such table.", 422: "The time cannot be read."},
    ),
)
async def round_at(request: Request, who: Who, table: str, time: str) -> Response:
    """Return the round at a table at a time: nanoseconds, or as `/api/find` reads it.

    A local time that the house's clocks showed twice, or skipped, is refused: send its offset.
    """
    now_ns, house = services_of(request).clock.now_ns(), house_of(request)
    if table not in [one.table for one in floor_of(request).tables()]:
        raise Problem(404, f"there is no table {table}")
    if time.isascii() and time.isdigit() and int(time) < ENDLESS:
        return give(await _Lookup(request, who, table).moment(int(time)))
    try:
        asked = read_question(time, (), house, now_ns)
    except InputRefused as refused:
        raise Problem(422, f"time: expected {refused.expected}, found {refused.found}") from refused
    reading = instants(asked, house, now_ns)
    if reading.shown != "once":
        raise Problem(422, f"time: {house.zone} had it {reading.shown}; send its offset from UTC")
    return give(await _Lookup(request, who, table).moment(reading.at_ns[0], reading.span_ns))
