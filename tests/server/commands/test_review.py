"""``pitwatch review show``, as it is typed."""

import json
from pathlib import Path

import pytest

from models.events import ReviewResolved, RoundOpened
from models.judgements import Account, AccountHand, Review, ReviewRaised, Witness
from server.commands.app import run
from stream.journal import Journal
from tests.server.doubted import play_between_accounts, play_blinded

Capture = pytest.CaptureFixture[str]

STATED = Account(
    odds=1.0,
    tells="QC of spot 1 turned up",
    hands=(AccountHand(1, 0, "win", 1500),),
    mistakes=("payment_missing at spot 1",),
)
RIVAL = Account(
    odds=9.6,
    tells="9D of spot 1 turned up",
    hands=(AccountHand(1, 0, "push", 0),),
    mistakes=(),
    witnesses=(Witness("play", 50_000.0), Witness("camera", 0.00019)),
)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal with an item between two accounts, one without, and one that is decided."""
    path = tmp_path / "07.journal"
    face = Review("which card is it?", ("QC", "9D"), (4,))
    with Journal.create(path) as journal:
        journal.append_all(
            [
                RoundOpened(round=1),
                ReviewRaised(round=1, review=face, accounts=(STATED, RIVAL)),
                ReviewRaised(round=2, review=Review("the camera was moved", (), ())),
                ReviewRaised(round=3, review=Review("a split?", ("split", "one hand"), ())),
                ReviewResolved(source="console:ann", round=2, item=0, decision="stands"),
            ]
        )
    return path


def test_an_open_item_shows_its_accounts(journal: Path, capsys: Capture) -> None:
    assert run(["review", "show", str(journal)]) == 3
    printed = capsys.readouterr().out
    assert "round 1, item 0: which card is it?" in printed
    assert "as recorded: Q♣ of spot 1 turned up" in printed
    assert "settles to: spot 1: win 15.00, payment_missing at spot 1" in printed
    assert "odds 9.6 to 1: 9♦ of spot 1 turned up" in printed
    assert "settles to: spot 1: push 0.00, no mistake" in printed
    assert "usually go on speaks for it, 50,000 to 1" in printed
    assert "the camera speaks against it, 5,300 to 1" in printed
    assert "It is as recorded" in printed
    assert "camera was moved" not in printed


def test_one_round_is_shown_as_json(journal: Path, capsys: Capture) -> None:
    assert run(["review", "show", str(journal), "-n", "1", "--json"]) == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert [one["odds"] for one in row["accounts"]] == [1.0, 9.6]
    assert row["accounts"][1]["witnesses"][0] == {"sense": "play", "odds": 50000.0}
    assert row["accounts"][0]["hands"] == [{"spot": 1, "hand": 0, "outcome": "win", "net": 1500}]


def test_a_journal_without_open_items_is_reported(journal: Path, capsys: Capture) -> None:
    assert run(["review", "show", str(journal), "-n", "2"]) == 0
    assert "nothing to decide" in capsys.readouterr().out


def test_an_answer_is_given_by_its_number(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "09.journal"
    with Journal.create(path) as journal:
        play_between_accounts(journal, "BJ-09")
    rules = ["--rulebook", "casino-single-deck"]
    assert run(["review", "show", str(path), *rules]) == 3
    printed = capsys.readouterr().out
    assert "  1  " in printed
    assert "No mistake. " in printed
    assert "likely" in printed
    assert "The floor calls the round off (give a --reason)" in printed
    wanted = ["review", "resolve", str(path), "-n", "1", "--by", "ann", *rules]
    assert run([*wanted, "--answer", "99"]) == 2
    assert "the item has no answer 99" in capsys.readouterr().err
    assert run([*wanted, "--answer", "2"]) == 0
    with Journal.open(path) as journal:
        (given,) = [one for one in journal.read() if isinstance(one, ReviewResolved)]
    assert (given.decision, given.account) == ("account", 1)
    assert given.says


def test_an_item_that_another_decision_answered_is_not_open(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "07.journal"
    with Journal.create(path) as journal:
        play_blinded(journal)
        journal.append(ReviewRaised(round=1, review=Review("Did spot 1 double?", (), ())))
    assert run(["review", "list", str(path), "--json"]) == 3
    assert [one["decided"] for one in json.loads(capsys.readouterr().out)] == [None, None]
    assert run(["review", "show", str(path)]) == 3
    assert "Name another card: --choose 9C" in capsys.readouterr().out
    void = ["--as", "void", "--reason", "The cards fell.", "--by", "ann"]
    assert run(["review", "resolve", str(path), "-n", "1", "--item", "1", *void]) == 0
    capsys.readouterr()
    for command in ("list", "show"):
        assert run(["review", command, str(path), "--json"]) == 0, command
    assert capsys.readouterr().out.count("void The cards fell., by ann") == 2
