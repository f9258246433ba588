"""Figures over time, for charts: pace, hold, mistakes by shift, sensors' error rates."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request, Response

from models.judgements import RoundResult
from server.readmodel.rows import before_time, newest_first
from server.readmodel.selection import Sought
from server.readmodel.series_views import DayBalance, DayBalances, Line, Point, Series
from server.readmodel.session import Session
from server.readmodel.tallies import AT_ONCE, MINUTE_NS, Tally
from server.readmodel.views import RoundRow
from server.service.access.people import Person, Right
from server.service.request.answers import give
from server.service.request.guard import guarded
from server.service.request.house import formats_of, house_of
from server.service.request.recordings import video_of
from server.service.request.services import services_of
from server.service.request.sessions import Nanoseconds, floor_of
from settlement.balance import Totals, added, totals

HOUR_NS: Final = 60 * MINUTE_NS
DAY_NS: Final = 24 * HOUR_NS
MOST_ROUNDS: Final = 100_000
"""The newest rounds that are counted; a request for older ones sets `to_ns`."""
_MOST_POINTS: Final = 2000

router = APIRouter()
Counted = Counter[tuple[str, int]]
"""Counts by label and start of an interval."""


@dataclass(frozen=True, slots=True)
class Span:
    """The requested time, and its intervals."""

    table: Annotated[str | None, Query(description="Only this table.")] = None
    session: Annotated[str | None, Query(description="Only this session.")] = None
    from_ns: Annotated[Nanoseconds, Query(description="Start of the time span.")] = 0
    to_ns: Annotated[Nanoseconds, Query(description="End of the time span.")] = 2**63 - 1
    piece_ns: Annotated[
        int, Query(ge=MINUTE_NS, le=31 * DAY_NS, description="Length of an interval.")
    ] = HOUR_NS

    def holds(self, at: int) -> bool:
        """Return whether a time is requested."""
        return self.from_ns <= at <= self.to_ns


Asked = Annotated[Span, Depends()]


def _who(request: Request) -> Person:
    who: Person = request.state.person
    return who


def _pieces(request: Request, span: Span) -> Callable[[int], int]:
    """Return a function from a time to the start of its interval, by the house's clocks."""
    house = house_of(request)
    return _begins(lambda at: house.piece_of(at, span.piece_ns))


def _begins(piece_of: Callable[[int], tuple[int, int]]) -> Callable[[int], int]:
    """Return a cached function to the start of an interval, for times in order."""
    begin = end = 0

    def of(at: int) -> int:
        nonlocal begin, end
        if not begin <= at < end:
            begin, end = piece_of(at)
        return begin

    return of


class _Rounds:
    """The settled rounds of a span, the newest first, up to a limit."""

    def __init__(self, request: Request, span: Span) -> None:
        self._index = floor_of(request).index
        self._sought: Sought[RoundRow] = Sought(
            RoundRow,
            before=before_time(span.to_ns),
            table=span.table,
            tables=_who(request).tables,
            session=span.session,
            from_ns=span.from_ns,
        )
        self.complete = True

    async def each(self) -> AsyncIterator[tuple[RoundRow, RoundResult]]:
        """Yield each with its result."""
        seen = 0
        async for placed in newest_first(self._index, self._sought):
            seen += 1
            if seen > MOST_ROUNDS:
                self.complete = False
                return
            if placed.row.result is not None:
                yield placed.row, placed.row.result


@router.get("/api/series/pace", **guarded(Right.SEE_ROUNDS, Series))
async def pace(request: Request, span: Asked) -> Response:
    """Count the settled rounds, and as `of` the time in play, one line a table.

    A session is in play from the opening of its first round in an interval to the end of its last
    one there: a table that stood still for the rest of the day did not deal more slowly.
    """
    counted, rounds, piece = Counted(), _Rounds(request, span), _pieces(request, span)
    played = dict[tuple[str, str, int], tuple[int, int]]()
    async for row, _ in rounds.each():
        counted[row.table, piece(row.at)] += 1
        key = row.table, row.session, piece(row.at)
        begin, end = played.get(key, (row.at, row.at))
        played[key] = min(begin, row.at), max(end, row.closed_at or row.at)
    in_play = Counted()
    for (table, _, at), (begin, end) in played.items():
        in_play[table, at] += end - begin
    units = ("rounds", "nanoseconds in play")
    return give(_series("pace", units, span.piece_ns, counted, in_play, complete=rounds.complete))


@router.get("/api/series/hold", **guarded(Right.SEE_MONEY, Series))
async def hold(request: Request, span: Asked) -> Response:
    """Sum the house's gain and, as `of`, the stakes, in cents, one line a table.

    Rounds with anything open count in neither.
    """
    gained, staked, rounds = Counted(), Counted(), _Rounds(request, span)
    piece = _pieces(request, span)
    async for row, result in rounds.each():
        if row.status == "final" and row.net is not None:
            gained[row.table, piece(row.at)] += row.net
            staked[row.table, piece(row.at)] += _staked(result)
    units = ("cents", "cents staked")
    return give(_series("hold", units, span.piece_ns, gained, staked, complete=rounds.complete))


