"""The commands of the README and the tour run in order, from an empty folder."""

from pathlib import Path

import pytest

from tests.packaging.readme import commands, indented, run_commands
from tests.packaging.running import Shell
from tests.packaging.wheel import Installed
from tests.thoroughness import ALL

pytestmark = pytest.mark.slow


def test_its_commands_run_in_order(installed: Installed, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    shell = Shell(installed, folder)
    run_commands(shell, small=not ALL)
    assert len(shell.seconds) == len(commands()) + (0 if ALL else 1), "and one shortens the demo"
    for name in (
        "demo.html",
        "evening.html",
        "evening.journal",
        "ledger.csv",
        "incident.zip",
        "check.png",
    ):
        assert (folder / name).stat().st_size > 0, name


def test_no_command_is_passed_over() -> None:
    """Each is a line of its own, indented, without a path before the program."""
    shown = [line for line in indented() if "pitwatch " in line]
    assert [line.split("#")[0].strip() for line in shown] == commands()
    assert len(commands()) > 15
