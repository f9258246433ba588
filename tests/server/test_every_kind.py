"""Every report, export and command over journals of every kind: nothing fails, and all is dated."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from server.commands.app import run
from tests.server.every_kind import journals_of_every_kind
from tests.server.papers import Paper
from tests.server.service.house import House, house
from tests.thoroughness import one_in

pytestmark = pytest.mark.slow

EXPORTS: Final = ("rounds", "hands", "violations", "reviews", "payments", "ledger")
_UNTRUE: Final = re.compile(r"\b1970\b|\bNone\b|\bnull\b|\bnan\b|Traceback")
_MARKUP: Final = re.compile(r"<style.*?</style>|<svg.*?</svg>|<[^>]*>", re.DOTALL)
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("every-kind")
    with journals_of_every_kind(folder):
        yield folder


@pytest.fixture(scope="module")
def at_work(journals: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    state = tmp_path_factory.mktemp("state")
    with house(journals, state, recordings=journals) as found:
        found.staff()
        yield found


@pytest.fixture
def officer(at_work: House) -> Iterator[httpx.Client]:
    with at_work.signed_in("surveillance") as found:
        yield found


def check_true(text: str, of: str) -> None:
    """No time of 1970, and no name of a missing value stands where a person reads."""
    found = _UNTRUE.search(text)
    assert found is None, f"{of}: {text[max(0, found.start() - 80) : found.end() + 40]!r}"


def sessions(at: House, person: httpx.Client) -> list[str]:
    return [one["session"] for one in at.get(person, "/api/sessions") if not one["fault"]]


def incidents(at: House, person: httpx.Client) -> list[str]:
    return [one["id"] for one in at.get(person, "/api/incidents", limit=200)["items"]]


def test_every_list_is_dated(at_work: House, officer: httpx.Client) -> None:
    for kind in EXPORTS:
        answer = officer.get(f"/api/exports/{kind}.csv")
        assert answer.status_code == 200, answer.text
        assert len(answer.text.splitlines()) > 20
        check_true(answer.text, kind)
        items = at_work.get(officer, f"/api/{kind}", limit=200)["items"]
        assert all(one["at"] > 0 for one in items), kind


def test_every_event_is_dated(at_work: House, officer: httpx.Client) -> None:
    for name in sessions(at_work, officer):
        events = at_work.get(officer, f"/api/sessions/{name}/events", limit=500)["events"]
        assert all(one["at"] > 0 for one in events), name


def test_every_report_of_a_session(at_work: House, officer: httpx.Client) -> None:
    for name in sessions(at_work, officer):
        answer = officer.get(f"/api/sessions/{name}/report.html")
        assert answer.status_code == 200, (name, answer.text)
        check_true(_MARKUP.sub(" ", answer.text), name)
    for name in one_in(6, sessions(at_work, officer)):
        answer = officer.get(f"/api/sessions/{name}/report.pdf")
        check_true(Paper(answer.content).text(), name)


def test_every_report_of_an_incident(at_work: House, officer: httpx.Client) -> None:
    found = incidents(at_work, officer)
    for name in one_in(3, found):
        answer = officer.get(f"/api/incidents/{name}/report.html")
        assert answer.status_code == 200, (name, answer.text)
        check_true(_MARKUP.sub(" ", answer.text), name)
    for name in one_in(20, found):
        answer = officer.get(f"/api/incidents/{name}/report.pdf")
        check_true(Paper(answer.content).text(), name)


def test_every_command_that_reads_a_journal(
    journals: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Some refuse what they cannot use: then in a sentence, with status 2."""
    for path in sorted(journals.glob("*.journal")):
        for command in (
            ["journal", "verify", str(path)],
            ["review", "list", str(path)],
            ["review", "show", str(path)],
            ["settle", str(path), "--rulebook", "kansas-shoe", "--jobs", "1"],
            ["resettle", str(path), "--rulebook", "kansas-shoe", "--jobs", "1"],
        ):
            status = run(command)
            said = capsys.readouterr()
            assert status in (0, 2, 3, 4, 5), (command, said)
            check_true(said.out + said.err, " ".join(command[:2]) + f" {path.name}")
    for kind in EXPORTS:
        out = tmp_path / f"{kind}.csv"
        sound = [str(path) for path in journals.glob("*.journal") if path.stem != "damaged"]
        assert run(["export", *sound, "--what", kind, "--out", str(out)]) == 0
        check_true(out.read_text(), kind)
