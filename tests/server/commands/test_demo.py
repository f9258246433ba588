from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from models.judgements import RoundResult, RoundSettled, Violation
from server.commands.demo import REPORT, ROUNDS, closing
from server.demo import SESSION
from server.process.exit_status import Exit
from server.table.comparison import Comparison, compare_sessions
from stream.recording import read_events
from tests.packaging.wheel import ROOT
from tests.server.samples import BLACKJACK_AND_INSURANCE, DEALER_OVERDREW

WRONG = Violation("wrong_payout", 44, 1, 0, "payment.due", "due 15.00, paid 10.00")


@pytest.fixture
def shown() -> list[RoundResult]:
    rounds = [replace(BLACKJACK_AND_INSURANCE, round=number) for number in range(1, ROUNDS + 1)]
    rounds[1] = replace(DEALER_OVERDREW, round=2)
    rounds[2] = replace(rounds[2], violations=(WRONG,))
    return rounds


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.touch()
    return path


def outcome(found: list[RoundResult], truth: list[RoundResult], report: Path) -> tuple[Exit, str]:
    console = Console(width=200)
    with console.capture() as captured:
        comparisons: tuple[Comparison, ...] = compare_sessions(truth, found)
        left = closing(console, found, comparisons, report)
    return left, captured.get()


def test_the_demo_succeeds_when_all_of_it_was_seen(shown: list[RoundResult], report: Path) -> None:
    left, printed = outcome(shown, shown, report)
    assert left is Exit.CLEAN
    assert "5 of 5 rounds settled exactly" in printed
    assert "dealer_hit_hard_17" in printed
    assert "wrong_payout: due 15.00, paid 10.00" in printed


def test_the_demo_fails_when_a_round_differs(shown: list[RoundResult], report: Path) -> None:
    found = [*shown[:-1], replace(shown[-1], net=1)]
    assert outcome(found, shown, report)[0] is Exit.FINDINGS


def test_the_demo_fails_when_a_mistake_went_unseen(shown: list[RoundResult], report: Path) -> None:
    for at in (1, 2):
        blind = [*shown]
        blind[at] = replace(blind[at], violations=())
        left, printed = outcome(blind, blind, report)
        assert left is Exit.FINDINGS
        assert "was not caught" in printed


def test_the_demo_fails_without_its_report(shown: list[RoundResult], tmp_path: Path) -> None:
    assert outcome(shown, shown, tmp_path / "none.html")[0] is Exit.FINDINGS


def test_the_readme_shows_what_the_demo_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rounds are exact, so they end as its truth does."""
    monkeypatch.chdir(tmp_path)
    REPORT.touch()
    events = read_events(SESSION / "truth.jsonl")
    rounds = [event.result for event in events if isinstance(event, RoundSettled)]
    _, printed = outcome(rounds, rounds, REPORT)
    readme = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert [line for line in readme if line.startswith("✓")] == printed.splitlines()[:4]
