"""A stopped table starts again under another clock: refused or reported, as the house asks."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from devices.simulators import SimulatedPort
from models.events import ClockCompared, SyncState
from server.commands.app import run
from server.house.formatting import Formats
from server.process.exit_status import Exit
from server.table.status import Standing
from stream.journal import verify_journal
from stream.reading import UnknownEvent, read_journal
from tests.server.table.test_run_config import example

SECOND = 1_000_000_000
AHEAD_NS = 90 * SECOND


@contextmanager
def table(folder: Path, clock: str) -> Iterator[Path]:
    """The configuration of a table whose ports are there and whose camera is not."""
    with SimulatedPort(folder / "shoe"), SimulatedPort(folder / "plates"):
        yield example(
            folder,
            ('# clock = "require"', f'clock = "{clock}"'),
            ("/var/lib/pitwatch/journals/BJ-07.journal", "BJ-07.journal"),
            ("/var/lib/pitwatch/recordings", "recordings"),
            ("/dev/serial/by-id/usb-shoe-07", str(folder / "shoe")),
            ("/dev/serial/by-id/usb-plates-07", str(folder / "plates")),
            ("rtsp://camera-07.floor/stream1", "rtsp://127.0.0.1:1/none"),
        )


def started(file: Path) -> int:
    """Run the table for a moment; return the exit status."""
    return run(["run", str(file), "--for", "1"])


def kept(monkeypatch: pytest.MonkeyPatch, state: SyncState) -> None:
    """Have the kernel report this state of the host's clock."""
    monkeypatch.setattr("server.commands.run.kernel_sync", lambda: state)


def stopped_ahead(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the table while the host's clock is ahead, and set it right once it has stopped."""
    right = time.time_ns
    with monkeypatch.context() as ahead:
        ahead.setattr("stream.clock.time.time_ns", lambda: right() + AHEAD_NS)
        assert started(file) == Exit.CLEAN


def test_a_restart_is_refused_in_one_line_where_nobody_keeps_the_clock_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with table(tmp_path, "require") as file:
        kept(monkeypatch, "synchronised")
        assert started(file) == Exit.CLEAN
        journal = tmp_path / "BJ-07.journal"
        before = hashlib.sha256(journal.read_bytes()).digest()
        kept(monkeypatch, "unsynchronised")
        capsys.readouterr()
        assert started(file) == Exit.REFUSED
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"pitwatch: {file}: the host's clock is not synchronised")
        assert hashlib.sha256(journal.read_bytes()).digest() == before
        kept(monkeypatch, "synchronised")
        assert started(file) == Exit.CLEAN


def test_a_clock_that_was_set_back_while_no_table_ran_is_reported_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with table(tmp_path, "warn") as file:
        stopped_ahead(file, monkeypatch)
        before = verify_journal(tmp_path / "BJ-07.journal").entries
        assert started(file) == Exit.CLEAN
    standing = Standing(("shoe", "plates"))
    steps = []
    for entry in read_journal(tmp_path / "BJ-07.journal"):
        if isinstance(entry, UnknownEvent):
            continue
        standing.take(entry)
        if isinstance(entry, ClockCompared) and entry.step_ns:
            steps.append((entry.seq or 0, entry.step_ns))
    ((seq, step_ns),) = steps
    assert seq > before
    assert -AHEAD_NS <= step_ns < 0
    assert f"CLOCK STEPPED {step_ns / SECOND:.1f} s" in standing.line(Formats())


def test_where_the_house_requires_the_clock_that_start_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with table(tmp_path, "require") as file:
        kept(monkeypatch, "synchronised")
        stopped_ahead(file, monkeypatch)
        before = verify_journal(tmp_path / "BJ-07.journal")
        capsys.readouterr()
        assert started(file) == Exit.REFUSED
    (line,) = capsys.readouterr().err.splitlines()
    assert "s behind the journal's last entry" in line
    assert verify_journal(tmp_path / "BJ-07.journal") == before
