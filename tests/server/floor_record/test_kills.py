"""Real processes, killed: nothing is lost, doubled or out of order."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from server.floor_record.database import FloorDatabase
from stream.journal import Journal
from tests.server.floor_record.cluster import FloorSite, cluster, new_floor, programs
from tests.server.floor_record.test_intake import forward, in_journal, on_floor, put_aside, some

pytestmark = pytest.mark.slow

FORWARDER_KILLS, DATABASE_KILLS = 20, 3


@contextmanager
def a_table_at_work(path: Path, name: str = "BJ-07") -> Iterator[list[float]]:
    """Append entries the whole time; yield the seconds that each append took."""
    took, is_over = list[float](), threading.Event()

    def write() -> None:
        with Journal.create(path, table=name) as journal:
            while not is_over.is_set():
                began = time.perf_counter()
                journal.append_all(some(5, table=name))
                took.append(time.perf_counter() - began)
                time.sleep(0.005)

    table = threading.Thread(target=write)
    table.start()
    try:
        yield took
    finally:
        is_over.set()
        table.join()


def started(site: FloorSite, folder: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "server", "forward", str(folder), "--floor", site.forwarder]
    return subprocess.Popen(words, stderr=subprocess.DEVNULL)


def forwarded(site: FloorSite) -> int:
    with FloorDatabase.connected(site.reader) as floor:
        return max((one.seq for one in floor.lag()), default=0)


def until_more_than(site: FloorSite, entries: int) -> int:
    for _ in range(600):
        if (now := forwarded(site)) > entries:
            return now
        time.sleep(0.05)
    raise AssertionError(f"the floor still has {entries} entries")


def test_a_forwarder_killed_at_any_moment_loses_nothing(site: FloorSite, tmp_path: Path) -> None:
    moments, at = random.Random(7), 0
    folder = tmp_path / "journals"
    folder.mkdir()
    with a_table_at_work(folder / "a.journal"):
        for _ in range(FORWARDER_KILLS):
            forwarder = started(site, folder)
            at = until_more_than(site, at)
            time.sleep(moments.uniform(0, 0.15))
            os.kill(forwarder.pid, signal.SIGKILL)
            forwarder.wait()
    forward(site, folder)
    assert on_floor(site) == in_journal(folder / "a.journal")
    assert put_aside(site) == []


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_a_database_killed_under_a_forwarder_loses_nothing(tmp_path: Path) -> None:
    """With fsync: what the floor acknowledged is there after every kill."""
    folder = tmp_path / "journals"
    folder.mkdir()
    with cluster(fsync=True) as made:
        site, at = new_floor(made), 0
        with a_table_at_work(folder / "a.journal") as took:
            forwarder = started(site, folder)
            try:
                for _ in range(DATABASE_KILLS):
                    at = until_more_than(site, at)
                    made.kill()
                    before = len(took)
                    time.sleep(0.2)
                    assert len(took) > before, "the table goes on without the floor"
                    made.start()
                    assert forwarded(site) >= at
                until_more_than(site, at)
            finally:
                forwarder.terminate()
                assert forwarder.wait(timeout=20) == 0
        forward(site, folder)
        assert on_floor(site) == in_journal(folder / "a.journal")
        assert put_aside(site) == []
