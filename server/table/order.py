"""Put live sources' observations into one order of their times: the order of a replay.

A camera's observation comes later than a shoe's, by the picture's transport and reading time. So
the others' observations wait until every camera's pictures have been read up to their time, but no
longer than a camera's limit: a lost camera delays nobody.
"""

import heapq
from collections.abc import Iterable

from models.events import AnyObservation
from stream.replay import Timed

Observed = Timed[tuple[AnyObservation, ...]]


class Order:
    """Holds back early observations. Pure: the caller passes the time.

    Args:
        cameras: the cameras to wait for.
        hold_ns: the longest lag of a camera to wait for.
    """

    def __init__(self, cameras: Iterable[str], hold_ns: int) -> None:
        self._seen_ns = dict.fromkeys(cameras, 0)
        self._hold_ns = hold_ns
        self._held: list[tuple[int, int, Observed]] = []
        self._taken = 0
        self.through_ns = 0
        """Everything up to this time has been released."""

    @property
    def holds(self) -> bool:
        """Whether anything is held back."""
        return bool(self._held)

    def take(self, observed: Observed) -> None:
        """Add a source's observation."""
        self._taken += 1
        heapq.heappush(self._held, (observed.at_ns, self._taken, observed))

    def seen(self, camera: str, at_ns: int) -> None:
        """Note that a camera's pictures have been read up to ``at_ns``."""
        self._seen_ns[camera] = max(self._seen_ns[camera], at_ns)

    def due(self, now_ns: int) -> tuple[Observed, ...]:
        """Return the observations that no earlier one can precede any more, in order."""
        waited = [at for at in self._seen_ns.values() if now_ns - at <= self._hold_ns]
        return self._until(min([now_ns, *waited]))

    def rest(self, now_ns: int) -> tuple[Observed, ...]:
        """Return all held observations, in order, without further waiting."""
        return self._until(now_ns)

    def _until(self, horizon_ns: int) -> tuple[Observed, ...]:
        self.through_ns = max(self.through_ns, horizon_ns)
        found: list[Observed] = []
        while self._held and self._held[0][0] <= self.through_ns:
            found.append(heapq.heappop(self._held)[2])
        return tuple(found)
