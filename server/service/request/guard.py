"""The one place that checks rights and records actions."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import urlsplit

from fastapi import Depends, WebSocketException, status
from starlette.requests import HTTPConnection

from server.service.access.accounts import Accounts
from server.service.access.activity import Outcome, PersonActed
from server.service.access.people import Person, Right
from server.service.access.records import Records
from server.service.http.limits import limited_as
from server.service.http.problems import Problem, retry_after
from server.service.request.answers import responses_of
from server.service.request.services import services_of

COOKIE: Final = "pitwatch"
CSRF_HEADER: Final = "X-CSRF-Token"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST_TARGET: Final = 500
_AGAIN_NS: Final = 2_000_000_000

_REFUSALS: Final = {
    401: "Nobody is signed in, or the session or token has ended.",
    403: "This account or token lacks the right, or the CSRF token is missing.",
    422: "A field is invalid; nothing was changed.",
}


def guarded(
    right: Right,
    model: Any = None,
    *,
    status: int = 200,
    problems: dict[int, str] | None = None,
    action: str | None = "saw",
    media_type: str = "application/json",
    is_in_person: bool = False,
) -> dict[str, Any]:
    """Return a route's guard: nobody passes without ``right``.

    Args:
        right: the right.
        model: the route's answer; see :func:`server.service.request.answers.responses_of`.
        status: the status of success.
        problems: its other possible answers.
        action: the recorded action; ``None`` where the route records it itself, once done.
        media_type: the answer's media type.
        is_in_person: whether a token is refused, whatever its scopes.
    """
    checks = [Depends(_checked(right, action))]
    if is_in_person:
        checks.append(Depends(_check_in_person))
    ways: list[dict[str, list[str]]] = [{"session": []}]
    if not is_in_person:
        ways.append({"token": []})
    return {
        "dependencies": checks,
        "responses": responses_of(model, status, _REFUSALS | (problems or {}), media_type),
        "status_code": status,
        "openapi_extra": {"security": ways, "x-right": str(right)},
    }


def _check_in_person(connection: HTTPConnection) -> None:
    if connection.state.person.by != "session":
        raise Problem(403, "a token cannot do this; sign in")


def watched(right: Right) -> list[Any]:
    """Return the dependencies of a WebSocket that requires ``right``."""
    return [Depends(_checked(right, "watched"))]


def _checked(right: Right, action: str | None) -> Callable[[HTTPConnection], Awaitable[None]]:
    async def check(connection: HTTPConnection) -> None:
        try:
            connection.state.person = await _passed(connection, right, action)
        except Problem as refused:
            if connection.scope["type"] != "websocket":
                raise
            raise WebSocketException(status.WS_1008_POLICY_VIOLATION, refused.detail) from refused

    return check


async def _passed(connection: HTTPConnection, right: Right, action: str | None) -> Person:
    person = await authority(connection)
    await _limit(connection, "account", person.name)
    if not person.may(right):
        await note(connection, person.name, person.by, action or "tried", outcome="refused")
        raise Problem(403, f"{person.role} lacks the right {right}; ask an administrator")
    if right is Right.TAKE_OUT:
        _check_whole(connection)
    await _check_seen(connection, person, action or "tried")
    if not _is_read(connection):
        await _check_recordable(connection)
    if action is not None:
        await note(connection, person.name, person.by, action, is_read=_is_read(connection))
    return person


def _check_whole(connection: HTTPConnection) -> None:
    """Refuse to give away what would lack rounds: a file does not say that it is a part."""
    read = services_of(connection).reading()
    if read is not None:
        detail = f"the journals are still being read ({read}), and a file would lack the rest"
        raise Problem(503, f"{detail}; try again soon", retry_after(_AGAIN_NS))


async def _check_seen(connection: HTTPConnection, person: Person, action: str) -> None:
    """Refuse a route about a table that this person may not see, as if it did not exist."""
    if person.tables is None:
        return
    asked = connection.path_params
    session = asked.get("session") or asked.get("incident", "").rpartition(".")[0]
    table = asked.get("table")
    if session:
        found = services_of(connection).floor.session(session)
        table = None if found is None else found.table
    elif table is None:
        return
    if not person.sees(table):
        await note(connection, person.name, person.by, action, outcome="refused")
        raise Problem(404, "this account may see no such table, session or incident")


async def limit_sign_ins(connection: HTTPConnection) -> None:
    """Refuse too frequent attempts; raises ``Problem`` 429, which is recorded."""
    try:
        await _limit(connection, "sign_in", limited_as(address_of(connection)))
    except Problem:
        await note(
            connection,
            "",
            "password",
            "signed_in",
            outcome="refused",
            target="too often",
            is_stranger=True,
        )
        raise


async def _limit(connection: HTTPConnection, kind: str, who: str) -> None:
    state = services_of(connection)
    wait_ns = await state.limiters[kind].wait_ns(who)
    if wait_ns:
        state.meters.limited.labels(kind).inc()
        raise Problem(429, f"too many requests of this {kind}; wait", retry_after(wait_ns))


async def authority(connection: HTTPConnection) -> Person:
    """Return the person behind a request, by token or session.

    Raises:
        Problem: 401 unknown; 403 a session's unsafe request without its CSRF token, or a WebSocket
            opened by another site's page.
    """
    scheme, _, secret = connection.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _known(await records_of(connection).authority(lambda kept: kept.by_token(secret)))
    session = connection.cookies.get(COOKIE)
    if not session:
        raise _unknown()
    csrf = connection.headers.get(CSRF_HEADER)

    def find(kept: Accounts) -> tuple[Person, bool] | None:
        return kept.by_session(session, csrf)

    found = await records_of(connection).authority(find)
    if found is None:
        raise _unknown()
    person, is_own_page = found
    if is_of_another_site(connection) or not (is_own_page or _is_safe(connection)):
        raise Problem(403, f"send the {CSRF_HEADER} given at sign-in, from the service's own page")
    return person


def is_of_another_site(connection: HTTPConnection) -> bool:
    """Return whether the browser reports a request from another site's page."""
    origin = connection.headers.get("Origin")
    return origin is not None and urlsplit(origin).netloc != connection.headers.get("Host")


