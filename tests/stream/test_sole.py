"""A journal has one writer at a time; a killed writer blocks nobody."""

import subprocess
import sys
from pathlib import Path

import pytest

from models.errors import TechnicianError
from models.events import RoundOpened
from stream.journal import Journal, verify_journal

_HOLD = """
import sys
from pathlib import Path
from stream.journal import Journal
journal = Journal.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal.create(tmp_path / "t.journal") as journal:
        journal.append(RoundOpened(round=1))
    return tmp_path / "t.journal"


def test_a_second_writer_is_refused_and_harms_nobody(path: Path) -> None:
    with Journal.open(path) as journal:
        with pytest.raises(TechnicianError, match="another program is writing it"):
            Journal.open(path)
        journal.append(RoundOpened(round=2))
    assert verify_journal(path).entries == 2


def test_a_closed_journal_leaves_no_lock_and_opens_again(path: Path) -> None:
    for number in (2, 3):
        with Journal.open(path) as journal:
            journal.append(RoundOpened(round=number))
    assert [file.name for file in path.parent.iterdir()] == ["t.journal"]


@pytest.mark.slow
def test_a_writer_in_another_process_is_seen_until_it_is_killed(path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    with pytest.raises(TechnicianError, match="another program is writing it"):
        Journal.open(path)
    holder.kill()
    holder.communicate()
    with Journal.open(path) as journal:
        journal.append(RoundOpened(round=2))
    assert verify_journal(path).sealed


def test_a_journal_that_could_not_be_begun_is_not_locked(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "t.journal"
    with pytest.raises(TechnicianError):
        Journal.create(missing)
    missing.parent.mkdir()
    with Journal.create(missing) as journal:
        assert journal.append(RoundOpened(round=1)).seq == 1
