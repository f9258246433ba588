"""Every route, every role: who may ask what, from one table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from server.service.access.people import RIGHTS, Right, Role
from server.service.app import Setup, make_app
from stream.clock import SimulatedClock
from tests.server.service.house import House

NOBODY: Final = "nobody"
EVERYBODY: Final = frozenset({NOBODY, *Role})
STAFF: Final = frozenset(Role)
TABLES: Final = frozenset({Role.SURVEILLANCE, Role.PIT, Role.AUDIT})
AT_THE_INCIDENTS: Final = frozenset({Role.SURVEILLANCE, Role.PIT})
TECHNICAL: Final = frozenset({Role.ENGINEER, Role.ADMIN})
ADMIN: Final = frozenset({Role.ADMIN})

MAY: Final[dict[tuple[str, str], frozenset[str]]] = {
    ("GET", "/health"): EVERYBODY,
    ("GET", "/ready"): EVERYBODY,
    ("GET", "/api/openapi.json"): EVERYBODY,
    ("GET", "/api/docs"): EVERYBODY,
    ("GET", "/api/schema/events"): EVERYBODY,
    ("GET", "/api/asyncapi.json"): EVERYBODY,
    ("POST", "/api/sign-in"): EVERYBODY,
    ("GET", "/metrics"): TECHNICAL,
    ("POST", "/api/checkpoints"): TECHNICAL,
    ("GET", "/api/tables/{table}/checkpoints"): TECHNICAL,
    ("POST", "/api/sign-out"): STAFF,
    ("GET", "/api/me"): STAFF,
    ("POST", "/api/me/password"): STAFF,
    ("GET", "/api/tokens"): STAFF,
    ("POST", "/api/tokens"): STAFF,
    ("DELETE", "/api/tokens/{key}"): STAFF,
    ("POST", "/api/me/second-factor"): STAFF,
    ("POST", "/api/me/second-factor/confirmation"): STAFF,
    ("POST", "/api/me/second-factor/removal"): STAFF,
    ("DELETE", "/api/accounts/{name}/second-factor"): ADMIN,
    ("GET", "/api/accounts"): ADMIN,
    ("POST", "/api/accounts"): ADMIN,
    ("PATCH", "/api/accounts/{name}"): ADMIN,
    ("GET", "/api/accounts/{name}/tokens"): ADMIN,
    ("DELETE", "/api/accounts/{name}/tokens/{key}"): ADMIN,
    ("GET", "/api/activity"): frozenset({Role.AUDIT, Role.ADMIN}),
    ("GET", "/api/tables"): STAFF,
    ("GET", "/api/tables/{table}"): STAFF,
    ("POST", "/api/tables/{table}/entries"): AT_THE_INCIDENTS,
    ("GET", "/api/sessions"): STAFF,
    ("GET", "/api/sessions/{session}"): STAFF,
    ("GET", "/api/sessions/{session}/events"): TABLES,
    ("GET", "/api/sessions/{session}/rounds/{number}"): TABLES,
    ("GET", "/api/sessions/{session}/rounds/{number}/phases"): TABLES,
    ("GET", "/api/sessions/{session}/rounds/{number}/verdicts"): TABLES,
    ("GET", "/api/sessions/{session}/stream"): TABLES,
    ("GET", "/api/stream"): TABLES,
    ("GET", "/api/tables/{table}/rounds/at/{time}"): TABLES,
    ("GET", "/api/house"): STAFF,
    ("GET", "/api/find"): TABLES,
    ("GET", "/api/rounds"): TABLES,
    ("GET", "/api/hands"): TABLES,
    ("GET", "/api/violations"): TABLES,
    ("GET", "/api/reviews"): TABLES,
    ("GET", "/api/payments"): TABLES,
    ("GET", "/api/ledger"): TABLES,
    ("GET", "/api/clauses"): STAFF,
    ("GET", "/api/sentences"): STAFF,
    ("GET", "/api/sessions/{session}/footage"): TABLES,
    ("GET", "/api/sessions/{session}/rounds/{number}/footage"): TABLES,
    ("GET", "/api/sessions/{session}/rounds/{number}/clips/{camera}"): TABLES,
    ("GET", "/api/sessions/{session}/rounds/{number}/snapshots/{camera}"): TABLES,
    ("GET", "/api/sessions/{session}/pictures/{camera}"): TABLES,
    ("GET", "/api/sessions/{session}/live/{camera}"): TABLES,
    ("GET", "/api/sessions/{session}/cards/{seq}"): TABLES,
    ("GET", "/api/sessions/{session}/moments/{seq}"): TABLES,
    ("GET", "/api/incidents"): TABLES,
    ("POST", "/api/incidents"): AT_THE_INCIDENTS,
    ("GET", "/api/incidents/stream"): TABLES,
    ("GET", "/api/incidents/{incident}"): TABLES,
    ("GET", "/api/incidents/{incident}/evidence.zip"): frozenset({Role.SURVEILLANCE}),
    ("GET", "/api/exports/{kind}.{form}"): TABLES,
    ("GET", "/api/sessions/{session}/report.{form}"): TABLES,
    ("GET", "/api/incidents/{incident}/report.{form}"): TABLES,
    ("GET", "/api/report-key"): STAFF,
    ("GET", "/api/report-certificate"): STAFF,
    ("GET", "/api/series/pace"): TABLES,
    ("GET", "/api/series/hold"): TABLES,
    ("GET", "/api/balances"): TABLES,
    ("GET", "/api/series/violations"): TABLES,
    ("GET", "/api/series/sensors"): STAFF,
    ("GET", "/api/rulebooks"): STAFF,
    ("GET", "/api/rulebooks/{rulebook}"): STAFF,
    ("GET", "/api/rulebooks/{rulebook}/differences/{other}"): STAFF,
    ("GET", "/api/sessions/{session}/rulebook"): STAFF,
    ("GET", "/api/tables/{table}/rules"): STAFF,
    ("POST", "/api/incidents/{incident}/assignment"): AT_THE_INCIDENTS,
    ("GET", "/api/incidents/{incident}/reviews/{item}/answers"): TABLES,
    ("POST", "/api/incidents/{incident}/reviews/{item}/decision"): AT_THE_INCIDENTS,
    ("POST", "/api/incidents/{incident}/reviews/{item}/approval"): AT_THE_INCIDENTS,
    ("POST", "/api/incidents/{incident}/ruling/approval"): AT_THE_INCIDENTS,
    ("POST", "/api/incidents/{incident}/comments"): AT_THE_INCIDENTS,
    ("POST", "/api/incidents/{incident}/closing"): AT_THE_INCIDENTS,
    ("POST", "/api/incidents/{incident}/reopening"): AT_THE_INCIDENTS,
}
FILLED: Final = {
    "incident": "bj-07.1",
    "item": "0",
    "camera": "overhead",
    "seq": "1",
    "kind": "rounds",
    "form": "csv",
    "rulebook": "home",
    "other": "kansas-shoe",
    "table": "BJ-07",
    "session": "bj-07",
    "number": "1",
    "time": "9" * 18,
}
REFUSED: Final = {401, 403}


@pytest.fixture(scope="module", params=[NOBODY, *Role])
def caller(request: pytest.FixtureRequest, at_work: House) -> Iterator[tuple[str, httpx.Client]]:
    who: str = request.param
    if who == NOBODY:
        with at_work.anyone() as client:
            yield who, client
    elif who == Role.ADMIN:
        with at_work.admin() as client:
            yield who, client
    else:
        with at_work.signed_in(who) as client:
            yield who, client


def test_the_table_names_every_route_there_is(tmp_path: Path) -> None:
    app = make_app(Setup(tmp_path, tmp_path), SimulatedClock())
    paths = app.openapi()["paths"]
    routes = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    documents = {"/api/openapi.json", "/api/docs", "/api/schema/events", "/api/asyncapi.json"}
    assert routes | {("GET", path) for path in documents} == set(MAY)


@pytest.mark.parametrize(("method", "path"), [key for key in MAY if key[1] != "/api/sign-out"])
def test_who_may_ask_it(method: str, path: str, caller: tuple[str, httpx.Client]) -> None:
    who, client = caller
    filled = path.format(**FILLED, key="none", name="none")
    with client.stream(method, filled) as answer:
        allowed = answer.status_code not in REFUSED
        assert allowed == (who in MAY[method, path]), answer.status_code
        assert answer.status_code < 500
        if who == NOBODY and not allowed:
            assert answer.status_code == 401


def test_a_role_has_the_rights_listed_and_only_surveillance_sees_what_was_not_dealt() -> None:
    assert {role for role, rights in RIGHTS.items() if Right.SEE_UNDEALT in rights} == {
        Role.SURVEILLANCE
    }


def test_a_session_is_no_use_to_a_page_that_does_not_know_its_csrf_token(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        token = pit.headers.pop("X-CSRF-Token")
        asked = {"label": "x", "scopes": ["see_rounds"]}
        assert pit.post("/api/tokens", json=asked).status_code == 403
        pit.headers["X-CSRF-Token"] = token[::-1]
        assert pit.post("/api/tokens", json=asked).status_code == 403
        pit.headers["X-CSRF-Token"] = token
        assert pit.post("/api/tokens", json=asked).status_code == 201


def test_a_token_may_do_what_its_scopes_allow_and_not_more(at_work: House) -> None:
    with at_work.signed_in("pit") as pit, at_work.anyone() as program:
        beyond = {"label": "x", "scopes": ["see_undealt"]}
        assert pit.post("/api/tokens", json=beyond).status_code == 403
        made = pit.post("/api/tokens", json={"label": "board", "scopes": ["see_rounds"]}).json()
        program.headers["Authorization"] = f"Bearer {made['secret']}"
        assert program.get("/api/rounds").status_code == 200
        assert program.get("/api/payments").status_code == 403
        events = at_work.get(program, "/api/sessions/bj-07/events", limit=500)["events"]
        assert not {"payment_made", "ledger_posted"} & {event["type"] for event in events}
        assert pit.delete(f"/api/tokens/{made['token']['id']}").status_code == 204
        assert program.get("/api/rounds").status_code == 401


def test_other_sites_are_not_let_in_and_headers_are_set(at_work: House) -> None:
    with at_work.anyone() as client:
        answer = client.options(
            "/api/tables",
            headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"},
        )
        assert "access-control-allow-origin" not in answer.headers
        health = client.get("/health").headers
        assert health["content-security-policy"].startswith("default-src 'self'")
        assert health["x-content-type-options"] == "nosniff"
        assert health["x-frame-options"] == "DENY"
    with at_work.anyone() as client:
        sent = client.post(
            "/api/sign-in", json={"name": "pit", "password": "a long enough password"}
        )
        cookie = sent.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
