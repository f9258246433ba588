"""Properties are not timed, and tried on fewer examples at each commit than before a release."""

import gc
import os
from collections import defaultdict
from typing import Final

import pytest
from hypothesis import settings

from tests.thoroughness import examples, one_by_name

# Idle threads of OpenBLAS wait actively: with one thread, matrices cost half the processor time.
# NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Python searches all objects for garbage cycles again and again, and pytest holds hundreds of
# thousands: searched less often, and not those of the collection, tests cost 8% less.
gc.set_threshold(10_000)

settings.register_profile("house", deadline=None, max_examples=examples(100))
settings.load_profile("house")

STORE_FIXTURES: Final = ("kept", "at_work")
"""The fixtures that keep tables in a folder, and then in a floor record."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run each test of every store over one of them, and over all of them before a release."""
    alike: dict[tuple[object, ...], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            cases = item.callspec.indices.items()
            if any(name in STORE_FIXTURES for name, _ in cases):
                others = tuple(case for case in cases if case[0] not in STORE_FIXTURES)
                alike[item.parent, item.originalname, others].append(item)
    left = {
        item
        for same in alike.values()
        for item in set(same) - set(one_by_name(min(one.nodeid for one in same), same))
    }
    items[:] = [item for item in items if item not in left]


def pytest_collection_finish() -> None:
    """Leave the collected tests and the loaded modules out of every later search."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Leave everything out of the search at the interpreter's end."""
    gc.freeze()
