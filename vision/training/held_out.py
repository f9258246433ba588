"""Which of the training photographs no network learns from, so that decisions can rest on them."""

from typing import Final

BLOCK: Final = 20
OF_BLOCKS: Final = 5
"""Of every so many blocks of so many neighbouring pictures the last is kept for decisions."""


def kept_for_decisions(number: int) -> bool:
    """Whether the picture on that line of a set's labels is never learnt from, counted from 0."""
    return number // BLOCK % OF_BLOCKS == OF_BLOCKS - 1
