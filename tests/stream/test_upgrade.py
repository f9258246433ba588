"""Journals that earlier programs wrote, read and gone on with by this one."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from models.cards import Card
from models.errors import TechnicianError
from models.events import CardDealt, ReaderFault, RoundClosed
from stream.journal import Journal, verify_journal
from stream.reading import UnknownEvent, event_of, read_journal
from stream.seal import PAGE_BYTES
from stream.store import SCHEMA_VERSION

VERSION_1 = Path(__file__).with_name("version_1.journal")
HEAD = "624b0bc67af202c2d2e30caab3be14c5017e64bb7dfa58c6a5f15709d89b6aa3"
HEAD_3 = "b0d39530b25ab40fbd5ebdf3e31d61483f26dcee69f729aa72dc27e5dd15ba09"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copy(VERSION_1, tmp_path / "table.journal"))


def asked(path: Path, query: str) -> list[tuple[int, ...]]:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_it_is_verified_as_it_is() -> None:
    before = VERSION_1.read_bytes()
    found = verify_journal(VERSION_1)
    assert (found.entries, found.head, found.sealed, found.signed) == (10, HEAD, True, 0)
    assert VERSION_1.read_bytes() == before


def test_its_entries_are_lifted_when_they_are_read() -> None:
    gaps = [each for each in read_journal(VERSION_1) if isinstance(each, ReaderFault)]
    assert [(gap.missing_from, gap.missing_to) for gap in gaps] == [(3, 5), (None, None)]
    assert [gap.detail for gap in gaps] == [
        "number 6 where 3 was due",
        "no sound number where 7 was due",
    ]


def test_what_even_version_1_did_not_know_stays_word_for_word() -> None:
    (unknown,) = (each for each in read_journal(VERSION_1) if isinstance(each, UnknownEvent))
    assert unknown.body == b'{"type":"chip_tray_weighed","grams":[1.5],"seq":7}'


def test_gone_on_with_it_is_upgraded_and_its_chain_goes_on(copy: Path) -> None:
    with Journal.open(copy) as journal:
        assert journal.append(RoundClosed()).seq == 11
        fresh = journal.append(
            ReaderFault(source="shoe", kind="gap", detail="number 9 where 7 was due")
        )
        assert list(journal.read(11)) == [fresh]
        assert len([*journal.read()]) == 12
    assert asked(copy, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert asked(copy, "SELECT * FROM versions") == [(1, 1), (11, SCHEMA_VERSION)]
    assert asked(copy, "SELECT hex(hash) FROM entries WHERE seq = 10")[0][0] == HEAD.upper()  # type: ignore[comparison-overlap]
    found = verify_journal(copy)
    assert (found.entries, found.sealed) == (12, True)


def test_upgrading_is_done_once_and_reads_the_same(copy: Path) -> None:
    before = list(read_journal(copy))
    for _ in range(2):
        Journal.open(copy).close()
    assert list(read_journal(copy)) == before
    assert asked(copy, "SELECT * FROM versions") == [(1, 1), (11, SCHEMA_VERSION)]


def test_an_empty_journal_of_version_1_is_upgraded_too(copy: Path) -> None:
    connection = sqlite3.connect(copy, isolation_level=None)
    guard = "SELECT sql FROM sqlite_master WHERE name = 'entries_never_go'"
    sql = connection.execute(guard).fetchone()[0]
    connection.execute("DROP TRIGGER entries_never_go")
    connection.execute("DELETE FROM entries")
    connection.execute(sql)
    connection.close()
    copy.write_bytes(copy.read_bytes()[:-PAGE_BYTES])
    with Journal.open(copy) as journal:
        journal.append(RoundClosed())
    assert asked(copy, "SELECT * FROM versions") == [(1, SCHEMA_VERSION)]


def test_a_journal_of_a_later_version_is_refused_and_left_alone(copy: Path) -> None:
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(
        TechnicianError,
        match=f"of version {SCHEMA_VERSION + 1}, this program knows {SCHEMA_VERSION}",
    ) as refused:
        Journal.open(copy)
    assert "a newer one" in str(refused.value)


def test_a_fact_of_a_newer_version_is_read_without_the_fields_that_this_one_does_not_know() -> None:
    body = b'{"type":"card_dealt","seq":4,"at":9,"table":"T","to":1,"card":"9S","tilt":{"deg":3}}'
    read = event_of(body, "07.journal", 4)
    assert read == CardDealt(seq=4, at=9, table="T", to=1, card=Card("9S"))


@pytest.mark.parametrize(
    ("name", "files", "signed"),
    [
        pytest.param("version_3.journal", ("",), 2, id="closed"),
        pytest.param("version_3_killed.journal", ("", "-wal"), 1, id="killed"),
    ],
)
def test_a_seal_and_a_log_of_version_3_prove_what_they_proved(
    tmp_path: Path, name: str, files: tuple[str, ...], signed: int
) -> None:
    """A kill left the second with its last entry in the log alone, and unsigned."""
    for ending in files:
        shutil.copy(Path(__file__).with_name(name + ending), tmp_path)
    path = tmp_path / name
    found = verify_journal(path)
    closed = len(files) == 1
    assert (found.entries, found.head, found.signed) == (2, HEAD_3, signed)
    assert (found.sealed, found.lacks_log) == (closed, False)
    with Journal.open(path) as journal:
        assert journal.append(RoundClosed()).seq == 3
    found = verify_journal(path)
    assert (found.entries, found.sealed, found.gaps) == (3, True, ())


def test_a_log_of_version_3_that_is_gone_is_missed(tmp_path: Path) -> None:
    path = Path(shutil.copy(Path(__file__).with_name("version_3_killed.journal"), tmp_path))
    assert verify_journal(path).lacks_log
    with Journal.open(path) as journal:
        journal.append(RoundClosed())
    assert verify_journal(path).gaps == (0,)
