"""A reader that keeps a journal open finds what one that opens it anew finds, whatever happens."""

import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import TechnicianError
from models.events import RoundOpened
from stream.copies import archive_journal
from stream.files import JournalFiles
from stream.journal import AnotherJournal, Journal, Place, verify_journal
from stream.reading import JournalReader, entries_after

ACTIONS = ("append", "append", "close", "open", "replace", "copy", "kill")


class Table:
    """A table whose journal is written, closed, opened, replaced, copied over or left by a kill."""

    def __init__(self, path: Path) -> None:
        self.path, self.other = path, path.with_name("other.journal")
        self.journal: Journal | None = Journal.create(path)

    def do(self, action: str) -> None:
        match action, self.journal:
            case "append", Journal() as journal:
                journal.append(RoundOpened(round=7))
            case "close", Journal() as journal:
                journal.close()
                self.journal = None
            case "open", None:
                self.journal = Journal.open(self.path)
            case "replace", None:
                with Journal.create(self.other) as other:
                    other.append(RoundOpened(round=8))
                self.other.replace(self.path)
            case "copy", None:
                shutil.copyfile(self.path, self.other)
                self.other.replace(self.path)
            case "kill", None:
                subprocess.run([sys.executable, "-c", KILLED, self.path], check=False)

    def end(self) -> None:
        if self.journal is not None:
            self.journal.close()


KILLED = """
import os, sys
from pathlib import Path
from models.events import RoundOpened
from stream.journal import Journal

journal = Journal.open(Path(sys.argv[1]))
journal.append(RoundOpened(round=9))
os._exit(1)
"""


def found(path: Path, place: Place, reader: JournalReader | None) -> object:
    try:
        return entries_after(path, place) if reader is None else reader.entries_after(place, 500)
    except AnotherJournal as fault:
        return str(fault)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(ACTIONS), max_size=12))
def test_it_reads_what_a_reader_that_opens_the_journal_reads(actions: list[str]) -> None:
    with TemporaryDirectory() as folder:
        table = Table(Path(folder) / "t.journal")
        reader, place = JournalReader(table.path), Place()
        for action in actions:
            table.do(action)
            fresh = found(table.path, place, None)
            assert found(table.path, place, reader) == fresh
            if isinstance(fresh, tuple):
                _, place = fresh
            else:
                place = Place()
        table.end()
        reader.close()


def test_the_writer_closes_and_seals_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal:
        journal.append(RoundOpened(round=1))
        reader = JournalReader(path)
        _, place = reader.entries_after(Place(), 500)
    assert verify_journal(path).sealed
    assert JournalFiles(path).log_bytes == 0
    assert reader.entries_after(place, 500) == ((), place)
    (tmp_path / "archive").mkdir()
    archive_journal(path, tmp_path / "archive")
    with pytest.raises(TechnicianError, match="there is no journal"):
        reader.entries_after(place, 500)


def test_a_journal_without_its_guards_is_refused_each_time(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal, suppress(TechnicianError):
        journal.append(RoundOpened(round=1))
        journal._connection.execute("DROP TRIGGER entries_never_go")
        reader = JournalReader(path)
        for _ in range(2):
            with pytest.raises(TechnicianError, match="triggers that guard them were changed"):
                reader.entries_after(Place(), 500)
        reader.close()


def test_a_changed_entry_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal, suppress(TechnicianError):
        journal.append(RoundOpened(round=1))
        reader = JournalReader(path)
        _, place = reader.entries_after(Place(), 500)
        journal._connection.execute("INSERT INTO entries VALUES (2, ?, ?)", (bytes(32), b"{}"))
        with pytest.raises(TechnicianError, match="entry 2 is missing or does not match its hash"):
            reader.entries_after(place, 500)
        reader.close()
