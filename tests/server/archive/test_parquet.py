"""What ``--out`` writes, read back by programs that are not ours."""

import json
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pyarrow.parquet as pq
import pytest

from server.archive import columns, parquet
from server.archive import worker_pool as crew
from server.commands.app import run
from tests.server.evenings import as_file, evening
from tests.settlement.table import facts

SETTLE = ("settle", "--rulebook", "kansas-shoe", "--json")
ERRS = ("dealer_hit_hard_17", "wrong_payout")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    folder = tmp_path / "november"
    as_file(folder / "monday.jsonl", evening(6, 1, mistakes=ERRS, table="BJ-07"))
    as_file(folder / "tuesday.jsonl", evening(6, 2, table="BJ-08"))
    return folder


@pytest.fixture
def printed(archive: Path, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    run([*SETTLE, str(archive)])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def asked(query: str, place: Path) -> list[Any]:
    with duckdb.connect() as database:
        return database.execute(query.replace("$", str(place))).fetchall()


def test_a_folder_holds_hands_violations_and_rounds(
    archive: Path, tmp_path: Path, printed: list[Any]
) -> None:
    out = tmp_path / "out"
    assert run([*SETTLE, str(archive), "--out", str(out)]) == 3
    hands = [hand for result in printed for spot in result["spots"] for hand in spot["hands"]]
    nets = asked("select count(*), sum(stake), sum(net) from '$/hands.parquet'", out)
    assert nets == [(len(hands), sum(h["stake"] for h in hands), sum(h["net"] for h in hands))]
    codes = asked("select code, clause from '$/violations.parquet' order by code", out)
    assert codes == [("dealer_hit_hard_17", "dealer.draw"), ("wrong_payout", "payment.due")]
    rounds = asked("select \"table\", round, net from '$/rounds.parquet'", out)
    assert rounds == [(result["table"], result["round"], result["net"]) for result in printed]


def test_a_hands_row_tells_what_was_due_and_what_was_paid(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "hands.parquet"
    run([*SETTLE, str(archive), "--out", str(out)])
    wrong = "select paid - net from '$' where list_contains(violations, 'wrong_payout')"
    ((difference,),) = asked(wrong, out)
    assert difference != 0
    others = "select count(*) from '$' where paid <> net and len(violations) = 0"
    assert asked(others, out) == [(0,)]


def test_side_bets_stand_in_the_row_of_their_spots_first_hand(tmp_path: Path) -> None:
    house, record, out = (tmp_path / name for name in ("our.toml", "facts.jsonl", "hands.parquet"))
    house.write_text(
        'id = "our"\nextends = "kansas-shoe"\n'
        '[side_bets.pairs]\nextends = "perfect-pairs-25-12-6"\n'
    )
    told = facts(
        "open 1; bet 1 1000; side 1 500 %pairs; side 1 100 %other @ANN; bet 2 1000; 1 8S; 2 TS; "
        "D 6H; 1 8S; 2 9S; D TD down; stand 1; stand 2; show D TD; D 9C; pay-side 1 12500 %pairs; "
        "pay-side 1 -100 %other @ANN; pay 2 1000; pay 1 1000; close"
    )
    record.write_bytes(b"\n".join(map(msgspec.json.encode, told)))
    assert run(["settle", str(record), "--rulebook", str(house), "--out", str(out)]) == 0
    first, second = pq.read_table(out)["side_bets"].to_pylist()
    assert [tuple(one.values()) for one in first] == [
        ("pairs", None, 500, "win", 12500, 12500),
        ("other", "ANN", 100, "unjudged", None, -100),
    ]
    assert second is None


def test_money_is_integer_cents_and_codes_are_dictionaries(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "hands.parquet"
    run([*SETTLE, str(archive), "--out", str(out)])
    schema = pq.read_schema(out)
    assert schema.equals(columns.SETTLED["hands"])
    assert {str(schema.field(name).type) for name in ("stake", "net", "paid")} == {"int64"}


def test_several_processes_write_what_one_writes(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_WORTH_A_POOL", 0)
    for jobs in ("1", "2"):
        run([*SETTLE, str(archive), "--jobs", jobs, "--out", str(tmp_path / jobs)])
    for table in columns.SETTLED:
        one, other = (pq.read_table(tmp_path / jobs / f"{table}.parquet") for jobs in ("1", "2"))
        assert one.to_pylist() == other.to_pylist()


def test_rows_are_written_in_groups_as_they_come(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_BATCH_ROWS", 5)
    monkeypatch.setattr(parquet, "_GROUP_ROWS", 10)
    out = tmp_path / "hands.parquet"
    run([*SETTLE, str(archive), "--out", str(out)])
    written = pq.ParquetFile(out)
    assert written.num_row_groups > 3
    assert written.metadata.num_rows == len(written.read().to_pylist())


def test_nothing_is_left_where_the_run_is_refused(archive: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\n")
    out = tmp_path / "out"
    assert run([*SETTLE, str(bad), str(archive), "--out", str(out)]) == 2
    files = asked("select distinct file from '$/rounds.parquet'", out)
    assert len(files) == 2
    assert run([*SETTLE, str(archive), "--out", str(out)]) == 2
    assert run([*SETTLE, str(archive), "--out", str(tmp_path / "no" / "where.parquet")]) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"bad.jsonl", "november", "out"}


UNREAD = """
{"at": 1000000000000000001, "type": "round_opened", "round": 1}
{"at": 1000000000000000002, "type": "wager_placed", "spot": 1, "kind": "main", "amount": 1000}
{"at": 1000000000000000003, "type": "card_dealt", "to": 1, "card": "TS"}
{"at": 1000000000000000004, "type": "card_dealt", "to": "dealer", "card": "9S"}
{"at": 1000000000000000005, "type": "card_dealt", "to": 1, "card": null}
{"at": 1000000000000000006, "type": "card_dealt", "to": "dealer", "card": "8D", "face": "down"}
{"at": 1000000000000000007, "type": "card_exposed", "to": "dealer", "card": "8D"}
{"at": 1000000000000000009, "type": "card_dealt", "to": "dealer", "card": "2D"}
{"at": 1000000000000000010, "type": "round_closed"}
"""


@pytest.fixture
def unread(tmp_path: Path) -> tuple[Path, Any]:
    """Tables of a round with a card that nobody knows and a card too many, and what was printed."""
    file, out = tmp_path / "facts.jsonl", tmp_path / "out"
    file.write_text(UNREAD.lstrip(), "utf-8")
    run([*SETTLE, str(file), "--out", str(out)])
    return out, file


def test_times_are_timestamps_beside_their_integers(unread: tuple[Path, Any]) -> None:
    out, _ = unread
    for table in ("hands", "rounds"):
        found = pq.read_table(out / f"{table}.parquet")
        for name, due in (("opened_at", 10**18 + 1), ("closed_at", 10**18 + 10)):
            assert str(found.schema.field(name).type) == "timestamp[ns, tz=UTC]"
            assert found[name].cast("int64").to_pylist() == [due]
            assert found[f"{name}_ns"].to_pylist() == [due]
    violations = pq.read_table(out / "violations.parquet")
    assert violations["code"].to_pylist() == ["dealer_hit_hard_17"]
    assert violations["at_ns"].to_pylist() == [10**18 + 9]
    assert violations["at"].cast("int64").to_pylist() == [10**18 + 9]


def test_what_an_unknown_card_may_come_to_is_a_column(
    unread: tuple[Path, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    out, file = unread
    capsys.readouterr()
    run([*SETTLE, str(file)])
    (hand,) = json.loads(capsys.readouterr().out)["spots"][0]["hands"]
    (possible,) = pq.read_table(out / "hands.parquet")["possible"].to_pylist()
    assert len(possible) > 1
    assert possible == hand["possible"]
