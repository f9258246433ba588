"""What is given twice counts once, in every command that settles or writes, and is named."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pitwatch import settle
from server.archive import worker_pool
from server.commands.app import run
from stream.journal import Journal
from tests.server.archive.test_history import FIRST_NS, SECOND_NS, on_day
from tests.server.evenings import as_file, as_journal, evening, judged, packed

Capture = pytest.CaptureFixture[str]
ROUNDS = 6
EVENING = judged(evening(ROUNDS, 5, table="BJ-07"))
OTHER = judged(evening(4, 6, table="BJ-08"))


def _journal(path: Path, events: int | None = None) -> Path:
    timed = on_day(EVENING[:events], FIRST_NS + 9 * 3600 * SECOND_NS)
    path.parent.mkdir(parents=True, exist_ok=True)
    with Journal.create(path, table="BJ-07") as journal:
        journal.append_all(timed)
    return path


def _summary(capsys: Capture, *names: object, verb: str = "settle") -> tuple[dict[str, Any], str]:
    capsys.readouterr()
    run([verb, *map(str, names), "-r", "kansas-shoe", "--summary", "--json"])
    printed = capsys.readouterr()
    found: dict[str, Any] = json.loads(printed.out)
    return found, printed.err


def _named(folder: Path) -> list[Path]:
    file = as_file(folder / "a.jsonl", EVENING)
    return [file, file]


def _linked(folder: Path) -> list[Path]:
    file = as_file(folder / "a.jsonl", EVENING)
    (folder / "b.jsonl").symlink_to(file)
    return [folder]


def _in_a_subfolder(folder: Path) -> list[Path]:
    file = as_file(folder / "a.jsonl", EVENING)
    (folder / "copy").mkdir()
    shutil.copy(file, folder / "copy" / "b.jsonl")
    return [folder]


def _compressed(folder: Path) -> list[Path]:
    return [as_file(folder / "a.jsonl", EVENING), as_file(folder / "a.jsonl.gz", EVENING)]


def _zipped(folder: Path) -> list[Path]:
    as_file(folder / "in" / "a.jsonl", EVENING)
    packed(folder / "in", folder / "in" / "all.zip")
    return [folder]


def _within_a_tar(folder: Path) -> list[Path]:
    for name in ("a.jsonl", "again/b.jsonl"):
        as_file(folder / "in" / name, EVENING)
    return [packed(folder / "in", folder / "all.tar.gz")]


def _journal_copied(folder: Path) -> list[Path]:
    journal = _journal(folder / "07.journal")
    (folder / "copy").mkdir()
    shutil.copy(journal, folder / "copy" / "other name.journal")
    return [folder]


def _journal_zipped(folder: Path) -> list[Path]:
    _journal(folder / "in" / "07.journal")
    packed(folder / "in", folder / "in" / "all.zip")
    return [folder]


def _journal_archived(folder: Path) -> list[Path]:
    journal = _journal(folder / "07.journal")
    assert run(["archive", "write", str(journal), str(folder / "history")]) == 0
    return [folder]


GIVEN = (
    _named,
    _linked,
    _in_a_subfolder,
    _compressed,
    _zipped,
    _within_a_tar,
    _journal_copied,
    _journal_zipped,
    _journal_archived,
)


@pytest.mark.parametrize("verb", ["settle", "resettle"])
@pytest.mark.parametrize("give", GIVEN, ids=lambda give: give.__name__.strip("_"))
def test_it_counts_once_and_is_named(
    give: Callable[[Path], list[Path]], verb: str, tmp_path: Path, capsys: Capture
) -> None:
    found, err = _summary(capsys, *give(tmp_path), verb=verb)
    assert found["summary"]["rounds"] == ROUNDS
    assert err.count("passed over: it is ") == 1
    if verb == "settle":
        assert found["summary"]["files"] == 1
        assert len(found["copies"]) == 1


def test_a_copy_is_no_finding_and_the_rest_is_settled(tmp_path: Path, capsys: Capture) -> None:
    one, other = as_file(tmp_path / "a.jsonl", EVENING), as_file(tmp_path / "b.jsonl", OTHER)
    names = [str(one), str(other), str(one)]
    assert run(["settle", *names, "-r", "kansas-shoe", "--summary"]) == 0
    found, err = _summary(capsys, *names)
    assert found["summary"]["rounds"] == ROUNDS + 4
    assert found["copies"] == {str(one): str(one)}
    assert f"{one}: passed over: it is named twice" in err


def test_files_of_one_size_that_differ_both_count(tmp_path: Path, capsys: Capture) -> None:
    told = as_file(tmp_path / "a.jsonl", EVENING).read_bytes()
    (tmp_path / "b.jsonl").write_bytes(told.replace(b"BJ-07", b"BJ-09"))
    found, err = _summary(capsys, tmp_path)
    assert found["summary"]["rounds"] == 2 * ROUNDS
    assert "passed over" not in err


def test_of_a_journals_copies_the_longest_counts(tmp_path: Path, capsys: Capture) -> None:
    """A backup made during the evening, named first, does not hide the evening's end."""
    whole = _journal(tmp_path / "z" / "07.journal")
    early = tmp_path / "a" / "07.journal"
    early.parent.mkdir()
    with Journal.create(early, table="BJ-07") as journal:
        journal.append_all(on_day(EVENING[:60], FIRST_NS))
    shutil.copy(early, tmp_path / "later.journal")
    with Journal.open(tmp_path / "later.journal") as journal:
        journal.append_all(on_day(EVENING[60:], FIRST_NS))
    found, err = _summary(capsys, early, tmp_path / "later.journal")
    assert found["summary"]["rounds"] == ROUNDS
    assert f"{early}: passed over: it is a copy of {tmp_path / 'later.journal'}" in err
    both, _ = _summary(capsys, whole, tmp_path / "later.journal")
    assert both["summary"]["rounds"] == 2 * ROUNDS, "another journal is no copy"


