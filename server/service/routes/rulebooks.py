"""House rules: the shipped sheets, those in force at a table, and their changes."""

from collections.abc import Iterable
from typing import Final

from fastapi import APIRouter, Request, Response

from models.rulebook import Citation, Cited, Rulebook
from server.house.rulebooks import shipped
from server.readmodel.series_views import (
    Difference,
    Knob,
    RulesInForce,
    RulesRow,
    Sheet,
    SheetName,
)
from server.readmodel.session import Session
from server.service.access.people import Right
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.guard import guarded
from server.service.request.rules import InForce, in_force, rules_of, shipped_sheet
from server.service.request.sessions import floor_of, session_of
from settlement import rulebooks

_NO_SHEET: Final = {404: "No shipped rulebook has that id."}
_NO_RULES: Final = {404: "There is no such session, or no rules are known of it yet."}

router = APIRouter()


@router.get("/api/rulebooks", **guarded(Right.SEE_TABLES, tuple[SheetName, ...]))
async def sheets() -> Response:
    """List the shipped sheets."""
    return give(tuple(SheetName(book.rules.id, book.title) for book in shipped()))


@router.get("/api/rulebooks/{rulebook}", **guarded(Right.SEE_TABLES, Sheet, problems=_NO_SHEET))
async def sheet(rulebook: str) -> Response:
    """Show one sheet, every rule with its citation."""
    book = _book(rulebook)
    return give(_sheet(book, book.rules))


@router.get(
    "/api/rulebooks/{rulebook}/differences/{other}",
    **guarded(Right.SEE_TABLES, tuple[Difference, ...], problems=_NO_SHEET),
)
async def sheet_differences(rulebook: str, other: str) -> Response:
    """Show the rules in which two sheets differ: `was` in the first, `now` in the other."""
    return give(_differences(_book(rulebook).rules, _book(other).rules))


@router.get(
    "/api/sessions/{session}/rulebook",
    **guarded(Right.SEE_TABLES, RulesInForce, problems=_NO_RULES),
)
async def session_rules(request: Request, session: str) -> Response:
    """Show the rules in force in a session."""
    found = session_of(request, session)
    rows = await _rows(request, [found])
    if not rows:
        raise Problem(404, "no rules are known of this session yet")
    row, last = rows[-1]
    rules, book = rules_of(last), shipped_sheet(last.rulebook)
    whole = None if rules is None or book is None else _sheet(book, rules)
    return give(RulesInForce(in_force=row, sheet=whole or _bare_sheet(rules)))


@router.get(
    "/api/tables/{table}/rules",
    **guarded(Right.SEE_TABLES, tuple[RulesRow, ...], problems={404: "There is no such table."}),
)
async def table_rules(request: Request, table: str) -> Response:
    """List the rules that came into force at a table, the oldest first, with each change."""
    own = floor_of(request).of_table(table)
    if not own:
        raise Problem(404, "there is no such table")
    return give(tuple(row for row, _ in await _rows(request, own)))


async def _rows(request: Request, sessions: Iterable[Session]) -> list[tuple[RulesRow, InForce]]:
    every = [(session, await in_force(request, session)) for session in sessions]
    known = [(session, found) for session, found in every if found is not None]
    rows: list[tuple[RulesRow, InForce]] = []
    before: Rulebook | None = None
    for session, found in sorted(known, key=lambda pair: pair[1].at):
        rules = rules_of(found)
        changes = None if before is None or rules is None else _differences(before, rules)
        if not rows or changes is None or changes or rows[-1][1].rulebook != found.rulebook:
            rows.append((_row(session, found, changes), found))
        before = rules
    return rows


def _row(session: Session, found: InForce, changes: tuple[Difference, ...] | None) -> RulesRow:
    rules = rules_of(found)
    return RulesRow(
        session=session.name,
        table=session.table or session.name,
        at=found.at,
        seq=found.seq,
        rulebook=found.rulebook,
        overrides={} if rules is None else rules.overrides,
        rules_hash=None if rules is None else rulebooks.rules_hash(rules),
        is_stated=found.stated is not None,
        changes=changes,
    )


def _book(name: str) -> Cited:
    book = shipped_sheet(name)
    if book is None:
        raise Problem(404, f"no shipped rulebook is called {name!r}")
    return book


def _differences(one: Rulebook, other: Rulebook) -> tuple[Difference, ...]:
    return tuple(Difference(*found) for found in rulebooks.differences(one, other))


def _sheet(book: Cited, rules: Rulebook) -> Sheet:
    """Return a sheet as a table plays it: an overridden rule has no citation in the sheet."""
    changed = {knob for knob, _, _ in rulebooks.differences(book.rules, rules)}
    return Sheet(
        id=rules.id,
        title=book.title,
        document=book.document,
        knobs=tuple(
            _knob(knob, rules, None if knob in changed else book.citations[knob])
            for knob in rulebooks.KNOBS
        ),
    )


def _bare_sheet(rules: Rulebook | None) -> Sheet | None:
    """Return a site's own sheet: its rules are known, its words are not."""
    if rules is None:
        return None
    knobs = tuple(_knob(knob, rules, None) for knob in rulebooks.KNOBS)
    return Sheet(id=rules.id, title=rules.id, document="the site's own", knobs=knobs)


def _knob(knob: str, rules: Rulebook, citation: Citation | None) -> Knob:
    value = rulebooks.shown(rulebooks.value(rules, knob))
    if citation is None:
        return Knob(knob=knob, value=value, source="changed")
    return Knob(
        knob=knob,
        value=value,
        source=citation.source,
        document=citation.document,
        section=citation.section,
        quote=citation.quote,
        reason=citation.reason,
    )
