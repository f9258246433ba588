"""One backup is made at a time, and the regular run raises the alarm over a damaged old one."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from server.bundle.bundle import Asked, Bundle, Verdict
from server.bundle.manifest import Kind
from server.commands import backup as backup_command
from server.commands.backup import Checked, verified
from server.commands.verify import verified as verified_bundle
from server.process.exit_status import Exit
from stream.sole import Lock
from tests.deploy.test_backups import backed_up, backup, commanded, data, ran, site
from tests.deploy.test_monitoring import VERIFIED
from tests.deploy.tools import BIN, DEPLOY, PITWATCH, run_program

pytestmark = pytest.mark.slow

__all__ = ["backup", "data", "site"]

UNIT: Final = DEPLOY / "systemd" / "pitwatch-backup.service"
OLD: Final = "20260601T200000Z"


def regular_run(data: Path, backups: Path) -> tuple[int, str]:
    """Run the unit's commands, as systemd does: the second where the first ends well."""
    env = {**os.environ, "PITWATCH": str(PITWATCH), "COLUMNS": "2000"}
    printed = ""
    for line in re.findall(r"(?m)^ExecStart(?:Post)?=(.*)$", UNIT.read_text()):
        words = shlex.split(line)
        for folder, own in (
            ("/opt/pitwatch/current/.venv/bin", BIN),
            ("/opt/pitwatch/current/deploy", DEPLOY),
            ("/var/lib/pitwatch", data),
            ("/var/backups/pitwatch", backups),
        ):
            words = [word.replace(folder, str(own)) for word in words]
        run = run_program(*words, env=env)
        printed += run.stdout + run.stderr
        if run.returncode:
            return run.returncode, printed
    return 0, printed


def gauges(file: Path) -> dict[str, float]:
    return {
        one.name: one.samples[0].value for one in text_string_to_metric_families(file.read_text())
    }


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 4
    file.write_bytes(content)


def truncated(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


@pytest.mark.parametrize("damage", [flipped, truncated, Path.unlink])
def test_the_regular_run_fails_and_reports_a_damaged_old_backup_to_prometheus(
    data: Path, backup: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    backups = tmp_path / "backups"
    for name in (OLD, "20260602T200000Z"):
        shutil.copytree(backup, backups / name)
    status, printed = regular_run(data, backups)
    assert (status, printed.splitlines()[-1]) == (0, "intact  3 of 3 backups")
    found = gauges(backups / "pitwatch_backups.prom")
    assert found.keys() == VERIFIED
    assert (found["pitwatch_backups_intact"], found["pitwatch_backups_damaged"]) == (3, 0)
    before_s = found["pitwatch_backups_verified_time_seconds"]
    file = backups / OLD / "service" / "accounts.sqlite"
    damage(file)
    sleep(1.1)  # backups are named by the second
    status, printed = regular_run(data, backups)
    assert status == Exit.REFUSED
    (line,) = [one for one in printed.splitlines() if one.startswith("damaged")]
    assert str(file) in line
    found = gauges(backups / "pitwatch_backups.prom")
    assert (found["pitwatch_backups_intact"], found["pitwatch_backups_damaged"]) == (3, 1)
    assert found["pitwatch_backups_verified_time_seconds"] > before_s


def test_two_backups_at_once_on_one_target_are_refused(data: Path, tmp_path: Path) -> None:
    """The first has begun and stands still; its half backup is not taken for an interrupted one."""
    backups = tmp_path / "backups"
    part = backups / ".20260601T200000Z.part"
    part.mkdir(parents=True)
    lock = Lock(backups / ".backup-lock")
    run = ran("pitwatch-backup", data, backups)
    assert (run.returncode, run.stdout) == (2, "")
    assert f"{backups}: another backup is being made there; this one was not begun" in run.stderr
    assert run.stderr.count("\n") == 1
    assert part.is_dir()
    lock.let_go()
    assert backed_up(data, backups).is_dir()


def test_of_several_backups_that_begin_together_each_is_whole_or_was_refused(
    data: Path, tmp_path: Path
) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    command: list[Path | str] = [PITWATCH, "backup", "make", data, backups]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    ended = [(one.communicate(timeout=100), one.returncode) for one in running]
    made = {path.strip() for (path, _), status in ended if status == 0}
    assert made
    assert {str(path) for path in backups.glob("2*")} == made
    for (_, fault), status in ended:
        assert status == 0 or "another backup is being made" in fault or "exists already" in fault
        assert "interrupted backup, removed" not in fault
    assert commanded("backup", "verify", backups).returncode == 0


def test_a_backup_that_grows_too_old_while_it_is_verified_is_no_damage(
    data: Path, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups = tmp_path / "backups"
    for name in (OLD, "20260602T200000Z"):
        shutil.copytree(backup, backups / name)

    def verified_late(path: Path, asked: Asked, kind: Kind) -> tuple[Bundle, Verdict]:
        if path.name == OLD:
            shutil.rmtree(path)
        return verified_bundle(path, asked, kind)

    monkeypatch.setattr(backup_command, "verified_bundle", verified_late)
    assert backup_command.verify(backups, None, 0.0, as_json=True) == Exit.CLEAN


def runs(
    backups: Path, monkeypatch: pytest.MonkeyPatch, *, every_s: float
) -> Iterator[tuple[Exit, list[str]]]:
    """Verify again and again; each time, return which backups were read."""
    read: list[str] = []

    def noted(backup: Path) -> Checked:
        read.append(backup.name)
        return verified(backup)

    monkeypatch.setattr(backup_command, "verified", noted)
    now_s = 1e9
    while True:
        read.clear()
        memory = backups / ".verified.json"
        status = backup_command.verify(backups, None, now_s, as_json=True, remember=memory)
        yield status, sorted(read)
        now_s += every_s


def several(backup: Path, backups: Path, number: int) -> list[str]:
    names = [f"202606{day:02}T200000Z" for day in range(1, number + 1)]
    for name in names:
        shutil.copytree(backup, backups / name)
    return names


def test_a_backup_is_read_once_and_again_when_it_changed(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups = tmp_path / "backups"
    first, second, third = several(backup, backups, 3)
    found = runs(backups, monkeypatch, every_s=0)
    assert next(found) == (Exit.CLEAN, [first, second, third])
    assert next(found) == (Exit.CLEAN, [])
    shutil.copytree(backup, backups / "20260604T200000Z")
    assert next(found) == (Exit.CLEAN, ["20260604T200000Z"])
    flipped(backups / second / "service" / "accounts.sqlite")
    assert next(found) == (Exit.REFUSED, [second])
    assert next(found) == (Exit.REFUSED, [second]), "a damaged one is read in every run"
    shutil.rmtree(backups / second)
    assert next(found) == (Exit.CLEAN, [])


def test_what_was_verified_by_a_clock_that_ran_ahead_is_read_again(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nothing would come due until the time that the clock once showed."""
    names = several(backup, tmp_path / "backups", 2)
    found = runs(tmp_path / "backups", monkeypatch, every_s=-180 * 86_400)
    assert [next(found), next(found)] == [(Exit.CLEAN, names)] * 2


@pytest.mark.parametrize("hours", [1, 24])
def test_every_backup_is_read_again_within_seven_days(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    """Data that rots on the disk leaves every time and size as it was."""
    backups = tmp_path / "backups"
    names = several(backup, backups, 14)
    monkeypatch.setattr("server.commands.verified_backups.stats_of", lambda _: {})
    monkeypatch.setattr(backup_command, "stats_of", lambda _: {})
    found = runs(backups, monkeypatch, every_s=hours * 3600)
    assert next(found) == (Exit.CLEAN, names)
    flipped(backups / names[5] / "service" / "accounts.sqlite")
    week = [next(found) for _ in range(7 * 24 // hours)]
    read = [name for _, some in week for name in set(some)]
    assert set(read) == set(names)
    assert max(len(some) for _, some in week) <= 4
    assert week[-1][0] == Exit.REFUSED


def test_without_a_file_to_remember_every_backup_is_read(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups = tmp_path / "backups"
    names, read = several(backup, backups, 2), list[str]()

    def noted(one: Path) -> Checked:
        read.append(one.name)
        return verified(one)

    monkeypatch.setattr(backup_command, "verified", noted)
    for _ in range(2):
        assert backup_command.verify(backups, None, 0.0, as_json=True) == Exit.CLEAN
    assert read == 2 * names


def test_a_memory_that_is_damaged_holds_nothing(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups = tmp_path / "backups"
    names = several(backup, backups, 2)
    found = runs(backups, monkeypatch, every_s=0)
    next(found)
    truncated(backups / ".verified.json")
    assert next(found) == (Exit.CLEAN, names)
