"""Answers as frozen values, and the OpenAPI document of every route's answers."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi

from server.readmodel.citation_views import ViolationSources
from server.readmodel.incidents import IncidentRow, IncidentView
from server.readmodel.round_phases import PhaseBegun
from server.readmodel.series_views import (
    DayBalances,
    Difference,
    RulesInForce,
    RulesRow,
    Series,
    Sheet,
    SheetName,
)
from server.readmodel.views import (
    Finding,
    HandRow,
    HouseView,
    LedgerRow,
    Moment,
    Page,
    PaymentRow,
    ReviewRow,
    RoundRow,
    SeenMoment,
    SessionView,
    TableView,
    ViolationRow,
)
from server.service.access.accounts import Account, FactorState, SignedIn
from server.service.access.activity import PersonActed
from server.service.access.passwords import PasswordState
from server.service.access.second_factor import Enrolment, Recovery
from server.service.access.tokens import Token
from server.service.evidence.footage import FootageView
from server.service.http.problems import MEDIA_TYPE, ProblemDocument
from server.table.answering import Answered
from server.table.resolving import Handed
from settlement.clauses import Clause
from stream.checkpoints import Checkpoint

_REF: Final = "#/components/schemas/{name}"
_NO_STORE: Final = {"Cache-Control": "no-store"}


class Health(msgspec.Struct, frozen=True):
    """Whether the service lives, and whether it has read every journal once."""

    state: str


class Me(msgspec.Struct, frozen=True):
    """The account behind a request."""

    name: str
    role: str
    rights: tuple[str, ...]
    second_factor: FactorState
    password: PasswordState
    """``due``: it must be changed before anything else."""


class MadeToken(msgspec.Struct, frozen=True):
    """A new token. Its secret is shown only this once."""

    token: Token
    secret: str


class Events(msgspec.Struct, frozen=True):
    """Some of a session's events, as the stream's schema defines them."""

    events: tuple[msgspec.Raw, ...]
    last: int
    """The last examined event: the next request continues after it."""


_KNOWN: Final[Sequence[Any]] = (
    str,
    Health,
    Events,
    Me,
    MadeToken,
    SignedIn,
    Enrolment,
    Recovery,
    Account,
    Token,
    TableView,
    SessionView,
    Finding,
    HouseView,
    Moment,
    SeenMoment,
    RoundRow,
    ProblemDocument,
    tuple[Account, ...],
    tuple[Token, ...],
    FootageView,
    tuple[Clause, ...],
    tuple[str, ...],
    tuple[TableView, ...],
    tuple[SessionView, ...],
    tuple[PhaseBegun, ...],
    Page[RoundRow],
    Page[HandRow],
    Page[ViolationRow],
    Page[ReviewRow],
    Page[PaymentRow],
    Page[LedgerRow],
    Page[PersonActed],
    IncidentRow,
    IncidentView,
    Page[IncidentRow],
    DayBalances,
    Series,
    Sheet,
    tuple[SheetName, ...],
    tuple[Difference, ...],
    RulesInForce,
    tuple[RulesRow, ...],
    tuple[ViolationSources, ...],
    Answered,
    Handed,
    tuple[Checkpoint, ...],
)
_SCHEMAS, _COMPONENTS = msgspec.json.schema_components(_KNOWN, ref_template=_REF)
_SCHEMA_OF: Final[Mapping[Any, Any]] = dict(zip(_KNOWN, _SCHEMAS, strict=True))


def give(value: object, status: int = 200) -> Response:
    """Return a value as JSON, marked as not cacheable."""
    return Response(msgspec.json.encode(value), status, _NO_STORE, media_type="application/json")


def file_name(text: str) -> str:
    """Return a name that is a valid file name on every system."""
    return "".join(
        one if one.isascii() and (one.isalnum() or one in "-._") else "_" for one in text
    )


def responses_of(
    model: Any, status: int, problems: Mapping[int, str], media_type: str = "application/json"
) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a route's answers.

    Args:
        model: a type of this module's list; ``None`` for an answer without a body.
        status: the status of success.
        problems: the meanings of the other statuses.
        media_type: the answer's media type.
    """
    content = {} if model is None else _content(media_type, _SCHEMA_OF[model])
    refusals: dict[int | str, dict[str, Any]] = {
        code: {"description": text} | _content(MEDIA_TYPE, _SCHEMA_OF[ProblemDocument])
        for code, text in problems.items()
    }
    return {status: {"description": "The requested data."} | content} | refusals


def _content(media_type: str, schema: Any) -> dict[str, Any]:
    return {"content": {media_type: {"schema": schema}}}


def document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of ``app``, with the schemas of its answers."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        _add_limits(made["paths"])
        components = made.setdefault("components", {})
        components["schemas"] = {**components.get("schemas", {}), **_COMPONENTS}
        components["securitySchemes"] = {
            "session": {"type": "apiKey", "in": "cookie", "name": "pitwatch"},
            "token": {"type": "http", "scheme": "bearer"},
        }
        app.openapi_schema = made
    return app.openapi_schema


def _add_limits(paths: Mapping[str, Any]) -> None:
    """Add the guard's possible answers to every route."""
    refusals = {
        "411": "The request has no Content-Length.",
        "413": "The body is too long.",
        "429": "Too many requests; Retry-After gives the seconds to wait.",
        "503": "Too many connections are open for this account.",
    }
    for operations in paths.values():
        for operation in operations.values():
            for status, text in refusals.items():
                response = {"description": text} | _content(MEDIA_TYPE, _SCHEMA_OF[ProblemDocument])
                operation["responses"].setdefault(status, response)
