"""Checkpoints that left the table hold its journal to what it was."""

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from models.errors import OperatorError, TechnicianError
from models.events import RoundOpened
from stream.checkpoints import Checkpoint, Held, read_checkpoints, trusted
from stream.clock import SimulatedClock
from stream.journal import Checkpoints, Journal, verify_journal
from stream.reading import read_journal
from stream.seal import Seal, write_seal
from stream.signing import Signer

SIGNER = Signer(Ed25519PrivateKey.generate())
SECOND_NS = 1_000_000_000


class Elsewhere:
    """A file on another machine."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def send(self, checkpoint: Checkpoint) -> None:
        with self.file.open("ab") as file:
            file.write(msgspec.json.encode(checkpoint) + b"\n")

    def known(self) -> tuple[Checkpoint, ...]:
        return read_checkpoints(self.file)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path / "elsewhere")


def due(elsewhere: Elsewhere, signer: Signer | None = SIGNER) -> Checkpoints:
    return Checkpoints(signer, SimulatedClock(SECOND_NS), entries=10, send=elsewhere.send)


def written(path: Path, elsewhere: Elsewhere, last: int, signer: Signer | None = SIGNER) -> Path:
    """Write rounds 1 to ``last`` and close in order."""
    with Journal.create(path, due(elsewhere, signer), "BJ-07") as journal:
        for number in range(1, last + 1):
            journal.append(RoundOpened(round=number))
    return path


def killed(path: Path, elsewhere: Elsewhere, more: int) -> None:
    """Append to a journal in a process that is killed."""
    child = os.fork()
    if not child:
        journal = Journal.open(path, due(elsewhere))
        for number in range(more):
            journal.append(RoundOpened(round=100 + number))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_each_is_sent_away_as_it_is_made(tmp_path: Path, elsewhere: Elsewhere) -> None:
    path = written(tmp_path / "t.journal", elsewhere, 25)
    known = elsewhere.known()
    assert [one.seq for one in known] == [0, 10, 20, 25]
    assert all(one.is_signed and one.key == SIGNER.public.hex() for one in known)
    assert {one.identity.table for one in known} == {"BJ-07"}
    found = verify_journal(path, [SIGNER.fingerprint], known)
    assert found.held == Held(25, SECOND_NS, 4)


def test_one_that_a_killed_process_had_not_sent_yet_is_sent_by_the_next(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    """It was durable in the journal; between that and the sending came the kill."""
    path = written(tmp_path / "t.journal", elsewhere, 25)
    whole = elsewhere.file.read_bytes()
    elsewhere.file.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    Journal.open(path, due(elsewhere), "BJ-07", elsewhere.known()).close()
    assert elsewhere.file.read_bytes() == whole
    Journal.open(path, due(elsewhere), "BJ-07", elsewhere.known()).close()
    assert elsewhere.file.read_bytes() == whole, "what is known is not sent again"


def test_a_table_without_a_key_sends_them_unsigned(tmp_path: Path, elsewhere: Elsewhere) -> None:
    path = written(tmp_path / "t.journal", elsewhere, 25, signer=None)
    known = elsewhere.known()
    assert [(one.seq, one.is_signed) for one in known] == [
        (0, False),
        (10, False),
        (20, False),
        (25, False),
    ]
    assert verify_journal(path, (), known).held == Held(25, SECOND_NS, 4)
    assert trusted(known, [SIGNER.fingerprint]) == ()


def cut(path: Path, last: int) -> None:
    """Take entries off the end, and checkpoints with them, and seal what is left anew."""
    guards = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        found = connection.execute(guards).fetchall()
        for name, _ in found:
            connection.execute(f"DROP TRIGGER {name}")
        for table in ("entries", "checkpoints"):
            connection.execute(f"DELETE FROM {table} WHERE seq > {last}")
        for _, sql in found:
            connection.execute(sql)
    head = verify_journal_head(path)
    write_seal(path, Seal(last, head))


def verify_journal_head(path: Path) -> bytes:
    query = "SELECT hash FROM entries ORDER BY seq DESC LIMIT 1"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        head: bytes = connection.execute(query).fetchone()[0]
        return head


def test_a_tail_that_was_cut_and_sealed_anew_is_missed(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    path = written(tmp_path / "t.journal", elsewhere, 25)
    cut(path, 20)
    alone = verify_journal(path, [SIGNER.fingerprint])
    assert (alone.entries, alone.sealed, alone.signed) == (20, True, 20), "nothing in it shows it"
    with pytest.raises(TechnicianError, match="missing at its end: it had 25 at 1970-01-01T00:00"):
        verify_journal(path, [SIGNER.fingerprint], elsewhere.known())
    with pytest.raises(TechnicianError, match="missing at its end"):
        Journal.open(path, due(elsewhere), against=elsewhere.known())


def test_so_is_a_log_that_was_removed(tmp_path: Path, elsewhere: Elsewhere) -> None:
    path = written(tmp_path / "t.journal", elsewhere, 25)
    killed(path, elsewhere, 30)
    path.with_name("t.journal-wal").unlink()
    assert verify_journal(path).entries == 25
    with pytest.raises(TechnicianError, match="missing at its end: it had 55"):
        verify_journal(path, (), elsewhere.known())


def test_an_entry_that_was_written_anew_is_not_the_one_that_was_covered(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    path = written(tmp_path / "t.journal", elsewhere, 25, signer=None)
    known = elsewhere.known()
    cut(path, 15)
    with Journal.open(path) as journal:
        journal.append_all(RoundOpened(round=n) for n in range(1, 16))
    with pytest.raises(TechnicianError, match="entry 25 is not the one that the checkpoint of"):
        verify_journal(path, (), known)


def test_an_older_journal_put_back_under_the_name_is_found(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    first = written(tmp_path / "t.journal", elsewhere, 5).rename(tmp_path / "first.journal")
    clock = SimulatedClock(9 * SECOND_NS)
    later = Checkpoints(SIGNER, clock, send=elsewhere.send)
    with Journal.create(tmp_path / "t.journal", later, "BJ-07") as journal:
        journal.append(RoundOpened(round=1))
    held = verify_journal(tmp_path / "t.journal", (), elsewhere.known()).held
    assert held is not None
    assert held.earlier == (verify_journal(first).identity.journal,)  # type: ignore[union-attr]
    assert verify_journal(first, (), elsewhere.known()).held is not None, "it has left the name"
    first.replace(tmp_path / "t.journal")
    with pytest.raises(TechnicianError, match="another journal than the last one that had this"):
        verify_journal(tmp_path / "t.journal", (), elsewhere.known())


def test_a_name_changed_within_the_file_does_not_fit_the_signature(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    path = written(tmp_path / "t.journal", elsewhere, 5)
    guard = "SELECT sql FROM sqlite_master WHERE name = 'identity_never_changes'"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        (sql,) = connection.execute(guard).fetchone()
        connection.execute("DROP TRIGGER identity_never_changes")
        connection.execute("UPDATE identity SET of_table = 'BJ-08'")
        connection.execute(sql)
    with pytest.raises(TechnicianError, match="does not fit its signature"):
        verify_journal(path)


def test_a_restart_does_not_sign_what_it_did_not_see_written(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    path = written(tmp_path / "t.journal", elsewhere, 25)
    killed(path, elsewhere, 13)
    assert verify_journal(path).signed == 35
    with Journal.open(path, due(elsewhere)) as journal:
        journal.append(RoundOpened(round=200))
    found = verify_journal(path, [SIGNER.fingerprint], elsewhere.known())
    assert (found.entries, found.signed, found.found) == (40, 40, ((36, 38),))
    (marked,) = (one for one in read_journal(path) if one.seq == 39)
    assert b'"type":"tail_found"' in marked.body  # type: ignore[union-attr]
    with Journal.open(path, due(elsewhere)):
        pass
    assert verify_journal(path).entries == 40, "what was closed in order is not marked"


def test_a_syslog_servers_own_words_before_it_are_passed_over(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    written(tmp_path / "t.journal", elsewhere, 5)
    lines = elsewhere.file.read_bytes().splitlines()
    framed = b"".join(b"2026-11-21 host pitwatch: " + line + b"\n" for line in lines)
    elsewhere.file.write_bytes(b"another program's line\n" + framed + lines[0][:40])
    assert len(elsewhere.known()) == len(lines)


def test_a_line_that_is_none_is_named(tmp_path: Path, elsewhere: Elsewhere) -> None:
    written(tmp_path / "t.journal", elsewhere, 5)
    text = elsewhere.file.read_bytes()
    elsewhere.file.write_bytes(text.replace(b'"seq":5', b'"seq":"five"'))
    with pytest.raises(TechnicianError, match=r"elsewhere:2: this line is no checkpoint"):
        elsewhere.known()
    with pytest.raises(OperatorError, match="cannot be read"):
        read_checkpoints(tmp_path / "none")


def test_a_copy_of_another_journal_has_nothing_to_be_held_to(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    path = written(tmp_path / "t.journal", elsewhere, 5)
    other = Elsewhere(tmp_path / "other")
    written(tmp_path / "u.journal", other, 5)
    assert verify_journal(path, (), other.known()).held == Held()
    shutil.copy(path, tmp_path / "u2.journal")
    assert verify_journal(tmp_path / "u2.journal", (), elsewhere.known()).held is not None


def _created_as_a_kill_leaves_it(path: Path) -> None:
    """Create a journal of which no checkpoint has left the table."""
    Journal.create(path, None, "BJ-07").close()


def test_a_journal_whose_creation_was_broken_off_is_gone_on_with(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    path = tmp_path / "t.journal"
    written(path, elsewhere, 5).rename(tmp_path / "first.journal")
    _created_as_a_kill_leaves_it(path)
    with Journal.open(path, due(elsewhere), "BJ-07", elsewhere.known()) as journal:
        journal.append(RoundOpened(round=1))
    with pytest.raises(TechnicianError, match="another journal than the last one that had this"):
        verify_journal(tmp_path / "t.journal", (), elsewhere.known()[:-2])
    Journal.open(path, due(elsewhere), "BJ-07", elsewhere.known()).close()


def test_an_empty_journal_in_the_place_of_another_is_found(
    tmp_path: Path, elsewhere: Elsewhere
) -> None:
    path = tmp_path / "t.journal"
    written(path, elsewhere, 5).rename(tmp_path / "first.journal")
    _created_as_a_kill_leaves_it(path)
    with pytest.raises(TechnicianError, match="another journal than the last one that had this"):
        verify_journal(path, (), elsewhere.known())
