"""The client for programs: it returns the service's answers, typed; its stream resumes."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from models.events import PlayerSeated, RoundOpened
from pitwatch_client import Client, Refused, Unreachable
from pitwatch_client.client import PATHS
from pitwatch_client.rows import (
    IncidentView,
    Me,
    Moment,
    Page,
    RoundRow,
    SessionView,
    TableView,
    ViolationRow,
)
from pitwatch_client.watching import events
from server.service.app import Setup, make_app
from server.service.http.patience import Patience
from stream.clock import SimulatedClock
from stream.journal import Journal
from tests.server.service.house import House, house, until

SECOND_NS = 1_000_000_000
REF = "#/components/schemas/{name}"
RETURNED: dict[str, Any] = {
    **{path: Page[kind] for kind, path in PATHS.items()},  # type: ignore[valid-type]
    "/api/me": Me,
    "/api/tables": tuple[TableView, ...],
    "/api/sessions": tuple[SessionView, ...],
    "/api/sessions/{session}/rounds/{number}": RoundRow,
    "/api/tables/{table}/rounds/at/{time}": Moment,
    "/api/incidents/{incident}": IncidentView,
}
"""What each request of the client is documented to return."""


def token_of(found: House, name: str, *scopes: str) -> str:
    with found.signed_in(name) as client:
        made = client.post("/api/tokens", json={"label": "program", "scopes": scopes})
        secret: str = made.json()["secret"]
        return secret


@pytest.fixture(scope="module")
def program(at_work: House) -> Iterator[Client]:
    rights = ("see_tables", "see_rounds", "see_money", "keep_self")
    with Client(at_work.url, token_of(at_work, "pit", *rights)) as client:
        yield client


@pytest.mark.parametrize("path", RETURNED)
def test_what_it_returns_is_what_the_service_documents(path: str, tmp_path: Path) -> None:
    document = make_app(Setup(tmp_path, tmp_path), SimulatedClock()).openapi()
    answers = document["paths"][path]["get"]["responses"]["200"]
    documented = answers["content"]["application/json"]["schema"]
    (own,), components = msgspec.json.schema_components([RETURNED[path]], ref_template=REF)
    assert documented == own
    for name, schema in components.items():
        assert shape(document["components"]["schemas"][name]) == shape(schema), name


def shape(schema: Any) -> Any:
    """Return a schema without its prose, and without bounds: the service keeps those."""
    if isinstance(schema, dict):
        left_out = {"description", "minimum", "maximum"}
        return {key: shape(value) for key, value in schema.items() if key not in left_out}
    return [shape(one) for one in schema] if isinstance(schema, list) else schema


def test_tables_rounds_and_mistakes_are_values(program: Client, at_work: House) -> None:
    assert [one.table for one in program.tables()] == ["BJ-07", "BJ-08"]
    assert [one.session for one in program.sessions()] == ["bj-07", "bj-08"]
    (mistake,) = program.each(ViolationRow, code="dealer_hit_hard_17")
    assert mistake.table == "BJ-07"
    row = program.round(mistake.session, mistake.round)
    found = program.round_at("BJ-07", row.at)
    assert (found.at, found.round, found.before, found.after) == (row.at, row, None, None)
    view = program.incident(f"{mistake.session}.{mistake.round}")
    assert mistake in view.violations
    assert program.me().role == "pit"


@pytest.mark.parametrize("kind", PATHS)
def test_a_list_is_walked_to_its_end(kind: type[Any], program: Client, at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        whole = at_work.get(pit, PATHS[kind], limit=500)["items"]
    walked = list(program.each(kind, limit=1))
    assert msgspec.json.decode(msgspec.json.encode(walked)) == whole


def test_a_refusal_gives_the_reason(program: Client, at_work: House) -> None:
    with pytest.raises(Refused, match="no such round") as refused:
        program.round("bj-07", 999)
    assert refused.value.status == 404
    with (
        Client(at_work.url, token_of(at_work, "pit", "see_tables")) as little,
        pytest.raises(Refused, match="lacks the right see_rounds"),
    ):
        list(little.each(RoundRow))
    with Client("http://127.0.0.1:9", "no token") as nobody, pytest.raises(Unreachable):
        nobody.tables()


def test_the_stream_goes_on_after_it_was_dropped_and_sends_everything_once(
    tmp_path: Path,
) -> None:
    short = Patience(SECOND_NS // 4, SECOND_NS // 4, SECOND_NS)
    count = 1200
    with house(tmp_path, tmp_path / "state", short) as found:
        found.staff()
        with Journal.create(tmp_path / "t.journal") as journal:
            journal.append_all(
                PlayerSeated(at=n, table="T", player="x" * 20_000, spots=(1,)) for n in range(count)
            )
        token = token_of(found, "pit", "see_tables", "see_rounds")
        with Client(found.url, token) as client, found.signed_in("engineer") as engineer:
            until(lambda: [one.last_seq for one in client.sessions()] == [count])
            stream = client.watch({"t": 0})
            first = next(stream)
            drop = 'viewers_dropped_total{kind="sse"} 1'
            until(lambda: drop in engineer.get("/metrics").text)
            seqs = [first.seq, *(event.seq for event in islice(stream, count - 1))]
            stream.close()
    assert seqs == list(range(1, count + 1))
    assert (first.session, first.event["type"]) == ("t", "player_seated")


def test_a_stream_that_may_not_be_seen_is_refused(at_work: House) -> None:
    with (
        Client(at_work.url, token_of(at_work, "pit", "see_tables")) as client,
        pytest.raises(Refused) as refused,
    ):
        next(client.watch({"bj-07": 0}))
    assert refused.value.status == 403


def test_a_token_that_is_taken_back_ends_the_stream(tmp_path: Path) -> None:
    quick = Patience(idle_ns=SECOND_NS // 5)
    with house(tmp_path, tmp_path / "state", quick) as found:
        found.staff()
        with Journal.create(tmp_path / "t.journal") as journal:
            journal.append(RoundOpened(round=1, at=1, table="T"))
        with found.signed_in("pit") as pit:
            made = pit.post("/api/tokens", json={"label": "x", "scopes": ["see_rounds"]}).json()
            until(lambda: pit.get("/api/sessions/t").status_code == 200)
            with Client(found.url, made["secret"]) as client:
                stream = client.watch({"t": 0})
                assert next(stream).seq == 1
                assert pit.delete(f"/api/tokens/{made['token']['id']}").status_code == 204
                with pytest.raises(Refused):
                    next(stream)


def test_what_is_no_answer_of_the_service_is_refused(
    program: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = httpx.Response(httpx.codes.OK, content=b'{"tables": 1}')
    monkeypatch.setattr(program, "_asked", lambda _: answer)
    with pytest.raises(Unreachable, match="cannot be decoded"):
        program.tables()


@pytest.mark.parametrize("url", ["pit:8443", "ftp://pit", "http://", "http://pit:port"])
def test_an_address_that_is_none_is_refused_before_anything_is_asked(url: str) -> None:
    with pytest.raises(Unreachable, match="its address"):
        Client(url, "no token")


def test_what_may_end_a_line_elsewhere_ends_no_event(tmp_path: Path) -> None:
    name = "A\u2028B\u0085C\x0cD"
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with Journal.create(tmp_path / "t.journal") as journal:
            journal.append(PlayerSeated(at=1, table="T", player=name, spots=(1,)))
        with Client(found.url, token_of(found, "pit", "see_tables", "see_rounds")) as client:
            until(lambda: [one.last_seq for one in client.sessions()] == [1])
            assert next(client.watch({"t": 0})).event["seq"] == 1
            assert next(client.watch({"t": 0})).event["player"] == name


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_stream_cut_anywhere_gives_the_same_events_and_no_half_one(cut: int) -> None:
    one = b'data: {"session":"t","event":{"type":"x","seq":%d}}\n\n'
    whole = b": nothing new\n\n" + one % 1 + one % 2 + (one % 3)[:20]
    chunks = [whole[at : at + cut] for at in range(0, len(whole), cut)]
    assert [event.seq for event in events(chunks)] == [1, 2]
    assert list(events([b"event: end\ndata: the right was withdrawn\n\n"])) == []
