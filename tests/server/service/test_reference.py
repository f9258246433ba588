"""The page of the HTTP API shows every operation, and its examples are requests that are right."""

import re
import shlex
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import httpx
import pytest

from server.service.access.people import RIGHTS, Right, Role
from server.service.app import Setup, make_app
from server.service.routes.reference import reference, request_of
from stream.clock import SimulatedClock
from tests.server.service.house import House, house

DOCUMENT: Final = make_app(Setup(Path(), Path()), SimulatedClock()).openapi()
OPERATIONS: Final = {
    f"{method.upper()} {path}": (method.upper(), path, one)
    for path, methods in DOCUMENT["paths"].items()
    for method, one in methods.items()
}
ROLES: Final = (Role.SURVEILLANCE, Role.ADMIN, Role.ENGINEER)
_NOT_HELD: Final = re.compile(
    "/(cards|clips|pictures|snapshots|live|checkpoints|footage|answers|evidence)"
)
"""What the evening has not: it was not filmed, and it asks nothing."""


@pytest.fixture(scope="module")
def asked(evening: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A service of its own: the examples make accounts and close incidents."""
    with house(evening, tmp_path_factory.mktemp("asked")) as found:
        found.staff()
        yield found


def example_of(name: str) -> str:
    return request_of(*OPERATIONS[name], DOCUMENT["components"]["schemas"])


def answer_to(example: str, at: House, right: Right) -> httpx.Response:
    """Send what a shell would send, as somebody with the right."""
    who = next(role for role in ROLES if right in RIGHTS[role])
    with at.admin() if who is Role.ADMIN else at.signed_in(who) as person, at.anyone() as shell:
        made = person.post("/api/tokens", json={"label": "x", "scopes": sorted(RIGHTS[who])})
        filled = {
            "PIT": at.url,
            "TOKEN": made.json()["secret"],
            "CSRF": person.headers["X-CSRF-Token"],
            "SESSION": person.cookies["pitwatch"],
        }
        text = re.sub(r"\$([A-Z]+)", lambda found: filled[found[1]], example)
        words = iter(shlex.split(text.replace("\\\n", ""))[1:])
        method, url, headers, body = "GET", "", {}, None
        for word in words:
            match word:
                case "-X":
                    method = next(words)
                case "-H":
                    key, _, value = next(words).partition(": ")
                    headers[key] = value
                case "-b":
                    headers["Cookie"] = next(words)
                case "-d":
                    body = next(words)
                case _:
                    url = word
        return shell.request(method, url, headers=headers, content=body)


@pytest.mark.parametrize("name", [one for one in OPERATIONS if not one.endswith("stream")])
def test_an_example_is_a_request_that_the_service_accepts(name: str, asked: House) -> None:
    _, path, one = OPERATIONS[name]
    answer = answer_to(example_of(name), asked, Right(one.get("x-right", Right.KEEP_SELF)))
    assert str(answer.status_code) in one["responses"], answer.text
    assert answer.status_code not in {403, 405, 411, 422}, answer.text
    if name.startswith("GET") and not _NOT_HELD.search(path):
        assert answer.status_code == 200, answer.text


class Read(HTMLParser):
    """The places on a page, and those that its links go to."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[str] = []
        self.targets: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.places += filter(None, [found.get("id")])
        target = found.get("href") or ""
        if target.startswith("#"):
            self.targets.add(target[1:])


def test_the_page_shows_every_operation_with_its_example_and_every_link_leads_somewhere() -> None:
    page = reference(DOCUMENT)
    found = Read()
    found.feed(page)
    assert len(found.places) == len(set(found.places))
    assert found.targets <= set(found.places)
    text = unescape(page)
    for name in OPERATIONS:
        assert f">{name}</h3>" in page
        assert example_of(name) in text


def test_everybody_may_read_the_page(asked: House) -> None:
    with asked.anyone() as client:
        answer = client.get("/api/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
