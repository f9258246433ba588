"""A table's checkpoints leave it as they are made: to files and syslog servers."""

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from models.errors import TechnicianError
from models.events import RoundOpened
from server.table.config import SentCheckpoints, read_config
from server.table.journal import table_journal
from server.table.sending import Access, Sender, known_checkpoints, syslog_message, target_at
from stream.checkpoints import Checkpoint, read_checkpoints
from stream.clock import HostClock, SimulatedClock
from stream.journal import Checkpoints, Journal
from stream.signing import Signer
from tests.server.table.test_run_config import EXAMPLE

SIGNER = Signer(Ed25519PrivateKey.generate())


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(400):
        if is_so():
            return
        time.sleep(0.025)
    raise AssertionError("it did not come to be")


def write(path: Path, sender: Sender) -> None:
    """Write a journal of 25 rounds with a checkpoint every ten."""
    due = Checkpoints(SIGNER, SimulatedClock(5), entries=10, send=sender.send)
    with Journal.create(path, due, "BJ-07") as journal:
        for number in range(1, 26):
            journal.append(RoundOpened(round=number))


def seqs(checkpoints: tuple[Checkpoint, ...]) -> list[int]:
    return [one.seq for one in checkpoints]


def test_a_file_holds_every_one(tmp_path: Path) -> None:
    target = target_at("elsewhere", tmp_path)
    with Sender([target]) as sender:
        write(tmp_path / "t.journal", sender)
    assert seqs(known_checkpoints([target])) == [0, 10, 20, 25]
    assert read_checkpoints(tmp_path / "elsewhere") == known_checkpoints([target])


def test_a_syslog_server_is_sent_every_one(tmp_path: Path) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as local,
    ):
        udp.bind(("127.0.0.1", 0))
        local.bind(str(tmp_path / "log"))
        for server in (udp, tcp, local):
            server.settimeout(5)
        addresses = (
            f"syslog://127.0.0.1:{udp.getsockname()[1]}",
            f"syslog+tcp://127.0.0.1:{tcp.getsockname()[1]}",
            f"syslog:{tmp_path / 'log'}",
        )
        with Sender([target_at(one, tmp_path) for one in addresses]) as sender:
            write(tmp_path / "t.journal", sender)
            kept = tmp_path / "syslog"
            for received in (
                [udp.recv(65_535) for _ in range(4)],
                [framed(tcp) for _ in range(4)],
                [local.recv(65_535) for _ in range(4)],
            ):
                kept.write_bytes(b"\n".join(received) + b"\n")
                assert seqs(read_checkpoints(kept)) == [0, 10, 20, 25]
                assert all(one.startswith(b"<109>1 1970-01-01T00:00:00Z ") for one in received)


def framed(server: socket.socket) -> bytes:
    """Take one connection and return the message that its length stands before."""
    connection, _ = server.accept()
    with connection, connection.makefile("rb") as file:
        length, _, message = file.read().partition(b" ")
    assert int(length) == len(message)
    return message


def test_a_target_that_takes_nothing_is_reported_and_gets_them_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.table.sending._RETRY_S", 0.05)
    target, other = target_at("mount/file", tmp_path), target_at("other", tmp_path)
    with Sender([target, other]) as sender:
        write(tmp_path / "t.journal", sender)
        until(lambda: sender.fault is not None)
        assert sender.fault == f"{tmp_path}/mount/file: No such file or directory"
        until(lambda: seqs(known_checkpoints([other])) == [0, 10, 20, 25])
        (tmp_path / "mount").mkdir()
        until(lambda: sender.fault is None)
        until(lambda: seqs(known_checkpoints([target])) == [0, 10, 20, 25])


