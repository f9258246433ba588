import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from models.errors import InputRefused
from settlement.engine import Engine
from settlement.rulebooks import overridden
from tests.oracle import __main__ as command
from tests.oracle.measuring import Asked, Measured, RoundFaulted, blocks, measured, play, played
from tests.oracle.player import WAGER, DeckRanOut, Table
from tests.oracle.rule_sets import ROWS, RuleSet, read, rulebook

SETS = {rule_set.name: rule_set for rule_set in read(command.SHIPPED)}
BLIND = {rule_set.name: rule_set for rule_set in read(Path("tests/oracle/no_hole_card.jsonl"))}


def asked(rule_set: RuleSet, rounds: int, spots: int = 1) -> Asked:
    (block,) = blocks(rule_set, rounds, spots, seed=7)
    return block


def mean(rule_set: RuleSet, *settings: str, rounds: int = 20_000) -> Measured:
    rules = overridden(rulebook(rule_set), settings)
    return measured(rule_set, [play(rule_set, asked(rule_set, rounds), rules)])


def changed(rule_set: RuleSet, rows: Mapping[str, tuple[str, ...]]) -> RuleSet:
    return msgspec.structs.replace(rule_set, td={**rule_set.td, **rows})


@pytest.mark.parametrize("name", [*SETS, *BLIND])
def test_every_strategy_is_played_without_a_violation(name: str) -> None:
    rule_set = {**SETS, **BLIND}[name]
    block = play(rule_set, asked(rule_set, rounds=300, spots=5))
    assert block.squares > 0


@pytest.mark.parametrize("name", ["woo_1d_s17_das", "6d_h17_das", "1d_h17_ndas_65"])
def test_the_mean_lies_within_three_standard_errors(name: str) -> None:
    result = mean(SETS[name])
    assert result.hands == 20_000
    assert 0.7 < result.error_pct < 0.9
    assert result.holds


def test_several_spots_are_worth_what_one_is() -> None:
    rule_set = SETS["groch_6d_s17_das_ls"]
    result = measured(rule_set, [play(rule_set, asked(rule_set, 4_000, spots=5))])
    assert (result.rounds, result.hands) == (4_000, 20_000)
    assert result.error_pct > 1.1, "the spots share a dealer"
    assert result.holds


def test_a_wrong_payout_is_caught() -> None:
    assert not mean(SETS["6d_h17_das"], "blackjack_payout=1:2").holds


def test_a_wrong_table_is_caught() -> None:
    never_breaks = {f"h{total}": ("S" * 10,) * 3 for total in range(12, 17)}
    bold = {f"p{points}": ("S" * 10,) * 3 for points in range(2, 11)}
    assert not mean(changed(SETS["6d_h17_das"], {**never_breaks, **bold})).holds


def test_a_wrong_exact_value_is_caught() -> None:
    wrong = msgspec.structs.replace(SETS["6d_h17_das"], ev_pct_TD=20.0)
    assert not mean(wrong, rounds=2_000).holds


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("dealer_soft17=stand", "dealer_hit_soft_17"),
        ("double_after_split=false", "double_after_split_not_allowed"),
        ("double_on=9-11", "double_total_not_allowed"),
        ("max_hands=2", "too_many_hands"),
    ],
)
def test_play_that_the_rulebook_forbids_is_shown_with_its_facts(setting: str, code: str) -> None:
    rule_set = SETS["6d_h17_das"]
    with pytest.raises(RoundFaulted) as fault:
        mean(rule_set, setting)
    first, *_ = str(fault.value).splitlines()[1:]
    assert json.loads(first) == {"type": "shoe_started", "decks": 6}
    assert f'"code":"{code}"' in str(fault.value)


@pytest.mark.parametrize(("peek", "lost"), [(True, {-WAGER}), (False, {-WAGER, -2 * WAGER})])
def test_doubles_and_splits_are_lost_to_a_blackjack_only_if_the_dealer_did_not_look(
    peek: bool, lost: set[int]
) -> None:
    rule_set = msgspec.structs.replace(SETS["6d_h17_das"], peek=peek)
    table, engine = Table(rule_set, 7, "1"), Engine(rulebook(rule_set))
    results = [result for _ in range(400) for fact in table.deal() for result in engine.feed(fact)]
    against = [result for result in results if result.dealer.outcome == "blackjack"]
    assert {spot.net for result in against for spot in result.spots} - {0} == lost


def test_a_round_that_needs_more_cards_than_there_are_is_no_round() -> None:
    hits = dict.fromkeys(ROWS, ("H" * 10,) * 3)
    table = Table(changed(SETS["woo_1d_s17_das"], hits), 7, "1")
    table._shoe = table._shoe[:20]
    with pytest.raises(DeckRanOut):
        table.deal()


def test_the_same_block_is_the_same_cards_wherever_it_is_played() -> None:
    rule_set = SETS["woo_2d_h17_das_ls_rsa"]
    wanted = [msgspec.structs.replace(asked(rule_set, 200), block=block) for block in (0, 1, 2)]
    here = {block.asked: block.gain for block in played(rule_set, wanted, jobs=1)}
    there = {block.asked: block.gain for block in played(rule_set, wanted, jobs=2)}
    assert here == there
    assert len(set(here.values())) > 1


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
    words = [sys.executable, "-m", "tests.oracle", str(tmp_path / "sets.jsonl"), "--rounds", "200"]
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
