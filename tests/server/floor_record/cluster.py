"""A PostgreSQL of the tests' own: in a temporary folder, on a socket, run by no root."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import psycopg

from server.floor_record.migrating import migrate
from tests.server.floor_record.network import Host

OWNER = "pit_owner"
FORWARDER = "bj07"
READER = "console"
NO_ROOT = "postgres"  # Debian's package creates it
_STARTS_S = 20
_numbers = count(1)


@cache
def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; ``None`` where it is not installed."""
    found = shutil.which("postgres")
    if found is not None:
        return Path(found).resolve().parent
    (*_, last) = (None, *sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")))
    return None if last is None else last.parent


@dataclass(slots=True)
class Cluster:
    """A cluster, and the process that serves it."""

    folder: Path
    fsync: bool
    shared_mb: int = 16
    process: subprocess.Popen[bytes] | None = None
    host: Host | None = None
    """Where it runs and listens; ``None`` on this host, on its socket alone."""

    def start(self) -> None:
        """Start it and wait until it answers."""
        listens = "" if self.host is None else self.host.address
        words = [
            "-c",
            f"fsync={'on' if self.fsync else 'off'}",
            "-c",
            f"listen_addresses={listens}",
        ]
        words += ["-c", f"unix_socket_directories={self.folder}"]
        words += ["-c", f"shared_buffers={self.shared_mb}MB"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self._there(), _program("postgres"), "-D", str(self.folder / "data"), *words],
                stdout=log,
                stderr=log,
                user=_user() if self.host is None else None,
                start_new_session=True,
            )
        for _ in range(_STARTS_S * 20):
            try:
                psycopg.connect(self.url("postgres", NO_ROOT), connect_timeout=1).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError((self.folder / "log").read_text())

    def _there(self) -> tuple[str, ...]:
        if self.host is None:
            return ()
        return (
            *self.host.runs,
            "setpriv",
            f"--reuid={NO_ROOT}",
            f"--regid={NO_ROOT}",
            "--init-groups",
        )

    def kill(self) -> None:
        """End every process of it at once, as a power failure of its programs would."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        time.sleep(0.1)

    def stop(self) -> None:
        """Stop it at once; its data are not needed again."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(timeout=20)

    def promote(self) -> None:
        """Make a replica the primary."""
        words = [_program("pg_ctl"), "promote", "-D", str(self.folder / "data"), "-w"]
        subprocess.run(words, user=_user(), check=True, stdout=subprocess.DEVNULL, cwd="/")

    def url(self, database: str, user: str) -> str:
        return f"host={self.folder} dbname={database} user={user}"

    def url_from_afar(self, database: str, user: str) -> str:
        """Return the address that other hosts use; the socket's where all is one host."""
        if self.host is None:
            return self.url(database, user)
        return f"host={self.host.address} dbname={database} user={user}"


@dataclass(frozen=True, slots=True)
class FloorSite:
    """A floor record, with the address that each role uses."""

    cluster: Cluster
    name: str

    @property
    def owner(self) -> str:
        return self.cluster.url(self.name, OWNER)

    @property
    def forwarder(self) -> str:
        return self.cluster.url_from_afar(self.name, FORWARDER)

    @property
    def reader(self) -> str:
        return self.cluster.url_from_afar(self.name, READER)


@contextmanager
def cluster(
    *,
    fsync: bool = False,
    within: Path | None = None,
    shared_mb: int = 16,
    host: Host | None = None,
) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="pit-", dir=within))
    user = _user()
    if user is not None:
        shutil.chown(folder, user)
    made = Cluster(folder, fsync, shared_mb, host=host)
    try:
        words = [
            "-D",
            str(folder / "data"),
            "-U",
            NO_ROOT,
            "--no-sync",
            "-A",
            "trust",
            "-E",
            "UTF8",
        ]
        subprocess.run(
            [_program("initdb"), *words, "-E", "UTF8", "--locale=C"],
            user=user,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        if host is not None:
            with (folder / "data" / "pg_hba.conf").open("a") as file:
                file.write("host all all samenet trust\n")
        made.start()
        with psycopg.connect(made.url("postgres", NO_ROOT), autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE")
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)


@contextmanager
def standby(primary: Cluster) -> Iterator[Cluster]:
    """Run a replica of a cluster; from now on the cluster commits nothing without it."""
    folder = Path(tempfile.mkdtemp(prefix="pit-"))
    user = _user()
    if user is not None:
        shutil.chown(folder, user)
    made = Cluster(folder, primary.fsync)
    words = [
        "-D",
        str(folder / "data"),
        "-h",
        str(primary.folder),
        "-U",
        NO_ROOT,
        "-R",
        "-c",
        "fast",
    ]
    subprocess.run([_program("pg_basebackup"), *words], user=user, check=True)
    try:
        made.start()
        with psycopg.connect(primary.url("postgres", NO_ROOT), autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            admin.execute("SELECT pg_reload_conf()")
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)


def new_floor(made: Cluster) -> FloorSite:
    """Create a database with an empty floor record, as docs/floor.md says."""
    site = FloorSite(made, f"pit{next(_numbers)}")
    with psycopg.connect(made.url("postgres", NO_ROOT), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {site.name} OWNER {OWNER}".encode())
    migrate(site.owner)
    with psycopg.connect(made.url("postgres", NO_ROOT), autocommit=True) as admin:
        for role, of in ((FORWARDER, "pitwatch_forwarder"), (READER, "pitwatch_service")):
            if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).rowcount == 0:
                admin.execute(f"CREATE ROLE {role} LOGIN IN ROLE {of}".encode())
    return site


def emptied(site: FloorSite) -> FloorSite:
    """Create its floor record anew: far quicker than another database."""
    with psycopg.connect(site.cluster.url(site.name, NO_ROOT), autocommit=True) as admin:
        admin.execute("DROP SCHEMA pitwatch, pitwatch_read, pitwatch_people CASCADE")
        admin.execute("DROP TABLE alembic_version")
    migrate(site.owner)
    return site


def _program(name: str) -> str:
    found = programs()
    assert found is not None
    return str(found / name)


def _user() -> str | None:
    """Return the user to run it as; PostgreSQL refuses to run as root."""
    return NO_ROOT if os.geteuid() == 0 else None
