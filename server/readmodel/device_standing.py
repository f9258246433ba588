"""A session's present device faults, and its past ones."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from models.events import (
    CameraFault,
    CameraRecovered,
    DeviceReturned,
    Observation,
    ProgramStated,
    ReaderFault,
)
from server.readmodel.views import PassedFault, Trouble

LINK_FAULTS: Final = frozenset({"link_lost", "restarts_spent"})
"""Faults without data from the device until it returns."""
PICTURE_FAULTS: Final = frozenset(
    {
        "size_changed",
        "black",
        "overexposed",
        "clock",
        "incomplete",
        "mirrored",
        "frozen",
        "unfocused",
        "moved",
        "obstructed",
        "covered",
        "overloaded",
    }
)
"""Faults with an unreliable picture, or without some, until a ``camera_recovered`` of that kind."""


class DeviceStanding:
    """Folds observations in their order. A fault without duration is only counted."""

    def __init__(
        self, troubles: Iterable[Trouble] = (), passed: Iterable[PassedFault] = ()
    ) -> None:
        self._troubles = {(one.source, one.kind): one for one in troubles}
        self._passed = {(one.source, one.kind): one for one in passed}

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """The present faults, oldest first."""
        return tuple(self._troubles.values())

    @property
    def passed(self) -> tuple[PassedFault, ...]:
        """The past faults, by device and kind."""
        return tuple(self._passed.values())

    def take(self, event: Observation) -> None:
        """Process the next observation."""
        match event:
            case ReaderFault() | CameraFault():
                self._fault(event)
            case CameraRecovered():
                self._end(event.source, event.at, frozenset({event.kind}))
            case ProgramStated():
                self._end_pictures(event.at)
            case DeviceReturned():
                self._end(event.source, event.at, LINK_FAULTS)
            case _ if self._troubles:
                self._end(event.source, event.at, LINK_FAULTS)

    def _fault(self, event: ReaderFault | CameraFault) -> None:
        key = (event.source, event.kind)
        if event.kind in _LASTING[type(event)]:
            self._troubles.setdefault(key, Trouble(event.source, event.kind, event.at))
        else:
            self._count(event.source, event.kind, event.at, event.count)

    def _end_pictures(self, at_ns: int | None) -> None:
        """End what a table that starts again looks at anew: it reports what still lasts."""
        for source in {one.source for one in self.troubles}:
            self._end(source, at_ns, PICTURE_FAULTS)

    def _end(self, source: str, at_ns: int | None, kinds: frozenset[str]) -> None:
        ended = [key for key in self._troubles if key[0] == source and key[1] in kinds]
        for key in ended:
            del self._troubles[key]
            self._count(*key, at_ns)

    def _count(self, source: str, kind: str, at_ns: int | None, number: int = 1) -> None:
        known = self._passed.get((source, kind), PassedFault(source, kind, 0, None))
        self._passed[source, kind] = replace(known, count=known.count + number, last_at=at_ns)


_LASTING: Final[Mapping[type, frozenset[str]]] = {
    ReaderFault: LINK_FAULTS,
    CameraFault: LINK_FAULTS | PICTURE_FAULTS,
}
