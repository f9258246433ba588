"""What packages installed beside Pitwatch register under an entry point group.

The search reads the metadata of every installed package, about 15 ms with a hundred of them, so a
process searches each group once.
"""

import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


def registered_under(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of ``group``; a changed ``sys.path`` is searched again."""
    return _found(group, tuple(sys.path))


def package_of(entry: EntryPoint) -> str:
    """Return the name and version of the package that an entry point belongs to."""
    return "of unknown name" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


@lru_cache(maxsize=8)
def _found(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))
