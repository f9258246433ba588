"""A day leaves the floor once its Parquet is verified, and never under a legal hold."""

from pathlib import Path

import pytest

from server.commands.app import run
from server.floor_record.database import FloorDatabase
from server.process.exit_status import Exit
from stream.journal import Journal
from tests.server.archive.test_bad_days import in_event, rewritten
from tests.server.floor_record.cluster import FloorSite
from tests.server.floor_record.test_intake import forward, journal_at, on_floor, some

pytestmark = pytest.mark.slow

DAY = "2026-03-01"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    (tmp_path / "journals").mkdir()
    return journal_at(tmp_path / "journals" / "a.journal", some(12))


@pytest.fixture
def history(tmp_path: Path, journal: Path) -> Path:
    assert run(["archive", "write", str(journal), str(tmp_path / "history")]) == Exit.CLEAN
    return tmp_path / "history"


def retired(site: FloorSite, history: Path) -> int:
    return run(["floor", "retire", DAY, str(history), "--floor", site.owner])


def test_a_verified_day_is_dropped(site: FloorSite, journal: Path, history: Path) -> None:
    other = journal_at(journal.with_name("b.journal"), some(3), table="BJ-08")
    forward(site, journal)
    assert retired(site, history) == Exit.CLEAN
    assert on_floor(site) == []
    with FloorDatabase.connected(site.reader) as floor:
        assert floor.lag() == []
    assert retired(site, history) == Exit.REFUSED  # there is nothing left of it
    _, refused = forward(site, journal)
    assert refused == {journal: "the floor says retired"}
    assert forward(site, other) == (3, {})  # a late journal begins its day again
    assert len(on_floor(site, 1, "BJ-08")) == 3


def test_a_day_that_the_parquet_does_not_stand_for_stays(
    site: FloorSite, journal: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forward(site, journal)
    other = journal_at(journal.with_name("b.journal"), some(3), table="BJ-08")
    forward(site, other)
    assert retired(site, history) == Exit.REFUSED
    assert "is on the floor and not in the archived day" in capsys.readouterr().err
    other.unlink()
    with Journal.open(journal) as went_on:
        went_on.append_all(some(1))
    forward(site, journal)
    assert retired(site, history) == Exit.REFUSED
    assert len(on_floor(site)) == 13


def test_a_day_with_a_changed_byte_stays(site: FloorSite, journal: Path, history: Path) -> None:
    forward(site, journal)
    path = history / DAY / "payments.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert retired(site, history) == Exit.REFUSED
    assert len(on_floor(site)) == 12


def test_a_day_whose_facts_are_others_stays(
    site: FloorSite, journal: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its manifest was made anew, and names the same journals with the same heads."""
    forward(site, journal)
    rewritten(history / DAY, "facts", in_event("amount", 5_000))
    assert retired(site, history) == Exit.REFUSED
    said = capsys.readouterr().err
    assert "entry 1 of journal a" in said
    assert '"amount":500}, found' in said
    assert len(on_floor(site)) == 12


@pytest.mark.parametrize("table", ["BJ-07", None])
def test_a_legal_hold_keeps_a_day(
    table: str | None,
    site: FloorSite,
    journal: Path,
    history: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    forward(site, journal)
    whose = () if table is None else ("--table", table)
    held = ["floor", "hold", DAY, "2026-03-02", "--reason", "case 7", *whose]
    assert run([*held, "--floor", site.owner]) == Exit.CLEAN
    assert "legal hold 1 is placed" in capsys.readouterr().out
    assert retired(site, history) == Exit.REFUSED
    assert f"day {DAY} is under legal hold 1: case 7" in capsys.readouterr().err
    assert len(on_floor(site)) == 12
    assert run(["floor", "lift", "1", "--floor", site.owner]) == Exit.CLEAN
    assert run(["floor", "lift", "1", "--floor", site.owner]) == Exit.REFUSED
    assert retired(site, history) == Exit.CLEAN


def test_a_hold_on_another_table_or_day_does_not(
    site: FloorSite, journal: Path, history: Path
) -> None:
    forward(site, journal)
    for words in ([DAY, DAY, "--table", "BJ-09"], ["2026-03-02", "2026-03-09"]):
        run(["floor", "hold", *words, "--reason", "case 8", "--floor", site.owner])
    assert retired(site, history) == Exit.CLEAN
