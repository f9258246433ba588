import json
from pathlib import Path

import pytest

from models.events import RoundOpened
from server.cli import run
from stream.journal import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "table.journal"
    with Journal.create(path) as written:
        for number in (1, 2, 3):
            written.append(RoundOpened(at=number, table="BJ-01", round=number))
    return path


def test_an_intact_journal_is_said_to_be_so(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["journal", "verify", str(journal), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["entries"] == 3
    assert said["sealed"] is True


def test_one_flipped_byte_is_one_line_and_exit_2(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray(journal.read_bytes())
    content[content.index(b'"round":2') + 8] ^= 1
    journal.write_bytes(content)
    assert run(["journal", "verify", str(journal)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert str(journal) in printed.err
    assert "entry 2" in printed.err
    assert "restore" in printed.err


def test_a_missing_journal_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["journal", "verify", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err
