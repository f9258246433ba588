"""A round that the floor called off is worth nothing in every command that settles a journal."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest

from models.decode import decode_event
from models.judgements import AnyEvent, Review, ReviewRaised
from pitwatch import settle
from server.commands.app import run
from stream.reading import read_journal
from tests.server.evenings import as_journal, evening, judged

Capture = pytest.CaptureFixture[str]
VOID = 3


def _events(number: int) -> list[AnyEvent]:
    """Return an evening in which a round is in doubt, and its payments are wrong."""
    events = judged(evening(6, 4, mistakes=("wrong_payout", "dealer_hit_hard_17"), table="BJ-07"))
    doubt = Review("was it dealt so?", (), ())
    return [*events, ReviewRaised(table="BJ-07", round=number, review=doubt)]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return as_journal(tmp_path / "plain" / "07.journal", _events(VOID))


@pytest.fixture
def called_off(tmp_path: Path) -> Path:
    """The same journal, with a round called off by a person."""
    path = as_journal(tmp_path / "void" / "07.journal", _events(VOID))
    resolve = ["review", "resolve", str(path), "-n", str(VOID), "--as", "void"]
    assert run([*resolve, "--reason", "the shoe fell", "--by", "ann"]) == 0
    return path


def _json(capsys: Capture, *command: object) -> list[Any]:
    capsys.readouterr()
    run([*map(str, command), "-r", "kansas-shoe", "--json"])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def _summary(capsys: Capture, *command: object) -> dict[str, Any]:
    summary: dict[str, Any] = _json(capsys, *command)[-1]["summary"]
    return summary


def test_its_hands_are_void_and_its_mistakes_of_play_stand(called_off: Path) -> None:
    by_number = {one.result.round: one.result for one in settle(called_off, "kansas-shoe")}
    void = by_number[VOID]
    assert (void.status, void.net) == ("final", 0)
    assert {hand.outcome for spot in void.spots for hand in spot.hands} == {"void"}
    assert {spot.net for spot in void.spots} == {0}
    assert "void" not in {h.outcome for s in by_number[VOID + 1].spots for h in s.hands}


def test_the_totals_leave_it_out(plain: Path, called_off: Path, capsys: Capture) -> None:
    (round_,) = [one for one in _json(capsys, "settle", called_off) if one["round"] == VOID]
    stakes = sum(hand["stake"] for spot in round_["spots"] for hand in spot["hands"])
    assert stakes > 0
    before, after = (_summary(capsys, "settle", path, "--summary") for path in (plain, called_off))
    rounds = _json(capsys, "settle", called_off)
    nets = [hand["net"] for one in rounds for spot in one["spots"] for hand in spot["hands"]]
    assert after["taken"] == -sum(net for net in nets if net < 0)
    assert after["paid"] == sum(net for net in nets if net > 0)
    assert after["open_stakes"] == 0
    assert after["wagered"] == before["wagered"]
    assert before["open_stakes"] == stakes


@pytest.mark.parametrize("was", [(), ("--was", "kansas-shoe")], ids=["recorded", "was"])
def test_settling_again_under_the_same_rules_finds_no_difference(
    called_off: Path, capsys: Capture, was: tuple[str, ...]
) -> None:
    summary = _summary(capsys, "resettle", called_off, *was)
    assert (summary["changed"], summary["house_difference"]) == (0, 0)
    assert summary["spots"] == []


def test_it_is_void_under_other_rules_too(called_off: Path, capsys: Capture) -> None:
    changed = _json(capsys, "resettle", called_off, "--set", "win_payout=2:1")[:-1]
    assert len(changed) > 1
    assert VOID not in {one["round"] for one in changed}


def test_an_archived_day_says_the_same(called_off: Path, capsys: Capture, tmp_path: Path) -> None:
    history = tmp_path / "history"
    assert run(["archive", "write", str(called_off), str(history)]) == 0
    assert _summary(capsys, "settle", history, "--summary") == (
        _summary(capsys, "settle", called_off, "--summary")
    )
    assert _summary(capsys, "resettle", history)["changed"] == 0
    run(["settle", str(history), "-r", "kansas-shoe", "--out", str(tmp_path / "tables")])
    hands = pq.read_table(tmp_path / "tables" / "hands.parquet").to_pylist()
    assert {one["net"] for one in hands if one["round"] == VOID} == {0}


def test_a_void_that_was_taken_back_settles(called_off: Path, capsys: Capture) -> None:
    again = ["review", "resolve", str(called_off), "-n", str(VOID), "--as", "stands", "--by", "bo"]
    assert run(again) == 0
    (round_,) = [one for one in _json(capsys, "settle", called_off) if one["round"] == VOID]
    assert "void" not in {hand["outcome"] for spot in round_["spots"] for hand in spot["hands"]}
    assert _summary(capsys, "resettle", called_off)["changed"] == 0


def test_a_journal_whose_void_hands_were_recorded_as_pushes_is_continued(
    called_off: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Earlier versions settled a round called off as pushes, with its mistakes of payment."""
    recorded = [_as_before(event) for event in read_journal(called_off)]
    old = as_journal(tmp_path / "old" / "07.journal", recorded)
    again = ["review", "resolve", str(old), "-n", str(VOID), "--as", "void", "--by", "bo"]
    assert run([*again, "--reason", "as ann said"]) == 0
    assert _summary(capsys, "resettle", old)["changed"] == 0


def _as_before(event: Any) -> AnyEvent:
    line = msgspec.json.encode(event).replace(b'"outcome":"void"', b'"outcome":"push"')
    return decode_event(line, "07.journal", 1)
