"""How much is tried: little by ``make test``, more at each commit, everything before a release.

``PITWATCH_TESTS`` says it: ``quick`` is what ``make test`` runs, ``rest`` is what it leaves to
``make test-all``, and ``all`` adds every one of many like cases, for ``make test-release``. Without
it ``quick`` and ``rest`` are both run.
"""

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

import pytest

Case = TypeVar("Case")

PART: Final = os.environ.get("PITWATCH_TESTS", "")
ALL: Final = PART == "all"


def one_in(many: int, cases: Sequence[Case], first: int = 0) -> Sequence[Case]:
    """Return every ``many``-th case from the ``first``, or all of them before a release."""
    return cases if ALL else cases[first::many]


def one_by_name(name: str, cases: Sequence[Case]) -> Sequence[Case]:
    """Return one of the cases of a test, chosen by its name, or all of them before a release."""
    return cases if ALL else (cases[zlib.crc32(name.encode()) % len(cases)],)


def examples(many: int) -> int:
    """Return a quarter of ``many`` Hypothesis examples, 8 or more, or all before a release."""
    return many if ALL else max(many // 4, min(many, 8))


def quick(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return one case of each test that is not slow, and of each slow one that shows a part."""
    alike: dict[tuple[object, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        slow = item.get_closest_marker("slow")
        if slow is None or "shows" in slow.kwargs:
            alike[item.parent, getattr(item, "originalname", item.name)].append(item)
    return [same[zlib.crc32(name.encode()) % len(same)] for (_, name), same in alike.items()]
