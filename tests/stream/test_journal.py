"""The journal's file: durable, append-only, and any flipped byte is found."""

import gc
import hashlib
import itertools
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from models.cards import Card
from models.errors import OperatorError, TechnicianError
from models.events import CardDealt, RoundClosed, RoundOpened, ShoeCardRead
from stream.journal import Journal, verify_journal
from stream.seal import PAGE_BYTES, Seal, write_seal
from stream.store import connected

if TYPE_CHECKING:
    from _typeshed import TraceFunction

ENTRIES = 90


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of several pages, long and short entries, closed in order."""
    path = tmp_path_factory.mktemp("closed") / "table.journal"
    chance = random.Random("entries")
    with Journal.create(path) as journal:
        journal.append_all(
            ShoeCardRead(
                source="shoe", at=n, card=Card("8S"), draw=n, raw="05" * chance.randint(1, 90)
            )
            for n in range(1, ENTRIES)
        )
        journal.append(ShoeCardRead(source="shoe", card=None, draw=1, raw="ff" * 6000))
    return path


def flipped(path: Path, place: int, bit: int, copy: Path) -> Path:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    copy.write_bytes(content)
    return copy


def unsealed(path: Path, copy: Path) -> Path:
    """The same journal as if its writer had been killed after a checkpoint."""
    copy.write_bytes(path.read_bytes()[:-PAGE_BYTES])
    return copy


def hash_of(path: Path, entry: int) -> bytes:
    connection = sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)
    found = connection.execute("SELECT hash FROM entries WHERE seq = ?", (entry,)).fetchone()
    connection.close()
    stored: bytes = found[0]
    return stored


def test_a_closed_journal_is_one_sealed_file(closed: Path) -> None:
    found = verify_journal(closed)
    assert (found.entries, found.sealed) == (ENTRIES, True)
    assert [file.name for file in closed.parent.iterdir()] == [closed.name]


def test_any_flipped_byte_is_found(closed: Path, tmp_path: Path) -> None:
    chance = random.Random("flips")
    size = closed.stat().st_size
    places = {*range(0, 108, 3), *chance.sample(range(size), 150), *range(size - 4100, size, 150)}
    for place in sorted(places):
        copy = flipped(closed, place, chance.randrange(8), tmp_path / "flipped.journal")
        with pytest.raises(TechnicianError):
            verify_journal(copy)


def test_without_a_seal_any_flipped_byte_of_an_entry_is_found(closed: Path, tmp_path: Path) -> None:
    bare = unsealed(closed, tmp_path / "bare.journal")
    found = verify_journal(bare)
    assert (found.entries, found.head) == (ENTRIES, hash_of(closed, ENTRIES).hex())
    assert (found.sealed, found.lacks_log) == (False, True)
    chance = random.Random("flips")
    content = bare.read_bytes()
    for entry in (1, 30, ENTRIES):
        stored = content.index(hash_of(closed, entry))
        for place in (stored - 4, *chance.sample(range(stored, stored + 100), 30)):
            copy = flipped(bare, place, chance.randrange(8), tmp_path / "flipped.journal")
            with pytest.raises(TechnicianError):
                verify_journal(copy)


def test_the_chain_is_the_documented_one(closed: Path) -> None:
    connection = sqlite3.connect(f"{closed.as_uri()}?immutable=1", uri=True)
    head = bytes(32)
    for seq, stored, body in connection.execute("SELECT * FROM entries ORDER BY seq"):
        head = hashlib.sha256(head + seq.to_bytes(8, "big") + body).digest()
        assert stored == head
    connection.close()
    assert verify_journal(closed).head == head.hex()


def test_an_entry_taken_out_is_named(closed: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(closed, tmp_path / "short.journal"))
    connection = sqlite3.connect(copy, isolation_level=None)
    guards = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid"
    triggers = connection.execute(guards).fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM entries WHERE seq = 7")
    for _, sql in triggers:
        connection.execute(sql)
    connection.close()
    with pytest.raises(TechnicianError, match="entry 7 is missing, entry 8 is in its place"):
        verify_journal(copy)


def test_an_entry_stored_as_text_is_named(closed: Path, tmp_path: Path) -> None:
    bare = unsealed(closed, tmp_path / "bare.journal")
    content = bare.read_bytes()
    kind_of_hash = content.index(hash_of(closed, 30)) - 3
    assert content[kind_of_hash] == 12 + 2 * 32
    with pytest.raises(TechnicianError, match="entry 30 is not stored as bytes"):
        verify_journal(flipped(bare, kind_of_hash, 0, tmp_path / "text.journal"))


def test_without_a_seal_a_damaged_page_is_found(closed: Path, tmp_path: Path) -> None:
    bare = unsealed(closed, tmp_path / "bare.journal")
    leaves = [
        start
        for start in range(PAGE_BYTES, bare.stat().st_size, PAGE_BYTES)
        if bare.read_bytes()[start] == 0x0D
    ]
    fragmented_bytes = leaves[0] + 7
    with pytest.raises(TechnicianError, match="its pages are damaged"):
        verify_journal(flipped(bare, fragmented_bytes, 4, tmp_path / "flipped.journal"))


def test_a_journal_that_someone_still_reads_keeps_its_log(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    journal = Journal.create(path)
    journal.append(RoundClosed())
    reader = sqlite3.connect(path)
    reading = reader.execute("SELECT seq FROM entries")
    journal.close()
    found = verify_journal(path)
    assert (found.entries, found.sealed, found.lacks_log) == (1, False, False)
    assert reading.fetchall() == [(1,)]
    reader.close()
    Journal.open(path).close()
    assert verify_journal(path).sealed


def test_a_journal_that_readers_keep_open_is_sealed_when_it_closes(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    journal = Journal.create(path)
    journal.append(RoundClosed())
    reader = sqlite3.connect(path)
    assert reader.execute("SELECT seq FROM entries").fetchall() == [(1,)]
    journal.close()
    assert verify_journal(path).sealed
    assert reader.execute("SELECT seq FROM entries").fetchall() == [(1,)]
    reader.close()
    assert verify_journal(path).sealed


class Stopped(BaseException):
    """Stands for the signal that ends a table."""


def stop_at(line: int) -> Iterator[int]:
    """Raise at the ``line``-th line of the journal's code, as a signal's handler would."""
    passed = 0

    def trace(frame: FrameType, event: str, _: object) -> "TraceFunction | None":
        nonlocal passed
        if not frame.f_code.co_filename.endswith(("stream/journal.py", "stream/store.py")):
            return None
        if event == "line":
            passed += 1
            if passed == line:
                raise Stopped
        return trace

    sys.settrace(trace)
    try:
        yield passed
    finally:
        sys.settrace(None)


@pytest.fixture
def quick_collection() -> Iterator[None]:
    """Leave what exists already out of every collection: each then takes no time."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("quick_collection")
