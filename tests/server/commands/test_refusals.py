"""A refusal lists a field's values, and states that nothing was applied only where that is so."""

import io
import sys
from pathlib import Path

import pytest

from models.decode import decode_event
from models.errors import InputRefused
from server.commands.app import run
from server.process.exit_status import Exit
from tests.server.evenings import evening, lines

RULES = ("-r", "kansas-shoe")


@pytest.mark.parametrize(
    ("event", "field", "expected"),
    [
        (
            '{"type":"payment_made","spot":1,"kind":"x","amount":1}',
            "kind",
            "coupon, insurance, main",
        ),
        (
            '{"type":"wager_placed","spot":1,"kind":"x","amount":1}',
            "kind",
            "coupon, double, insurance, main, side, split, toke",
        ),
        (
            '{"type":"player_acted","spot":1,"action":"hit","manner":"x"}',
            "manner",
            "hand, tuck, verbal",
        ),
        ('{"type":"cards_touched","spot":1,"manner":"x"}', "manner", "one_hand, two_hands"),
        ('{"type":"card_dealt","to":1,"card":"AS","face":"x"}', "face", "down, up"),
        ('{"type":"wager_placed","spot":1,"amount":1}', "kind", "coupon, double, insurance, main"),
        (
            '{"type":"console_entry","source":"console:a",'
            '"fact":{"type":"cards_touched","spot":1,"manner":"x"}}',
            "fact.manner",
            "one_hand, two_hands",
        ),
    ],
)
def test_a_choice_lists_what_it_allows(event: str, field: str, expected: str) -> None:
    with pytest.raises(InputRefused, match=f"expected one of {expected}") as refused:
        decode_event(event.encode(), "facts.jsonl", 1)
    assert refused.value.field == field


def test_an_unknown_type_of_event_lists_the_types() -> None:
    with pytest.raises(InputRefused, match=r"one of .*card_dealt, .*round_opened, .*wager_placed"):
        decode_event(b'{"type":"card_deal"}', "facts.jsonl", 1)


@pytest.mark.parametrize("value", ["2", "2-2", "x:y", "2:2;3:5"])
def test_the_syntax_of_a_map_is_shown_with_what_was_typed(
    value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rulebooks", "show", "home", "--set", f"multi_spot_min_multiple={value}"]) == 2
    error = capsys.readouterr().err
    assert "expected pairs SPOTS:MULTIPLE such as 2:2,3:5, or none" in error
    assert f"found {value!r}" in error


def test_a_sheet_shows_how_a_map_is_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rulebooks", "show", "home"]) == 0
    assert "SPOTS:MULTIPLE such as 2:2,3:5" in " ".join(capsys.readouterr().out.split())


def test_a_round_number_leaves_room_to_count_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last = '{"type":"round_opened","round":9223372036854775807}\n'
    file = tmp_path / "facts.jsonl"
    file.write_text(last + '{"type":"round_closed"}\n', "utf-8")
    out = tmp_path / "out.parquet"
    assert run(["settle", str(file), *RULES, "--out", str(out)]) == Exit.REFUSED
    (error,) = capsys.readouterr().err.splitlines()
    assert "field 'round': expected a whole number from 1 to 4611686018427387904" in error
    assert not out.exists()


def settled_from_stdin(content: bytes, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    return run(["settle", "-", *RULES, "--json"])


def test_rounds_settled_before_a_bad_line_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = lines(evening(200)) + b'{"type":"nothing"}\n'
    assert settled_from_stdin(content, monkeypatch) == Exit.REFUSED
    out, err = capsys.readouterr()
    settled = len(out.splitlines())
    assert settled > 1
    assert err.splitlines()[0].endswith(f"run again; {settled} rounds before it were settled")


def test_nothing_was_applied_where_the_first_line_is_bad(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settled_from_stdin(b'{"type":"nothing"}\n', monkeypatch) == Exit.REFUSED
    assert capsys.readouterr().err.rstrip().endswith("nothing was applied")


@pytest.mark.parametrize("table", ["廿一點-3", "", "-1", "BJ 1", "B" * 65])
def test_a_session_is_not_made_of_a_table_that_no_replay_would_take(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = tmp_path / "evening"
    asked = ["simulate", str(session), "--rounds", "1", "--no-video", f"--table={table}"]
    assert run(asked) == Exit.REFUSED
    assert "cannot be a table's id. Use at most 64" in capsys.readouterr().err
    assert not session.exists()
