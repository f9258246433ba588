"""Figures over time, for charts: pace, hold, mistakes by shift, sensors' error rates."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request, Response

from server.service.answers import give
from server.service.guard import guarded
from server.service.people import Right
from server.service.reading_routes import Nanoseconds, floor_of
from server.service.series_views import Line, Point, Series
from server.service.tallies import MINUTE_NS, Tallies, Tally

HOUR_NS: Final = 60 * MINUTE_NS
DAY_NS: Final = 24 * HOUR_NS
_MOST_POINTS: Final = 2000

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Span:
    """Which time is asked for, and in what pieces."""

    table: Annotated[str | None, Query(description="Of this table alone.")] = None
    session: Annotated[str | None, Query(description="Of this session alone.")] = None
    from_ns: Annotated[Nanoseconds, Query(description="From this time on.")] = 0
    to_ns: Annotated[Nanoseconds, Query(description="Up to this time.")] = 2**63 - 1
    piece_ns: Annotated[
        int, Query(ge=MINUTE_NS, le=31 * DAY_NS, description="How long a piece is.")
    ] = HOUR_NS

    def piece(self, at: int) -> int:
        """Return where the piece that a time lies in begins."""
        return at // self.piece_ns * self.piece_ns

    def holds(self, at: int) -> bool:
        """Tell whether a time is asked for."""
        return self.from_ns <= at <= self.to_ns


Asked = Annotated[Span, Depends()]


@router.get("/api/series/pace", **guarded(Right.SEE_ROUNDS, Series))
async def pace(request: Request, span: Asked) -> Response:
    """Count the rounds that were settled, a line a table."""
    counted = Counter[tuple[str, int]]()
    for table, tally in await _tallies(request, span):
        for played in tally.rounds.values():
            if span.holds(played.at):
                counted[table, span.piece(played.at)] += 1
    return give(_series("pace", ("rounds", None), span.piece_ns, counted))


@router.get("/api/series/hold", **guarded(Right.SEE_MONEY, Series))
async def hold(request: Request, span: Asked) -> Response:
    """Sum up the house's gain and, as `of`, what was staked, in cents, a line a table.

    Rounds of which something is still open are left out of both.
    """
    gained, staked = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for table, tally in await _tallies(request, span):
        for played in tally.rounds.values():
            if played.net is not None and span.holds(played.at):
                gained[table, span.piece(played.at)] += played.net
                staked[table, span.piece(played.at)] += played.staked
    return give(_series("hold", ("cents", "cents staked"), span.piece_ns, gained, staked))


@router.get("/api/series/violations", **guarded(Right.SEE_ROUNDS, Series))
async def violations(
    request: Request,
    span: Asked,
    shift_from_ns: Annotated[
        int | None,
        Query(ge=0, lt=DAY_NS, description="When the day's first shift begins, after 0:00 UTC."),
    ] = None,
    shift_ns: Annotated[int, Query(ge=HOUR_NS, le=DAY_NS, description="How long a shift is.")] = 8
    * HOUR_NS,
) -> Response:
    """Count mistakes by code, and as `of` the rounds settled; by shift where one is named.

    Nobody says to Pitwatch who deals; a shift is a time of the day.
    """
    found, rounds = Counter[tuple[str, int]](), Counter[int]()
    first = shift_from_ns

    def piece(at: int) -> int:
        return span.piece(at) if first is None else (at - first) // shift_ns * shift_ns + first

    for _, tally in await _tallies(request, span):
        for played in tally.rounds.values():
            if span.holds(played.at):
                rounds[piece(played.at)] += 1
                found.update((code, piece(played.at)) for code in played.codes)
    of = {key: rounds[key[1]] for key in found}
    taken = span.piece_ns if first is None else shift_ns
    return give(_series("violations", ("mistakes", "rounds"), taken, found, of))


@router.get("/api/series/sensors", **guarded(Right.SEE_TABLES, Series))
async def sensors(request: Request, span: Asked) -> Response:
    """Count what sensors could not read and their faults, and as `of` their readings.

    A line is a source of a table: `BJ-07 shoe`.
    """
    errors, readings = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for table, tally in await _tallies(request, span):
        for into, counted in ((errors, tally.errors), (readings, tally.readings)):
            for (at, source), many in counted.items():
                if span.holds(at):
                    into[f"{table} {source}", span.piece(at)] += many
    for key in readings:
        errors[key] += 0
    return give(_series("sensors", ("errors", "readings"), span.piece_ns, errors, readings))


async def _tallies(request: Request, span: Span) -> list[tuple[str, Tally]]:
    kept: Tallies = request.app.state.tallies
    found = []
    for session in floor_of(request).sessions():
        wanted = span.table in (None, session.table) and span.session in (None, session.name)
        if wanted and session.table is not None and session.fault is None:
            view = session.view()
            if (view.last_at or 0) >= span.from_ns and (view.started_at or 0) <= span.to_ns:
                found.append((session.table, await kept.of(session)))
    return found


def _series(
    name: str,
    units: tuple[str, str | None],
    piece_ns: int,
    values: Mapping[tuple[str, int], int],
    of: Mapping[tuple[str, int], int] | None = None,
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
        lines=tuple(Line(label, tuple(_last(points))) for label, points in lines.items()),
    )


def _last(points: list[Point]) -> Iterable[Point]:
    return points[-_MOST_POINTS:]
