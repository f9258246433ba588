"""The training photographs reserved for decisions: no network learns from them."""

from typing import Final

# Consecutive pictures in a block: neighbours are alike, so a block stays together.
BLOCK: Final = 20
OF_BLOCKS: Final = 5
"""One block of this many is reserved for decisions."""


def kept_for_decisions(number: int) -> bool:
    """Return whether the picture on that line of a set's labels, from 0, is reserved."""
    return number // BLOCK % OF_BLOCKS == OF_BLOCKS - 1
