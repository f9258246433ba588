"""What ``scripts/check`` prints last, and which tests each part runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def checked(tmp_path: Path, **programs: str) -> "subprocess.CompletedProcess[str]":
    """Run the check of the quick part with shell scripts in place of its programs."""
    tools = dict.fromkeys(("mypy", "python", "ruff", "lint-imports"), "")
    tools |= {"pytest": "echo 2 passed in 1s", "dirname": '/usr/bin/dirname "$@"'}
    for name, script in {**tools, **programs}.items():
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "check", "quick"],
        env={**os.environ, "PITWATCH_BIN": str(tmp_path), "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


SUITE = """
import subprocess
import pytest

@pytest.fixture(params=["folder", "floor"])
def kept(request): ...

def test_plain(): ...

@pytest.mark.parametrize("case", range(3))
def test_cases(case): ...

def test_stored(kept): ...

@pytest.mark.parametrize("case", range(2))
def test_stored_cases(kept, case): ...

@pytest.mark.slow
def test_slow(): subprocess.run(["true"])

@pytest.mark.slow(shows="a part")
@pytest.mark.parametrize("case", range(3))
def test_shown(case): ...

{marked}
def test_starts_a_program(): subprocess.run(["true"])
"""


def tried(folder: Path, part: str, *options: str, marked: str = "@pytest.mark.slow") -> str:
    """Return what pytest prints of a part of a small suite under this tree's choice of tests."""
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -q\nmarkers = slow\n")
    (folder / "test_it.py").write_text(SUITE.replace("{marked}", marked))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PITWATCH_TESTS": part}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # to load them takes two seconds
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", *options, "test_it.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout


def collected(folder: Path, part: str) -> set[str]:
    """Return the tests that a part runs."""
    lines = tried(folder, part, "--collect-only").splitlines()
    return {line.partition("::")[2] for line in lines if "::" in line}


def test_make_test_and_the_rest_are_all_tests_and_none_twice(tmp_path: Path) -> None:
    quick, rest, both = (collected(tmp_path, part) for part in ("quick", "rest", ""))
    assert both <= quick | rest
    assert not quick & rest
    names = [one.partition("[")[0] for one in quick]
    assert sorted(names) == [
        *("test_cases", "test_plain", "test_shown", "test_stored", "test_stored_cases")
    ], "one case of each test that is quick or shows a part"
    assert {one.partition("[")[0] for one in both} > set(names)


def test_a_test_of_every_store_runs_over_one_of_them_at_a_commit(tmp_path: Path) -> None:
    of_all, at_a_commit = (
        {one for one in collected(tmp_path, part) if one.startswith("test_stored")}
        for part in ("all", "")
    )
    assert len(of_all) == 2 + 2 * 2
    assert at_a_commit < of_all
    assert len(at_a_commit) == 1 + 2


@pytest.mark.parametrize(("marked", "is_found"), [("", True), ("@pytest.mark.slow", False)])
def test_a_test_that_starts_a_program_says_that_it_is_slow(
    tmp_path: Path, marked: str, is_found: bool
) -> None:
    shown = tried(tmp_path, "", marked=marked)
    assert ("test_starts_a_program started a program" in shown) is is_found, shown
    assert "test_slow started a program" not in shown


def test_the_last_lines_say_that_all_passed_and_what_to_run_next(tmp_path: Path) -> None:
    run = checked(tmp_path)
    last = run.stdout.splitlines()[-10:]
    assert run.returncode == 0, run.stdout
    assert last[0].startswith("make test passed in ")
    assert [line.split()[:2] for line in last[1:-1]] == [
        *([name, "passed"] for name in ("types", "style", "format", "imports", "page")),
        *([name, "passed"] for name in ("answers", "client")),
        ["tests", "passed"],
    ]
    assert last[-2].endswith("2 passed in 1s")
    assert "make test-all" in last[-1]


def test_the_last_lines_name_what_failed_and_how_to_run_it_again(tmp_path: Path) -> None:
    tests = "echo 'FAILED tests/a.py::test_b[c d] - assert 1'; echo 1 failed, 1 passed; exit 1"
    run = checked(tmp_path, pytest=tests, mypy="echo a.py:1: error: wrong; exit 1")
    lines = run.stdout.splitlines()
    assert run.returncode == 1
    assert "a.py:1: error: wrong" in lines
    assert any(line.startswith("make test FAILED after ") for line in lines)
    assert lines[-2].startswith("Again: ")
    assert "mypy" in lines[-2]
    assert lines[-1] == "Again: .venv/bin/pytest 'tests/a.py::test_b[c d]'"
