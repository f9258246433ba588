"""Real processes under a floor.

Two tables append to real journals the whole time. `pitwatch forward` and a PostgreSQL with fsync on
run as processes of their own. A database's disk is filled (for root, who may mount one), and a
primary is killed while its replica is promoted. Each time what the floor once showed must be there
again, and in the end the floor must hold exactly what the tables wrote.
"""

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import psycopg

from server.floor_record.database import FloorDatabase
from stream.clock import elapsed_ns
from tests.server.floor_record.cluster import NO_ROOT, FloorSite, cluster, new_floor, standby
from tests.server.floor_record.test_intake import forward, in_journal, on_floor, put_aside
from tests.server.floor_record.test_kills import a_table_at_work

SOON_S: Final = 0.2
"""So long after entries came in, at the most, a process is killed."""
_PATIENCE_S: Final = 120
"""Seconds in which entries must come in again, on a machine with other work."""
_DISK: Final = "size=160m"


class Broken(AssertionError):
    """The floor lost something, or holds what no table wrote."""


class Floor:
    """A floor under two tables and a forwarder."""

    def __init__(self, folder: Path, site: FloorSite, url: str = "") -> None:
        self.folder, self.site, self.url = folder, site, url or site.forwarder
        self.held: dict[str, int] = {}
        """The last entry of each table that the floor ever showed."""

    def started(self) -> subprocess.Popen[bytes]:
        """Start a forwarder."""
        words = [sys.executable, "-m", "server", "forward", str(self.folder), "--floor", self.url]
        return subprocess.Popen(words, stderr=subprocess.DEVNULL)

    def check(self) -> None:
        """Check that the floor shows what it once showed, and note what it shows now."""
        with FloorDatabase.connected(self.site.reader) as floor:
            now = {one.table: one.seq for one in floor.lag() if one.state == "sound"}
        for table, seq in self.held.items():
            if now.get(table, 0) < seq:
                raise Broken(f"{table}: the floor showed entry {seq} and now ends at {now}")
        self.held = now

    def until_more(self) -> None:
        """Wait until entries came in."""
        before, until_ns = sum(self.held.values()), elapsed_ns() + _PATIENCE_S * 10**9
        while elapsed_ns() < until_ns:
            self.check()
            if sum(self.held.values()) > before:
                return
            time.sleep(0.02)
        raise Broken(f"no entry came in for {_PATIENCE_S} s")

    def check_end(self) -> int:
        """Send what is left, compare the floor with the journals; return the entries."""
        forward(self.site, self.folder)
        total = 0
        for path in sorted(self.folder.glob("*.journal")):
            written = in_journal(path)
            if on_floor(self.site, 1, path.stem) != written:
                raise Broken(f"{path.stem}: the floor does not hold what the table wrote")
            total += len(written)
        if aside := put_aside(self.site):
            raise Broken(f"in quarantine: {aside}")
        return total


@contextmanager
def tables_at_work(folder: Path) -> Iterator[None]:
    """Let two tables append to their journals the whole time."""
    with ExitStack() as stack:
        for name in ("BJ-07", "BJ-08"):
            stack.enter_context(a_table_at_work(folder / f"{name}.journal", name))
        yield


def fill() -> int:
    """Fill the database's disk while entries come in, and empty it; return the entries."""
    with ExitStack() as stack:
        disk = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pit-disk-")))
        subprocess.run(["mount", "-t", "tmpfs", "-o", _DISK, "tmpfs", str(disk)], check=True)
        stack.callback(subprocess.run, ["umount", str(disk)], check=True)
        disk.chmod(0o755)
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="pit-"))
        made = stack.enter_context(cluster(fsync=True, within=disk))
        floor = Floor(Path(place), new_floor(made))
        with tables_at_work(floor.folder):
            forwarder = floor.started()
            try:
                floor.until_more()
                ballast = disk / "ballast"
                with ballast.open("wb", buffering=0) as file, suppress(OSError):
                    while True:
                        file.write(bytes(1 << 16))
                written = _until_stuck(floor)
                if shutil.disk_usage(disk).free > 1 << 20:
                    raise Broken("the disk is not full")
                ballast.unlink()
                if made.process is not None and made.process.poll() is not None:
                    made.start()  # PostgreSQL ends where it cannot write its log
                floor.until_more()
                if sum(floor.held.values()) <= written:
                    raise Broken("nothing came in after the disk had room again")
            finally:
                forwarder.kill()
                forwarder.wait()
        return floor.check_end()


def _until_stuck(floor: Floor) -> int:
    """Wait until nothing comes in any more; return the entries that the tables wrote by then."""
    still_since_ns, before = elapsed_ns(), -1
    while elapsed_ns() - still_since_ns < 5 * 10**9:
        with suppress(psycopg.Error, Exception):
            floor.check()
        if (now := sum(floor.held.values())) != before:
            still_since_ns, before = elapsed_ns(), now
        time.sleep(0.1)
    return before


def promote(seed: int = 7) -> int:
    """Kill a primary and promote its synchronous replica; return the entries at the end."""
    chance = random.Random(seed)
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="pit-"))
        first = stack.enter_context(cluster(fsync=True))
        site = new_floor(first)
        second = stack.enter_context(standby(first))
        there = FloorSite(second, site.name)
        both = site.forwarder.replace(
            f"host={first.folder}", f"host={first.folder},{second.folder}"
        )
        floor = Floor(Path(place), site, f"{both} target_session_attrs=read-write")
        with tables_at_work(floor.folder):
            forwarder = floor.started()
            try:
                for _ in range(3):
                    floor.until_more()
                time.sleep(chance.uniform(0, SOON_S))
                floor.check()
                first.kill()
                with psycopg.connect(second.url("postgres", NO_ROOT), autocommit=True) as admin:
                    admin.execute("SELECT pg_promote()")
                floor.site = there
                floor.check()  # what the primary acknowledged
                floor.until_more()
            finally:
                forwarder.kill()
                forwarder.wait()
        return floor.check_end()