def test_a_day_is_written_once_of_a_journal_and_its_copy(tmp_path: Path, capsys: Capture) -> None:
    _journal_copied(tmp_path / "journals")
    history = tmp_path / "history"
    assert run(["archive", "write", str(tmp_path / "journals"), str(history)]) == 0
    assert "passed over: it is a copy of" in capsys.readouterr().err
    (facts,) = history.rglob("facts.parquet")
    numbers = pq.read_table(facts)["entry"].to_pylist()
    assert len(numbers) == len(set(numbers))


def test_a_journal_is_exported_once(tmp_path: Path, capsys: Capture) -> None:
    journal = str(_journal(tmp_path / "07.journal"))
    shutil.copy(journal, tmp_path / "copy.journal")
    rows = []
    for number, names in enumerate(([journal], [journal, journal, str(tmp_path / "copy.journal")])):
        out = tmp_path / f"{number}.csv"
        assert run(["export", *names, "--what", "rounds", "--out", str(out)]) == 0
        rows.append(out.read_text().count("\n"))
    assert rows[0] == rows[1]
    assert capsys.readouterr().err.count("passed over") == 2


def test_from_python_too(tmp_path: Path) -> None:
    assert len(list(settle(_in_a_subfolder(tmp_path)[0], "kansas-shoe"))) == ROUNDS


def test_in_several_processes_too(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "_WORTH_A_POOL", 0)
    for name in ("a", "b"):
        as_journal(tmp_path / f"{name}.journal", OTHER)
    as_file(tmp_path / "in" / "a.jsonl", EVENING)
    packed(tmp_path / "in", tmp_path / "all.zip")
    found, err = _summary(capsys, tmp_path, "--jobs", "2")
    assert found["summary"]["rounds"] == ROUNDS + 2 * 4
    assert err.count("passed over") == 1


# --- nothing in it ------------------------------------------------------------------------


@pytest.mark.parametrize("form", [[], ["--json"], ["--summary"], ["--summary", "--json"]])
@pytest.mark.parametrize("verb", ["settle", "resettle"])
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"], ids=["empty", "blank", "bom"])
def test_an_empty_file_is_refused(
    content: bytes, verb: str, form: list[str], tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(content)
    assert run([verb, str(file), "-r", "kansas-shoe", *form]) == 2
    assert f"{file}: there is nothing in it" in capsys.readouterr().err


def test_an_empty_file_beside_another_is_named(tmp_path: Path, capsys: Capture) -> None:
    as_file(tmp_path / "a.jsonl", EVENING)
    (tmp_path / "b.jsonl").touch()
    assert run(["settle", str(tmp_path), "-r", "kansas-shoe", "--summary"]) == 2
    assert "b.jsonl: there is nothing in it" in capsys.readouterr().err


def test_an_empty_folder_is_refused(tmp_path: Path, capsys: Capture) -> None:
    assert run(["settle", str(tmp_path), "-r", "kansas-shoe", "--json"]) == 2
    assert "there is no event file" in capsys.readouterr().err
