"""What ``--out`` writes, read back by programs that are not ours."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from server import crew, parquet
from server.cli import run
from tests.server.evenings import as_file, evening

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


def test_money_is_integer_cents_and_codes_are_dictionaries(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "hands.parquet"
    run([*SETTLE, str(archive), "--out", str(out)])
    schema = pq.read_schema(out)
    assert schema.equals(parquet.SETTLED["hands"])
    assert {str(schema.field(name).type) for name in ("stake", "net", "paid")} == {"int64"}


def test_several_processes_write_what_one_writes(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_WORTH_A_CREW", 0)
    for jobs in ("1", "2"):
        run([*SETTLE, str(archive), "--jobs", jobs, "--out", str(tmp_path / jobs)])
    for table in parquet.SETTLED:
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


def test_without_pyarrow_the_way_out_is_named(archive: Path, tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['pyarrow'] = None; from server.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", hidden, *SETTLE, str(archive), "--out", str(tmp_path / "out")],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"pip install 'pitwatch[parquet]'" in done.stderr
