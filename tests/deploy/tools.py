"""Programs of the system that deploy/ is checked with; a test that lacks one names it."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
EXAMPLES: Final = ROOT / "server" / "examples"
BIN: Final = Path(sys.executable).parent
PITWATCH: Final = BIN / "pitwatch"


def tool(name: str, package: str) -> str:
    """Return a program's path, or skip the test and name what is missing."""
    found = shutil.which(name, path=f"{BIN}:/usr/sbin:/usr/bin:/bin")
    if found is None:
        pytest.skip(f"{name} is not installed: {package}")
    return found


def run_program(
    *command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a program and return what it printed."""
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def sound(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a program that must succeed; return what it printed."""
    run = run_program(*command, cwd=cwd)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr
