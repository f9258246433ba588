"""A backup is whole and verified, comes back as it was, and damage to it is found first."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Final

import msgspec
import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from models.events import RoundOpened
from server.bundle.bundle import manifest_in, seal_folder
from server.bundle.manifest import File, Manifest, sealed
from server.integration.store import RelayStore
from server.table.sending import Sender, target_at
from stream.clock import SimulatedClock
from stream.journal import Checkpoints, Journal, verify_journal
from stream.reading import read_journal
from tests.deploy.test_monitoring import BACKUP
from tests.deploy.tools import DEPLOY, PITWATCH, run_program, sound, tool
from tests.faults.test_disks import needs_mounts
from tests.server.service.house import house

pytestmark = pytest.mark.slow

SCRIPTS: Final = DEPLOY / "bin"


def rounds(first: int, last: int) -> list[RoundOpened]:
    return [RoundOpened(round=n, at=n * 1_000, table="BJ-09") for n in range(first, last + 1)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a site has: two tables' journals, the files of a service that ran, and a backup."""
    found = tmp_path_factory.mktemp("site")
    (found / "data" / "journals").mkdir(parents=True)
    for name in ("BJ-08", "BJ-09"):
        with Journal.create(found / "data" / "journals" / f"{name}.journal") as journal:
            journal.append_all(rounds(1, 20))
    with house(found / "data" / "journals", found / "data" / "service") as service:
        service.staff()
    RelayStore.open(found / "data" / "service").close()
    backed_up(found / "data", found / "backups").rename(found / "backup")
    return found


@pytest.fixture
def data(site: Path, tmp_path: Path) -> Path:
    """The site's data, to be changed."""
    return Path(shutil.copytree(site / "data", tmp_path / "data"))


@pytest.fixture
def backup(site: Path, tmp_path: Path) -> Path:
    """The site's backup, to be changed."""
    return Path(shutil.copytree(site / "backup", tmp_path / "backup"))


