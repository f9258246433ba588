"""Python's collector of cycles, held back where many events are made at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def rare_collections() -> Iterator[None]:
    """Have the collector look for cycles seldom: events and rounds make none.

    To look after every few hundred events took a third of the time that settling a file takes.
    """
    usual = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
