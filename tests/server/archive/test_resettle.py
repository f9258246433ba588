"""An archive settled again under other rules: what changes, round by round and in total."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from models.events import AnyFact, CardDealt, RoundOpened
from models.judgements import RoundSettled
from server.archive import worker_pool as crew
from server.commands.app import run
from server.house.formatting import Formats
from settlement.hands import total
from tests.server.evenings import as_file, as_journal, evening, judged

STANDS = "dealer_soft17=stand"
EXAMPLE = Path(__file__).parents[3] / "server" / "examples" / "facts.jsonl"
HOURS_26 = 390
"""Rounds of a table that deals one in four minutes for 26 hours."""


def resettled(
    capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[int, list[Any], dict[str, Any]]:
    code = run(["resettle", *map(str, arguments), "--rulebook", "kansas-shoe", "--json"])
    *rounds, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return code, rounds, last["summary"]


def soft_17_stands(facts: Iterable[AnyFact]) -> set[int]:
    """Return the rounds in which the dealer's last cards were a soft 17, from the facts alone."""
    cards: dict[int, list[Any]] = {}
    number = 0
    for fact in facts:
        if isinstance(fact, RoundOpened):
            number = fact.round
        elif isinstance(fact, CardDealt) and fact.to == "dealer":
            cards.setdefault(number, []).append(fact.card)
    return {number for number, hand in cards.items() if total(hand) == (17, True)}


