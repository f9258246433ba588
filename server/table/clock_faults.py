"""A camera whose clock parts from the shoe's, named once: as it begins, and as it is over."""

from collections.abc import Iterator, Mapping

from models.events import CameraFault, CameraRecovered


class ClockFaults:
    """Follows what the reckoning finds of the cameras' clocks. Pure: the caller passes the time."""

    def __init__(self) -> None:
        self._since_ns: dict[str, int] = {}

    def news(
        self, parted: Mapping[str, str], at_ns: int
    ) -> Iterator[CameraFault | CameraRecovered]:
        """Yield what began or ended, by how each camera's clock parts now."""
        for source in [one for one in parted if one not in self._since_ns]:
            self._since_ns[source] = at_ns
            yield CameraFault(source=source, at=at_ns, kind="clock", detail=parted[source], frame=0)
        for source in [one for one in self._since_ns if one not in parted]:
            lasted_ns = at_ns - self._since_ns.pop(source)
            yield CameraRecovered(
                source=source, at=at_ns, kind="clock", lasted_ns=lasted_ns, frame=0
            )
