"""Bad input by the thousand: never a crash, never a hang, never settled silently wrong."""

import json
from collections import Counter
from pathlib import Path

import pytest

from models.events import CardDealt, RoundClosed
from server.commands.app import run
from simulation.house import house
from tests.server.evenings import as_file, evening, lines, settle_file
from tests.settlement.bad_files import Verdict, judge, spoilt_file
from tests.settlement.spoiled import readable
from tests.thoroughness import one_in

CASES = 2000
"""How many files are spoilt before a release, an eighth of them at each commit.

``python -m lab.bench.bad_input --cases N`` spoils more.
"""
PART = 250
RULES = ("--rulebook", "kansas-shoe")


@pytest.mark.slow
@pytest.mark.parametrize("first", one_in(8, range(0, CASES, PART)))
def test_a_bad_file_is_refused_or_reported_or_settles_the_same(first: int, tmp_path: Path) -> None:
    verdicts: Counter[Verdict] = Counter()
    ways: set[str] = set()
    for case in range(first, first + PART):
        verdict, spoilt = judge(case, tmp_path)
        verdicts[verdict] += 1
        ways.add(spoilt.how)
    assert min(verdicts[one] for one in ("refused", "reported", "the same")) > PART // 20
    assert len(ways) > 20


@pytest.mark.parametrize("case", one_in(4, range(80)))
def test_the_command_says_in_one_line_what_it_refuses(
    case: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoilt = spoilt_file(case)
    file = tmp_path / "spoilt.jsonl"
    file.write_bytes(spoilt.data)
    _, bad = readable(spoilt.data)
    code = run(["settle", str(file), *RULES, "--json"])
    printed = capsys.readouterr()
    assert (code == 2) is (bad is not None)
    if bad is not None:
        assert printed.out == ""
        assert printed.err.startswith(f"pitwatch: {file}:{bad}: field ")
        assert printed.err.count("\n") == 1
    else:
        assert all(
            json.loads(line)["rulebook"] == "kansas-shoe" for line in printed.out.splitlines()
        )


def test_a_line_of_fifty_megabytes_is_refused_by_its_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "endless.jsonl"
    with file.open("wb") as written:
        written.write(lines(evening(1)) + b'{"type":"')
        for _ in range(50):
            written.write(b"x" * (1 << 20))
    assert run(["settle", str(file), *RULES]) == 2
    assert f"{file}:{len(evening(1)) + 1}: field 'line'" in capsys.readouterr().err


def test_a_thousand_tables_in_one_file_are_a_thousand_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tables.jsonl"
    file.write_text(
        "".join(f'{{"type":"round_opened","round":1,"table":"BJ-{n}"}}\n' for n in range(1000))
    )
    assert run(["settle", str(file), *RULES, "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1000


def test_a_round_of_thousands_of_facts_settles(tmp_path: Path) -> None:
    cards = [CardDealt(to=1, card=None)] * 3000
    file = as_file(tmp_path / "long.jsonl", [*evening(1)[:-1], *cards, RoundClosed()])
    *_, result = settle_file(str(file), house("kansas-shoe").rules)
    assert result.violations


def test_a_card_that_does_not_say_its_face_lies_face_up(tmp_path: Path) -> None:
    """Left out by hand, ``face`` moves no money: the hole card is told as shown, no more."""
    good = as_file(tmp_path / "good.jsonl", evening(1, 3))
    told = good.read_bytes()
    file = tmp_path / "faces.jsonl"
    file.write_bytes(told.replace(b',"face":"down"', b""))
    assert file.read_bytes() != told
    rules = house("kansas-shoe").rules
    (result,), (expected,) = settle_file(str(file), rules), settle_file(str(good), rules)
    assert result.spots == expected.spots
    assert [found.code for found in result.violations] == ["hole_card_exposed"]