async def _check_recordable(connection: HTTPConnection) -> None:
    """Refuse an action that cannot be recorded before it is done."""
    fault = await records_of(connection).fault(services_of(connection).clock.now_ns())
    if fault is not None:
        raise fault


def _is_read(connection: HTTPConnection) -> bool:
    return connection.scope["type"] == "websocket" or connection.scope["method"] in _SAFE


def _is_safe(connection: HTTPConnection) -> bool:
    if connection.scope["type"] == "websocket":
        return "Origin" in connection.headers
    return connection.scope["method"] in _SAFE


def _known(person: Person | None) -> Person:
    if person is None:
        raise _unknown()
    return person


def _unknown() -> Problem:
    return Problem(401, "sign in, or send a token that is valid", {"WWW-Authenticate": "Bearer"})


async def note(
    connection: HTTPConnection,
    person: str,
    by: str,
    action: str,
    *,
    outcome: Outcome = "done",
    target: str | None = None,
    is_read: bool = False,
    is_stranger: bool = False,
) -> None:
    """Record an action; durable before the answer.

    Where the disk refuses that, a read is answered and counted, and everything else refused. Of a
    stranger's attempts the first is written, and those within the following minute are counted.
    """
    clock = services_of(connection).clock
    shown = connection.url.path + ("?" + connection.url.query if connection.url.query else "")
    event = PersonActed(
        at=clock.now_ns(),
        person=person[:_LONGEST_TARGET],
        by=by,
        action=action,
        target=(shown if target is None else target)[:_LONGEST_TARGET],
        outcome=outcome,
        address=address_of(connection),
    )
    records = records_of(connection)
    if is_stranger:
        await records.note_stranger(event)
    else:
        await (records.note_read if is_read else records.note)(event)


def address_of(connection: HTTPConnection) -> str:
    """Return the client's network address."""
    return connection.client.host if connection.client else ""


def records_of(connection: HTTPConnection) -> Records:
    """Return the service's records."""
    return services_of(connection).records


def _present(connection: HTTPConnection) -> Person:
    person: Person = connection.state.person
    return person


Who: TypeAlias = Annotated[Person, Depends(_present)]
"""The person behind a request that has passed the guard."""
