"""Count refused attempts of unknown people, so that nobody can fill the disk with them.

The first of a kind from a network is an entry at once. The rest of the interval is one entry with
their number and some of the attempted names.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from msgspec.structs import replace

from server.service.access.activity import PersonActed
from server.service.http.limits import limited_as

INTERVAL_NS: Final = 60_000_000_000
_NETWORKS: Final = 32
"""Networks that an interval distinguishes; all others count as one."""
_NAMES: Final = 10

_Key: TypeAlias = tuple[str, str]
"""Network, and the refused action."""


@dataclass(slots=True)
class _Tries:
    first: PersonActed
    count: int = 0
    names: set[str] = field(default_factory=set)


class Strangers:
    """The refused attempts of the present interval. Times are the activity's own."""

    def __init__(self, interval_ns: int = INTERVAL_NS) -> None:
        self._interval_ns, self._since_ns = interval_ns, 0
        self._tries: dict[_Key, _Tries] = {}

    def take(self, event: PersonActed) -> tuple[PersonActed, ...]:
        """Return the entries to write after this event."""
        at_ns = event.at or 0
        written = self.due(at_ns)
        key = self._key(event)
        tries = self._tries.get(key)
        if tries is None:
            if not self._tries:
                self._since_ns = at_ns
            self._tries[key] = _Tries(event)
            return (*written, event)
        tries.count += 1
        if len(tries.names) < _NAMES:
            tries.names.add(event.person)
        return written

    def _key(self, event: PersonActed) -> _Key:
        key = limited_as(event.address), event.target
        if key in self._tries or len(self._tries) < _NETWORKS:
            return key
        return "", event.target

    def due(self, now_ns: int) -> tuple[PersonActed, ...]:
        """Return the counts of a finished interval, or nothing while it runs."""
        if now_ns - self._since_ns < self._interval_ns:
            return ()
        return self.all(now_ns)

    def all(self, now_ns: int) -> tuple[PersonActed, ...]:
        """Return the counts, and begin the next interval."""
        counted = tuple(self._counted(now_ns))
        self._tries.clear()
        return counted

    def _counted(self, now_ns: int) -> Iterator[PersonActed]:
        for (network, _), tries in self._tries.items():
            if not tries.count:
                continue
            names = sorted(tries.names - {""})
            yield replace(
                tries.first,
                at=now_ns,
                person=names[0] if len(names) == 1 else "",
                names=tuple(names) if len(names) > 1 else (),
                address=tries.first.address if network else "",
                count=tries.count,
            )
