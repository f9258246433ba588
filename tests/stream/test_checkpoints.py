"""Checkpoints: who keeps the key can prove who wrote the journal."""

import sqlite3
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from models.errors import InstallerError, OperatorError, TechnicianError
from models.events import RoundOpened
from stream.clock import SimulatedClock
from stream.copies import backup_journal
from stream.journal import Checkpoints, Journal, verify_journal
from stream.seal import PAGE_BYTES
from stream.signing import Signer, is_signed, read_public_key

SECOND_NS = 1_000_000_000
SIGNER = Signer(Ed25519PrivateKey.generate())


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer.create(tmp_path / "table.key")


def signed_seqs(path: Path) -> list[int]:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    found = [seq for (seq,) in connection.execute("SELECT seq FROM checkpoints ORDER BY seq")]
    connection.close()
    return found


def rounds(journal: Journal, numbers: range) -> None:
    for number in numbers:
        journal.append(RoundOpened(round=number))


def test_a_checkpoint_comes_after_so_many_entries_and_at_the_close(
    tmp_path: Path, signer: Signer
) -> None:
    path = tmp_path / "table.journal"
    with Journal.create(path, Checkpoints(signer, SimulatedClock(), entries=3)) as journal:
        rounds(journal, range(1, 9))
        assert signed_seqs(path) == [3, 6]
    assert signed_seqs(path) == [3, 6, 8]
    found = verify_journal(path, [signer.fingerprint])
    assert (found.entries, found.signed, found.sealed) == (8, 8, True)
    assert found.keys == (signer.fingerprint,)


def test_a_checkpoint_comes_with_the_first_entry_after_so_long(
    tmp_path: Path, signer: Signer
) -> None:
    clock = SimulatedClock(100 * SECOND_NS)
    path = tmp_path / "table.journal"
    with Journal.create(path, Checkpoints(signer, clock, period_ns=60 * SECOND_NS)) as journal:
        rounds(journal, range(1, 3))
        assert signed_seqs(path) == [1]
        clock.advance(59 * SECOND_NS)
        rounds(journal, range(3, 4))
        clock.advance(SECOND_NS)
        rounds(journal, range(4, 6))
        assert signed_seqs(path) == [1, 4]
        journal.checkpoint()
        journal.checkpoint()
        assert signed_seqs(path) == [1, 4, 5]


def test_a_batch_is_signed_with_its_last_entry(tmp_path: Path, signer: Signer) -> None:
    path = tmp_path / "table.journal"
    with Journal.create(path, Checkpoints(signer, SimulatedClock(), entries=3)) as journal:
        journal.append_all(RoundOpened(round=number) for number in range(1, 8))
        assert signed_seqs(path) == [7]


def test_nothing_appended_is_nothing_to_sign(tmp_path: Path, signer: Signer) -> None:
    clock, path = SimulatedClock(100 * SECOND_NS), tmp_path / "table.journal"
    with Journal.create(path, Checkpoints(signer, clock)) as journal:
        journal.append(RoundOpened(round=1))
        clock.advance(600 * SECOND_NS)
        assert journal.append_all(()) == ()
        assert signed_seqs(path) == [1]


def test_a_journal_gone_on_with_is_signed_on(tmp_path: Path, signer: Signer) -> None:
    path, clock = tmp_path / "table.journal", SimulatedClock(SECOND_NS)
    with Journal.create(path, Checkpoints(signer, clock, entries=5)) as journal:
        rounds(journal, range(1, 4))
    with Journal.open(path, Checkpoints(signer, clock, entries=5)) as journal:
        rounds(journal, range(4, 9))
    assert signed_seqs(path) == [3, 8]
    assert verify_journal(path, [signer.fingerprint]).signed == 8


