"""Signed reports of a session and of an incident, as HTML or PDF."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

from fastapi import APIRouter, Request, Response

from server.bundle.manifest import Head, Manifest
from server.house.citations import Book
from server.house.rules_in_force import name_of
from server.readmodel.incidents import incidents
from server.readmodel.selection import Sought
from server.readmodel.session import Session
from server.readmodel.views import (
    LedgerRow,
    ReviewRow,
    RoundRow,
    Row,
    SessionView,
    ViolationRow,
)
from server.report.as_page import POLICY, as_page
from server.report.certificate import Identity, identity_in
from server.report.document import Document
from server.report.signature import report_of, signed_page, signed_paper
from server.service.access.people import Person, Right
from server.service.evidence.reports import (
    IncidentMatter,
    Made,
    SessionMatter,
    incident_report,
    session_report,
)
from server.service.evidence.round_pictures import round_pictures
from server.service.evidence.video import Found
from server.service.http.problems import Problem
from server.service.request.answers import file_name
from server.service.request.guard import Who, guarded
from server.service.request.house import formats_of, house_of
from server.service.request.incidents import cases_of, the_round, view_of
from server.service.request.recordings import recording_of, video_of
from server.service.request.rules import book_of
from server.service.request.services import services_of
from server.service.request.sessions import floor_of, session_of, shown
from stream.signing import Signer

Form: TypeAlias = Literal["html", "pdf"]
KEY_FILE: Final = "report.key"
MOST_ROWS: Final = 20_000
_MEDIA: Final[Mapping[Form, str]] = {"html": "text/html; charset=utf-8", "pdf": "application/pdf"}

router = APIRouter()
R = TypeVar("R", bound=Row)


def report_signer(state: Path) -> Signer:
    """Return the key that signs this service's reports; the first start creates it.

    Raises:
        InstallerError: the file is no key, or others can read it.
        OperatorError: it cannot be written.
    """
    path = state / KEY_FILE
    return Signer.read(path) if path.exists() else Signer.create(path)


def report_identity(state: Path, signer: Signer, now_ns: int) -> Identity:
    """Return the signer of this service's PDFs for PDF readers; raises as :func:`identity_in`."""
    return identity_in(state, f"Pitwatch reports {signer.fingerprint[:16]}", now_ns)


def _reporting(what: str) -> dict[str, Any]:
    needed = guarded(
        Right.TAKE_OUT,
        problems={404: f"There is no such {what}.", 409: "It is too long for one report."},
        action="reported",
    )
    file = {"schema": {"type": "string", "format": "binary"}}
    needed["responses"][200] = {
        "description": "The report, signed.",
        "content": dict.fromkeys(_MEDIA.values(), file),
    }
    return needed


@router.get("/api/sessions/{session}/report.{form}", **_reporting("session"))
async def report_session(request: Request, who: Who, session: str, form: Form) -> Response:
    """Return the report of a session: result, mistakes, decisions, incidents, rounds."""
    _check_rights(who)
    found = session_of(request, session)
    made = _made(request, who)
    async with video_of(request).turns:
        matter = SessionMatter(
            session=found.view(),
            rulebook=_named(await book_of(request, found)),
            rounds=await _rows(request, who, found, RoundRow),
            violations=await _rows(request, who, found, ViolationRow),
            reviews=await _rows(request, who, found, ReviewRow),
            incidents=[
                (row, cases_of(request).of(row.id).history)
                async for _, row in incidents(
                    floor_of(request), cases_of(request), Sought(RoundRow, session=found.name)
                )
            ],
            currency=_currency(
                request, await recording_of(request, found, found.view().started_at or 0)
            ),
        )
        return await _answer(request, session_report(matter, made), form, session, matter.session)


@router.get("/api/incidents/{incident}/report.{form}", **_reporting("incident"))
async def report_incident(request: Request, who: Who, incident: str, form: Form) -> Response:
    """Return the report of an incident: the round to the cent, mistakes, decisions, pictures."""
    _check_rights(who)
    session, row = the_round(request, incident)
    made = _made(request, who)
    recording = await recording_of(request, session, row.at)
    matter = IncidentMatter(
        view=view_of(request, who, incident),
        session=session.view(),
        book=await book_of(request, session),
        ledger=await _rows(request, who, session, LedgerRow, row.round),
        evidence=await round_pictures(
            floor_of(request),
            session,
            row,
            who,
            recording=recording,
            turns=video_of(request).turns,
        ),
        currency=_currency(request, recording),
    )
    async with video_of(request).turns.next():  # its pictures were admitted already
        view = matter.session
        return await _answer(request, incident_report(matter, made), form, incident, view)


@router.get(
    "/api/report-key", **guarded(Right.SEE_TABLES, str, media_type="application/x-pem-file")
)
async def report_key(request: Request) -> Response:
    """Return the public key that signs this service's reports."""
    return Response(services_of(request).signer.public_pem(), media_type="application/x-pem-file")


@router.get(
    "/api/report-certificate",
    **guarded(Right.SEE_TABLES, str, media_type="application/x-pem-file"),
)
async def report_certificate(request: Request) -> Response:
    """Return the certificate of this service's PDF reports, with its issuers'."""
    return Response(services_of(request).identity.pem(), media_type="application/x-pem-file")


def _check_rights(who: Person) -> None:
    for right in (Right.SEE_ROUNDS, Right.SEE_MONEY):
        if not who.may(right):
            raise Problem(403, f"a report also requires the right {right}")


def _made(request: Request, who: Person) -> Made:
    return Made(who.name, services_of(request).clock.now_ns(), formats_of(request))


def _currency(request: Request, recording: Found | None) -> str:
    """Return a table's currency, which may differ from the house's."""
    return house_of(request).currency if recording is None else recording.description.currency


async def _answer(
    request: Request, document: Document, form: Form, name: str, view: SessionView
) -> Response:
    head = Head(name=view.session, entries=view.last_seq, head=view.head)
    manifest = report_of(f"report of {name}", document.made_ns, head)
    content = await asyncio.to_thread(_signed, request, document, form, manifest)
    shown_as = "inline" if form == "html" else "attachment"
    headers = {
        "Content-Disposition": f'{shown_as}; filename="{file_name(name)}-report.{form}"',
        "Content-Security-Policy": POLICY,
        "Cache-Control": "no-store",
    }
    return Response(content, headers=headers, media_type=_MEDIA[form])


def _signed(request: Request, document: Document, form: Form, manifest: Manifest) -> bytes:
    services = services_of(request)
    if form == "html":
        return signed_page(as_page(document), manifest, services.signer)
    from server.report.as_paper import as_paper

    return signed_paper(as_paper(document), manifest, services.signer, services.identity)


async def _rows(
    request: Request, who: Person, session: Session, kind: type[R], number: int | None = None
) -> list[R]:
    fields = () if number is None else (("round", number),)
    sought: Sought[R] = Sought(kind, session=session.name, fields=fields)
    rows: list[R] = []
    while found := await floor_of(request).index.look_up(sought, 1000):
        rows += [shown(session, placed.row, who) for placed in found]
        sought = replace(sought, before=found[-1].key)
        if len(rows) > MOST_ROWS:
            raise Problem(409, f"more than {MOST_ROWS} rows: use an export instead")
    return rows


def _named(book: Book | None) -> str:
    return "not known" if book is None else f"{name_of(book.rules).text}: {book.cited.title}"
