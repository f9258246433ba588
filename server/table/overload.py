"""Overload: a camera sends more pictures than the machine can read, so some are left out."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from models.events import CameraFault, CameraRecovered, Event, Observation, ProgramStated
from server.house.wording import counted

CALM_NS: Final = 10_000_000_000
"""Nanoseconds of pictures that were all read after which an overload is over. A machine at its
limit leaves pictures out only while hands move on the felt: shorter pauses are no end."""


@dataclass(slots=True)
class _Spell:
    began_ns: int
    last_ns: int


class Overload:
    """Follows the reports of pictures left out. Pure: the caller passes the time.

    An overload begins with the first such picture, without delay: by then a second's pictures wait
    to be read.
    """

    def __init__(self) -> None:
        self._spells: dict[str, _Spell] = {}

    def begun_by(self, observation: Observation) -> Iterator[CameraFault]:
        """Yield the overload that begins with an observation."""
        if not isinstance(observation, CameraFault) or observation.kind != "left_out":
            return
        at_ns = observation.at or 0
        if (spell := self._spells.get(observation.source)) is not None:
            spell.last_ns = at_ns
            return
        self._spells[observation.source] = _Spell(at_ns, at_ns)
        detail = "pictures arrive faster than the machine reads them"
        yield replace(observation, kind="overloaded", detail=detail, count=1)

    def over_with(self, source: str, at_ns: int, frame: int) -> Iterator[CameraRecovered]:
        """Yield the overload that is over now that a picture of ``at_ns`` was read.

        Time alone ends none: a machine that is too busy to read is too busy to report.
        """
        spell = self._spells.get(source)
        if spell is not None and at_ns - spell.last_ns >= CALM_NS:
            del self._spells[source]
            yield CameraRecovered(
                source=source,
                at=at_ns,
                kind="overloaded",
                lasted_ns=spell.last_ns - spell.began_ns,
                frame=frame,
            )


@dataclass
class OverloadStanding:
    """The overload of a table's machine in this run, from the journal's entries."""

    cameras: set[str] = field(default_factory=set)
    """Those of which pictures are left out now."""
    left_out: int = 0
    """The number of pictures left out."""

    def take(self, event: Event) -> None:
        """Process the next entry."""
        match event:
            case CameraFault(kind="overloaded"):
                self.cameras.add(event.source)
            case CameraRecovered(kind="overloaded"):
                self.cameras.discard(event.source)
            case CameraFault(kind="left_out"):
                self.left_out += event.count
            case ProgramStated():
                self.cameras.clear()
                self.left_out = 0

    @property
    def text(self) -> str:
        """Say how many pictures were left out."""
        return f"{counted(self.left_out, 'picture')} left out"
