"""A journal followed while it is written: every entry once, each proved, its writer undisturbed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from models.errors import TechnicianError
from models.events import RoundOpened
from stream.journal import AnotherJournal, Journal, Place, verify_journal
from stream.reading import UnknownEvent, read_as_written, read_between, read_journal, read_on


def opened(first: int, last: int) -> list[RoundOpened]:
    return [RoundOpened(round=number) for number in range(first, last + 1)]


def test_every_entry_is_read_once_as_it_is_written(tmp_path: Path) -> None:
    path, place = tmp_path / "t.journal", Place()
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 5))
        first, place = read_on(path, place, at_most=3)
        rest, place = read_on(path, place)
        nothing, place = read_on(path, place)
        journal.append(RoundOpened(round=6))
        new, place = read_on(path, place)
    assert [[event.seq for event in read] for read in (first, rest, nothing, new)] == [
        [1, 2, 3],
        [4, 5],
        [],
        [6],
    ]
    assert place == Place(6, bytes.fromhex(verify_journal(path).head))


def test_its_writer_still_seals_it(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 3))
        read_on(path, Place())
    assert verify_journal(path).sealed


def test_another_journal_in_its_place_is_not_read_on(tmp_path: Path) -> None:
    paths = tmp_path / "t.journal", tmp_path / "other.journal"
    for path, last in zip(paths, (3, 5), strict=True):
        with Journal.create(path) as journal:
            journal.append_all(opened(last, 2 * last))
    _, place = read_on(paths[0], Place())
    paths[1].replace(paths[0])
    with pytest.raises(AnotherJournal, match="entry 4 is not the one that was read before"):
        read_on(paths[0], place)


def test_an_entry_that_was_changed_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal:
        journal.append_all(opened(1, 3))
    _, place = read_on(path, Place(), at_most=1)
    for body, fault in (
        ("{}", "entry 2 is not stored as bytes"),
        (b"{}", "entry 2 is missing or"),
    ):
        spoilt = tmp_path / f"{type(body).__name__}.journal"
        with Journal.create(spoilt) as journal:
            journal.append_all(opened(1, 1))
        _, first = read_on(spoilt, Place())
        with closing(sqlite3.connect(spoilt)) as meddler, meddler:
            meddler.execute("INSERT INTO entries VALUES (2, ?, ?)", (bytes(32), body))
        with pytest.raises(TechnicianError, match=fault):
            read_on(spoilt, first)
    with closing(sqlite3.connect(path)) as meddler, meddler:
        meddler.execute("DROP TRIGGER entries_never_change")
    with pytest.raises(TechnicianError, match="triggers"):
        read_on(path, place)


def test_an_entry_without_a_time_is_read_with_that_of_the_nearest_before_it(
    tmp_path: Path,
) -> None:
    path, times = tmp_path / "t.journal", [None, 5, None, None, 9, None]
    later = UnknownEvent(None, "later", b'{"type":"later","at":"noon"}')
    with Journal.create(path) as journal:
        journal.append_all(RoundOpened(round=n, at=at) for n, at in enumerate(times, start=1))
        journal.append(later)
    dated = [None, 5, 5, 5, 9, 9, 9]
    assert [event.at for event in read_journal(path)] == dated
    assert [event.at for event in read_as_written(path)] == [*times, None]
    for cut in range(len(dated) + 1):
        first, place = read_on(path, Place(), at_most=cut)
        rest, _ = read_on(path, place)
        assert [event.at for event in (*first, *rest)] == dated
        assert [event.at for event in read_between(path, cut, len(dated))] == dated[cut:]