def test_an_entry_changed_with_its_whole_chain_does_not_fit_the_signature(
    tmp_path: Path, signer: Signer
) -> None:
    honest, forged = tmp_path / "honest.journal", tmp_path / "forged.journal"
    for path, amount in ((honest, 1), (forged, 2)):
        with Journal.create(path, Checkpoints(signer, SimulatedClock())) as journal:
            rounds(journal, range(amount, amount + 3))
    connection = sqlite3.connect(forged, isolation_level=None)
    connection.execute("DROP TRIGGER checkpoints_never_change")
    connection.execute(f"ATTACH '{honest}' AS honest")
    connection.execute(
        "UPDATE checkpoints SET signature = (SELECT signature FROM honest.checkpoints)"
    )
    connection.execute("DETACH honest")
    connection.execute(_trigger("checkpoints_never_change", "UPDATE", "changes"))
    connection.close()
    with pytest.raises(TechnicianError, match="checkpoint at entry 3 does not fit its signature"):
        verify_journal(forged, [signer.fingerprint])


def _trigger(name: str, what: str, verb: str) -> str:
    return (
        f"CREATE TRIGGER {name} BEFORE {what} ON checkpoints"
        f" BEGIN SELECT raise(ABORT, 'a checkpoint never {verb}'); END"
    )


def test_a_journal_signed_by_a_stranger_is_refused_by_name(tmp_path: Path, signer: Signer) -> None:
    stranger = Signer.create(tmp_path / "stranger.key")
    path = tmp_path / "table.journal"
    with Journal.create(path, Checkpoints(stranger, SimulatedClock())) as journal:
        rounds(journal, range(1, 3))
    assert verify_journal(path).signed == 2
    with pytest.raises(TechnicianError, match=f"another key, {stranger.fingerprint}"):
        verify_journal(path, [signer.fingerprint])
    assert verify_journal(path, [signer.fingerprint, stranger.fingerprint]).signed == 2


def test_a_journal_that_nobody_signed_is_refused_where_a_key_is_asked_for(
    tmp_path: Path, signer: Signer
) -> None:
    path = tmp_path / "table.journal"
    with Journal.create(path) as journal:
        rounds(journal, range(1, 3))
    assert verify_journal(path).signed == 0
    with pytest.raises(TechnicianError, match="nothing of it is signed"):
        verify_journal(path, [signer.fingerprint])


def test_entries_cut_off_behind_a_checkpoint_are_missed(tmp_path: Path, signer: Signer) -> None:
    path = tmp_path / "table.journal"
    with Journal.create(path, Checkpoints(signer, SimulatedClock())) as journal:
        rounds(journal, range(1, 6))
    connection = sqlite3.connect(path, isolation_level=None)
    guard = "SELECT sql FROM sqlite_master WHERE name = 'entries_never_go'"
    sql = connection.execute(guard).fetchone()[0]
    connection.execute("DROP TRIGGER entries_never_go")
    connection.execute("DELETE FROM entries WHERE seq > 3")
    connection.execute(sql)
    connection.close()
    with pytest.raises(TechnicianError, match="up to 5 were signed, but it ends with entry 3"):
        verify_journal(path)


def test_a_checkpoint_never_changes_and_never_goes(tmp_path: Path, signer: Signer) -> None:
    path = tmp_path / "table.journal"
    with Journal.create(path, Checkpoints(signer, SimulatedClock())) as journal:
        rounds(journal, range(1, 3))
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("DELETE FROM checkpoints", "UPDATE checkpoints SET at = 0"):
        with pytest.raises(sqlite3.IntegrityError, match="a checkpoint never"):
            connection.execute(statement)
    connection.close()


def test_a_key_is_its_owners_alone_and_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "table.key"
    made = Signer.create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Signer.read(path).public == made.public
    with pytest.raises(OperatorError, match="never written over"):
        Signer.create(path)


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.key"
    Signer.create(path)
    path.chmod(0o640)
    with pytest.raises(InstallerError, match="can be read by others"):
        Signer.read(path)


