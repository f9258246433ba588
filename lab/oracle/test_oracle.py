import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from lab.oracle import __main__ as command
from models.errors import InputRefused
from tests.oracle.rule_sets import SHIPPED, read

SETS = {rule_set.name: rule_set for rule_set in read(SHIPPED)}


def test_a_run_goes_on_from_what_was_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--name", "6d_h17_das", "--rounds", "300", "--keep", str(tmp_path / "blocks")]
    assert command.main(words) == command.HOLDS
    first = capsys.readouterr().out
    kept = (tmp_path / "blocks").read_bytes()
    assert command.main(words) == command.HOLDS
    assert capsys.readouterr().out == first
    assert (tmp_path / "blocks").read_bytes() == kept
    assert command.main([*words, "--seed", "2"]) == command.HOLDS
    assert capsys.readouterr().out != first


@pytest.mark.slow
def test_the_command_prints_how_far_off_each_mean_is(tmp_path: Path) -> None:
    wrong = msgspec.structs.replace(SETS["6d_h17_das"], ev_pct_TD=50.0)
    (tmp_path / "sets.jsonl").write_bytes(msgspec.json.encode(wrong))
    words = [sys.executable, "-m", "lab.oracle", str(tmp_path / "sets.jsonl"), "--rounds", "200"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == command.DIFFERS
    assert "6d_h17_das" in run.stdout
    assert "beyond three" in run.stdout


REFUSALS = [
    ('{"name": ', "line"),
    ('["6d"]', "line"),
    ({"decks": 9}, "decks"),
    ({"decks": "six"}, "decks"),
    ({"soft17": "h17"}, "soft17"),
    ({"double": "any"}, "double"),
    ({"double_soft": False}, "double_soft"),
    ({"max_hands": 2, "rsa": True}, "rsa"),
    ({"bj_pay": 0}, "bj_pay"),
    ({"name": ""}, "name"),
    ({"ev_pct_TD": None}, "ev_pct_TD"),
    ({"td": {}}, "td.h4"),
    ({"h12": ["HHSSSHHHHH"] * 2}, "td.h12"),
    ({"h12": ["HHSSSHHHH"] * 3}, "td.h12"),
    ({"h12": ["HHSSSHHHHX"] * 3}, "td.h12[0]"),
    ({"h12": ["PPPPPPPPPP"] * 3}, "td.h12[0]"),
    ({"h12": ["RRRRRRRRRR"] * 3}, "td.h12[0]"),
    ({"h11": ["DDDDDDDDDD"] * 3}, "td.h11[1]"),
]


@pytest.mark.parametrize(("fault", "field"), REFUSALS)
def test_what_is_no_rule_set_is_refused_by_line_and_field(
    fault: str | dict[str, object], field: str, tmp_path: Path
) -> None:
    good = msgspec.to_builtins(SETS["6d_h17_das"])
    if isinstance(fault, str):
        bad = fault
    elif field.startswith("td.h1"):
        bad = json.dumps({**good, "td": {**good["td"], **fault}})
    else:
        bad = json.dumps({**good, **fault})
    file = tmp_path / "sets.jsonl"
    file.write_text(json.dumps({**good, "name": "good"}) + "\n\n" + bad + "\n", "utf-8")
    with pytest.raises(InputRefused) as refused:
        read(file)
    assert (refused.value.line, refused.value.field) == (3, field)
    assert command.main([str(file)]) == command.REFUSED


def test_names_are_unique_and_files_exist(tmp_path: Path) -> None:
    twice = msgspec.json.encode(SETS["6d_h17_das"]) + b"\n"
    (tmp_path / "twice").write_bytes(twice * 2)
    (tmp_path / "empty").write_bytes(b"\n")
    assert command.main([str(tmp_path / "twice")]) == command.REFUSED
    assert command.main([str(tmp_path / "empty")]) == command.REFUSED
    assert command.main([str(tmp_path / "none")]) == command.REFUSED
    assert command.main(["--name", "7d"]) == command.REFUSED


@pytest.mark.parametrize("words", [["--rounds", "1"], ["--spots", "8"], ["--jobs", "0"]])
def test_numbers_out_of_reach_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        command.main(words)
    assert left.value.code == command.REFUSED
