"""Tests of every store run over one store at a commit, and over all of them before a release."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
OF_BOTH_STORES = "tests/server/service/test_two_people.py"
CASE = re.compile(r"::(\w+)\[(?:\w+-)*(folder|floor)\b")


def collected(*, all_of_them: bool) -> set[tuple[str, str]]:
    """Return each test that pytest collects of a file, with its store."""
    environment = {name: value for name, value in os.environ.items() if name != "PITWATCH_TESTS"}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", OF_BOTH_STORES],
        cwd=ROOT,
        env=environment | ({"PITWATCH_TESTS": "all"} if all_of_them else {}),
        capture_output=True,
        text=True,
        check=True,
    )
    return {(test, store) for test, store in CASE.findall(run.stdout)}


def test_a_test_of_every_store_runs_over_one_of_them_at_a_commit() -> None:
    of_all, at_a_commit = collected(all_of_them=True), collected(all_of_them=False)
    tests = {test for test, _ in of_all}
    assert of_all == {(test, store) for test in tests for store in ("folder", "floor")}
    assert at_a_commit < of_all
    assert sorted(test for test, _ in at_a_commit) == sorted(tests)
