"""Where a replay's time goes, share by share."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

STAGES = ("decoding", "detecting", "reading", "reconciling", "settling")


class Stopwatch:
    """Add up the time spent in each stage of the work.

    Args:
        elapsed_ns: a counter that only grows, handed in so that results never depend on it.
    """

    def __init__(self, elapsed_ns: Callable[[], int]) -> None:
        self._elapsed_ns = elapsed_ns
        self.spent_ns: dict[str, int] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time inside the ``with`` block towards ``name``."""
        began = self._elapsed_ns()
        try:
            yield
        finally:
            self.add(name, self._elapsed_ns() - began)

    def add(self, name: str, spent_ns: int) -> None:
        """Count ``spent_ns`` towards ``name``."""
        self.spent_ns[name] = self.spent_ns.get(name, 0) + spent_ns

    def shares(self) -> dict[str, float]:
        """Return each stage's share of all the time counted, from 0 to 1."""
        total = sum(self.spent_ns.values()) or 1
        return {name: spent / total for name, spent in self.spent_ns.items()}
