"""An upgrade with tables running: ``python -m lab.faults.floor_upgrade --before COMMIT``.

The program of ``COMMIT`` is taken from this repository's history. It creates the floor record and
forwards two machines' tables, which write the whole time, to a PostgreSQL with fsync on. Then this
tree's program takes over, step by step: one machine's forwarder first, which meets the older floor;
then the database; then the service, beside the older one; last the other machine's forwarder. After
each step entries of every table must come in, and in the end the floor must hold exactly what the
tables wrote.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import psycopg

from lab.bench.record import ROOT
from server.floor_record.database import FloorDatabase
from stream.clock import elapsed_ns
from tests.faults.floor_kills import Broken
from tests.server.floor_record.cluster import (
    FORWARDER,
    NO_ROOT,
    OWNER,
    READER,
    FloorSite,
    cluster,
)
from tests.server.floor_record.test_intake import in_journal, on_floor, put_aside
from tests.server.floor_record.test_kills import a_table_at_work
from tests.server.service.house import until
from tests.server.service.test_start import is_ready

_STEP_S: Final = 4.0
"""Seconds between two steps."""
_TABLES: Final = (("a", "BJ-01"), ("a", "BJ-02"), ("b", "BJ-03"), ("b", "BJ-04"))
"""Machine and table."""


def taken_from(commit: str, folder: Path) -> None:
    """Put a commit's program into a folder."""
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", "--format=tar", commit],
        check=True,
        capture_output=True,
    )
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)


@contextmanager
def running(program: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of one of the two programs until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "server", *words], cwd=program, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def migrated(program: Path, site: FloorSite) -> float:
    """Migrate with a program; return the seconds it took."""
    began_ns = elapsed_ns()
    words = ["floor", "migrate", "--floor", site.owner]
    subprocess.run(
        [sys.executable, "-m", "server", *words],
        cwd=program,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return (elapsed_ns() - began_ns) / 1e9


class Standing:
    """How far the floor has each table."""

    def __init__(self, site: FloorSite) -> None:
        self._site = site

    def now(self) -> dict[str, int]:
        """Return the last entry of each table that the floor has."""
        with FloorDatabase.connected(self._site.reader) as floor:
            return {one.table: one.seq for one in floor.lag()}

    def check_all_move(self, step: str) -> None:
        """Check that entries of every table go on coming in.

        Raises:
            Broken: one stands still.
        """
        before = self.now()
        until_ns = elapsed_ns() + 60_000_000_000
        while elapsed_ns() < until_ns:
            now = self.now()
            if len(now) == len(_TABLES) and all(now[one] > before.get(one, 0) for one in now):
                print(f"  every table's entries come in: {step}", flush=True)
                return
            time.sleep(0.1)
        raise Broken(f"a table stands still: {step}")


def upgraded(old: Path, site: FloorSite, place: Path) -> int:
    """Go from one program to the next while tables write; return the entries compared.

    Raises:
        Broken: an entry is lost, doubled or out of order, or a table stands still.
    """
    standing = Standing(site)
    with ExitStack() as stack:
        for machine, table in _TABLES:
            (place / machine).mkdir(exist_ok=True)
            stack.enter_context(a_table_at_work(place / machine / f"{table}.journal", table))
        forward = ("forward", "--floor", site.forwarder)
        with running(old, *forward, str(place / "a")):
            with running(old, *forward, str(place / "b")):
                stack.enter_context(_serving(old, site, place / "old", "8794"))
                standing.check_all_move("both forwarders and the service of the version before")
                time.sleep(_STEP_S)
            with running(ROOT, *forward, str(place / "b")):
                standing.check_all_move("one forwarder of this version on the floor before")
                print(f"  migrated within {migrated(ROOT, site):.1f} s", flush=True)
                standing.check_all_move("forwarders of both versions on the migrated floor")
                stack.enter_context(_serving(ROOT, site, place / "new", "8795"))
                standing.check_all_move("a service of each version")
                time.sleep(_STEP_S)
        with running(ROOT, *forward, str(place / "a")), running(ROOT, *forward, str(place / "b")):
            standing.check_all_move("both forwarders of this version")
            time.sleep(_STEP_S)
        stack.close()  # the tables stop
        with running(ROOT, *forward, str(place)):
            ends = {table: in_journal(place / m / f"{table}.journal") for m, table in _TABLES}
            until(lambda: standing.now() == {table: len(there) for table, there in ends.items()})
    for table, there in ends.items():
        if on_floor(site, table=table) != there:
            raise Broken(f"the floor does not hold what {table} wrote")
    if put_aside(site):
        raise Broken("something is in quarantine")
    return sum(map(len, ends.values()))


@contextmanager
def _serving(program: Path, site: FloorSite, state: Path, port: str) -> Iterator[None]:
    serve = ("serve", "--floor", site.reader, "--state", str(state), "--port", port)
    with running(program, *serve):
        until(lambda: is_ready(f"http://127.0.0.1:{port}"))
        yield


def first_floor(program: Path, admin: str, site: FloorSite) -> None:
    """Create the floor record and its roles with a program."""
    with psycopg.connect(admin, autocommit=True) as root:
        root.execute(f"CREATE DATABASE {site.name} OWNER {OWNER}".encode())
        migrated(program, site)
        for role, of in ((FORWARDER, "pitwatch_forwarder"), (READER, "pitwatch_service")):
            root.execute(f"CREATE ROLE {role} LOGIN IN ROLE {of}".encode())


def main(argv: Sequence[str] | None = None) -> None:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", required=True, metavar="COMMIT", help="of the version before")
    asked = parser.parse_args(argv)
    with (
        tempfile.TemporaryDirectory(prefix="pit-") as old,
        tempfile.TemporaryDirectory(prefix="pit-") as place,
        cluster(fsync=True) as made,
    ):
        taken_from(asked.before, Path(old))
        site = FloorSite(made, "pit")
        first_floor(Path(old), made.url("postgres", NO_ROOT), site)
        entries = upgraded(Path(old), site, Path(place))
    print(f"0 of {entries:,} entries lost, doubled or out of order over the upgrade")


if __name__ == "__main__":
    main()
