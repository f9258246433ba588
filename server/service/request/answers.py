"""Answers as frozen values, and the OpenAPI document of every route's answers."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec
from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi

from server.service.access.accounts import FactorState
from server.service.access.passwords import PasswordState
from server.service.access.tokens import Token
from server.service.http.problems import MEDIA_TYPE, ProblemDocument

_REF: Final = "#/components/schemas/{name}"
_EXAMPLES: Final[Mapping[str, object]] = {
    "at": 1780341240000000000,
    "camera": "overhead",
    "incident": "bj-07.1",
    "item": 0,
    "key": "5d41402a",
    "name": "kim",
    "number": 1,
    "other": "home",
    "rulebook": "kansas-shoe",
    "seq": 20,
    "session": "bj-07",
    "table": "BJ-07",
    "time": "2026-06-01T21:14:00+02:00",
    "what": "BJ-07 at 21:14",
}
"""A value of every required parameter that has no list of values."""
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


_COMPONENTS: Final[dict[str, Any]] = {}
"""The schemas of all records that the routes' answers name."""


@cache
def _schema_of(model: Any) -> dict[str, Any]:
    (schema,), components = msgspec.json.schema_components((model,), ref_template=_REF)
    _COMPONENTS.update(components)
    return schema


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
        model: the type of the answer; ``None`` for an answer without a body.
        status: the status of success.
        problems: the meanings of the other statuses.
        media_type: the answer's media type.
    """
    content = {} if model is None else _content(media_type, _schema_of(model))
    refusals: dict[int | str, dict[str, Any]] = {
        code: {"description": text} | _content(MEDIA_TYPE, _schema_of(ProblemDocument))
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
        _add_examples(made["paths"])
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
        "503": "The service has as many connections as it can serve.",
    }
    for operations in paths.values():
        for operation in operations.values():
            for status, text in refusals.items():
                response = {"description": text} | _content(MEDIA_TYPE, _schema_of(ProblemDocument))
                operation["responses"].setdefault(status, response)


def _add_examples(paths: Mapping[str, Any]) -> None:
    """Add an example to every required parameter; a body has that of its type."""
    for operations in paths.values():
        for operation in operations.values():
            for one in operation.get("parameters", ()):
                if one["required"]:
                    values = one["schema"].get("enum")
                    one["example"] = values[0] if values else _EXAMPLES[one["name"]]