@pytest.mark.parametrize("begin", [Journal.create, Journal.open])
def test_a_start_that_a_signal_ends_at_any_line_leaves_no_journal_that_lost_its_log(
    begin: Callable[[Path], Journal], tmp_path: Path
) -> None:
    for line in itertools.count(1):
        path = tmp_path / str(line) / "table.journal"
        path.parent.mkdir()
        if begin == Journal.open:
            Journal.create(path).close()
        journal = None
        with contextmanager(stop_at)(line), suppress(Stopped):
            journal = begin(path)
        if journal is not None:
            journal.close()
            break
        gc.collect()
        found = verify_journal(path) if path.exists() else None
        assert found is None or not found.lacks_log, line
    assert line > 50


def test_the_seal_of_another_journal_is_refused(closed: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.journal"
    with Journal.create(path) as journal:
        journal.append(RoundClosed())
    write_seal(path, Seal(2, bytes(32)))
    with pytest.raises(TechnicianError, match="another journal's"):
        verify_journal(path)


def test_verifying_writes_nothing(closed: Path) -> None:
    before = closed.read_bytes()
    verify_journal(closed)
    assert closed.read_bytes() == before


@pytest.mark.parametrize("entry", [1, 40, ENTRIES - 1])
def test_a_changed_payload_is_named_by_its_entry(closed: Path, tmp_path: Path, entry: int) -> None:
    place = closed.read_bytes().index(b'"seq":%d,' % entry) + len(b'"seq":')
    copy = flipped(closed, place, 0, tmp_path / "changed.journal")
    with pytest.raises(TechnicianError, match=f"entry {entry} does not match its hash") as refused:
        verify_journal(copy)
    assert str(refused.value).startswith(str(copy))
    assert "\n" not in str(refused.value)


def test_a_changed_hash_is_named_by_its_entry(closed: Path, tmp_path: Path) -> None:
    place = closed.read_bytes().index(hash_of(closed, 40))
    copy = flipped(closed, place, 3, tmp_path / "changed.journal")
    with pytest.raises(TechnicianError, match="entry 40 does not match its hash"):
        verify_journal(copy)


def test_triggers_that_were_taken_away_are_missed(closed: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(closed, tmp_path / "bare.journal"))
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute("DROP TRIGGER entries_never_go")
    connection.close()
    with pytest.raises(TechnicianError, match="triggers that guard them"):
        verify_journal(copy)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM entries WHERE seq = 7", "an entry never goes"),
        ("UPDATE entries SET body = x'00' WHERE seq = 7", "an entry never changes"),
        ("UPDATE entries SET seq = 1000 WHERE seq = 7", "an entry never changes"),
        ("INSERT INTO entries VALUES (1000, x'00', x'00')", "an entry follows the last one"),
        ("INSERT OR REPLACE INTO entries VALUES (7, x'00', x'00')", "an entry follows"),
    ],
)
def test_the_file_refuses_to_be_rewritten(
    closed: Path, tmp_path: Path, statement: str, message: str
) -> None:
    copy = Path(shutil.copy(closed, tmp_path / "copy.journal"))
    connection = sqlite3.connect(copy, isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match=message):
        connection.execute(statement)
    connection.close()
    assert verify_journal(copy).entries == ENTRIES


