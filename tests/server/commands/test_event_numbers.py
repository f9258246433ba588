"""An event has one number: in a replay, in a kept journal, in the console and in a report."""

import re
from pathlib import Path

import msgspec
import pytest

from models.judgements import RoundResult, RoundSettled
from server.commands.app import run
from server.commands.first_replay import replayed_beside
from server.process.exit_status import Exit
from simulation.session import Settings, simulate
from stream.reading import read_journal
from tests.server.service.house import until


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session without video: its rounds are questions, with the events that they rest on."""
    place = tmp_path_factory.mktemp("numbered") / "session"
    return simulate(Settings(rounds=2, seed=8, spots=(2, 4), video=False), place)


def numbers(rounds: list[RoundResult]) -> list[int]:
    """Return every number of an event that rounds name."""
    found = [one for result in rounds for review in result.reviews or () for one in review.evidence]
    return found + [one.seq for result in rounds for one in result.violations]


def settled(journal: Path) -> list[RoundResult]:
    events = [one for one in read_journal(journal) if isinstance(one, RoundSettled)]
    return list({one.result.round: one.result for one in events}.values())


def replayed(session: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[RoundResult]:
    """Return the rounds that ``pitwatch replay`` prints."""
    assert run(["replay", str(session), "--json", *options]) == Exit.FINDINGS
    lines = capsys.readouterr().out.splitlines()
    return [msgspec.json.decode(line, type=RoundResult) for line in lines if '"truth"' not in line]


def test_a_replay_has_the_numbers_of_a_kept_journal_and_of_the_console(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, console = tmp_path / "kept.journal", tmp_path / "console.journal"
    printed = numbers(replayed(session, capsys))
    assert printed
    assert numbers(replayed(session, capsys, "--journal", str(kept))) == printed
    assert numbers(settled(kept)) == printed
    with replayed_beside(session, console, lambda _: None):
        until(lambda: console.exists() and not list(tmp_path.glob(".*.unfinished")))
    assert numbers(settled(console)) == printed


def test_a_report_has_the_numbers_of_the_console(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.html"
    printed = numbers(replayed(session, capsys, "--report", str(report)))
    named = re.findall(r"\bevents? (\d+(?:, \d+)*)", report.read_text())
    assert {int(one) for group in named for one in group.split(", ")} >= set(printed)
