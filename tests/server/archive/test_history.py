"""Closed days as Parquet: what they hold, who reads them, and that no changed byte passes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pandas as pd
import pyarrow.parquet as pq
import pytest

from models.events import CardDealt, Fact, PaymentMade, RoundClosed, RoundOpened, WagerPlaced
from models.house import House
from models.judgements import AnyEvent, RoundSettled
from server.archive.archives import feeds, sources
from server.archive.days import day_of
from server.archive.history import TABLES, Day, content_of
from server.archive.resettling import Resettled, resettled
from server.archive.settling import Checked
from server.commands.app import run
from server.process.exit_status import Exit
from stream.journal import Journal
from stream.reading import read_journal
from tests.server.evenings import evening, judged
from tests.settlement.table import rules

SECOND_NS = 1_000_000_000
FIRST_NS = 1_772_323_200 * SECOND_NS  # 2026-03-01 00:00 UTC
KYIV = House(zone="Europe/Kyiv")
ERRS = ("dealer_hit_hard_17", "wrong_payout")


def on_day(events: Sequence[AnyEvent], begins_ns: int) -> list[AnyEvent]:
    """Return events a second apart, each settlement with its facts named."""
    timed, since = list[AnyEvent](), list[int]()
    for seq, event in enumerate(events, 1):
        placed = msgspec.structs.replace(event, at=begins_ns + seq * SECOND_NS)
        if isinstance(placed, RoundSettled):
            placed = msgspec.structs.replace(placed, because=tuple(since))
            since = []
        else:
            placed = msgspec.structs.replace(placed, evidence=(seq, seq + 1))
            since.append(seq)
        timed.append(placed)
    return timed


def journal_at(path: Path, table: str, seed: int, begins_ns: int) -> list[AnyEvent]:
    events = on_day(judged(evening(6, seed, mistakes=ERRS, table=table)), begins_ns)
    with Journal.create(path, table=table) as journal:
        return list(journal.append_all(events))


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    folder = tmp_path / "journals"
    folder.mkdir()
    journal_at(folder / "b.journal", "BJ-08", 1, FIRST_NS + 5 * 3600 * SECOND_NS)
    journal_at(folder / "a.journal", "BJ-07", 2, FIRST_NS + 9 * 3600 * SECOND_NS)
    journal_at(folder / "late.journal", "BJ-07", 3, FIRST_NS + 30 * 3600 * SECOND_NS)
    return folder


@pytest.fixture
def history(journals: Path, tmp_path: Path) -> Path:
    out = tmp_path / "history"
    assert run(["archive", "write", str(journals), str(out)]) == Exit.CLEAN
    return out


def settled(capsys: pytest.CaptureFixture[str], *names: str, verb: str = "settle") -> list[str]:
    capsys.readouterr()
    run([verb, "--rulebook", "kansas-shoe", "--json", *names])
    lines = capsys.readouterr().out.splitlines()
    return [msgspec.json.encode(_unplaced(json.loads(line))).decode() for line in lines]


def _unplaced(line: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in line.items() if key != "file"}


def asked(query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as database:
        return database.execute(query).fetchall()


def test_a_day_settles_as_its_journals_do(
    journals: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With times and without, and settled again against what the table settled then."""
    in_order = [str(journals / name) for name in ("a.journal", "b.journal", "late.journal")]
    for verb in ("settle", "resettle"):
        assert settled(capsys, str(history), verb=verb) == settled(capsys, *in_order, verb=verb)
    run(["settle", "-r", "kansas-shoe", str(history), "--out", str(history.parent / "timed")])
    run(["settle", "-r", "kansas-shoe", *in_order, "--out", str(history.parent / "there")])
    for name in ("rounds", "hands", "violations"):
        one, other = (
            pd.read_parquet(history.parent / place / f"{name}.parquet").drop(columns="file")
            for place in ("timed", "there")
        )
        pd.testing.assert_frame_equal(one, other)


