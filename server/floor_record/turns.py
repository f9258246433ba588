"""What a forwarder knows of each journal, and what goes into one transaction."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from server.floor_record.database import Chain, Parcel
from server.floor_record.site import Stamp
from stream.identity import Identity

SEEN_NS: Final = 5_000_000_000
"""Nanoseconds after which the place of a table without news is reported again."""
_LOOK_NS: Final = 1_000_000_000
"""Nanoseconds after which a journal whose files did not change is read once more: a disk that takes
longer to sync than expected shows an entry without a change."""
_VISIBLE_NS: Final = 50_000_000
"""Nanoseconds from the write of an entry to the log until readers see it: the disk's sync."""


@dataclass(slots=True)
class Forwarded:
    """A journal being forwarded, with what was agreed with the floor on this connection."""

    path: Path
    identity: Identity
    chain: Chain
    seen_ns: int
    stamp: Stamp = ()
    """The state of its files when it was last looked at …"""
    stamped_ns: int = 0
    """… since when they are in that state …"""
    age_ns: int = 0
    """… and for how long by the files' own times."""
    has_found: bool = False
    """Whether entries were found since."""
    looked_ns: int = 0
    """When it was last read."""
    is_rested: bool = False
    """Whether that read found all that its files held."""
    is_late: bool = False
    """Whether there was more than is read at once."""
    is_doubted: bool = False
    """Whether another journal may have its name by now."""

    def is_at_rest(self, stamp: Stamp, age_ns: int, now_ns: int) -> bool:
        """Whether its files have not changed since a read that found all they held."""
        self.age_ns = age_ns
        if stamp != self.stamp:
            self.stamp, self.stamped_ns = stamp, now_ns
            self.has_found = self.is_rested = False
        is_confirmed = self.looked_ns - self.stamped_ns >= _LOOK_NS
        again_ns = SEEN_NS if is_confirmed else _LOOK_NS
        return self.is_rested and now_ns - self.looked_ns < again_ns

    def rest(self, now_ns: int) -> None:
        """Note that everything found is on the floor.

        SQLite writes an entry to the log before a reader can see it. So a change is followed by
        reads until one finds an entry and the change is old enough for all others.
        """
        is_visible = self.has_found and self.age_ns >= _VISIBLE_NS
        self.is_rested = is_visible or now_ns - self.stamped_ns >= _LOOK_NS


@dataclass(frozen=True, slots=True)
class Ready:
    """What a journal hands over next."""

    one: Forwarded
    parcel: Parcel
    is_all: bool
    """Whether it is all that was found."""


@dataclass(slots=True)
class Group:
    """What goes in one transaction."""

    at_most: int
    """Entries."""
    ready: list[Ready] = field(default_factory=list)
    chains: set[tuple[str, int]] = field(default_factory=set)
    """Two files may be one journal: a transaction has each chain once."""
    size: int = 0

    @property
    def is_full(self) -> bool:
        """Whether it has as many entries as it may."""
        return self.size >= self.at_most

    def takes(self, ready: Ready) -> bool:
        """Add what a journal has, where that fits in; return whether it did."""
        chain = ready.parcel.chain.table, ready.parcel.chain.epoch
        size = self.size + len(ready.parcel.entries)
        if chain in self.chains or size > self.at_most:
            return False
        self.ready.append(ready)
        self.chains.add(chain)
        self.size = size
        return True
