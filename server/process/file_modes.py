"""Who may read what the program writes: its user alone, or its group where a unit says so."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from models.errors import InstallerError

GROUP_READS: Final = "PITWATCH_GROUP_READS"
"""The environment variable by which a unit lets the user's group read what its program writes."""
_NO_OTHERS: Final = 0o077
_GROUP_READS_ONLY: Final = 0o027


def group_reads() -> bool:
    """Return whether the user's group may read what the program writes, and use its sockets.

    Raises:
        InstallerError: the variable has another value than 0 or 1.
    """
    found = os.environ.get(GROUP_READS, "0")
    if found not in {"0", "1"}:
        raise InstallerError(
            f"expected 0 or 1, found {found!r}",
            where=GROUP_READS,
            way_out="Set it to 1 where the user's group may read journals and recordings",
        )
    return found == "1"


@contextmanager
def private_files() -> Iterator[None]:
    """Create files 0600 in folders 0700, whatever the umask; 0640 and 0750 where the group reads.

    What has a mode of its own, such as a key, keeps it. A file that exists keeps its mode.
    """
    with _umask(_GROUP_READS_ONLY if group_reads() else _NO_OTHERS):
        yield


@contextmanager
def owner_only() -> Iterator[None]:
    """Create files 0600 in folders 0700, also where the group reads others."""
    with _umask(_NO_OTHERS):
        yield


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)
