"""Nothing is overwritten unasked: every command that writes a file refuses one that exists."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from models.errors import OperatorError
from server.commands.app import run
from server.process.atomic_file import check_place, check_tables, whole_file
from server.process.exit_status import Exit
from tests.server.evenings import as_file, as_journal, evening, judged

KEPT = b"what exists there"
RULES = ("-r", "kansas-shoe")
Command = Callable[[Path, Path], tuple[object, ...]]
COMMANDS: dict[str, Command] = {
    "settle": lambda to, _: ("settle", to / "facts.jsonl", *RULES, "--out", to / "kept.parquet"),
    "resettle": lambda to, _: ("resettle", to / "a.journal", *RULES, "--out", to / "kept.parquet"),
    "export": lambda to, _: (
        *("export", to / "a.journal", "--what", "rounds"),
        *("--out", to / "kept.csv"),
    ),
    "backup": lambda to, _: ("journal", "backup", to / "a.journal", to / "kept.journal"),
    "keys": lambda to, _: ("journal", "keys", to / "a.key", "--public", to / "kept.pem"),
    "markers": lambda to, _: ("calibrate", "--print-markers", "five-spots", to / "kept.pdf"),
    "replay --report": lambda to, session: ("replay", session, "--report", to / "kept.html"),
    "replay --journal": lambda to, session: ("replay", session, "--journal", to / "kept.journal"),
    "replay --facts": lambda to, session: ("replay", session, "--facts", to / "kept.jsonl"),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("session") / "evening"
    assert run(["simulate", str(place), "--rounds", "1", "--spots", "1,3", "--no-video"]) == 0
    return place


def ran(*arguments: object) -> int:
    return run([*map(str, arguments)])


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_exists_is_refused_and_overwritten_with_force(
    command: str, tmp_path: Path, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    as_file(tmp_path / "facts.jsonl", evening(2))
    as_journal(tmp_path / "a.journal", judged(evening(2, table="BJ-07")))
    asked = COMMANDS[command](tmp_path, session)
    out = next(Path(str(one)) for one in asked if "kept." in str(one))
    out.write_bytes(KEPT)
    before = set(tmp_path.iterdir())
    assert ran(*asked) == Exit.REFUSED
    error = capsys.readouterr().err
    assert f"{out}: the file exists already. Name a new file, or overwrite" in error
    assert out.read_bytes() == KEPT
    assert ran(*asked, "--force") in (Exit.CLEAN, Exit.FINDINGS)
    assert out.read_bytes() != KEPT
    made = set(tmp_path.iterdir()) - before - {tmp_path / "a.key"}
    assert not {path for path in made if not path.name.endswith(".seal")}


def test_tables_go_into_a_folder_that_exists_with_force(tmp_path: Path) -> None:
    facts, out = as_file(tmp_path / "facts.jsonl", evening(2)), tmp_path / "out"
    asked = ("settle", facts, *RULES, "--out", out)
    assert ran(*asked) == 0
    (out / "notes.txt").write_bytes(KEPT)
    assert ran(*asked) == Exit.REFUSED
    assert ran(*asked, "--force") == 0
    assert (out / "notes.txt").read_bytes() == KEPT


def test_only_a_simulated_session_gives_way_to_another(tmp_path: Path) -> None:
    place = tmp_path / "evening"
    asked = ("simulate", place, "--rounds", 1, "--no-video")
    place.mkdir()
    (place / "holiday.jpg").write_bytes(KEPT)
    assert ran(*asked, "--force") == Exit.REFUSED
    assert (place / "holiday.jpg").read_bytes() == KEPT
    (place / "holiday.jpg").unlink()
    place.rmdir()
    assert ran(*asked) == 0
    old = (place / "truth.jsonl").read_bytes()
    assert ran(*asked, "--seed", 9) == Exit.REFUSED
    assert (place / "truth.jsonl").read_bytes() == old
    assert ran(*asked, "--seed", 9, "--force") == 0
    assert (place / "truth.jsonl").read_bytes() != old
    assert list(tmp_path.iterdir()) == [place]


def test_a_file_that_is_not_finished_leaves_the_old_one(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_bytes(KEPT)
    with suppress(KeyboardInterrupt), whole_file(out) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert out.read_bytes() == KEPT
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_is_no_place_for_a_file_even_with_force(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="a folder exists there"):
        check_place(tmp_path, force=True)
    (tmp_path / "file").write_bytes(KEPT)
    with pytest.raises(OperatorError, match="a file exists there"):
        check_tables(tmp_path / "file", force=True)


def test_where_every_file_is_refused_no_empty_table_is_left(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"type": "nothing"}\n', "utf-8")
    assert ran("settle", bad, *RULES, "--out", tmp_path / "out") == Exit.REFUSED
    assert list(tmp_path.iterdir()) == [bad]
