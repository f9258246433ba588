"""What ``scripts/check`` prints last, and which tests it runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def checked(tmp_path: Path, **programs: str) -> "subprocess.CompletedProcess[str]":
    """Run the check of the quick part with shell scripts in place of its programs."""
    tools = dict.fromkeys(("mypy", "ruff", "lint-imports"), "")
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


def collected(part: str) -> set[str]:
    """Return the tests that a part runs of two files with slow tests, stores and like cases."""
    files = ["tests/server/service/test_two_people.py", "tests/server/table/test_run.py"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", *files],
        cwd=ROOT,
        env={**os.environ, "PITWATCH_TESTS": part},
        capture_output=True,
        text=True,
        check=True,
    )
    return {line for line in run.stdout.splitlines() if "::" in line}


def test_make_test_and_the_rest_are_all_tests_and_none_twice() -> None:
    quick, rest, both = collected("quick"), collected("rest"), collected("")
    assert both <= quick | rest
    assert not quick & rest
    names = [one.partition("[")[0] for one in quick]
    assert sorted(names) == sorted(set(names)), "one case of each test"
    assert {one.partition("[")[0] for one in both} > set(names)


@pytest.mark.parametrize(("marked", "status"), [("", 1), ("@pytest.mark.slow\n", 0)])
def test_a_test_that_starts_a_program_says_that_it_is_slow(
    tmp_path: Path, marked: str, status: int
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    started = f"import subprocess, pytest\n{marked}def test_it(): subprocess.run(['true'])\n"
    (tmp_path / "test_it.py").write_text(started)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PITWATCH_TESTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == status, run.stdout + run.stderr
    assert ("mark it @pytest.mark.slow" in run.stdout) is bool(status)


def test_the_last_lines_say_that_all_passed_and_what_to_run_next(tmp_path: Path) -> None:
    run = checked(tmp_path)
    last = run.stdout.splitlines()[-8:]
    assert run.returncode == 0, run.stdout
    assert last[0].startswith("make test passed in ")
    assert [line.split()[:2] for line in last[1:-1]] == [
        [name, "passed"] for name in ("types", "style", "format", "imports", "page", "tests")
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
