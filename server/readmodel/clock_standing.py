"""A journal's statements on its host's clock; cameras have clocks of their own."""

from msgspec import Struct
from msgspec.structs import replace

from models.events import ClockAnchored, ClockCompared, ClockSynchronisation, Event, SyncState


class ClockStanding(Struct, frozen=True):
    """Synchronisation, offset and jumps of a host's clock."""

    state: SyncState | None = None
    """``None`` where the journal does not state it."""
    offset_ns: int | None = None
    """Nanoseconds that the wall clock is ahead of the table's, which is set to it at every
    start."""
    steps: int = 0
    """Jumps in the whole journal, including those while no table ran."""


def followed(standing: ClockStanding, event: Event) -> ClockStanding:
    """Apply the next entry."""
    match event:
        case ClockSynchronisation():
            return replace(standing, state=event.state)
        case ClockAnchored(source="clock"):
            return replace(standing, offset_ns=0)
        case ClockCompared(source="clock"):
            steps = standing.steps + bool(event.step_ns)
            return replace(standing, offset_ns=event.apart_ns, steps=steps)
    return standing
