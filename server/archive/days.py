"""The house's day of a journal: the day on which it began."""

from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path

from models.house import House
from stream.journal import Place
from stream.reading import UnknownEvent, read_on


@dataclass(frozen=True, slots=True)
class Begun:
    """A journal, and the day on which it began."""

    path: Path
    day: date
    at: int

    def day_in(self, house: House) -> date:
        """Return the day on which it began at another house."""
        return day_of(self.at, house)


def day_of(at_ns: int, house: House) -> date:
    """Return the house's day of an instant; a day begins with the first shift."""
    local = house.local(at_ns)
    begins = time.fromisoformat(house.shifts[0])
    return local.date() if local.time() >= begins else local.date() - timedelta(days=1)


def begun(path: Path, house: House) -> Begun | None:
    """Return the day on which a journal began; ``None`` where no entry has a time.

    Raises:
        TechnicianError: it is no journal, or is damaged.
    """
    place = Place()
    while True:
        events, place = read_on(path, place)
        for event in events:
            if not isinstance(event, UnknownEvent) and event.at is not None:
                return Begun(path, day_of(event.at, house), event.at)
        if not events:
            return None
