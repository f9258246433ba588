"""The service is as documented: each answer matches its OpenAPI document."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from models.judgements import AnyEvent
from server.readmodel.stream_schema import EVENT_SCHEMA
from server.service.app import Setup, make_app
from stream.clock import SimulatedClock
from tests.golden.sessions import FOLDER, SESSIONS
from tests.server.service.house import House, house

EXAMPLES = int(os.environ.get("PITWATCH_API_EXAMPLES", "3"))
"""For each route and caller; more are asked for by hand."""

document = make_app(Setup(Path(), Path()), SimulatedClock()).openapi()
# A stream has no end, and signing out would end the session that asks.
LEFT_OUT = (
    "/api/sessions/{session}/stream",
    "/api/incidents/stream",
    "/api/stream",
    "/api/sign-out",
    "/api/me/password",
)
schema = schemathesis.openapi.from_dict(document).exclude(path=list(LEFT_OUT))


@pytest.fixture(scope="module")
def asked(evening: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A service of its own: a client that sends wrong passwords at random is soon locked out."""
    with house(evening, tmp_path_factory.mktemp("asked")) as found:
        found.staff()
        for who in ("surveillance", "admin"):
            _headers(found, who)
        yield found


@pytest.mark.parametrize("who", ["nobody", "surveillance", "admin"])
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_is_documented(
    case: schemathesis.Case[Any], asked: House, who: str
) -> None:
    headers = {} if who == "nobody" else _headers(asked, who)
    answer = case.call(base_url=asked.url, headers=headers)
    assert answer.status_code < 500
    assert str(answer.status_code) in case.operation.definition.raw["responses"], answer.text
    case.operation.validate_response(answer)


_SESSIONS: dict[tuple[str, str], dict[str, str]] = {}


def _headers(found: House, who: str) -> dict[str, str]:
    key = (found.url, who)
    if key not in _SESSIONS:
        with found.admin() if who == "admin" else found.signed_in(who) as client:
            _SESSIONS[key] = {
                "Cookie": f"pitwatch={client.cookies['pitwatch']}",
                "X-CSRF-Token": client.headers["X-CSRF-Token"],
            }
    return _SESSIONS[key]


@pytest.mark.parametrize("name", SESSIONS)
def test_events_as_they_are_journalled_fit_the_streams_schema(name: str) -> None:
    checked = jsonschema_rs.validator_for(EVENT_SCHEMA)
    for line in (FOLDER / f"{name}.judged.jsonl").read_bytes().splitlines():
        checked.validate(msgspec.json.decode(line))
        assert msgspec.json.decode(line, type=AnyEvent)
    assert not checked.is_valid({"type": "card_dealt", "to": "nowhere", "card": "AS"})
