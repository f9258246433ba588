"""What live sources say, put into the one order of its times: the order that a replay has.

A camera's word comes later than a shoe's, by the picture's way and by the time that reading it
takes. So what the others say waits until every camera has been looked at up to its time, but
never longer than a camera's patience: one that is lost holds up nobody.
"""

import heapq
from collections.abc import Iterable

from models.events import AnyObservation
from stream.replay import Timed

Said = Timed[tuple[AnyObservation, ...]]


class Order:
    """Holds back what came early. Pure: it is told the time.

    Args:
        cameras: the sources whose pictures are waited for.
        hold_ns: how far behind a camera may be and still be waited for.
    """

    def __init__(self, cameras: Iterable[str], hold_ns: int) -> None:
        self._seen_ns = dict.fromkeys(cameras, 0)
        self._hold_ns = hold_ns
        self._held: list[tuple[int, int, Said]] = []
        self._taken = 0
        self.through_ns = 0
        """How far everything was given out."""

    @property
    def holds(self) -> bool:
        """Whether something waits to be given out."""
        return bool(self._held)

    def take(self, said: Said) -> None:
        """Take what a source says."""
        self._taken += 1
        heapq.heappush(self._held, (said.at_ns, self._taken, said))

    def seen(self, camera: str, at_ns: int) -> None:
        """Note that a camera has been looked at up to ``at_ns``."""
        self._seen_ns[camera] = max(self._seen_ns[camera], at_ns)

    def due(self, now_ns: int) -> tuple[Said, ...]:
        """Return what nothing earlier can come before any more, in order."""
        waited = [at for at in self._seen_ns.values() if now_ns - at <= self._hold_ns]
        return self._until(min([now_ns, *waited]))

    def rest(self, now_ns: int) -> tuple[Said, ...]:
        """Return all that is held, in order: nothing more is waited for."""
        return self._until(now_ns)

    def _until(self, horizon_ns: int) -> tuple[Said, ...]:
        self.through_ns = max(self.through_ns, horizon_ns)
        found: list[Said] = []
        while self._held and self._held[0][0] <= self.through_ns:
            found.append(heapq.heappop(self._held)[2])
        return tuple(found)
