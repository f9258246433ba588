"""Refusals of requests: problem documents, RFC 9457."""

import http
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from models.errors import InputRefused, OperatorError, PitwatchError, TechnicianError

Needs: TypeAlias = Literal["code"] | msgspec.UnsetType
MEDIA_TYPE: Final = "application/problem+json"


class ProblemDocument(msgspec.Struct, frozen=True):
    """The reason of a refusal, for people."""

    status: int
    title: str
    detail: str
    needs: Needs = msgspec.UNSET
    """Present where the password was right and a code is required."""


class Problem(Exception):
    """Refuses a request, with a sentence that gives the way out."""

    def __init__(
        self,
        status: int,
        detail: str,
        headers: Mapping[str, str] | None = None,
        *,
        needs: Needs = msgspec.UNSET,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})
        self.needs = needs


def answer(
    status: int,
    detail: str,
    headers: Mapping[str, str] | None = None,
    needs: Needs = msgspec.UNSET,
) -> Response:
    """Return a problem document."""
    document = ProblemDocument(status, http.HTTPStatus(status).phrase, detail, needs)
    return Response(
        msgspec.json.encode(document), status, dict(headers or {}), media_type=MEDIA_TYPE
    )


def retry_after(wait_ns: int) -> dict[str, str]:
    """Return the header with the wait in whole seconds."""
    return {"Retry-After": str(max(-(-wait_ns // 1_000_000_000), 1))}


def install(app: FastAPI) -> None:
    """Make ``app`` answer every refusal with a problem document."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(PitwatchError, _refused)
    app.add_exception_handler(Exception, _broken)


def _problem(_: Request, refused: Exception) -> Response:
    assert isinstance(refused, Problem)
    return answer(refused.status, refused.detail, refused.headers, refused.needs)


def _http(_: Request, refused: Exception) -> Response:
    assert isinstance(refused, HTTPException)
    # A body that cannot be parsed is refused like one with a wrong field.
    status = 422 if refused.status_code == 400 else refused.status_code
    return answer(status, str(refused.detail), refused.headers)


def _invalid(_: Request, refused: Exception) -> Response:
    """Name the wrong field, never its value: it may be a password."""
    assert isinstance(refused, RequestValidationError)
    faults = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in refused.errors()]
    return answer(422, "; ".join(faults))


def _refused(_: Request, refused: Exception) -> Response:
    assert isinstance(refused, PitwatchError)
    status = next((_STATUS[kind] for kind in type(refused).__mro__ if kind in _STATUS), 500)
    return answer(status, f"{refused.what}. {refused.way_out}")


def _broken(_: Request, __: Exception) -> Response:
    return answer(500, "internal error; see the service's log")


_STATUS: Final[Mapping[type, int]] = {
    InputRefused: 422,
    OperatorError: 409,
    TechnicianError: 503,
}
