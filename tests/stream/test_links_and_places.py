"""A journal that is reached by a link, moved onto itself, or names another place."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from models.errors import OperatorError, PitwatchError, TechnicianError
from models.events import RoundOpened
from stream.copies import archive_journal, backup_journal, whole_journal
from stream.journal import Journal, Place, verify_journal
from stream.reading import read_on
from stream.seal import Seal, break_seal, write_seal
from tests.stream.test_files import names, opened


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 9))
    return path


@pytest.fixture
def link(closed: Path) -> Path:
    """Another name of the journal, in another folder."""
    folder = closed.parent / "links"
    folder.mkdir()
    (folder / "link.journal").symlink_to(closed)
    return folder / "link.journal"


def test_a_journal_archived_into_its_own_folder_stays(closed: Path) -> None:
    archived = archive_journal(closed, closed.parent).place
    before = archived.read_bytes()
    (closed.parent / "again").symlink_to(closed.parent)
    for folder in (closed.parent, closed.parent / "again"):
        with pytest.raises(OperatorError, match="it is in this archive already"):
            archive_journal(archived, folder)
    assert archived.read_bytes() == before


def test_a_link_is_not_archived_in_place_of_its_journal(closed: Path, link: Path) -> None:
    archive = closed.parent / "archive"
    archive.mkdir()
    with pytest.raises(OperatorError, match=r"it is a link to .*t\.journal"):
        archive_journal(link, archive)
    assert names(archive) == set()
    assert link.is_symlink()


def test_a_journal_has_one_writer_under_all_its_names(closed: Path, link: Path) -> None:
    for first, second in ((closed, link), (link, closed)):
        with Journal.open(first), pytest.raises(TechnicianError, match="another program is writ"):
            Journal.open(second)
    assert verify_journal(closed).entries == 9


def test_what_is_written_by_one_name_is_read_by_the_other(closed: Path, link: Path) -> None:
    with Journal.open(link) as journal:
        journal.append(RoundOpened(round=10))
        for name in (closed, link):
            assert len(read_on(name, Place())[0]) == 10
            found = verify_journal(name)
            assert (found.entries, found.lacks_log, found.gaps) == (10, False, ())
        copied = backup_journal(link, closed.parent / "copy.journal")
    assert copied.entries == 10
    assert names(link.parent) == {link.name}
    assert verify_journal(link) == verify_journal(closed)
    assert verify_journal(closed).sealed


def test_a_copy_over_a_link_replaces_the_journal_that_it_names(closed: Path, link: Path) -> None:
    other = closed.parent / "other.journal"
    with Journal.create(other) as journal:
        journal.append_all(opened(1, 3))
    backup_journal(other, link, force=True)
    assert link.is_symlink()
    assert verify_journal(closed).entries == 3


def test_a_journal_that_is_written_is_not_replaced_as_a_whole(closed: Path) -> None:
    with Journal.open(closed) as running:
        with (
            pytest.raises(TechnicianError, match="another program is writing it"),
            whole_journal(closed, force=True) as journal,
        ):
            journal.append_all(opened(1, 3))
        assert running.append(RoundOpened(round=10)).seq == 10
    assert verify_journal(closed).entries == 10


def _renamed(path: Path, name: str, journal: str | None = None) -> None:
    """Give a journal another name or id, as somebody who may write the file can."""
    found = verify_journal(path)
    break_seal(path)
    guard = "CREATE TRIGGER identity_never_changes BEFORE UPDATE ON identity"
    guard += " BEGIN SELECT raise(ABORT, 'the identity never changes'); END"
    with closing(sqlite3.connect(path, isolation_level=None)) as writing:
        writing.execute("DROP TRIGGER identity_never_changes")
        writing.execute("UPDATE identity SET name = ?", (name,))
        if journal is not None:
            writing.execute("UPDATE identity SET journal = ?", (journal,))
        writing.execute(guard)
    write_seal(path, Seal(found.entries, bytes.fromhex(found.head)))


@pytest.mark.parametrize(
    ("name", "journal"),
    [
        pytest.param("../other/t.journal", None, id="above"),
        pytest.param("/tmp/t.journal", None, id="absolute"),
        pytest.param("..", None, id="folder"),
        pytest.param("a\0b.journal", None, id="nul"),
        pytest.param("t.journal", "/../../x" + "0" * 24, id="id"),
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda path: archive_journal(path, path.parent / "archive"), id="archive"),
        pytest.param(verify_journal, id="verify"),
        pytest.param(Journal.open, id="open"),
    ],
)
def test_a_journal_whose_name_leads_elsewhere_is_damaged(
    closed: Path, name: str, journal: str | None, use: Callable[[Path], object]
) -> None:
    _renamed(closed, name, journal)
    for folder in ("archive", "other"):
        (closed.parent / folder).mkdir()
    with pytest.raises(PitwatchError, match="identity names no file"):
        use(closed)
    assert closed.exists()
    assert names(closed.parent / "other") == names(closed.parent / "archive") == set()
