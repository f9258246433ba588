"""An export holds what the list holds: every row once, redacted the same, in CSV and in Parquet."""

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pyarrow.parquet as pq
import pytest

from models.events import RoundClosed, RoundOpened
from models.judgements import LedgerPosted
from server.commands.app import run
from server.process.exit_status import Exit
from server.readmodel.exports import COLUMNS, CsvPieces, Kind, ParquetPieces
from server.readmodel.views import LedgerRow
from tests.server.service.house import House, house, play, until, write


@pytest.fixture(scope="module")
def officer(at_work: House) -> Iterator[httpx.Client]:
    with at_work.signed_in("surveillance") as client:
        yield client


def listed(at_work: House, client: httpx.Client, kind: str) -> list[dict[str, Any]]:
    rows, query = [], {"limit": 500}
    while True:
        found = at_work.get(client, f"/api/{kind}", **query)
        rows += found["items"]
        if found["next"] is None:
            return rows
        query["cursor"] = found["next"]


def exported(client: httpx.Client, name: str, **query: Any) -> bytes:
    answer = client.get(f"/api/exports/{name}", params=query)
    assert answer.status_code == 200, answer.text
    assert "attachment" in answer.headers["content-disposition"]
    return answer.content


def lines(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_both_files_hold_every_row_of_the_list(
    at_work: House, officer: httpx.Client, kind: Kind
) -> None:
    due = [(row["session"], row["seq"], row["at"]) for row in listed(at_work, officer, kind)]
    rows = lines(exported(officer, f"{kind}.csv"))
    assert [(row["session"], int(row["seq"]), int(row["at"])) for row in rows] == due
    table = pq.read_table(io.BytesIO(exported(officer, f"{kind}.parquet")))
    own = ["local_time", "currency"]
    assert table.column_names == [*(column.name for column in COLUMNS[kind]), *own]
    columns = [table["session"], table["seq"], table["at"].cast("int64")]
    assert list(zip(*(column.to_pylist() for column in columns), strict=True)) == due


def test_money_is_cents_and_cards_are_written_as_in_the_format(
    at_work: House, officer: httpx.Client
) -> None:
    exported_rows = lines(exported(officer, "hands.csv", session="bj-08"))
    rows = [row for row in listed(at_work, officer, "hands") if row["session"] == "bj-08"]
    assert [int(row["net"]) for row in exported_rows] == [row["net"] for row in rows]
    assert [row["cards"] for row in exported_rows] == [" ".join(row["cards"]) for row in rows]
    ledger = lines(exported(officer, "ledger.csv"))
    assert sum(int(row["amount"]) for row in ledger) == 0


def test_a_row_has_the_houses_time_and_its_currency(tmp_path: Path) -> None:
    write(tmp_path / "a.journal", RoundOpened(round=1, at=1_780_341_240_500_000_000, table="BJ-01"))
    (tmp_path / "house.toml").write_text('zone = "Europe/Paris"\ncurrency = "EUR"')
    out = tmp_path / "rounds.csv"
    command = ["export", str(tmp_path / "a.journal"), "--what", "rounds", "--out", str(out)]
    assert run(command) == Exit.CLEAN
    (row,) = lines(out.read_bytes())
    assert (row["local_time"], row["currency"]) == ("2026-06-01T21:14:00.500+02:00", "EUR")
    assert row["at"] == "1780341240500000000"


def test_a_part_is_exported_by_table_and_time(at_work: House, officer: httpx.Client) -> None:
    rows = listed(at_work, officer, "rounds")
    at = rows[1]["at"]
    part = lines(exported(officer, "rounds.csv", from_ns=at, to_ns=at))
    assert {row["at"] for row in part} == {str(at)}
    assert lines(exported(officer, "rounds.csv", table="BJ-99")) == []


def test_a_file_longer_than_a_piece_is_whole(tmp_path: Path) -> None:
    events = [
        event
        for number in range(1, 4502)
        for event in (
            RoundOpened(round=number, at=number * 10, table="T"),
            RoundClosed(at=number * 10 + 5, table="T"),
        )
    ]
    write(tmp_path / "t.journal", *events)
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("audit") as audit:
            until(lambda: found.get(audit, "/api/sessions/t")["rounds"] == 4501)
            rounds = [int(row["round"]) for row in lines(exported(audit, "rounds.csv"))]
            assert rounds == list(range(4501, 0, -1))
            table = pq.ParquetFile(io.BytesIO(exported(audit, "rounds.parquet")))
            assert (table.metadata.num_rows, table.num_row_groups) == (4501, 10)


def test_a_token_without_the_money_right_exports_no_money(at_work: House) -> None:
    with at_work.signed_in("pit") as pit, at_work.anyone() as program:
        asked = {"label": "x", "scopes": ["take_out", "see_rounds"]}
        made = pit.post("/api/tokens", json=asked).json()
        program.headers["Authorization"] = f"Bearer {made['secret']}"
        assert program.get("/api/exports/rounds.csv").status_code == 200
        assert program.get("/api/exports/ledger.csv").status_code == 403
        assert program.get("/api/exports/payments.parquet").status_code == 403


def test_no_list_or_form_but_those_there_are(officer: httpx.Client) -> None:
    for name in ("secrets.csv", "rounds.xlsx", "rounds"):
        assert officer.get(f"/api/exports/{name}").status_code in (404, 422)


def test_a_text_never_begins_like_a_formula() -> None:
    row = LedgerRow(
        session="t",
        table="=HYPERLINK()",
        at=1,
        seq=1,
        round=1,
        account="tray",
        amount=-5,
        memo="@SUM(A1)",
    )
    (text,) = lines(CsvPieces(COLUMNS["ledger"]).start() + CsvPieces(COLUMNS["ledger"]).more([row]))
    assert (text["table"], text["memo"], text["amount"]) == ("'=HYPERLINK()", "'@SUM(A1)", "-5")
    table = ParquetPieces(COLUMNS["ledger"])
    written = table.start() + table.more([row]) + table.end()
    (plain,) = pq.read_table(io.BytesIO(written), columns=["table", "memo"]).to_pylist()
    assert (plain["table"], plain["memo"]) == ("=HYPERLINK()", "@SUM(A1)")


def test_the_command_exports_journals_at_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play(tmp_path / "a.journal", "plain", "BJ-08")
    write(
        tmp_path / "b.journal",
        RoundOpened(round=9, at=1, table="T"),
        LedgerPosted(round=9, at=2, table="T", account="tray", amount=5, memo="x"),
    )
    journals = [str(tmp_path / "a.journal"), str(tmp_path / "b.journal")]
    out = tmp_path / "ledger.csv"
    assert run(["export", *journals, "--what", "ledger", "--out", str(out)]) == Exit.CLEAN
    rows = lines(out.read_bytes())
    assert rows[-1]["session"] == "b"
    assert f"{len(rows)} rows of ledger" in capsys.readouterr().out
    assert run(["export", *journals, "--what", "ledger", "--out", str(out)]) == Exit.REFUSED
    assert "the file exists already" in capsys.readouterr().err
    missing = str(tmp_path / "x.parquet")
    assert run(["export", *journals, "--what", "all", "--out", missing]) == Exit.REFUSED
    assert "Choose one of rounds" in capsys.readouterr().err


def test_only_what_can_be_written_is_offered(
    at_work: House, officer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert at_work.get(officer, "/api/house")["exports"] == ["csv", "parquet"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "server.process.arrow")
    assert at_work.get(officer, "/api/house")["exports"] == ["csv"]
    refused = officer.get("/api/exports/rounds.parquet")
    assert refused.status_code == 501
    assert "pip install 'pitwatch[parquet]'" in refused.json()["detail"]
