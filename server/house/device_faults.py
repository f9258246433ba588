"""Device data that was no valid reading, in one line for each device."""

from collections import Counter
from collections.abc import Iterable, Iterator

from models.errors import TechnicianError
from models.events import CameraFault, Observation, ReaderFault
from server.house.wording import counted


def device_faults(events: Iterable[object], start_ns: int) -> Iterator[TechnicianError]:
    """Yield a fault for the technician for each device with unreadable data.

    Nothing is lost silently: rounds stay open for whatever a fault may have cost.
    """
    by_source: dict[str, list[ReaderFault | CameraFault]] = {}
    for event in events:
        if isinstance(event, ReaderFault | CameraFault):
            by_source.setdefault(event.source, []).append(event)
    for source, faults in sorted(by_source.items()):
        yield _summary(source, faults, start_ns)


def _summary(
    source: str, faults: list[ReaderFault | CameraFault], start_ns: int
) -> TechnicianError:
    kinds = Counter(fault.kind for fault in faults)
    each = ", ".join(f"{kind} {number}" for kind, number in kinds.items())
    first_s = _since(faults[0], start_ns)
    if isinstance(faults[0], CameraFault):
        what, way_out = "was unreliable", "Check the camera and its view"
        name = counted(len(faults), "time")
    else:
        what, way_out = "could not be read", "Check the port's speed, its cable and the reader"
        name = counted(len(faults), "message")
    return TechnicianError(
        f"{name} {what} ({each}; the first {first_s:.1f} s after the start)",
        where=source,
        way_out=way_out,
    )


def _since(fault: Observation, start_ns: int) -> float:
    return ((fault.at or start_ns) - start_ns) / 1e9
