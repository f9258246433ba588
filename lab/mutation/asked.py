"""What mutants are judged by: every recorded answer, and the tests that only ask the engine."""

import io
from collections.abc import Iterable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import is_hypothesis_test

from lab.mutation.judging import Check
from tests.settlement.recorded import rounds, sheets

TESTS: Final = Path("tests/settlement")
LEFT_OUT: Final = (
    "test_recorded",  # asks what is asked here anyway
    "test_compiled",  # compares two forms of the engine, of which one has no mutant
    "test_random_rounds",  # seconds long for each mutant that nothing notices, as the next four
    "test_plain_reckoning",
    "test_retold",
    "test_unknown_cards",
    "test_seven_houses",
    "test_bad_input",  # refusals of files, which no function of the engine makes
    "test_reconcile",
)
"""Files of tests that are not asked, by how their names begin."""


def checks() -> list[Check]:
    """Return every recorded answer, in an order of no meaning, and then every test."""
    asked = [Check(f"rounds {n}", each.answered, each) for n, each in enumerate(rounds(), 1)]
    asked += [Check(f"sheet {n}", each.answered, each) for n, each in enumerate(sheets(), 1)]
    Random(1).shuffle(asked)
    return asked + list(_tests())


_COLLECTING: Final = ("--collect-only", "--assert=plain", "-p", "no:cacheprovider")


class _Collected:
    """Takes the tests that pytest finds."""

    def __init__(self) -> None:
        self.items: list[pytest.Function] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = [item for item in session.items if isinstance(item, pytest.Function)]


def _tests() -> Iterable[Check]:
    """Yield each test that is a plain call: no fixture, and the same questions every time."""
    files = [path for path in sorted(TESTS.glob("test_*.py")) if not path.stem.startswith(LEFT_OUT)]
    found = _Collected()
    with redirect_stdout(io.StringIO()):
        pytest.main([*_COLLECTING, *map(str, files)], [found])
    for item in found.items:
        given = item.callspec.params if hasattr(item, "callspec") else {}
        if set(item.fixturenames) == set(given) and not is_hypothesis_test(item.obj):
            yield Check(item.nodeid, partial(item.obj, **given), None)