def test_a_day_holds_every_fact_of_its_journals_whole(journals: Path, history: Path) -> None:
    (folder, _) = sorted(history.iterdir())
    with Day(folder).parts() as parts:
        found = {part.part.name: [event for _, event in part.read()] for part in parts}
    assert list(found) == ["a.journal", "b.journal"]
    for name, events in found.items():
        assert events == list(read_journal(journals / name))


def test_facts_of_the_same_content_share_one_text() -> None:
    dealt = CardDealt(seq=1, at=2, table="BJ-07", evidence=(1,), to=3, card=None, probability=0.5)
    same = msgspec.structs.replace(dealt, seq=9, at=8, evidence=(), probability=None)
    assert (
        content_of(dealt)
        == content_of(same)
        == ('{"type":"card_dealt","table":"BJ-07","to":3,"card":null}')
    )


def test_analysts_read_the_tables(journals: Path, history: Path) -> None:
    facts = asked(
        f"select \"table\", count(*), count(round), min(at_ns) from '{history}/*/facts.parquet' "
        'group by "table" order by "table"'
    )
    recorded = {"BJ-07": 0, "BJ-08": 0}
    for path in journals.iterdir():
        for event in read_journal(path):
            if isinstance(event, Fact):
                recorded[str(event.table)] += 1
    assert {table: count for table, count, _, _ in facts} == recorded
    assert facts[1][3] == FIRST_NS + 5 * 3600 * SECOND_NS + SECOND_NS
    paid = "select sum(amount) from '{0}/*/payments.parquet'"
    due = "select sum(paid) + sum(coalesce(insurance_paid, 0)) from '{0}/*/hands.parquet'"
    (sums,) = asked(f"select ({paid.format(history)}), ({due.format(history)})")
    assert sums[0] == sums[1] != 0
    rounds = pd.concat(map(pd.read_parquet, sorted(history.glob("*/rounds.parquet"))))
    assert len(rounds) == 18
    assert str(rounds["opened_at"].dtype) == "datetime64[ns, UTC]"


