"""Whatever is settled names the sheet, what was set otherwise, and a hash of every knob."""

import csv
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest
from msgspec.structs import replace

from models.events import RulesStated
from models.judgements import RoundSettled
from server.commands.app import run
from server.house.rulebooks import as_stated, at_table, cited, rules_for, stated
from server.table.config import read_config, rules_of
from settlement.rulebooks import _ADDED_LATER, KNOBS, rules_hash, shown, value
from stream.reading import read_journal
from tests.server.evenings import as_file, as_journal, evening, judged
from tests.server.table.test_run_config import example

SIX_TO_FIVE = "blackjack_payout=6:5"
HASH = rules_hash(rules_for("kansas-shoe", [SIX_TO_FIVE]))
NAMED = {
    "rulebook": "kansas-shoe",
    "overrides": {"blackjack_payout": "6:5"},
    "rules_hash": HASH,
}
IN_WORDS = f"kansas-shoe with {SIX_TO_FIVE} (rules {HASH[:12]})"
OURS = """
id = "ours"
title = "Ours"
document = "our sheet"
extends = "kansas-shoe"

[knobs.blackjack_payout]
value = "12:10"
source = "stated"
document = "our sheet"
quote = "Blackjack pays 12 to 10."
"""


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    return as_file(tmp_path / "facts.jsonl", evening(4, table="BJ-07"))


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[Any]:
    run([*map(str, arguments), "--json"])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def name_in(plain: dict[str, Any]) -> dict[str, Any]:
    return {key: plain[key] for key in NAMED if key in plain}


# --- the hash -----------------------------------------------------------------------------


def test_the_same_knobs_have_one_hash_however_they_were_set(tmp_path: Path) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(OURS, "utf-8")
    assert rules_hash(cited(str(file)).rules) == HASH
    assert rules_hash(rules_for("kansas-shoe", ["decks=2", "decks=6", SIX_TO_FIVE])) == HASH


@pytest.mark.parametrize(
    "setting", ["decks=5", "even_money=true", "signals.hit=tuck", "policy.illegal_option=void"]
)
def test_another_value_of_any_knob_is_another_hash(setting: str) -> None:
    assert rules_hash(rules_for("kansas-shoe", [setting])) != rules_hash(rules_for("kansas-shoe"))


def test_the_order_of_a_list_is_no_other_rule() -> None:
    one = rules_for("home", ["signals.hit=hand,verbal"])
    assert rules_hash(one) == rules_hash(rules_for("home", ["signals.hit=verbal,hand"]))


def test_anybody_can_compute_the_hash_again() -> None:
    rules = rules_for("home")
    unsaid = {knob: means for knob, (means, _) in _ADDED_LATER.items()}
    lines = sorted(
        f"{knob}={shown(value(rules, knob))}\n"
        for knob in KNOBS
        if knob not in unsaid or value(rules, knob) != unsaid[knob]
    )
    assert rules_hash(rules) == sha256("".join(lines).encode()).hexdigest()


def test_show_prints_the_overrides_and_the_hash(capsys: pytest.CaptureFixture[str]) -> None:
    shown_book = printed(capsys, "rulebooks", "show", "kansas-shoe", "--set", SIX_TO_FIVE)[0]
    assert (shown_book["overrides"], shown_book["rules_hash"]) == (NAMED["overrides"], HASH)


# --- settle -------------------------------------------------------------------------------