@pytest.mark.parametrize(
    "address",
    ["syslog://x..y", f"syslog+tcp://{'x' * 70}", "https://a\u2024b..c", "syslog:/" + "x" * 200],
)
def test_a_target_whose_name_no_library_can_encode_is_reported_too(
    tmp_path: Path, address: str
) -> None:
    (tmp_path / "token").write_text("secret")
    target = target_at(address, tmp_path, Access("token"))
    with Sender([target]) as sender:
        write(tmp_path / "t.journal", sender)
        until(lambda: sender.fault is not None)
        assert sender.fault is not None
        assert sender.fault.startswith(f"{address}: ")
    warned: list[str] = []
    known_checkpoints([target], warned.append)
    assert len(warned) == address.startswith("https")


def test_what_was_half_written_before_is_passed_over(tmp_path: Path) -> None:
    checkpoint_line = tmp_path / "elsewhere"
    with Sender([target_at("elsewhere", tmp_path)]) as sender:
        write(tmp_path / "t.journal", sender)
    whole = checkpoint_line.read_bytes()
    checkpoint_line.write_bytes(whole[:50] + whole)
    assert seqs(read_checkpoints(checkpoint_line)) == [0, 10, 20, 25]


@pytest.mark.parametrize("address", ["ftp://there/x", "syslog://", "syslog+tcp:///x"])
def test_another_kind_of_target_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a file, syslog://HOST:514"):
        target_at(address, tmp_path)


def test_a_syslog_message_is_one_line_with_its_time(tmp_path: Path) -> None:
    sent: list[Checkpoint] = []
    due = Checkpoints(SIGNER, SimulatedClock(1_763_734_000_000_000_000), send=sent.append)
    Journal.create(tmp_path / "t.journal", due).close()
    message = syslog_message(sent[0])
    assert b"\n" not in message
    assert message.startswith(b"<109>1 2025-11-21T14:06:40Z ")
    assert b" pitwatch - checkpoint - {" in message


def configured(folder: Path) -> Path:
    """The example's table, with checkpoints sent to a file."""
    text = EXAMPLE.read_text()
    assert "/var/lib/pitwatch/journals/" in text
    text = text.replace("/var/lib/pitwatch/journals/", "")
    sent = 'checkpoints = { to = ["elsewhere"], entries = 10 }'
    (folder / "table.toml").write_text(text.replace("\njournal =", f"\n{sent}\njournal ="))
    return folder / "table.toml"


@pytest.mark.slow
def test_a_table_refuses_to_go_on_with_a_journal_that_lost_its_end(tmp_path: Path) -> None:
    placed = read_config(configured(tmp_path))
    assert placed.config.checkpoints == SentCheckpoints(to=("elsewhere",), entries=10)
    path = tmp_path / "BJ-07.journal"
    child = os.fork()
    if not child:
        with table_journal(placed, HostClock()) as (journal, *_):
            for number in range(1, 26):
                journal.append(RoundOpened(round=number))
            until(lambda: seqs(read_checkpoints(tmp_path / "elsewhere"))[-1:] == [21])
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    with table_journal(placed, HostClock()) as (journal, *_):
        assert journal.last_seq == 25
        assert journal.identity.table == "BJ-07"
    log = path.with_name("BJ-07.journal-wal")
    child = os.fork()
    if not child:
        with table_journal(placed, HostClock()) as (journal, *_):
            for number in range(26, 51):
                journal.append(RoundOpened(round=number))
            until(lambda: seqs(read_checkpoints(tmp_path / "elsewhere"))[-1] > 25)
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    log.unlink()
    with (
        pytest.raises(TechnicianError, match="entries are missing at its end: it had"),
        table_journal(placed, HostClock()),
    ):
        pass


def test_a_checkpoint_is_written_as_it_is_read(tmp_path: Path) -> None:
    sent: list[Checkpoint] = []
    Journal.create(tmp_path / "t.journal", Checkpoints(None, SimulatedClock(), send=sent.append))
    assert msgspec.json.decode(msgspec.json.encode(sent[0]), type=Checkpoint) == sent[0]
