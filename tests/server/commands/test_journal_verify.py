"""``pitwatch journal verify``, ``archive`` and ``restore``, as they are typed."""

import json
import os
import re
import signal
from pathlib import Path

import msgspec
import pytest

from models.events import RoundOpened
from server.commands.app import run
from server.table.config import read_config
from server.table.journal import table_journal
from stream.checkpoints import Checkpoint, read_checkpoints
from stream.clock import HostClock, SimulatedClock
from stream.journal import Checkpoints, Journal
from stream.signing import Signer
from tests.server.table.test_run_config import EXAMPLE
from tests.server.table.test_sending import until

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "table.journal"
    with Journal.create(path) as written:
        for number in (1, 2, 3):
            written.append(RoundOpened(at=number, table="BJ-01", round=number))
    return path


def test_an_intact_journal_is_reported_as_intact(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["journal", "verify", str(journal), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["entries"] == 3
    assert printed["sealed"] is True


def test_one_flipped_byte_is_one_line_and_exit_2(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray(journal.read_bytes())
    content[content.index(b'"round":2') + 8] ^= 1
    journal.write_bytes(content)
    assert run(["journal", "verify", str(journal)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert str(journal) in printed.err
    assert "entry 2" in printed.err
    assert "restore" in printed.err


def test_a_missing_journal_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["journal", "verify", str(tmp_path / "none")]) == 2
    assert str(tmp_path / "none") in capsys.readouterr().err


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    """A folder with a journal of 25 entries, its public key, and the checkpoints it sent."""
    key, file = tmp_path / "07.key", tmp_path / "elsewhere"
    assert run(["journal", "keys", str(key)]) == 0

    def send(checkpoint: Checkpoint) -> None:
        with file.open("ab") as opened:
            opened.write(msgspec.json.encode(checkpoint) + b"\n")

    due = Checkpoints(Signer.read(key), SimulatedClock(5), entries=10, send=send)
    with Journal.create(tmp_path / "07.journal", due, "BJ-07") as journal:
        for number in range(1, 26):
            journal.append(RoundOpened(round=number))
    return tmp_path


def verify(signed: Path, *more: str | Path, journal: str = "07.journal") -> int:
    key = signed / "07.key.pub.pem"
    return run(["journal", "verify", str(signed / journal), "--key", str(key), *map(str, more)])


def test_all_that_was_asked_for_is_proven(signed: Path, capsys: Capture) -> None:
    assert verify(signed, "--against", signed / "elsewhere") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "created as 07.journal of table BJ-07" in out
    assert "checkpoints cover it up to entry 25" in out


def test_an_unsigned_tail_has_a_status_of_its_own(signed: Path, capsys: Capture) -> None:
    with Journal.open(signed / "07.journal") as journal:
        journal.append_all(RoundOpened(round=number) for number in (26, 27))
    capsys.readouterr()
    assert verify(signed) == 5
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("not proven")
    assert "entries 26 to 27 are not signed" in out
    assert run(["journal", "verify", str(signed / "07.journal"), "--json"]) == 0, "nobody asked"


def test_entries_after_the_last_checkpoint_are_not_covered(signed: Path, capsys: Capture) -> None:
    file = signed / "elsewhere"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    assert verify(signed, "--against", file) == 5
    out = " ".join(capsys.readouterr().out.split())
    assert "entries 21 to 25 are not covered by the checkpoints" in out


def test_checkpoints_that_another_key_signed_count_for_nothing(
    signed: Path, capsys: Capture
) -> None:
    file = signed / "elsewhere"
    stranger = Signer.create(signed / "stranger.key").public.hex()
    known = [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]
    forged = [line | {"key": stranger, "seq": 9_000} for line in known]
    file.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in forged))
    assert verify(signed, "--against", file) == 5
    assert "no checkpoint belongs to this journal" in " ".join(capsys.readouterr().out.split())


def test_a_journal_under_another_name_is_not_proven(signed: Path, capsys: Capture) -> None:
    (signed / "07.journal").rename(signed / "08.journal")
    capsys.readouterr()
    assert verify(signed, journal="08.journal") == 5
    assert "created as 07.journal and renamed since" in " ".join(capsys.readouterr().out.split())


def test_a_journal_whose_log_was_removed_is_not_proven(signed: Path, capsys: Capture) -> None:
    path = signed / "killed.journal"
    child = os.fork()
    if not child:
        Journal.create(path).append_all(RoundOpened(round=number) for number in range(1, 1501))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    path.with_name("killed.journal-wal").unlink()
    capsys.readouterr()
    assert run(["journal", "verify", str(path)]) == 5
    out = " ".join(capsys.readouterr().out.split())
    assert "its write-ahead log is missing: entries may be missing too" in out
    assert "intact" not in out
    Journal.open(path).close()
    assert run(["journal", "verify", str(path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "entries after 0 may be lost" in out


def test_entries_that_a_restart_found_are_for_a_person_to_look_at(
    signed: Path, capsys: Capture
) -> None:
    path = signed / "07.journal"
    with Journal.open(path) as journal:
        journal.append_all(RoundOpened(round=number) for number in (26, 27))
    due = Checkpoints(Signer.read(signed / "07.key"), SimulatedClock(9))
    Journal.open(path, due).close()
    capsys.readouterr()
    assert verify(signed) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "entries 26 to 27 are signed by a restart that found them" in out


def test_a_journal_is_archived_and_restored(signed: Path, capsys: Capture) -> None:
    archive, path = signed / "archive", signed / "07.journal"
    archive.mkdir()
    capsys.readouterr()
    assert run(["journal", "archive", str(path), str(archive), "--json"]) == 0
    moved = Path(json.loads(capsys.readouterr().out)["file"])
    assert moved.parent == archive
    assert not path.exists()
    assert verify(signed, "--against", signed / "elsewhere", journal=f"archive/{moved.name}") == 0
    assert run(["journal", "restore", str(moved), str(path)]) == 0
    assert verify(signed, "--against", signed / "elsewhere") == 0
    assert run(["journal", "restore", str(moved), str(path)]) == 2, "nothing is written over"


def killed_table(folder: Path, entries: int) -> Path:
    """Leave the example's journal as its killed table does; return its configuration."""
    text = EXAMPLE.read_text().replace("/var/lib/pitwatch/journals/", "")
    text = re.sub(r"(?m)^#? ?signing_key = .*$", "", text)
    sent = 'signing_key = "07.key"\ncheckpoints = { to = ["sent"], entries = 10 }'
    config = folder / "table.toml"
    config.write_text(text.replace("\njournal =", f"\n{sent}\njournal ="))
    child = os.fork()
    if not child:
        with table_journal(read_config(config), HostClock()) as (journal, *_):
            for number in range(1, entries + 1):
                journal.append(RoundOpened(round=number))
            until(lambda: read_checkpoints(folder / "sent")[-1].seq > 10)
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    return config


def test_an_archive_of_a_killed_table_comes_to_a_definite_answer(
    signed: Path, capsys: Capture
) -> None:
    config, archive = killed_table(signed, 25), signed / "archive"
    archive.mkdir()
    path = str(signed / "BJ-07.journal")
    capsys.readouterr()
    assert run(["journal", "archive", path, str(archive), "--json"]) == 0
    name = Path(json.loads(capsys.readouterr().out)["file"]).name
    assert verify(signed, "--against", signed / "sent", journal=f"archive/{name}") == 5
    assert run(["journal", "restore", str(archive / name), path]) == 0
    (archive / name).unlink()
    assert run(["journal", "archive", path, str(archive), "--config", str(config)]) == 0
    capsys.readouterr()
    assert verify(signed, "--against", signed / "sent", journal=f"archive/{name}") == 3
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("intact")
    assert re.search(r"entries \d+ to 25 are signed by a restart that found them", out)


def test_what_a_checkpoint_of_before_covers_of_a_tail_is_proven(
    signed: Path, capsys: Capture
) -> None:
    target, path = signed / "sent", signed / "late.journal"

    def send(checkpoint: Checkpoint) -> None:
        target.write_bytes(msgspec.json.encode(checkpoint))

    unsigned = Checkpoints(None, SimulatedClock(5), entries=10, send=send)
    with Journal.create(path, unsigned, "BJ-07") as journal:
        journal.append_all(RoundOpened(round=number) for number in range(1, 11))
    with Journal.open(path) as journal:
        journal.append(RoundOpened(round=11))
    signer = Signer.read(signed / "07.key")
    (before,) = read_checkpoints(target)
    signature = signer.sign(before.seq, before.at, bytes.fromhex(before.head), before.identity)
    own = msgspec.structs.replace(before, key=signer.public.hex(), signature=signature.hex())
    with Journal.open(path, Checkpoints(signer, SimulatedClock(6))):
        pass
    assert verify(signed, journal="late.journal") == 3
    target.write_bytes(msgspec.json.encode(own) + b"\n")
    capsys.readouterr()
    verify(signed, "--against", target, journal="late.journal")
    assert "entry 11 is signed by a restart" in " ".join(capsys.readouterr().out.split())


def test_an_archived_journal_records_its_missing_log(signed: Path, capsys: Capture) -> None:
    killed_table(signed, 25)
    path = signed / "BJ-07.journal"
    path.with_name("BJ-07.journal-wal").unlink()
    (signed / "archive").mkdir()
    capsys.readouterr()
    assert run(["journal", "archive", str(path), str(signed / "archive"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["log_missing_after"]) == 1
    assert run(["journal", "verify", printed["file"]]) == 3