@pytest.mark.parametrize("left", [0, 1, 99, 4096, 9000])
def test_a_truncated_file_is_damaged(closed: Path, tmp_path: Path, left: int) -> None:
    copy = tmp_path / "short.journal"
    copy.write_bytes(closed.read_bytes()[:left])
    with pytest.raises(TechnicianError):
        verify_journal(copy)


def test_bytes_added_at_the_end_are_found(closed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "long.journal"
    copy.write_bytes(closed.read_bytes() + b"x")
    with pytest.raises(TechnicianError, match="length differs"):
        verify_journal(copy)


def test_another_kind_of_database_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE entries (x)")
    connection.close()
    with pytest.raises(TechnicianError, match="damaged: not a journal"):
        verify_journal(path)


def test_a_missing_journal_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TechnicianError, match=r"no\.journal: there is no journal"):
        Journal.open(tmp_path / "no.journal")


def test_a_journal_is_never_started_over_another_file(closed: Path) -> None:
    with pytest.raises(OperatorError, match="exists already"):
        Journal.create(closed)


def test_a_damaged_journal_is_not_gone_on_with(closed: Path, tmp_path: Path) -> None:
    copy = flipped(closed, closed.stat().st_size // 2, 1, tmp_path / "flipped.journal")
    with pytest.raises(TechnicianError):
        Journal.open(copy)


def test_a_journal_goes_on_where_it_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    for number in range(1, 6):
        with Journal.create(path) if number == 1 else Journal.open(path) as journal:
            journal.append_all((RoundOpened(round=number), RoundClosed()))
        assert verify_journal(path).entries == 2 * number
    with Journal.open(path) as journal:
        assert [event.seq for event in journal.read()] == list(range(1, 11))


def test_opening_and_closing_changes_no_entry(closed: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(closed, tmp_path / "copy.journal"))
    Journal.open(copy).close()
    assert verify_journal(copy) == verify_journal(closed)


def test_a_journal_can_be_verified_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    with Journal.create(path) as journal:
        journal.append(RoundClosed())
        found = verify_journal(path)
        assert (found.entries, found.sealed) == (1, False)
        journal.append(RoundClosed())
        assert journal.verify().entries == 2


def test_two_writers_never_fork_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    with Journal.create(path) as one:
        one.append(RoundClosed())
        other = Journal(connected(str(path)), path)  # one that knows of no lock
        one.append(RoundClosed())
        with pytest.raises(TechnicianError, match="an entry follows the last one"):
            other.append(RoundClosed())
        assert one.append(RoundClosed()).seq == 3
        other.close()
    assert verify_journal(path).entries == 3


KILLED = """
import os, signal, sys
from pathlib import Path
from models.events import CardDealt
from stream.journal import Journal

journal = Journal.create(Path(sys.argv[1]))
for number in range(1, 1000):
    journal.append(CardDealt(to=1, card=None))
    print(number, flush=True)
    if number == 50:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_what_was_appended_outlives_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    root = Path(__file__).parents[2]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    acknowledged = int(killed.stdout.split()[-1])
    assert verify_journal(path).entries == acknowledged == 50
    with Journal.open(path) as journal:
        assert journal.append(CardDealt(to=1, card=None)).seq == 51
    assert verify_journal(path).sealed


def test_what_a_process_killed_while_it_began_left_behind_is_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f".t.journal.new{ending}").write_bytes(b"half")
    with Journal.create(path) as journal:
        journal.append(RoundOpened(round=1))
    assert verify_journal(path).entries == 1
    assert [file.name for file in tmp_path.iterdir()] == ["t.journal"]


def test_closing_waits_for_a_read_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    journal = Journal.create(path)
    journal.append_all((RoundOpened(round=1), RoundClosed()))
    reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    journal.append(RoundOpened(round=2))
    ends = Timer(0.3, reader.execute, ("COMMIT",))
    ends.start()
    journal.close()
    ends.join()
    found = verify_journal(path)
    reader.close()
    assert (found.sealed, found.entries) == (True, 3)
