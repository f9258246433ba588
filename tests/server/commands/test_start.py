"""What a command does not need, it does not import: processor time before any work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.commands.app import VERBS

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow

PIXELS = ("av", "cv2", "numpy", "onnxruntime")
TABLES = ("pyarrow", "duckdb", "alembic", "sqlalchemy")
NETWORK = ("fastapi", "httpx", "paho", "serial", "starlette", "uvicorn")
PAPERS = ("fpdf", "pyhanko", "zxcvbn")
HEAVY = (*PIXELS, *TABLES, *NETWORK, *PAPERS)


def imported_by(python: str) -> set[str]:
    """Return which heavy packages a process has imported after some lines of Python."""
    asked = f"{python}\nimport sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_settling_imports_nothing_heavy() -> None:
    assert not imported_by(
        "from server.archive import settling; from server.house import rulebooks"
    )


@pytest.mark.slow(shows="the command line")
def test_the_help_of_no_command_imports_its_work() -> None:
    helps = "".join(f"run([{verb!r}, '--help'])\n" for verb in VERBS)
    found = imported_by(f"from server.commands.app import run\n{helps}")
    assert not found & {*PIXELS, *TABLES, *PAPERS, "fastapi", "starlette"} - {"numpy"}


@pytest.mark.parametrize(
    "command",
    [
        "--version",
        "--help",
        "backup verify none",
        "config check none",
        "export none --what nothing --out none.csv",
        "floor status --floor postgresql://none",
        "journal verify none",
        "relay letters --state none",
        "report verify none",
        "review list none",
        "rulebooks list",
        "rulebooks show kansas-shoe",
        "verify-install",
    ],
)
def test_a_small_command_imports_nothing_heavy(command: str) -> None:
    assert not imported_by(ran(command.split()))


def test_the_service_starts_without_what_it_rarely_needs() -> None:
    found = imported_by("import server.commands.serve, server.service.app")
    assert not found & {"onnxruntime", "httpx", "pyarrow", "duckdb", "alembic", *PAPERS}


def test_what_commands_import_is_compiled_once_the_environment_is_made(tmp_path: Path) -> None:
    """A unit or a container may not write compiled modules, so each start would compile them."""
    made = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    made["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    script = [sys.executable, str(ROOT / "scripts" / "compile-modules")]
    subprocess.run(script, env=made, check=True, capture_output=True)
    asked = (
        "import os, sys, server.service.app, server.commands.review, server.commands.run\n"
        "import server.table.live, simulation.session, vision.calibration, vision.reader\n"
        "own = [one for one in sys.modules.values() if getattr(one, '__cached__', None)]\n"
        "print([one.__name__ for one in own if not os.path.exists(one.__cached__)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env=made | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def ran(arguments: list[str]) -> str:
    """Return the Python that runs a command, whatever comes of it."""
    return f"from server.commands.app import run; run({arguments!r})"


@pytest.mark.parametrize("arguments", [["settle"], ["replay"], ["nonsense"], ["settle", "x", "-q"]])
def test_a_command_that_cannot_be_understood_is_exit_2(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "server", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
