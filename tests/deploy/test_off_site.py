"""Backups kept on another machine: the handbook's commands are run, over a link that breaks."""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Final

import pytest

from models.events import ClockAnchored
from server.commands import backup as backup_command
from server.commands.old_backups import ClockReading
from stream.journal import verify_journal
from tests.deploy.test_backups import backed_up, checkpointed, commanded, data, site
from tests.deploy.test_backups_verified import flipped, gauges
from tests.deploy.tools import BIN, DEPLOY, PITWATCH, run_program, sound, tool
from tests.stream.machines import HOUR

pytestmark = pytest.mark.slow

__all__ = ["data", "site"]

PAGE: Final = DEPLOY / "upgrade.md"
FIRST: Final = "20260601T200000Z"
FIRST_NS: Final = int(datetime(2026, 6, 1, 20, tzinfo=UTC).timestamp()) * 10**9
_KEY: Final = re.compile(r'(?m)^command="(.*)",restrict ')
_LINK: Final = """#!/bin/sh
# As ssh and sshd do with a key that has a command: the caller's own words are only named to it.
while [ "$1" != rsync ]; do shift; done
SSH_ORIGINAL_COMMAND="$*"
export SSH_ORIGINAL_COMMAND
{command} {cut}
"""


def commands(heading: str) -> list[str]:
    """Return the blocks of the page under a heading."""
    part = PAGE.read_text().split(f"### {heading}\n")[1].split("\n#")[0]
    return re.findall(r"```\n(.*?)```", part, re.DOTALL)


@dataclass(frozen=True)
class Vault:
    """The other machine, with the page's paths in this test's folder."""

    place: Path
    backups: Path
    data: Path
    link: Path

    def connect(self, cut: str = "") -> None:
        """Let the link carry everything, or only what ``cut`` leaves of what the site sends."""
        (forced,) = _KEY.findall(commands("Off site")[0])
        self.link.write_text(_LINK.format(command=self._here(forced), cut=cut))
        self.link.chmod(0o755)

    def does(self, block: str) -> "CompletedProcess[str]":
        """Run commands of the page."""
        path = f"{BIN}:{DEPLOY / 'bin'}:{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "RSYNC_RSH": str(self.link), "COLUMNS": "2000"}
        env["PITWATCH"] = str(PITWATCH)
        return run_program("sh", "-ec", self._here(block), env=env)

    def _here(self, block: str) -> str:
        for there, here in (
            ("/srv/pitwatch", self.place),
            ("/var/backups/pitwatch", self.backups),
            ("/var/lib/pitwatch", self.data),
            ("/mnt/records/BJ-07.checkpoints", self.data.parent / "BJ-10.checkpoints"),
            ("BJ-07", "BJ-10"),
            ("20260601T200000Z", FIRST),
        ):
            block = block.replace(there, str(here))
        return block


@pytest.fixture
def vault(data: Path, tmp_path: Path) -> Vault:
    """Another machine, and at the site two backups."""
    tool("rsync", "apt-get install rsync")
    tool("rrsync", "apt-get install rsync")
    checkpointed(data)
    for hours in range(2):
        at_ns = FIRST_NS + hours * HOUR
        anchored = ClockAnchored(source="clock", at=at_ns, wall_ns=at_ns, step_ns=0)
        clocks = ClockReading(anchored, "synchronised")
        backup_command.make(data, tmp_path / "backups", 35, clocks)
    found = Vault(tmp_path / "vault", tmp_path / "backups", data, tmp_path / "link")
    found.place.mkdir()
    found.connect()
    return found


def test_the_drill_brings_everything_back_from_the_other_machine(vault: Vault) -> None:
    """Copy, verify there, lose the site, restore, and hold the journal to its checkpoints."""
    _, copying, restoring = commands("Off site")
    run = vault.does(copying)
    assert (run.returncode, run.stdout) == (0, "intact  2 of 2 backups\n"), run.stderr
    assert gauges(vault.place / "pitwatch_backups.prom")["pitwatch_backups_intact"] == 2
    was = {file.name: verify_journal(file).head for file in vault.data.rglob("*.journal")}
    shutil.rmtree(vault.data)
    shutil.rmtree(vault.backups)
    run = vault.does(restoring)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "checkpoints cover it up to entry 5" in run.stdout
    assert {file.name: verify_journal(file).head for file in vault.data.rglob("*.journal")} == was


@pytest.mark.parametrize(("part", "is_silent"), [(0.02, False), (0.98, False), (0.5, True)])
def test_a_link_that_breaks_leaves_nothing_that_passes_for_whole(
    vault: Vault, part: float, is_silent: bool
) -> None:
    """It is closed, or nothing passes any more."""
    copying = commands("Off site")[1]
    size = sum(file.stat().st_size for file in vault.backups.rglob("*") if file.is_file())
    ending = "" if is_silent else "; kill $$"
    vault.connect(f"| {{ head -c {round(part * size)}{ending}; }}")
    run = vault.does(copying.replace("--timeout=60", "--timeout=2"))
    assert run.returncode != 0
    assert "intact" not in run.stdout, "the copy fails before anything is printed about it"
    assert commanded("backup", "verify", vault.place).returncode == 2
    vault.connect()
    run = vault.does(copying)
    assert (run.returncode, run.stdout) == (0, "intact  2 of 2 backups\n"), run.stderr


def removed(backups: Path) -> None:
    shutil.rmtree(backups)
    backups.mkdir()


def overwritten(backups: Path) -> None:
    for file in backups.glob("2*/**/*"):
        if file.is_file():
            file.write_bytes(b"encrypted")


@pytest.mark.parametrize("attack", [removed, overwritten])
def test_what_happens_to_the_backups_at_the_site_does_not_reach_the_other_machine(
    vault: Vault, attack: Callable[[Path], None]
) -> None:
    copying = commands("Off site")[1]
    assert vault.does(copying).returncode == 0
    names = sorted(vault.backups.glob("2*"))
    attack(vault.backups)
    backed_up(vault.data, vault.backups)
    run = vault.does(copying)
    assert (run.returncode, run.stdout) == (0, "intact  3 of 3 backups\n"), run.stderr
    assert {one.name for one in names} < {one.name for one in vault.place.glob("2*")}


def test_a_backup_that_is_damaged_on_the_other_machine_is_named_there(vault: Vault) -> None:
    copying = commands("Off site")[1]
    assert vault.does(copying).returncode == 0
    first = min(vault.place.glob("2*"))
    flipped(first / "journals" / "BJ-09.journal")
    run = vault.does(copying)
    assert run.returncode == 2
    assert f"{first}/journals/BJ-09.journal" in run.stdout
    assert gauges(vault.place / "pitwatch_backups.prom")["pitwatch_backups_damaged"] == 1


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_other_machines_key_can_change_nothing_at_the_site(
    vault: Vault, tmp_path: Path
) -> None:
    before = contents(vault.backups)
    (tmp_path / "empty").mkdir()
    rsh = f"--rsh={vault.link}"
    run = run_program("rsync", "-a", "--delete", rsh, tmp_path / "empty/", "pitwatch@floor:./")
    assert run.returncode != 0
    assert contents(vault.backups) == before
    sound("rsync", "-a", rsh, "pitwatch@floor:./", tmp_path / "read")
