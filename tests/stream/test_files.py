"""A journal is more than one file: what is left of one never gets into another."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from models.errors import OperatorError, TechnicianError
from models.events import RoundOpened
from stream.copies import archive_journal, backup_journal, restore_journal, whole_journal
from stream.identity import Identity
from stream.journal import Journal, Place, verify_journal
from stream.reading import read_between, read_on


def opened(first: int, last: int) -> list[RoundOpened]:
    return [RoundOpened(round=number) for number in range(first, last + 1)]


def killed_writer(path: Path, entries: int = 50) -> None:
    """Leave a journal as a killed process does: its entries are in the log."""
    child = os.fork()
    if not child:
        Journal.create(path).append_all(opened(1, entries))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    path.with_name(path.name + "-lock").unlink()


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


@pytest.fixture
def moved_away(tmp_path: Path) -> Path:
    """A place from which the main file of a killed table's journal was moved by hand."""
    path = tmp_path / "t.journal"
    killed_writer(path)
    path.rename(tmp_path / "moved")
    return path


def test_no_journal_is_made_beside_the_log_of_another(moved_away: Path) -> None:
    before = names(moved_away.parent)
    with pytest.raises(OperatorError, match=r"t\.journal-wal: it belongs to a journal whose main"):
        Journal.create(moved_away)
    assert names(moved_away.parent) == before


def test_none_is_restored_or_backed_up_there_either(moved_away: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backup" / "t.journal"
    copy.parent.mkdir()
    with Journal.create(copy) as journal:
        journal.append_all(opened(1, 3))
    for put in (restore_journal, backup_journal):
        with pytest.raises(OperatorError, match="may hold the last entries of that journal"):
            put(copy, moved_away)
    assert not moved_away.exists()


def test_put_back_together_they_hold_every_entry(moved_away: Path) -> None:
    (moved_away.parent / "moved").rename(moved_away)
    assert verify_journal(moved_away).entries == 50


def test_an_empty_log_or_an_index_alone_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).touch()
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 2))
    assert verify_journal(path).sealed
    assert names(tmp_path) == {"t.journal"}


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same disk", "another disk"])
def test_an_archived_journal_holds_what_its_log_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    path, archive = tmp_path / "t.journal", tmp_path / "archive"
    archive.mkdir()
    killed_writer(path)
    with monkeypatch.context() as patched:
        if elsewhere:
            patched.setattr(Path, "rename", _across_disks)
        archived = archive_journal(path, archive)
    assert (archived.verified.entries, archived.verified.sealed) == (50, True)
    assert verify_journal(archived.place) == archived.verified
    assert names(tmp_path) == {"archive"}
    assert names(archive) == {archived.place.name}
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 1))
    assert verify_journal(path).entries == 1


def _across_disks(*_: object) -> None:
    raise OSError(18, "Invalid cross-device link")


def test_archiving_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    path, archive = tmp_path / "t.journal", tmp_path / "archive"
    archive.mkdir()
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 9))
    identity = journal.identity
    shutil.copy(path, archive / identity.archive_name)
    assert archive_journal(path, archive).verified.entries == 9
    assert not path.exists()


def test_a_journal_that_is_written_is_not_archived(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 1))
        with pytest.raises(TechnicianError, match="another program is writing it"):
            archive_journal(path, tmp_path)
    assert verify_journal(path).entries == 1


def test_a_copy_is_restored_under_its_own_name_alone(tmp_path: Path) -> None:
    path, copy, again = tmp_path / "a.journal", tmp_path / "copy.journal", tmp_path / "again"
    again.mkdir()
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 9))
    backup_journal(path, copy)
    with pytest.raises(OperatorError, match=r"the copy is of a\.journal"):
        restore_journal(copy, again / "b.journal")
    restored = restore_journal(copy, again / "a.journal")
    assert restored == verify_journal(path)


def test_readers_make_no_file(tmp_path: Path) -> None:
    gone = tmp_path / "t.journal"
    for read in (
        lambda: read_between(gone, 0, 9),
        lambda: read_on(gone, Place()),
        lambda: verify_journal(gone),
    ):
        with pytest.raises(TechnicianError):
            read()
    assert names(tmp_path) == set()


def test_readers_make_no_index_for_a_log_that_has_none(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    killed_writer(path)
    path.with_name("t.journal-shm").unlink()
    before = names(tmp_path)
    assert verify_journal(path).entries == 50
    assert len(read_between(path, 0, 50)) == 50
    assert names(tmp_path) == before


def test_a_journal_without_its_log_is_not_taken_for_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 5))
    child = os.fork()
    if not child:
        Journal.open(path).append_all(opened(6, 50))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert not verify_journal(path).lacks_log
    path.with_name("t.journal-wal").unlink()
    found = verify_journal(path)
    assert (found.entries, found.sealed, found.lacks_log) == (5, False, True)
    Journal.open(path).close()
    found = verify_journal(path)
    assert (found.entries, found.sealed, found.gaps) == (6, True, (5,)), "a restart hides nothing"


def test_a_journal_that_is_written_whole_or_not_at_all_has_the_name_it_gets(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with pytest.raises(ZeroDivisionError), whole_journal(path) as journal:
        journal.append_all(opened(1, 1 // journal.last_seq))
    assert names(tmp_path) == set()
    with whole_journal(path) as journal:
        journal.append_all(opened(1, 3))
        assert not path.exists()
    found = verify_journal(path)
    assert found.identity is not None
    assert found.identity.is_named(path)
    assert found.sealed


def test_a_journal_names_its_table(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "BJ-07.journal", table="BJ-07") as journal:
        identity = journal.identity
    assert identity == Identity(journal=identity.journal, name="BJ-07.journal", table="BJ-07")
    assert verify_journal(tmp_path / "BJ-07.journal").identity == identity
    assert identity.is_named(tmp_path / f"BJ-07.{identity.journal[:8]}.journal")
    assert not identity.is_named(tmp_path / "BJ-08.journal")
    with pytest.raises(TechnicianError, match="is table BJ-07's, not BJ-08's"):
        Journal.open(tmp_path / "BJ-07.journal", table="BJ-08")


def test_a_journal_whose_name_is_no_text_is_refused_in_one_line(tmp_path: Path) -> None:
    """No signed entry can state such a name."""
    with pytest.raises(OperatorError, match="not UTF-8"):
        Journal.create(tmp_path / os.fsdecode(b"BJ-\xff.journal"))
    assert list(tmp_path.iterdir()) == []
