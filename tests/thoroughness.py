"""How many of many like cases are tried: a share at each commit, all of them before a release.

``PITWATCH_TESTS=all``, which ``make test-all`` sets, tries every one.
"""

import os
import zlib
from collections.abc import Sequence
from typing import Final, TypeVar

Case = TypeVar("Case")

ALL: Final = os.environ.get("PITWATCH_TESTS") == "all"


def one_in(many: int, cases: Sequence[Case], first: int = 0) -> Sequence[Case]:
    """Return every ``many``-th case from the ``first``, or all of them before a release."""
    return cases if ALL else cases[first::many]


def one_by_name(name: str, cases: Sequence[Case]) -> Sequence[Case]:
    """Return one of the cases of a test, chosen by its name, or all of them before a release."""
    return cases if ALL else (cases[zlib.crc32(name.encode()) % len(cases)],)


def examples(many: int) -> int:
    """Return a quarter of ``many`` Hypothesis examples, 8 or more, or all before a release."""
    return many if ALL else max(many // 4, min(many, 8))