def test_the_public_key_goes_out_as_pem(tmp_path: Path, signer: Signer) -> None:
    path = tmp_path / "table.pub"
    path.write_bytes(signer.public_pem())
    assert read_public_key(path) == signer.public


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PUBLIC KEY-----\n"])
def test_what_is_no_key_is_refused_by_its_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.key"
    path.write_bytes(content)
    path.chmod(0o600)
    for read in (Signer.read, read_public_key):
        with pytest.raises(InstallerError, match=r"odd\.key: this is no Ed25519 key"):
            read(path)


def test_a_private_key_is_no_public_one_nor_the_other_way(tmp_path: Path, signer: Signer) -> None:
    public = tmp_path / "table.pub"
    public.write_bytes(signer.public_pem())
    public.chmod(0o600)
    with pytest.raises(InstallerError, match="no Ed25519 key"):
        Signer.read(public)
    with pytest.raises(InstallerError, match="no Ed25519 key"):
        read_public_key(tmp_path / "table.key")


@given(
    seq=st.integers(0, 2**40),
    at_ns=st.integers(0, 2**62),
    head=st.binary(min_size=32, max_size=32),
    bit=st.integers(0, 511),
)
def test_a_signature_is_of_that_entry_that_time_and_that_hash(
    seq: int, at_ns: int, head: bytes, bit: int
) -> None:
    signature = SIGNER.sign(seq, at_ns, head)
    assert is_signed(SIGNER.public, signature, seq, at_ns, head)
    assert not is_signed(SIGNER.public, signature, seq + 1, at_ns, head)
    assert not is_signed(SIGNER.public, signature, seq, at_ns + 1, head)
    assert not is_signed(SIGNER.public, signature, seq, at_ns, bytes(32)) or head == bytes(32)
    flipped = bytearray(signature)
    flipped[bit // 8] ^= 1 << bit % 8
    assert not is_signed(SIGNER.public, bytes(flipped), seq, at_ns, head)


def test_a_backup_of_a_journal_being_written_holds_all_that_was_acknowledged(
    tmp_path: Path, signer: Signer
) -> None:
    path, copy = tmp_path / "table.journal", tmp_path / "copy.journal"
    with Journal.create(path, Checkpoints(signer, SimulatedClock(), entries=10)) as journal:
        rounds(journal, range(1, 26))
        found = backup_journal(path, copy)
        rounds(journal, range(26, 31))
    assert (found.entries, found.signed, found.sealed) == (25, 20, True)
    assert verify_journal(copy, [signer.fingerprint]) == found
    assert verify_journal(path).entries == 30
    assert {file.name for file in tmp_path.iterdir()} == {"table.key", path.name, copy.name}
    with Journal.open(copy) as going_on:
        assert going_on.append(RoundOpened(round=99)).seq == 26


def test_a_backup_of_a_closed_journal_is_the_same_journal(tmp_path: Path) -> None:
    path, copy = tmp_path / "table.journal", tmp_path / "copy.journal"
    with Journal.create(path) as journal:
        rounds(journal, range(1, 400))
    assert backup_journal(path, copy) == verify_journal(path)


def test_a_backup_never_replaces_a_file(tmp_path: Path) -> None:
    path, copy = tmp_path / "table.journal", tmp_path / "copy.journal"
    Journal.create(path).close()
    copy.write_bytes(b"precious")
    with pytest.raises(OperatorError, match="exists already"):
        backup_journal(path, copy)
    assert copy.read_bytes() == b"precious"


def test_a_damaged_journal_has_no_backup(tmp_path: Path) -> None:
    path, copy = tmp_path / "table.journal", tmp_path / "copy.journal"
    with Journal.create(path) as journal:
        rounds(journal, range(1, 40))
    content = bytearray(path.read_bytes())
    content[content.index(b'"round":7') + 8] ^= 1
    path.write_bytes(content[:-PAGE_BYTES])
    with pytest.raises(TechnicianError, match="entry 7 does not match its hash"):
        backup_journal(path, copy)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