def _staked(result: RoundResult) -> int:
    return sum(spot.staked for spot in result.spots)


@router.get("/api/balances", **guarded(Right.SEE_MONEY, DayBalances))
async def balances(request: Request, span: Asked) -> Response:
    """Sum what the house still owes and what was paid too much, a row a day and currency.

    Rounds under review and hands that are not settled are in no sum; they are counted apart.
    """
    found, rounds, house = (
        dict[tuple[int, str], Totals](),
        _Rounds(request, span),
        house_of(request),
    )
    day = _begins(lambda at: house.piece_of(at, DAY_NS))
    own = await asyncio.to_thread(video_of(request).recordings.currencies)
    async for row, _ in rounds.each():
        if row.balance is not None:
            key = day(row.at), own.get(row.table, house.currency)
            found[key] = added(found.get(key), totals([(row.status, row.balance)]))
    formats = formats_of(request)
    days = tuple(
        DayBalance(at=at, currency=currency, totals=one, says=formats.still_open(one, currency))
        for (at, currency), one in sorted(found.items(), reverse=True)
    )
    return give(DayBalances(days=days, complete=rounds.complete))


@router.get("/api/series/violations", **guarded(Right.SEE_ROUNDS, Series))
async def violations(
    request: Request,
    span: Asked,
    *,
    by_shift: Annotated[
        bool, Query(description="Whether an interval is a shift of the house.")
    ] = False,
) -> Response:
    """Count mistakes by code, and as `of` the settled rounds; by the house's shifts on request.

    Suspected mistakes are left out until a person decides.

    Pitwatch does not know who deals; a shift is a time of the day. `piece_ns` of an answer by shift
    is the mean length of a shift.
    """
    found, settled, rounds = Counted(), Counter[int](), _Rounds(request, span)
    house = house_of(request)
    piece = _begins(house.shift_of) if by_shift else _pieces(request, span)
    async for row, result in rounds.each():
        settled[piece(row.at)] += 1
        found.update((one.code, piece(row.at)) for one in result.mistakes)
    of = {key: settled[key[1]] for key in found}
    taken = DAY_NS // len(house.shifts) if by_shift else span.piece_ns
    units = ("mistakes", "rounds")
    return give(_series("violations", units, taken, found, of, complete=rounds.complete))


@router.get("/api/series/sensors", **guarded(Right.SEE_TABLES, Series))
async def sensors(request: Request, span: Asked) -> Response:
    """Count unreadable data and faults of sensors, and as `of` their readings.

    A line is a source of a table: `BJ-07 shoe`. Each request reads a portion of the journals: while
    `complete` is false, ask again.
    """
    errors, readings, piece = Counted(), Counted(), _pieces(request, span)
    tallies, complete = await _tallies(request, span)
    for table, tally in tallies:
        for into, counted in ((errors, tally.errors), (readings, tally.readings)):
            for (at, source), many in counted.items():
                if span.holds(at):
                    into[f"{table} {source}", piece(at)] += many
    for key in readings:
        errors[key] += 0
    units = ("errors", "readings")
    return give(_series("sensors", units, span.piece_ns, errors, readings, complete=complete))


async def _tallies(request: Request, span: Span) -> tuple[list[tuple[str, Tally]], bool]:
    """Return the counts of the requested sessions, and whether they are complete."""
    kept = services_of(request).tallies
    found, left, complete = [], AT_ONCE, True
    for session in floor_of(request).sessions():
        is_asked = _is_asked(session, span) and _who(request).sees(session.table)
        if session.table is None or session.fault is not None or not is_asked:
            continue
        tally, read = await kept.of(session, left)
        left = max(0, left - read)
        complete = complete and tally.place.seq >= session.place.seq
        found.append((session.table, tally))
    return found, complete


def _is_asked(session: Session, span: Span) -> bool:
    view = session.view()
    named = span.table in (None, session.table) and span.session in (None, session.name)
    return named and (view.last_at or 0) >= span.from_ns and (view.started_at or 0) <= span.to_ns


def _series(
    name: str,
    units: tuple[str, str | None],
    piece_ns: int,
    values: Mapping[tuple[str, int], int],
    of: Mapping[tuple[str, int], int] | None = None,
    *,
    complete: bool,
) -> Series:
    lines: dict[str, list[Point]] = {}
    for label, at in sorted(values):
        share = None if of is None else of.get((label, at), 0)
        lines.setdefault(label, []).append(Point(at=at, value=values[label, at], of=share))
    return Series(
        name=name,
        unit=units[0],
        of_unit=units[1],
        piece_ns=piece_ns,
        lines=tuple(Line(label, tuple(points[-_MOST_POINTS:])) for label, points in lines.items()),
        complete=complete,
    )
