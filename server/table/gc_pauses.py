"""Run Python's cycle collector less often, where many events are created at once."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def rare_collections() -> Iterator[None]:
    """Make the collector run rarely: events and rounds contain no cycles.

    Its usual frequency took a third of the time of settling a file.
    """
    usual = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