def test_a_round_names_what_was_set(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = printed(capsys, "settle", facts, "-r", "kansas-shoe", "--set", SIX_TO_FIVE)
    assert [name_in(one) for one in rounds] == [NAMED] * 4
    assert list(rounds[0])[:4] == ["round", "rulebook", "overrides", "rules_hash"]


@pytest.mark.parametrize("knobs", [(), ("--set", "decks=6"), ("--set", "blackjack_payout=3:2")])
def test_where_nothing_is_overridden_a_round_is_as_it_was(
    facts: Path, capsys: pytest.CaptureFixture[str], knobs: tuple[str, ...]
) -> None:
    first, *_ = printed(capsys, "settle", facts, "-r", "kansas-shoe", *knobs)
    assert list(first) == ["round", "rulebook", "status", "dealer", "spots", "violations", "net"]


def test_the_summary_names_the_rules(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settle = ("settle", facts, "-r", "kansas-shoe", "--summary")
    assert name_in(printed(capsys, *settle, "--set", SIX_TO_FIVE)[0]["summary"]) == NAMED
    assert name_in(printed(capsys, *settle)[0]["summary"]) == {"rulebook": "kansas-shoe"}


def test_people_read_the_rules_at_each_round_and_below(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["settle", str(facts), "-r", "kansas-shoe", "--set", SIX_TO_FIVE])
    assert capsys.readouterr().out.count(IN_WORDS) == 5


def test_parquet_has_the_rules_in_columns(facts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(["settle", str(facts), "-r", "kansas-shoe", "--set", SIX_TO_FIVE, "--out", str(out)])
    for table in ("hands", "rounds"):
        query = f"select distinct rulebook, overrides, rules_hash from '{out}/{table}.parquet'"
        assert duckdb.execute(query).fetchall() == [("kansas-shoe", SIX_TO_FIVE, HASH)]


# --- resettle -----------------------------------------------------------------------------


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return as_journal(tmp_path / "a.journal", judged(evening(8, table="BJ-07"), SIX_TO_FIVE))


def test_resettle_names_the_rules_of_then_and_of_now(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    *_, last = printed(capsys, "resettle", journal, "-r", "home", "--set", "decks=6")
    now = rules_for("home", ["decks=6"])
    assert last["summary"]["rules"] == {
        "then": [NAMED],
        "now": {
            "rulebook": "home",
            "overrides": {"decks": "6"},
            "rules_hash": rules_hash(now),
        },
    }
    run(["resettle", str(journal), "-r", "home", "--set", "decks=6", "--summary"])
    text = " ".join(capsys.readouterr().out.split())
    assert f"{IN_WORDS} → home with decks=6 (rules {rules_hash(now)[:12]})" in text


def test_a_parquet_of_changes_has_both_rules(journal: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    run(["resettle", str(journal), "-r", "home", "--out", str(out)])
    columns = "then_rulebook, then_overrides, then_rules_hash, now_rulebook, now_rules_hash"
    found = duckdb.execute(f"select distinct {columns} from '{out}'").fetchall()
    assert found == [("kansas-shoe", SIX_TO_FIVE, HASH, "home", None)]


# --- tables -------------------------------------------------------------------------------


def test_a_tables_own_limits_are_overrides_where_the_sheet_has_others() -> None:
    sheet = rules_for("kansas-shoe")
    assert at_table(sheet, sheet.table_min, sheet.table_max) == sheet
    assert at_table(sheet, 1000, 50_000, [SIX_TO_FIVE]).overrides == {
        "blackjack_payout": "6:5",
        "table_min": "1000",
        "table_max": "50000",
    }


def test_a_live_table_plays_by_its_configurations_limits(tmp_path: Path) -> None:
    rules = rules_of(read_config(example(tmp_path)))
    assert rules.overrides == {"table_min": "1000", "table_max": "50000"}
    assert rules.rules_hash == rules_hash(rules)


def test_the_journal_states_the_overrides_and_the_hash() -> None:
    rules = rules_for("kansas-shoe", [SIX_TO_FIVE])
    event = stated(rules, "configuration", 1)
    assert (event.rulebook, event.overrides, event.rules_hash) == tuple(NAMED.values())
    assert as_stated(event) == rules


def test_an_older_versions_statement_is_compared_with_the_sheet() -> None:
    rules = rules_for("kansas-shoe", [SIX_TO_FIVE])
    older = replace(stated(rules, "configuration", 1), overrides={}, rules_hash="")
    assert as_stated(older) == rules


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds a session, and what its replay with ``--set`` wrote."""
    place = tmp_path_factory.mktemp("replayed")
    session = str(place / "session")
    run(
        [
            "simulate",
            session,
            "--rounds",
            "1",
            "--spots",
            "1,3",
            "--no-video",
            "--set",
            "table_min=1000",
        ]
    )
    journal, report = str(place / "a.journal"), str(place / "report.html")
    files = ("--journal", journal, "--report", report)
    run(["replay", session, "--set", SIX_TO_FIVE, *files])
    return place


@pytest.mark.slow
def test_a_replay_names_limits_and_settings_in_journal_report_and_export(
    replayed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    due = {"blackjack_payout": "6:5", "table_min": "1000"}
    entries = list(read_journal(replayed / "a.journal"))
    stated_rules = next(one for one in entries if isinstance(one, RulesStated))
    results = [one.result for one in entries if isinstance(one, RoundSettled)]
    assert stated_rules.overrides == due
    assert [one.overrides for one in results] == [due]
    assert {one.rules_hash for one in results} == {stated_rules.rules_hash}
    assert f"{SIX_TO_FIVE} table_min=1000" in (replayed / "report.html").read_text("utf-8")
    out = replayed / "rounds.csv"
    run(["export", str(replayed / "a.journal"), "--what", "rounds", "--out", str(out)])
    (row,) = csv.DictReader(out.read_text("utf-8").splitlines())
    assert row["overrides"] == f"{SIX_TO_FIVE} table_min=1000"
    assert row["rules_hash"] == stated_rules.rules_hash
    capsys.readouterr()
    run(["replay", str(replayed / "session"), "--set", SIX_TO_FIVE])
    assert f"rules: kansas-shoe with {SIX_TO_FIVE} table_min=1000" in capsys.readouterr().out
