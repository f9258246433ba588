"""The streams are as documented: real messages, redacted and not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest

from models.events import RoundOpened
from stream.journal import Journal
from tests.server.service.house import House, house, until
from tests.server.service.test_redaction import shoe
from tests.server.service.test_stream import viewer

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@pytest.fixture(scope="module")
def document(at_work: House) -> Any:
    with at_work.anyone() as client:
        return at_work.get(client, "/api/asyncapi.json")


def checked(document: Any, message: str) -> jsonschema_rs.Draft202012Validator:
    """Return what checks a payload as the document has it."""
    payload = document["components"]["messages"][message]["payload"]
    assert payload["schemaFormat"].endswith(DRAFT)
    schema = payload["schema"] | {"components": {"schemas": document["components"]["schemas"]}}
    return jsonschema_rs.Draft202012Validator(schema)


def refs(tree: Any) -> Iterator[str]:
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if key == "$ref":
            yield value
        elif isinstance(value, dict | list):
            yield from refs(value)


def test_every_reference_in_the_document_leads_somewhere(document: Any) -> None:
    assert document["asyncapi"] == "3.0.0"
    found = set(refs(document))
    assert len(found) > 50
    for ref in found:
        place = document
        for part in ref.removeprefix("#/").split("/"):
            place = place[part]


def test_every_stream_the_service_has_is_in_the_document(document: Any, at_work: House) -> None:
    with at_work.anyone() as client:
        paths = at_work.get(client, "/api/openapi.json")["paths"]
    documented = {channel["address"] for channel in document["channels"].values()}
    assert documented == {"/stream"} | {path for path in paths if path.endswith("/stream")}
    sent = {one["channel"]["$ref"].split("/")[-1] for one in document["operations"].values()}
    assert sent == set(document["channels"])


@pytest.mark.parametrize("who", ["surveillance", "pit", "audit"])
def test_messages_of_the_websocket_are_as_the_document_has_them(
    document: Any, at_work: House, who: str
) -> None:
    check = checked(document, "tableEvent")
    with at_work.signed_in(who) as client:
        last = {v["session"]: v["last_seq"] for v in at_work.get(client, "/api/sessions")}
        with viewer(at_work, client, "?from=bj-07:0&from=bj-08:0") as watching:
            for _ in range(sum(last.values())):
                check.validate(json.loads(watching.recv(timeout=20)))


def data(client: httpx.Client, path: str, count: int) -> list[Any]:
    found: list[Any] = []
    with client.stream("GET", path) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
            if len(found) == count:
                break
    return found


def test_veiled_and_unknown_events_are_as_the_document_has_them(
    document: Any, tmp_path: Path
) -> None:
    check = checked(document, "event")
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with Journal.create(tmp_path / "t.journal") as journal:
            journal.append_all(shoe(1, 1))
        count = len(shoe(1, 1))
        with found.signed_in("pit") as pit:
            until(lambda: pit.get("/api/sessions/t").is_success)
            until(lambda: found.get(pit, "/api/sessions/t")["last_seq"] == count)
            events = data(pit, "/api/sessions/t/stream?after=0", count)
    for event in events:
        check.validate(event)
    assert any("card" not in event for event in events if event["type"] == "shoe_card_read")
    check.validate({"type": "of_tomorrow", "seq": 7})
    for wrong in ({"type": "of_tomorrow"}, {"seq": 7}, {"type": "card_dealt", "to": "nowhere"}):
        assert not check.is_valid(wrong)


def test_incidents_are_sent_as_documented(document: Any, tmp_path: Path) -> None:
    check = checked(document, "incident")
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with Journal.create(tmp_path / "t.journal") as journal:
            journal.append(RoundOpened(round=1, at=1, table="T"))
            with found.signed_in("pit") as pit:
                until(lambda: pit.get("/api/sessions/t/rounds/1").is_success)
                opened = {"session": "t", "round": 1, "text": "look here"}
                assert pit.post("/api/incidents", json=opened).status_code == 201
                headers = {"Last-Event-ID": "0"}
                pit.headers.update(headers)
                (message,) = data(pit, "/api/incidents/stream", 1)
    check.validate(message)
    assert message["id"] == "t.1"
