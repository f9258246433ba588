import json
import re
from pathlib import Path

import pytest

from server.commands.app import run
from stream import library

HOUSE = """
id = "our-house"
title = "Our house"
document = "our sheet"
extends = "kansas-shoe"

[knobs.dealer_soft17]
value = "stand"
source = "stated"
document = "our sheet"
quote = "Dealer stands on all 17s."
"""


def test_list_names_every_shipped_rulebook(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rulebooks", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [book["id"] for book in listed] == list(library.rulebook_ids())


def test_show_gives_each_knob_with_its_quote_or_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rulebooks", "show", "kansas-shoe", "--json"]) == 0
    knobs = json.loads(capsys.readouterr().out)["knobs"]
    assert knobs["blackjack_payout"]["value"] == "3:2"
    assert all(knob.get("quote") or knob.get("reason") for knob in knobs.values())


def test_a_knob_set_on_the_command_line_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rulebooks", "show", "home", "--set", "decks=2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["knobs"]["decks"] == {"value": 2, "source": "set"}


def test_diff_names_only_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rulebooks", "diff", "kansas-shoe", "kansas-double-deck", "--json"]) == 0
    rows = {row["knob"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["decks"]["kansas-shoe"] == "6"
    assert rows["decks"]["kansas-double-deck"] == "2"
    assert "dealer_soft17" not in rows


def test_a_file_may_extend_a_shipped_rulebook(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(HOUSE, "utf-8")
    assert run(["rulebooks", "diff", "kansas-shoe", str(file)]) == 0
    assert "dealer_soft17" in capsys.readouterr().out


BETS = (
    HOUSE
    + """
[side_bets.pairs]
extends = "perfect-pairs-25-12-6"
max = 10000
"""
)


def test_the_side_bets_of_a_house_are_shown_with_their_pay_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(BETS, "utf-8")
    assert run(["rulebooks", "show", str(file), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["knobs"]["side_bets"]
    assert shown["value"]["pairs"]["pays"][0]["odds"] == "25:1"
    assert "Wizard of Odds" in shown["document"]
    assert run(["rulebooks", "show", str(file)]) == 0
    assert "coloured pair 12:1" in capsys.readouterr().out


def test_a_side_bet_is_settled_by_the_houses_own_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, facts = tmp_path / "ours.toml", tmp_path / "facts.jsonl"
    file.write_text(BETS, "utf-8")
    told = [
        {"type": "wager_placed", "spot": 1, "kind": "main", "amount": 1000},
        {"type": "wager_placed", "spot": 1, "kind": "side", "amount": 500, "bet": "pairs"},
        {"type": "card_dealt", "to": 1, "card": "8H", "face": "up"},
        {"type": "card_dealt", "to": "dealer", "card": "TS", "face": "up"},
        {"type": "card_dealt", "to": 1, "card": "8D", "face": "up"},
        {"type": "card_dealt", "to": "dealer", "card": "7C", "face": "down"},
        {"type": "payment_made", "spot": 1, "kind": "side", "amount": 5000, "bet": "pairs"},
        {"type": "round_closed"},
    ]
    facts.write_text("\n".join(map(json.dumps, told)), "utf-8")
    assert run(["settle", str(facts), "--rulebook", str(file), "--json"]) == 3
    (spot,) = json.loads(capsys.readouterr().out)["spots"]
    (side,) = spot["side"]
    assert (side["outcome"], side["award"], side["net"]) == ("win", "coloured pair", 6000)
    assert run(["settle", str(facts), "--rulebook", str(file)]) == 3
    assert "side bet pairs: due 60.00, paid 50.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["show", "nope"], "rulebook 'nope'", id="unknown"),
        pytest.param(["show", "home", "--set", "decks=x"], "decks", id="bad-value"),
        pytest.param(["show", "home", "--set", "deks=2"], "deks", id="unknown-knob"),
        pytest.param(["show", "home", "--set", "decks"], "KNOB=VALUE", id="no-value"),
    ],
)
def test_a_refusal_is_one_line_and_exit_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rulebooks", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_a_pay_table_of_hands_is_shown_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rulebooks", "show", "spanish-21"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"6-7-8 of one suit +2:1 +at once +same suit, ranks 678, not doubled", out)
    assert re.search(r"21 of six cards +2:1 +at once +total 21, count 6, not", out)
    assert '"odds"' not in out
