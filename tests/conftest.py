"""Which tests run, with how many examples; a test that starts a program is marked slow."""

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import settings

from tests.thoroughness import PART, examples, one_by_name, quick

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

_STARTING: Final = {"subprocess.Popen", "os.posix_spawn", "os.system"}
_started: Final[list[str]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event in _STARTING:
        _started.append(event)


sys.addaudithook(_hear)


def pytest_runtest_setup() -> None:
    """Forget what the tests before have started."""
    _started.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that started a program and does not say that it is slow."""
    started = _started[:1]
    yield
    if started and item.get_closest_marker("slow") is None:
        pytest.fail(f"{item.nodeid} started a program ({started[0]}): mark it @pytest.mark.slow")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose the tests of this part, with each test of every store over one of them."""
    chosen = quick(items)
    _leave_other_stores(items)
    if PART == "quick":
        items[:] = chosen
    elif PART == "rest":
        are_quick = set(chosen)
        items[:] = [item for item in items if item not in are_quick]


def _leave_other_stores(items: list[pytest.Item]) -> None:
    """Run each test of every store over one of them, and over all of them before a release."""
    alike: dict[tuple[object, ...], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            cases = item.callspec.params.items()
            if any(name in STORE_FIXTURES for name, _ in cases):
                # Pytest's own indices go on from store to store; the cases are the same objects.
                others = tuple(
                    (name, id(case)) for name, case in cases if name not in STORE_FIXTURES
                )
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
    """Let the interpreter's end find everything: DuckDB prints each object that stays as a leak."""
    gc.unfreeze()