@pytest.fixture(scope="module")
def hours_26(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evening of a table that stood on soft 17 and was settled so."""
    dealt = evening(HOURS_26, 26, knobs=(STANDS,), table="BJ-07")
    return as_journal(tmp_path_factory.mktemp("26") / "BJ-07.journal", judged(dealt, STANDS))


def test_a_table_that_stood_on_soft_17_under_a_hit_rule_is_one_command(
    hours_26: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, rounds, summary = resettled(capsys, hours_26)
    events = judged(evening(HOURS_26, 26, knobs=(STANDS,), table="BJ-07"), STANDS)
    against_live_hands = {
        event.result.round
        for event in events
        if isinstance(event, RoundSettled)
        for spot in event.result.spots
        for hand in spot.hands
        if hand.outcome in ("win", "lose", "push")
    }
    stood = soft_17_stands(event for event in events if isinstance(event, AnyFact))
    assert code == 3
    assert {one["round"] for one in rounds} == stood & against_live_hands
    assert summary["rounds"] == HOURS_26
    assert summary["changed"] == summary["opened"] == len(rounds)
    assert summary["appeared"] == {"dealer_stood_soft_17": len(rounds)}
    assert summary["gone"] == {}
    for one in rounds:
        assert (one["then"]["status"], one["now"]["status"]) == ("final", "pending")


def test_what_is_open_is_told_with_its_stakes_and_what_it_was_settled_for(
    hours_26: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, rounds, summary = resettled(capsys, hours_26)
    open_hands = [
        (now["stake"], then["net"])
        for one in rounds
        for spots in [zip(one["now"]["spots"], one["then"]["spots"], strict=True)]
        for spot_now, spot_then in spots
        for now, then in zip(spot_now["hands"], spot_then["hands"], strict=True)
        if now["net"] is None
    ]
    assert sum(spot["open_stakes"] for spot in summary["spots"]) == sum(s for s, _ in open_hands)
    assert sum(spot["open_then"] for spot in summary["spots"]) == sum(net for _, net in open_hands)


def test_a_person_reads_which_rounds_what_was_paid_and_what_it_comes_to(
    hours_26: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["resettle", str(hours_26), "--rulebook", "kansas-shoe"]) == 3
    printed = capsys.readouterr().out
    for said in (
        "BJ-07  Round ",
        "+ dealer_stood_soft_17 (dealer) stood on ",
        "a person decides",
        "settled again",
        "390 rounds",
        "kansas-shoe with dealer_soft17=stand (rules ",
        ") → kansas-shoe",
        "staked, settled before for house",
        "mistakes appear",
    ):
        assert said in printed


@pytest.fixture(scope="module")
def hit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The evening of a table that hit soft 17, settled so then, under a rule that stands."""
    dealt = evening(200, 26, table="BJ-07")
    return as_file(tmp_path_factory.mktemp("hit") / "hit.jsonl", judged(dealt))


def test_who_was_paid_too_much_or_too_little_under_the_new_rule_is_told(
    hit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, rounds, summary = resettled(capsys, hit, "--set", STANDS)
    assert code == 3
    too_much = too_little = house = 0
    for one in rounds:
        due = {
            (spot["spot"], hand["hand"]): hand["net"]
            for spot in one["now"]["spots"]
            for hand in spot["hands"]
        }
        for paid in one["paid"]:
            if paid["kind"] == "main":
                difference = paid["amount"] - due[paid["spot"], paid["hand"]]
                too_much += max(difference, 0)
                too_little += max(-difference, 0)
        house += one["now"]["net"] - one["then"]["net"]
    assert too_much + too_little > 0
    assert sum(spot["overpaid"] for spot in summary["spots"]) == too_much
    assert sum(spot["underpaid"] for spot in summary["spots"]) == too_little
    assert summary["house_difference"] == house == too_much - too_little
    assert set(summary["appeared"]) == {"dealer_hit_soft_17", "wrong_payout"}


def test_the_rules_of_then_nothing_changes(
    hours_26: Path, hit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resettled(capsys, hit)[:2] == (0, [])
    code, rounds, summary = resettled(capsys, hours_26, "--set", STANDS)
    assert (code, rounds, summary["house_difference"]) == (0, [], 0)
    assert summary["house_then"] == summary["house_now"] != 0


def test_facts_alone_are_compared_with_the_rulebook_of_then(
    tmp_path: Path, hit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = as_file(tmp_path / "facts.jsonl", evening(200, 26, table="BJ-07"))
    *_, recorded = resettled(capsys, hit, "--set", STANDS)
    *_, computed = resettled(capsys, facts, "--set", STANDS, "--was", "kansas-shoe")
    assert computed == recorded


def test_without_settlements_of_then_or_a_rulebook_of_then_it_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = as_file(tmp_path / "facts.jsonl", evening(2))
    assert run(["resettle", str(facts), "--rulebook", "home"]) == 2
    printed = capsys.readouterr()
    assert "--was RULEBOOK" in printed.err
    assert str(facts) in printed.err


def test_a_round_not_settled_then_is_told_and_so_is_one_whose_facts_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = judged(evening(4, 3))
    settlements = [event for event in events if not isinstance(event, AnyFact)]
    without_second = [event for event in events if event is not settlements[1]]
    file = as_file(tmp_path / "gap.jsonl", without_second)
    _, (missing,), summary = resettled(capsys, file)
    assert (missing["round"], missing["then"], summary["unsettled_then"]) == (2, None, 1)
    last = max(n for n, event in enumerate(events) if isinstance(event, RoundOpened))
    as_file(file, [*events[:last], settlements[-1]])
    _, (lost,), summary = resettled(capsys, file)
    assert (lost["round"], lost["now"], summary["without_facts"]) == (4, None, 1)


def test_several_processes_find_what_one_finds(
    hours_26: Path, hit: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_WORTH_A_POOL", 0)
    alone = resettled(capsys, hours_26, hit, "--jobs", "1")
    assert resettled(capsys, hours_26, hit, "--jobs", "2") == alone
    assert {one["file"] for one in alone[1]} == {str(hours_26)}


def test_what_changes_can_be_asked_of_parquet(
    hit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    _, rounds, summary = resettled(capsys, hit, "--set", STANDS, "--out", out)
    with duckdb.connect() as database:
        query = f"select sum(then_net), sum(now_net) from '{out}/changes.parquet'"
        assert database.execute(query).fetchall() == [
            (-summary["house_then"], -summary["house_now"])
        ]
        query = f"select count(*) from '{out}/violations.parquet' where change = 'appeared'"
        assert database.execute(query).fetchall() == [(sum(summary["appeared"].values()),)]
    assert rounds


def test_each_change_names_its_clauses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = as_journal(tmp_path / "a.journal", judged(evening(60, 3, table="BJ-07")))
    code, rounds, _ = resettled(capsys, journal, "--set", "blackjack_payout=6:5")
    assert code == 3
    changes = [change for one in rounds for change in one["changes"]]
    assert {tuple(change["clauses"]) for change in changes} == {("blackjack.pays",)}
    assert all(c["now"]["net"] == c["then"]["net"] * 4 // 5 for c in changes)
    run(["resettle", str(journal), "-r", "kansas-shoe", "--set", "blackjack_payout=6:5"])
    assert "blackjack.pays" in capsys.readouterr().out


def test_a_dealer_who_plays_otherwise_is_named_with_each_hand(
    hours_26: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "changes.parquet"
    _, rounds, _ = resettled(capsys, hours_26, "--out", str(out))
    changes = [change for one in rounds for change in one["changes"]]
    assert changes
    assert all(change["clauses"][0] == "dealer.draw" for change in changes)
    with duckdb.connect() as database:
        query = f"select clauses from '{out}' where changed"
        assert [list(row[0]) for row in database.execute(query).fetchall()] == [
            change["clauses"] for change in changes
        ]


def test_a_round_under_review_is_counted_apart_and_not_in_the_houses_gain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = EXAMPLE.read_text()
    run(["settle", str(EXAMPLE), "--rulebook", "kansas-shoe", "--json"])
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    second["status"] = "review"
    second["spots"][0]["hands"][0]["net"] += 500
    unknown_then, *_ = second["violations"]
    second["violations"] = second["violations"][1:]
    record = tmp_path / "table.jsonl"
    settled = [json.dumps({"type": "round_settled", "result": one}) for one in (first, second)]
    record.write_text(told + "\n".join(settled) + "\n")
    asked = ["resettle", str(record), "--rulebook", "kansas-shoe", "--summary"]
    run([*asked, "--json"])
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert summary["in_review"] == 1
    assert summary["house_then"] == summary["house_now"] == first["net"]
    assert summary["appeared"] == summary["gone"] == {}
    run([*asked[:-1], "--json"])
    (one, _) = map(json.loads, capsys.readouterr().out.splitlines())
    assert one["appeared"] == [unknown_then | {"suspected": True}]
    assert {"review"} == {one["then"]["status"], one["now"]["status"]}
    run(asked)
    printed = " ".join(capsys.readouterr().out.split())
    assert "under review 1 round: in no total, until a person decides" in printed
    run(asked[:-1])
    printed = " ".join(capsys.readouterr().out.split())
    gain = Formats().signed(second["net"])
    assert f"house {gain} if the review confirms it" in printed
    assert f"+ suspected mistake: {unknown_then['code']}" in printed
