"""Bound the memory that a foreign file may take, however small the file and whatever it holds."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from models.errors import OperatorError

_STATM: Final = Path("/proc/self/statm")
_DATA: Final = 5
"""The field of ``statm`` with the pages of data."""
BESIDE_BYTES: Final = 512 << 20
"""What a check may take beside the file itself. Chosen; the largest shipped example takes 60 MB."""
TIMES_ITS_SIZE: Final = 4
"""How often a check may hold the file: as read, its parts, and their decoded form. Chosen."""


@contextmanager
def within_memory(file: Path) -> Iterator[None]:
    """Refuse a file whose reading takes far more memory than a file of its size needs.

    Where the system has no such limit, only the formats' own limits hold.

    Raises:
        OperatorError: the memory was not enough.
    """
    size = file.stat().st_size if file.is_file() else 0
    most = BESIDE_BYTES + TIMES_ITS_SIZE * size
    before = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        if _STATM.exists():
            _limit(_taken() + most, before)
        yield
    except MemoryError as fault:
        raise OperatorError(
            f"expected a file of {size:,} bytes to be read within {most >> 20:,} MiB of memory; "
            "it takes more",
            where=str(file),
            way_out="Do not use it: what it holds unpacks to far more than such a file does",
        ) from fault
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _taken() -> int:
    return int(_STATM.read_text("ascii").split()[_DATA]) * resource.getpagesize()


def _limit(most: int, before: tuple[int, int]) -> None:
    lower = [one for one in (most, before[0]) if one != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(lower), before[1]))
