import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from server.commands.app import run

BLACKJACK = """\
{"type": "round_opened", "round": 1}
{"type": "wager_placed", "spot": 1, "kind": "main", "amount": 1000}
{"type": "card_dealt", "to": 1, "card": "AS"}
{"type": "card_dealt", "to": "dealer", "card": "TS"}
{"type": "card_dealt", "to": 1, "card": "KD"}
{"type": "card_dealt", "to": "dealer", "card": "7H", "face": "down"}
{"type": "card_exposed", "to": "dealer", "card": "7H"}
{"type": "round_closed"}
"""

OVERDRAWN = BLACKJACK.replace(
    '{"type": "round_closed"}',
    '{"type": "card_dealt", "to": "dealer", "card": "2C"}\n{"type": "round_closed"}',
)


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    file = tmp_path / "facts.jsonl"
    file.write_text(BLACKJACK)
    return file


def settle_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[Any]]:
    code = run(["settle", *arguments, "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_round_is_settled_in_the_shape_that_is_fixed(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (result,) = settle_json(capsys, str(facts), "--rulebook", "kansas-shoe")
    assert code == 0
    assert list(result) == ["round", "rulebook", "status", "dealer", "spots", "violations", "net"]
    assert result["dealer"] == {
        "cards": ["TS", "7H"],
        "burned": [],
        "total": 17,
        "soft": False,
        "outcome": "stand",
    } | {"outcome": result["dealer"]["outcome"]}
    (spot,) = result["spots"]
    (hand,) = spot["hands"]
    assert list(spot) == ["spot", "net", "hands", "insurance"]
    assert hand["outcome"] == "blackjack"
    assert (hand["stake"], hand["net"], spot["net"], result["net"]) == (1000, 1500, 1500, -1500)
    assert hand["clauses"] == ["blackjack.pays"]
    assert spot["insurance"] is None
    assert result["violations"] == []


def test_a_mistake_is_exit_3_and_names_the_line(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts.write_text(OVERDRAWN)
    code, (result,) = settle_json(capsys, str(facts), "--rulebook", "kansas-shoe")
    assert code == 3
    assert [violation["seq"] for violation in result["violations"]] == [8]


def test_a_knob_changes_what_is_due(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, (result,) = settle_json(
        capsys, str(facts), "--rulebook", "kansas-shoe", "--set", "blackjack_payout=6:5"
    )
    assert result["net"] == -1200


def test_a_rulebook_may_be_a_file(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = tmp_path / "ours.toml"
    house.write_text(
        'id = "ours"\nextends = "kansas-shoe"\n[knobs.blackjack_payout]\n'
        'value = "1:1"\nsource = "default"\nreason = "A house of our own."\n'
    )
    _, (result,) = settle_json(capsys, str(facts), "--rulebook", str(house))
    assert (result["rulebook"], result["net"]) == ("ours", -1000)


def test_facts_may_come_on_stdin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(BLACKJACK.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    code, (result,) = settle_json(capsys, "-", "--rulebook", "kansas-shoe")
    assert (code, result["net"]) == (0, -1500)


def test_several_files_are_several_tables(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(BLACKJACK.replace("AS", "AH"))
    code, results = settle_json(capsys, str(facts), str(other), "--rulebook", "kansas-shoe")
    assert code == 0
    assert [result["file"] for result in results] == [str(facts), str(other)]
    assert [result["round"] for result in results] == [1, 1]


def test_the_table_for_people_shows_who_won_what_and_why(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts.write_text(OVERDRAWN)
    assert run(["settle", str(facts), "--rulebook", "kansas-shoe"]) == 3
    printed = capsys.readouterr().out
    for wanted in (
        "A♠ K♦",
        "blackjack",
        "+15.00",
        "house -15.00",
        "1 mistake",
        "dealer_hit_hard_17",
    ):
        assert wanted in printed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param('{"type": "card_dealt", "to": 1, "card": "1S"}', "'1S'", id="card"),
        pytest.param('{"type": "card_dealt", "to": 0, "card": "AS"}', "to", id="spot"),
        pytest.param('{"type": "wager_placed", "spot": 1, "kind": "main"}', "amount", id="missing"),
        pytest.param('{"type": "card_delt"}', "'card_delt'", id="type"),
        pytest.param("not json", "JSON", id="not-json"),
        pytest.param("[" * 5000, "line", id="deep"),
        pytest.param(
            '{"type": "wager_placed", "spot": 1, "kind": "main", "amount": 1.5}', "1.5", id="float"
        ),
    ],
)
def test_a_bad_line_is_refused_before_anything_is_settled(
    line: str, message: str, facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts.write_text(BLACKJACK + line + "\n")
    assert run(["settle", str(facts), "--rulebook", "kansas-shoe", "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{facts}:9" in printed.err
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_a_missing_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["settle", "nowhere.jsonl", "--rulebook", "kansas-shoe"]) == 2
    assert "nowhere.jsonl" in capsys.readouterr().err


def test_an_unknown_rulebook_names_those_there_are(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["settle", str(facts), "--rulebook", "nope"]) == 2
    assert "kansas-shoe" in capsys.readouterr().err
