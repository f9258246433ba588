"""A table's last entry shows, however long its disk takes to make it durable."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from models.events import RoundOpened
from stream.journal import Journal
from tests.server.service.house import house, until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
OPENS_A_ROUND = """
import sys
from pathlib import Path
from models.events import RoundOpened
from stream.journal import Journal

with Journal.open(Path(sys.argv[1])) as journal:
    journal.append(RoundOpened(at=6, table="BJ-02", round=1))
    print("written", flush=True)
    sys.stdin.read()
"""
SLOW = "inject=fsync,fdatasync:delay_exit=400000"
"""Microseconds: as a disk takes that others keep busy."""


@contextmanager
def opening_a_round(journal: Path) -> Iterator[None]:
    """Have another process open a round, on a disk that takes its time; it stays at work."""
    slowly = ["strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", SLOW]
    with subprocess.Popen(
        [*slowly, sys.executable, "-c", OPENS_A_ROUND, str(journal)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        yield
        writer.stdin.close()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_last_entry_of_a_table_shows_though_its_disk_is_slow(tmp_path: Path) -> None:
    path = tmp_path / "bj-02.journal"
    with Journal.create(path) as journal:
        journal.append(RoundOpened(at=5, table="BJ-01", round=1))
    with house(tmp_path, tmp_path / "state") as own, own.admin() as admin:
        assert [one["table"] for one in own.get(admin, "/api/tables")] == ["BJ-01"]
        with opening_a_round(path):
            until(lambda: own.get(admin, "/api/tables")[0]["table"] == "BJ-02", tries=200)