def test_the_manifest_names_the_entries_that_a_day_stands_for(
    journals: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((history / "2026-03-01" / "manifest.json").read_text())["manifest"]
    run(["journal", "verify", str(journals / "a.journal"), "--json"])
    head = json.loads(capsys.readouterr().out.splitlines()[-1])["head"]
    assert [(part["table"], part["name"]) for part in manifest["about"]["parts"]] == [
        ("BJ-07", "a.journal"),
        ("BJ-08", "b.journal"),
    ]
    assert manifest["journals"][0]["head"] == head
    assert {one["name"] for one in manifest["files"]} == {f"{name}.parquet" for name in TABLES}
    named = [word for path in journals.iterdir() for word in ("--journal", str(path))]
    assert run(["archive", "verify", str(history), *named]) == Exit.CLEAN
    assert run(["archive", "verify", str(history), *named[:2]]) == Exit.UNPROVEN


@pytest.mark.parametrize("name", ["facts", "judgements", "manifest"])
def test_a_changed_byte_of_what_settling_reads_is_found(
    name: str, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = "json" if name == "manifest" else "parquet"
    path = history / "2026-03-01" / f"{name}.{ending}"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert run(["archive", "verify", str(history)]) == Exit.REFUSED
    assert str(path) in capsys.readouterr().err
    assert run(["settle", "-r", "kansas-shoe", str(history)]) == Exit.REFUSED


def test_a_day_with_a_lost_file_is_refused(history: Path) -> None:
    (history / "2026-03-01" / "payments.parquet").unlink()
    assert run(["archive", "verify", str(history)]) == Exit.REFUSED
    assert run(["archive", "verify", str(history.parent / "journals")]) == Exit.REFUSED


def test_the_journal_with_another_end_is_named(
    journals: Path, history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Journal.open(journals / "a.journal") as journal:
        journal.append(CardDealt(table="BJ-07", to=1, card=None))
    words = ["archive", "verify", str(history), "--journal", str(journals / "a.journal")]
    assert run(words) == Exit.REFUSED
    assert "parts.entries of a.journal" in capsys.readouterr().err
    assert run(["archive", "write", str(journals), str(history)]) == Exit.REFUSED
    assert "stands for other journals or entries" in capsys.readouterr().err
    assert run(["archive", "write", str(journals), str(history), "--force"]) == Exit.CLEAN
    assert run(words) == Exit.UNPROVEN


def test_a_day_is_written_once_and_alike(
    journals: Path, history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again, day = tmp_path / "again", "2026-03-02"
    assert run(["archive", "write", str(journals), str(again), "--day", day]) == Exit.CLEAN
    assert [folder.name for folder in again.iterdir()] == [day]
    for path in (again / day).glob("*.parquet"):
        assert path.read_bytes() == (history / day / path.name).read_bytes(), path.name
    run(["archive", "write", str(journals), str(history), "--json"])
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()[-2:]]
    assert [line["written"] for line in told] == [False, False]
    assert run(["archive", "write", str(journals), str(again), "--day", "1999-01-01"]) == 2


def test_a_day_with_a_running_table_is_not_over(
    journals: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Journal.open(journals / "late.journal") as journal:
        journal.append(CardDealt(table="BJ-07", to=1, card=None))
        assert run(["archive", "write", str(journals), str(tmp_path / "out")]) == Exit.REFUSED
    assert "still being written" in capsys.readouterr().err
    assert [folder.name for folder in (tmp_path / "out").iterdir()] == ["2026-03-01"]


def test_the_houses_day_begins_with_its_first_shift() -> None:
    local = KYIV.local(FIRST_NS)  # 02:00 in winter, before the first shift
    assert (local.hour, KYIV.shifts[0]) == (2, "04:00")
    assert day_of(FIRST_NS, KYIV).isoformat() == "2026-02-28"
    assert day_of(FIRST_NS + 2 * 3600 * SECOND_NS, KYIV).isoformat() == "2026-03-01"


def test_each_part_of_a_day_is_one_feed(history: Path) -> None:
    names = [feed.name for source in sources([str(history)]) for feed in feeds(source)]
    assert [Path(name).name for name in names] == ["a.journal", "b.journal", "late.journal"]


@pytest.mark.parametrize("was", [None, "casino-single-deck"])
def test_a_day_settles_again_as_its_whole_events_do(history: Path, was: str | None) -> None:
    """Facts that repeat, read once, with few of their times: nothing that is asked differs."""
    new, before = rules("kansas-shoe", "dealer_soft17=stand"), None if was is None else rules(was)
    compared = 0
    for folder in sorted(history.iterdir()):
        with Day(folder).parts() as parts:
            for part in parts:
                events = Checked(part.read())
                whole = [said(one) for one in resettled(events, new, before)]
                lean = [said(one) for one in resettled(Checked(part=part), new, before)]
                assert lean == whole
                compared += len(whole)
    assert compared == 18


def said(one: Resettled) -> tuple[object, ...]:
    now = one.now
    assert now is not None
    times = [fact.at for _, fact in now.facts if fact.at is not None]
    when = (now.opened_at, now.closed_at, times[0])
    return one.table, one.then, now.result, now.paid(), [line for line, _ in now.facts], when


def test_a_payment_names_its_side_bet_and_its_bettor(tmp_path: Path) -> None:
    facts: list[AnyEvent] = [
        RoundOpened(round=1),
        WagerPlaced(spot=1, kind="main", amount=1000),
        WagerPlaced(spot=1, kind="main", amount=500, bettor="Ann"),
        WagerPlaced(spot=1, kind="side", amount=500, bet="Perfect Pairs"),
        PaymentMade(spot=1, kind="side", amount=-500, bet="Perfect Pairs"),
        PaymentMade(spot=1, amount=500, bettor="Ann"),
        RoundClosed(),
    ]
    path = tmp_path / "01.journal"
    with Journal.create(path, table="BJ-01") as journal:
        list(journal.append_all(on_day(facts, FIRST_NS)))
    assert run(["archive", "write", str(path), str(tmp_path / "history")]) == 0
    (payments,) = (tmp_path / "history").glob("*/payments.parquet")
    rows = pq.read_table(payments).to_pylist()
    assert [(row["amount"], row["bet"], row["bettor"]) for row in rows] == [
        (-500, "Perfect Pairs", None),
        (500, None, "Ann"),
    ]
