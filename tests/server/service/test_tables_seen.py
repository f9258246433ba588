"""Rights by table: no route answers about tables that a person may not see."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import httpx
import pytest
from websockets.sync.client import connect

from server.readmodel.exports import Kind
from server.service.access.people import Right
from tests.server.service.house import FIRST_PASSWORD, PASSWORD, House, house, until
from tests.server.service.test_rights import FILLED, MAY

OF_A_TABLE = [
    (method, path)
    for (method, path), roles in MAY.items()
    if "surveillance" in roles
    and any(part in path for part in ("{session}", "{incident}", "{table}"))
]
LISTS = [
    path
    for method, path in MAY
    if method == "GET" and "{" not in path and path.startswith("/api/") and "stream" not in path
    and path not in {"/api/docs", "/api/openapi.json", "/api/schema/events", "/api/asyncapi.json"}
]  # fmt: skip
WITHOUT_ROWS = {"reviews"}
OF_BJ_07_ALONE = {"violations"}


@pytest.fixture(scope="module")
def divided(evening: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house at which `narrow` sees BJ-08 alone, and `wide` both tables."""
    with house(evening, tmp_path_factory.mktemp("state")) as found:
        found.staff()
        with found.admin() as admin:
            for name, tables in (("narrow", ["BJ-08"]), ("wide", ["BJ-07", "BJ-08"])):
                sent = {"name": name, "role": "surveillance", "password": FIRST_PASSWORD}
                made = admin.post("/api/accounts", json=sent | {"tables": tables})
                assert made.json()["tables"] == tables
                found.change_password(name, FIRST_PASSWORD, PASSWORD)
        yield found


@pytest.fixture(scope="module")
def narrow(divided: House) -> Iterator[httpx.Client]:
    with divided.signed_in("narrow") as client:
        yield client


@pytest.mark.parametrize(("method", "path"), OF_A_TABLE)
def test_what_belongs_to_another_table_is_not_there(
    method: str, path: str, narrow: httpx.Client
) -> None:
    filled = path.format(**FILLED | {"form": "html"})
    with narrow.stream(method, filled) as answer:
        assert answer.status_code == 404, (method, filled)


@pytest.mark.parametrize("path", LISTS)
def test_a_list_holds_nothing_of_another_table(path: str, narrow: httpx.Client) -> None:
    answer = narrow.get(path)
    assert answer.status_code in {200, 403, 422}
    assert "bj-07" not in answer.text.lower()
    assert "bj-07" not in narrow.get(path, params={"table": "BJ-07"}).text.lower()


@pytest.mark.parametrize("kind", get_args(Kind))
def test_an_export_holds_nothing_of_another_table(
    kind: str, divided: House, narrow: httpx.Client
) -> None:
    asked = f"/api/exports/{kind}.csv"
    assert "bj-07" not in narrow.get(asked).text.lower()
    assert "bj-07" not in narrow.get(asked, params={"table": "BJ-07"}).text.lower()
    assert narrow.get(asked, params={"session": "bj-07"}).text.lower().count("bj-07") == 0
    with divided.signed_in("wide") as wide:
        text = wide.get(asked).raise_for_status().text.lower()
    assert ("bj-07" in text) is (kind not in WITHOUT_ROWS)
    assert ("bj-08" in text) is (kind not in WITHOUT_ROWS | OF_BJ_07_ALONE)


def test_an_incident_of_another_table_cannot_be_opened(narrow: httpx.Client) -> None:
    sent = {"session": "bj-07", "round": 1, "text": "look"}
    assert narrow.post("/api/incidents", json=sent).status_code == 404


def test_ones_own_table_is_there(divided: House, narrow: httpx.Client) -> None:
    assert [one["table"] for one in divided.get(narrow, "/api/tables")] == ["BJ-08"]
    assert divided.get(narrow, "/api/sessions/bj-08/rounds/1")["round"] == 1
    assert divided.get(narrow, "/api/rounds")["items"]


def test_a_stream_sends_nothing_of_another_table(divided: House, narrow: httpx.Client) -> None:
    headers = {"Cookie": f"pitwatch={narrow.cookies['pitwatch']}", "Origin": divided.url}
    address = divided.url.replace("http", "ws") + "/stream?from=bj-07:0&from=bj-08:0"
    # With a full queue the client reads no answer to its goodbye, and waits ten seconds for it.
    with connect(address, additional_headers=headers, proxy=None, max_queue=None) as viewer:
        sessions = {json.loads(viewer.recv(20))["session"] for _ in range(20)}
    assert sessions == {"bj-08"}


def test_a_token_sees_no_more_than_its_account(divided: House, narrow: httpx.Client) -> None:
    made = narrow.post("/api/tokens", json={"label": "x", "scopes": [Right.SEE_ROUNDS]}).json()
    with divided.anyone() as program:
        program.headers["Authorization"] = f"Bearer {made['secret']}"
        assert program.get("/api/sessions/bj-07/rounds/1").status_code == 404
        assert "bj-07" not in program.get("/api/rounds").text


def test_an_administrator_changes_them_and_what_is_refused_is_written_down(
    evening: Path, tmp_path: Path
) -> None:
    with house(evening, tmp_path / "state") as found, found.admin() as admin:
        found.hire(admin, "ann", "pit")
        changed = admin.patch("/api/accounts/ann", json={"tables": ["BJ-08"]}).json()
        assert changed["tables"] == ["BJ-08"]
        with found.signed_in("ann") as ann:
            until(lambda: ann.get("/api/tables").json())
            assert ann.get("/api/sessions/bj-07").status_code == 404
        assert admin.patch("/api/accounts/ann", json={"role": "pit"}).json()["tables"] == ["BJ-08"]
        assert admin.patch("/api/accounts/ann", json={"tables": []}).json()["tables"] == []
        with found.signed_in("ann") as ann:
            assert ann.get("/api/sessions/bj-07").status_code == 200
        rows = found.get(admin, "/api/activity")["items"]
    refused = {(row["person"], row.get("target")) for row in rows if row["outcome"] == "refused"}
    assert ("ann", "/api/sessions/bj-07") in refused


def test_find_knows_no_other_table(narrow: httpx.Client) -> None:
    hidden = narrow.get("/api/find", params={"what": "BJ-07 2026-01-01 20:00:10"})
    unknown = narrow.get("/api/find", params={"what": "BJ-99 2026-01-01 20:00:10"})
    assert (hidden.status_code, unknown.status_code) == (422, 422)
    assert narrow.get("/api/find", params={"what": "20:00", "table": "BJ-07"}).status_code == 404
    own = narrow.get("/api/find", params={"what": "2026-01-01 20:00:10"}).json()
    assert own["table"] == "BJ-08"