def ran(
    script: str, *arguments: Path | str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PITWATCH": str(PITWATCH), **environment}
    return run_program(SCRIPTS / script, *arguments, env=env)


def backed_up(data: Path, backups: Path, **environment: str) -> Path:
    backups.mkdir(exist_ok=True)
    run = ran("pitwatch-backup", data, backups, **environment)
    assert run.returncode == 0, run.stderr
    return Path(run.stdout.strip())


def accounts(folder: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(folder / "service" / "accounts.sqlite")) as connection:
        return connection.execute(
            "SELECT name, role, password FROM accounts ORDER BY name"
        ).fetchall()


def test_the_scripts_have_no_fault_that_shellcheck_knows() -> None:
    sound(tool("shellcheck", "apt-get install shellcheck"), *sorted(SCRIPTS.iterdir()))


def test_what_is_restored_is_what_was(data: Path, backup: Path, tmp_path: Path) -> None:
    run = ran("pitwatch-restore", backup, tmp_path / "again")
    assert run.returncode == 0, run.stderr
    for place in ("journals/BJ-08", "journals/BJ-09", "service/activity", "service/cases"):
        was = verify_journal(data / f"{place}.journal")
        assert verify_journal(tmp_path / "again" / f"{place}.journal").head == was.head
    assert accounts(tmp_path / "again") == accounts(data)
    assert (tmp_path / "again" / "service" / "relay.sqlite").is_file()
    again = tmp_path / "again"
    with (
        house(again / "journals", again / "service") as service,
        service.signed_in("audit") as client,
    ):
        sessions = service.get(client, "/api/sessions")
    assert {one["session"] for one in sessions} == {"BJ-08", "BJ-09"}


def test_a_table_at_work_is_backed_up_and_goes_on(data: Path, tmp_path: Path) -> None:
    with Journal.open(data / "journals" / "BJ-09.journal") as journal:
        journal.append_all(rounds(21, 25))
        backup = backed_up(data, tmp_path / "backups")
        journal.append_all(rounds(26, 30))
    assert len(list(read_journal(backup / "journals" / "BJ-09.journal"))) == 25
    assert verify_journal(data / "journals" / "BJ-09.journal").entries == 30


def test_a_restored_journal_is_gone_on_with(backup: Path, tmp_path: Path) -> None:
    assert ran("pitwatch-restore", backup, tmp_path / "again").returncode == 0
    path = tmp_path / "again" / "journals" / "BJ-08.journal"
    with Journal.open(path) as journal:
        journal.append_all(rounds(21, 22))
    assert verify_journal(path).entries == 22


@pytest.mark.parametrize(
    "place", ["journals/BJ-08.journal", "service/accounts.sqlite", "manifest.json"]
)
def test_a_damaged_backup_is_not_restored(backup: Path, tmp_path: Path, place: str) -> None:
    file = backup / place
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.chmod(0o600)
    file.write_bytes(bytes(content))
    run = ran("pitwatch-restore", backup, tmp_path / "again")
    assert run.returncode == 2
    assert "use another" in run.stderr.lower()
    assert not (tmp_path / "again").exists()


def test_a_journal_changed_together_with_its_sum_is_found_by_its_chain(
    backup: Path, tmp_path: Path
) -> None:
    file = backup / "journals" / "BJ-08.journal"
    content = file.read_bytes()
    assert content.count(b'"round":7') == 1
    file.write_bytes(content.replace(b'"round":7', b'"round":8'))
    seal_folder(backup, read_manifest(backup), None)
    run = ran("pitwatch-restore", backup, tmp_path / "again")
    assert run.returncode == 2
    assert "entry 7 does not match its hash" in run.stderr
    assert not (tmp_path / "again").exists()


def read_manifest(backup: Path) -> Manifest:
    manifest, _ = manifest_in(backup)
    return manifest


def test_nothing_that_stands_is_written_over(data: Path, backup: Path) -> None:
    run = ran("pitwatch-restore", backup, data)
    assert run.returncode == 2
    assert "exists already; nothing was restored" in run.stderr


def test_a_log_left_of_a_journal_that_was_moved_away_is_named(backup: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    (again / "journals").mkdir(parents=True)
    log = again / "journals" / "BJ-08.journal-wal"
    log.write_bytes(b"entries of another journal")
    run = ran("pitwatch-restore", backup, again)
    assert run.returncode == 2
    assert f"{log}: it belongs to a journal whose main file BJ-08.journal was moved" in run.stderr
    assert [file for file in again.rglob("*") if file.is_file()] == [log]


@needs_mounts
def test_a_full_disk_restores_nothing_and_is_reported(backup: Path, tmp_path: Path) -> None:
    """The files of the site are some 250 kB; the disk has 100."""
    small = tmp_path / "small"
    small.mkdir()
    script = (
        'mount -t tmpfs -o size=100k tmpfs "$0"; "$1" "$2" "$0/data"; status=$?; '
        'find "$0" -type f >&2; exit $status'
    )
    restore = SCRIPTS / "pitwatch-restore"
    run = run_program(
        *("unshare", "-rm", "sh", "-c", script, small, restore, backup),
        env={**os.environ, "PITWATCH": str(PITWATCH)},
    )
    assert run.returncode == 2
    assert (
        "the disk refused the write (No space left on device), nothing was restored" in run.stderr
    )
    assert run.stderr.count("\n") == 1, "no file is left"
    assert "restored" not in run.stdout


def test_an_interrupted_restore_goes_on(backup: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    (again / "journals").mkdir(parents=True)
    shutil.copy(backup / "journals" / "BJ-08.journal", again / "journals")
    assert ran("pitwatch-restore", backup, again).returncode == 2, "it may be anybody's"
    digest = hashlib.sha256(msgspec.json.encode(read_manifest(backup))).hexdigest()
    (again / ".restoring").write_text(digest)
    (again / "journals" / ".BJ-09.journal.restoring").write_bytes(b"half")
    run = ran("pitwatch-restore", backup, again)
    assert run.returncode == 0, run.stderr
    assert "all verified" in " ".join(run.stdout.split())
    for name in ("BJ-08", "BJ-09"):
        assert verify_journal(again / "journals" / f"{name}.journal").entries == 20
    assert not [file for file in again.rglob(".*") if file.is_file()]


def test_a_damaged_journal_makes_no_backup_and_leaves_the_last_one(
    data: Path, tmp_path: Path
) -> None:
    first = tmp_path / "backups" / "20260101T000000Z"
    first.mkdir(parents=True)
    file = data / "journals" / "BJ-08.journal"
    file.write_bytes(file.read_bytes().replace(b'"round":7', b'"round":8'))
    run = ran("pitwatch-backup", data, tmp_path / "backups")
    assert run.returncode != 0
    assert "BJ-08.journal" in run.stderr
    folders = [path for path in (tmp_path / "backups").iterdir() if path.is_dir()]
    assert folders == [first]


def commanded(*words: Path | str) -> "subprocess.CompletedProcess[str]":
    """Run the program, its lines as long as they come."""
    return run_program(PITWATCH, *words, env={**os.environ, "COLUMNS": "2000"})


def test_a_flipped_bit_in_an_old_backup_is_found_and_named_in_one_line(
    site: Path, tmp_path: Path
) -> None:
    backups = tmp_path / "backups"
    for day in range(1, 4):
        shutil.copytree(site / "backup", backups / f"2026060{day}T200000Z")
    assert commanded("backup", "verify", backups).stdout == "intact  3 of 3 backups\n"
    file = backups / "20260601T200000Z" / "journals" / "BJ-09.journal"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    run = commanded("backup", "verify", backups)
    damaged, intact = run.stdout.splitlines()
    assert (run.returncode, intact) == (2, "intact  2 of 3 backups")
    assert f"{file}: it was changed after it was made" in damaged
    assert commanded("backup", "verify", backups / "20260602T200000Z").returncode == 0


@pytest.mark.parametrize("name", ["journals/BJ-08.journal", "manifest.json"])
def test_a_file_that_went_from_an_old_backup_is_missed(
    backup: Path, tmp_path: Path, name: str
) -> None:
    kept = tmp_path / "backups" / "20260601T200000Z"
    kept.parent.mkdir()
    backup.rename(kept)
    (kept / name).unlink()
    run = commanded("backup", "verify", kept.parent)
    assert run.returncode == 2
    assert "damaged" in run.stdout
    assert name in run.stdout


def test_a_folder_without_a_backup_proves_nothing(tmp_path: Path) -> None:
    run = commanded("backup", "verify", tmp_path)
    assert (run.returncode, "there is no backup" in run.stderr) == (2, True)


def test_a_kill_in_the_middle_leaves_no_backup_and_is_reported(data: Path, tmp_path: Path) -> None:
    """It is killed as soon as it has begun to write, whatever it was at."""
    backups = tmp_path / "backups"
    backups.mkdir()
    running = subprocess.Popen([PITWATCH, "backup", "make", data, backups])
    while not list(backups.glob(".20*T*Z.part")) and running.poll() is None:
        sleep(0.001)
    running.kill()
    running.wait()
    (part,) = backups.glob(".20*T*Z.part")
    assert commanded("backup", "verify", backups).returncode == 2, "a part is no backup"
    run = commanded("backup", "make", data, backups)
    assert run.returncode == 0, run.stderr
    assert run.stderr == f"{part}: an interrupted backup, removed\n"
    assert not part.exists()
    assert commanded("backup", "verify", backups).stdout == "intact  1 of 1 backups\n"


@needs_mounts
def test_a_full_disk_makes_no_backup_and_prints_one_line(data: Path, tmp_path: Path) -> None:
    """The files of the site are some 250 kB; the disk has 100."""
    small = tmp_path / "small"
    small.mkdir()
    script = (
        'mount -t tmpfs -o size=100k tmpfs "$0"; "$1" backup make "$2" "$0"; status=$?; '
        'find "$0" -mindepth 1 >&2; exit $status'
    )
    run = run_program("unshare", "-rm", "sh", "-c", script, small, PITWATCH, data)
    assert run.returncode == 2
    assert "full" in run.stderr or "No space left" in run.stderr
    assert run.stderr.count("\n") == 1, "no file is left"
    assert run.stdout == ""


def checkpointed(data: Path) -> Path:
    """Have a table at the site whose checkpoints go to another place; return that file."""
    elsewhere = data.parent / "BJ-10.checkpoints"
    with Sender([target_at(str(elsewhere), data)]) as sender:
        due = Checkpoints(None, SimulatedClock(), send=sender.send)
        with Journal.create(data / "journals" / "BJ-10.journal", due) as journal:
            journal.append_all(rounds(1, 5))
    return elsewhere


def test_prometheus_gets_the_time_of_the_last_whole_backup(site: Path) -> None:
    text = (site / "backups" / "pitwatch_backup.prom").read_text()
    found = {one.name: one.samples[0].value for one in text_string_to_metric_families(text)}
    assert found.keys() == BACKUP
    assert found["pitwatch_backup_journals"] == 4


def test_nobody_else_may_read_a_backup(backup: Path) -> None:
    assert all(path.stat().st_mode & 0o077 == 0 for path in [backup, *backup.rglob("*")])


def test_what_cannot_be_copied_or_listed_is_named_before_anything_is_copied(
    data: Path, tmp_path: Path
) -> None:
    journals, service = data / "journals", data / "service"
    backups = tmp_path / "backups"
    for place in (journals / "x\ny.journal", journals / "folder.journal", service / "pipe.sqlite"):
        if place.parent == service:
            os.mkfifo(place)
        elif "\n" in place.name:
            shutil.copy(journals / "BJ-08.journal", place)
        else:
            place.mkdir()
        run = ran("pitwatch-backup", data, backups)
        assert run.returncode == 2
        assert repr(str(place))[1:-1] in run.stderr
        assert "no backup was made" in run.stderr
        assert not [*backups.glob("*Z*")]
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert backed_up(data, backups).is_dir()


@pytest.mark.parametrize("name", ["..", ".", "a\0b.journal", "../x.journal", "a\tb.journal"])
def test_a_backup_that_lists_another_place_is_none(backup: Path, tmp_path: Path, name: str) -> None:
    manifest = read_manifest(backup)
    more = File(name=f"journals/{name}", size=0, sha256="0" * 64)
    listed = replace(manifest, files=(*manifest.files, more))
    (backup / "manifest.json").write_bytes(sealed(listed, None))
    run = ran("pitwatch-restore", backup, tmp_path / "again")
    assert run.returncode == 2
    assert "it is missing" in run.stderr
    assert not (tmp_path / "again").exists()


def test_a_folder_that_is_no_backup_is_named(tmp_path: Path) -> None:
    run = ran("pitwatch-restore", tmp_path, tmp_path / "again")
    assert (run.returncode, "no manifest.json of it" in run.stderr) == (2, True)
    assert ran("pitwatch-backup", tmp_path / "none", tmp_path).returncode == 2
    shutil.rmtree(tmp_path)
