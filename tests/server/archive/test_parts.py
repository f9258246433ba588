"""Parts of an archive, settled by several machines and merged, print what one process prints."""

from pathlib import Path

import pytest

from server.archive import parts, worker_pool
from server.commands.app import run
from server.process.arrow import pq
from server.process.exit_status import Exit
from stream.journal import Journal
from tests.server.archive.test_history import FIRST_NS, SECOND_NS, on_day
from tests.server.evenings import evening, judged

STANDS = ("--rulebook", "kansas-shoe", "--set", "dealer_soft17=stand", "--json")
TABLES, DAYS = 5, 2


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("floor")
    (folder / "journals").mkdir()
    for number in range(TABLES * DAYS):
        table, hour = f"BJ-{number % TABLES:02}", 5 + 24 * (number // TABLES)
        events = on_day(
            judged(evening(40, number, table=table)), FIRST_NS + hour * 3600 * SECOND_NS
        )
        with Journal.create(folder / "journals" / f"{number}.journal", table=table) as journal:
            journal.append_all(events)
    written = run(["archive", "write", str(folder / "journals"), str(folder / "history")])
    assert written == Exit.CLEAN
    return folder / "history"


def resettled(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    capsys.readouterr()
    code = run(["resettle", *map(str, words), *STANDS])
    return code, capsys.readouterr().out


def test_merged_parts_print_and_write_what_one_process_does(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = resettled(capsys, history, "--jobs", 1, "--out", tmp_path / "alone")
    shared = (history, "--parts", tmp_path / "shared", "--out", tmp_path / "merged")
    for number in (3, 1, 2):
        assert resettled(capsys, *shared, "--part", f"{number}/3") == (Exit.CLEAN, "")
    assert not (tmp_path / "merged").exists()
    assert resettled(capsys, *shared) == alone
    for name in ("changes", "violations"):
        assert rows(tmp_path / "merged" / name) == rows(tmp_path / "alone" / name) != []


@pytest.mark.slow
def test_parts_of_other_files_than_days_are_settled_by_several_processes(
    history: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_pool, "_WORTH_A_POOL", 0)
    journals = history.parent / "journals"
    alone = resettled(capsys, journals, "--jobs", 1)
    for number in (1, 2):
        words = (journals, "--parts", tmp_path / "shared", "--part", f"{number}/2", "--jobs", 2)
        assert resettled(capsys, *words) == (Exit.CLEAN, "")
    assert resettled(capsys, journals, "--parts", tmp_path / "shared") == alone


def test_a_part_that_is_settled_again_stays_as_it_is(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (history, "--parts", tmp_path, "--part", "1/2")
    for _ in range(2):
        assert resettled(capsys, *words)[0] == Exit.CLEAN
        found = {path: path.stat().st_mtime_ns for path in (tmp_path / "1-of-2").iterdir()}
    assert {path: path.stat().st_mtime_ns for path in found} == found
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1-of-2"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "1 of 2 parts are missing: 2-of-2"),
        (("--set", "decks=8"), "settled under other rules or with other options"),
        (("--summary",), "settled under other rules or with other options"),
        (("--part", "1/3"), None),
        (("--part", "3/2"), "'3/2' is no part"),
        (("--part", "1/2", "--cluster", "tcp://127.0.0.1:9"), "a cluster settles every part"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    history: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str | None,
) -> None:
    first = ["resettle", str(history), "--parts", str(tmp_path), *STANDS]
    assert run([*first, "--part", "1/2"]) == Exit.CLEAN
    if "--set" in words or "--summary" in words:
        (tmp_path / "1-of-2").rename(tmp_path / "1-of-1")
    capsys.readouterr()
    assert run([*first, *words]) == (Exit.CLEAN if said is None else Exit.REFUSED)
    assert (said or "part 1 of 3") in capsys.readouterr().err


def test_parts_of_another_version_or_of_other_files_are_refused(
    history: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["resettle", str(history), "--parts", str(tmp_path), *STANDS]
    assert run([*words, "--part", "1/1"]) == Exit.CLEAN
    journals = str(history.parent / "journals")
    assert run(["resettle", journals, *words[2:]]) == Exit.REFUSED
    assert "it was settled from other files" in capsys.readouterr().err
    monkeypatch.setattr(parts, "program_hash", lambda: "another")
    assert run(words) == Exit.REFUSED
    assert "another version of Pitwatch settled it" in capsys.readouterr().err


def test_a_folder_without_parts_says_how_to_settle_them(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["resettle", str(history), "--parts", str(tmp_path), *STANDS]) == Exit.REFUSED
    assert "--part 1/8" in capsys.readouterr().err
    assert run(["resettle", str(history), "--part", "1/8", *STANDS]) == Exit.REFUSED
    assert "--parts FOLDER" in capsys.readouterr().err


def rows(table: Path) -> list[object]:
    return list(pq.read_table(f"{table}.parquet").to_pylist())
