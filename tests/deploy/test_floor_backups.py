"""The floor's backup and its drill: restored beside the database, every chain computed again."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.deploy.tools import BIN, DEPLOY
from tests.server.floor_record.cluster import NO_ROOT, FloorSite, cluster, new_floor, programs
from tests.server.floor_record.test_intake import forward, journal_at, some

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed"),
]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[FloorSite]:
    with cluster() as made:
        site = new_floor(made)
        forward(site, journal_at(tmp_path / "a.journal", some(600)))
        yield site


def ran(program: str, *words: str, as_user: str | None = None) -> subprocess.CompletedProcess[str]:
    asked = [str(DEPLOY / "bin" / program), *words]
    own = os.environ | {"PITWATCH": str(BIN / "pitwatch")}
    return subprocess.run(
        asked, env=own, user=as_user, cwd="/", capture_output=True, text=True, check=False
    )


def backed_up(site: FloorSite) -> Path:
    """Back the running database up, in its cluster's folder."""
    folder = site.cluster.folder
    address = f"host={folder} user={NO_ROOT}"
    script = folder / "pitwatch-floor-backup"
    script.write_text((DEPLOY / "bin" / "pitwatch-floor-backup").read_text())
    script.chmod(0o755)
    as_user = NO_ROOT if os.geteuid() == 0 else None
    (folder / "backups").mkdir(exist_ok=True)
    if as_user is not None:
        (folder / "backups").chmod(0o777)
    done = subprocess.run(
        ["sh", str(script), address, str(folder / "backups"), "2"],
        user=as_user,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_a_drill_restores_the_newest_backup_and_verifies_every_chain(filled: FloorSite) -> None:
    copy = backed_up(filled)
    drilled = ran("pitwatch-floor-drill", str(copy), filled.name)
    assert drilled.returncode == 0, drilled.stderr
    assert "1 chain of 1 are whole, 600 entries" in drilled.stdout
    with psycopg.connect(filled.owner) as still_there:
        assert still_there.execute("SELECT count(*) FROM pitwatch.entries").fetchone() == (600,)


def test_the_copies_made_last_stay_whatever_the_clock_named_them(tmp_path: Path) -> None:
    """Copies of a clock that ran ahead are not the newest for ever: they used to stay instead."""
    for name, does in (
        ("date", 'cat "$CLOCK"'),
        ("pg_basebackup", 'while [ "$1" != -D ]; do shift; done; mkdir "$2"'),
        ("pg_verifybackup", ":"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    folder = tmp_path / "backups"
    (folder / "20260101T000000Z").mkdir(parents=True)
    own = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CLOCK": f"{tmp_path}/clock"}

    def made(name: str) -> list[str]:
        (tmp_path / "clock").write_text(name)
        script = DEPLOY / "bin" / "pitwatch-floor-backup"
        env = own | {"PITWATCH_POSTGRES_BIN": str(tmp_path)}
        subprocess.run([script, "host=x", folder, "2"], env=env, check=True, capture_output=True)
        assert (folder / "newest").resolve() == folder / name
        return sorted(path.name for path in folder.glob("*Z"))

    ahead, right = (
        ("20270101T000000Z", "20270102T000000Z"),
        ("20260103T000000Z", "20260104T000000Z"),
    )
    assert made(ahead[0]) == ["20260101T000000Z", ahead[0]]
    assert made(ahead[1]) == [*ahead]
    assert made(right[0]) == [right[0], ahead[1]]
    assert made(right[1]) == [*right]
    assert made(ahead[0]) == [right[1], ahead[0]], "a name that was used before"
    lines = (folder / "backups.log").read_text().splitlines()
    assert lines.count(f"removed {ahead[0]}: 2 were made after it") == 1


def test_a_drill_finds_an_entry_that_was_changed_before_the_backup(filled: FloorSite) -> None:
    with psycopg.connect(filled.cluster.url(filled.name, NO_ROOT), autocommit=True) as meddler:
        meddler.execute("ALTER TABLE pitwatch.entries DISABLE TRIGGER ALL")
        meddler.execute("SET session_replication_role = replica")
        changed = "replace(body, '\"amount\":500', '\"amount\":900')"
        meddler.execute(f"UPDATE pitwatch.entries SET body = {changed} WHERE seq = 77".encode())
    drilled = ran("pitwatch-floor-drill", str(backed_up(filled)), filled.name)
    assert drilled.returncode == 3
    assert "BJ-07 epoch 1: entry 77 is missing or does not match its hash" in drilled.stdout


def test_a_drill_refuses_a_backup_that_was_damaged(filled: FloorSite) -> None:
    copy = backed_up(filled)
    largest = max((file for file in copy.rglob("base/*/*")), key=lambda file: file.stat().st_size)
    with largest.open("r+b") as opened:
        opened.seek(4000)
        opened.write(b"damage")
    drilled = ran("pitwatch-floor-drill", str(copy), filled.name)
    assert drilled.returncode == 1
    assert "checksum mismatch" in drilled.stderr


def test_postgres_takes_the_settings_the_access_rules_and_the_logins(filled: FloorSite) -> None:
    floor = DEPLOY / "floor"
    with psycopg.connect(filled.cluster.url(filled.name, NO_ROOT), autocommit=True) as admin:
        for line in (floor / "pitwatch.conf").read_text().splitlines():
            if line.removeprefix("#")[:1].islower() and " = " in line:
                name = line.removeprefix("#").split(" = ")[0]
                assert admin.execute("SELECT FROM pg_settings WHERE name = %s", (name,)).rowcount, (
                    name
                )
        rules = filled.cluster.folder / "data" / "pg_hba.conf"
        before = rules.read_text()
        rules.write_text(before + (floor / "pg_hba.conf").read_text())
        faults = admin.execute(
            "SELECT line_number, error FROM pg_hba_file_rules WHERE error IS NOT NULL"
        ).fetchall()
        assert [one for one in faults if "SSL" not in one[1]] == []
        rules.write_text(before)
        admin.execute("DROP ROLE bj07, console")
        script = re.sub(r"--.*", "", (floor / "roles.sql").read_text())
        for statement in script.split(";"):
            if statement.strip():
                admin.execute(statement.encode())
    forward(filled, journal_at(filled.cluster.folder / "b.journal", some(3), "BJ-08"))
