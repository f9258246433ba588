"""A running table notices that its journal was deleted, replaced or truncated."""

from collections.abc import Callable
from pathlib import Path

import pytest

from models.errors import TechnicianError
from models.events import RoundOpened
from stream.journal import Journal, verify_journal


def opened(first: int, last: int) -> list[RoundOpened]:
    return [RoundOpened(round=number) for number in range(first, last + 1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.journal"


def replace(path: Path) -> None:
    other = path.with_name("other.journal")
    with Journal.create(other) as journal:
        journal.append_all(opened(90, 99))
    other.replace(path)


def truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(4096)


@pytest.mark.parametrize(
    ("harm", "harmed"), [(Path.unlink, "deleted"), (replace, "replaced"), (truncate, "truncated")]
)
def test_nothing_is_appended_to_a_journal_that_is_not_there(
    path: Path, harm: Callable[[Path], None], harmed: str
) -> None:
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 5))
        harm(path)
        there = path.read_bytes() if path.exists() else None
        with pytest.raises(TechnicianError, match=f"the journal was {harmed} while it was being"):
            journal.append_all(opened(6, 6))
        assert journal.last_seq == 5
    if harm is not truncate:
        assert (path.read_bytes() if path.exists() else None) == there


def test_what_was_acknowledged_is_kept_when_the_file_is_deleted(path: Path) -> None:
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 5))
        path.unlink()
        for _ in range(2):
            with pytest.raises(TechnicianError, match=r"its entries were kept in .*5\.rescued"):
                journal.append_all(opened(6, 6))
    kept = verify_journal(path.with_name("t.journal.5.rescued"))
    assert (kept.entries, kept.sealed) == (5, True)


@pytest.mark.parametrize(("harm", "harmed"), [(Path.unlink, "deleted"), (truncate, "truncated")])
def test_a_lost_log_is_noticed_too(path: Path, harm: Callable[[Path], None], harmed: str) -> None:
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 500))
        harm(path.with_name("t.journal-wal"))
        with pytest.raises(TechnicianError, match=f"its write-ahead log was {harmed}"):
            journal.check_in_place()


def test_with_its_log_deleted_every_entry_gets_into_the_file_at_the_close(path: Path) -> None:
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 5))
        path.with_name("t.journal-wal").unlink()
        with pytest.raises(TechnicianError):
            journal.append_all(opened(6, 6))
    assert verify_journal(path).entries == 5


def test_the_log_of_a_journal_put_in_its_place_is_left_alone(path: Path) -> None:
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 5))
        log = path.with_name("t.journal-wal")
        path.unlink()
        log.unlink()
        path.write_bytes(b"another")
        log.write_bytes(b"another's log")
        with pytest.raises(TechnicianError, match="replaced"):
            journal.check_in_place()
    assert (path.read_bytes(), log.read_bytes()) == (b"another", b"another's log")


def test_a_journal_that_grows_and_moves_its_log_is_in_place(path: Path) -> None:
    for _ in range(2):
        with Journal.open(path) if path.exists() else Journal.create(path) as journal:
            for _ in range(30):
                journal.append_all(opened(1, 400))
                journal.check_in_place()
    assert verify_journal(path).entries == 24_000
