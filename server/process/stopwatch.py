"""Measure the time of a replay, stage by stage."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Stopwatch:
    """Adds up the time of each stage; a nested stage does not count twice.

    Args:
        elapsed_ns: a counter that only grows, passed in so that no result depends on it.
    """

    def __init__(self, elapsed_ns: Callable[[], int]) -> None:
        self._elapsed_ns = elapsed_ns
        self._running: str | None = None
        self._since_ns = 0
        self.spent_ns: dict[str, int] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside the ``with`` block towards ``name``."""
        outer = self._switch(name)
        try:
            yield
        finally:
            self._switch(outer)

    def timed(self, items: Iterable[T], name: str) -> Iterator[T]:
        """Yield ``items``, counting the time to produce each towards ``name``."""
        iterator = iter(items)
        while True:
            with self.stage(name):
                item = next(iterator, None)
            if item is None:
                return
            yield item

    def shares(self) -> dict[str, float]:
        """Return each stage's share of all the time counted, from 0 to 1."""
        total = sum(self.spent_ns.values()) or 1
        return {name: spent / total for name, spent in self.spent_ns.items()}

    def _switch(self, name: str | None) -> str | None:
        now_ns = self._elapsed_ns()
        if self._running is not None:
            spent_ns = now_ns - self._since_ns
            self.spent_ns[self._running] = self.spent_ns.get(self._running, 0) + spent_ns
        outer, self._running, self._since_ns = self._running, name, now_ns
        return outer
