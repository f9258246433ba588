"""Admission of connections: a bound below the descriptor limit.

A connection counts as a stranger's until a request on it has passed the guard. Strangers have
separate places, and one network only some of them. Where all are taken, a new connection replaces
the stranger that has kept the service waiting longest. So a client that sends its request at once
is answered, and one that holds it back loses its place. Signed-in people keep theirs.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

_SECOND_NS: Final = 1_000_000_000
_FEWEST: Final = 8


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of connections, and of waiting for each."""

    strangers: int
    network: int
    """Of the strangers' places, those for one network (IPv6: one /64)."""
    signed_in: int
    account: int
    """Of the signed-in people's places, those for one account."""
    request_ns: int = 15 * _SECOND_NS
    """Nanoseconds from the connection, or the last answer, to the end of the next request, TLS
    included."""
    stalled_ns: int = 60 * _SECOND_NS
    """Nanoseconds that an answer waits for a client that reads nothing of it."""


def bounds_for(descriptors: int, *, is_behind_proxy: bool = False) -> Bounds:
    """Return the bounds under a limit of descriptors.

    A quarter stays free for journals, databases and videos. Behind a proxy all clients come from
    the same network.
    """
    places = max(descriptors - descriptors // 4, 2 * _FEWEST)
    strangers = places // 2
    network = strangers if is_behind_proxy else max(strangers // 4, _FEWEST)
    signed_in = places - strangers
    return Bounds(strangers, network, signed_in, max(signed_in // 2, _FEWEST))


@dataclass(eq=False, slots=True)
class Place:
    """One connection's place."""

    network: str
    account: str = ""
    """Its account; empty for a stranger."""
    due_ns: int | None = None
    """Deadline of the present wait; ``None`` without one."""
    is_open: bool = True


@dataclass(slots=True)
class _Counts:
    networks: Counter[str] = field(default_factory=Counter)
    accounts: Counter[str] = field(default_factory=Counter)
    strangers: int = 0
    signed_in: int = 0


class Connections:
    """The occupied places. Times are of a monotonic clock."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._places: dict[Place, None] = {}
        self._awaited: dict[str, dict[Place, None]] = {}
        """Strangers whose requests are awaited, by network, the longest first."""
        self._order: dict[Place, None] = {}
        """All of them, the longest first."""
        self._counts = _Counts()

    @property
    def strangers(self) -> int:
        """The number of strangers' connections."""
        return self._counts.strangers

    @property
    def signed_in(self) -> int:
        """The number of signed-in people's connections."""
        return self._counts.signed_in

    def open(self, network: str, now_ns: int) -> tuple[Place | None, Place | None]:
        """Return a place for a new connection, and the one that it replaces.

        Without a place there is no room: every connection is being answered.
        """
        counts, bounds = self._counts, self.bounds
        gone = None
        if counts.networks[network] >= bounds.network:
            gone = next(iter(self._awaited.get(network, ())), None)
            if gone is None:
                return None, None
        elif counts.strangers >= bounds.strangers:
            gone = next(iter(self._order), None)
            if gone is None:
                return None, None
        if gone is not None:
            self.close(gone)
        place = Place(network)
        self._places[place] = None
        counts.strangers += 1
        counts.networks[network] += 1
        self.await_request(place, now_ns)
        return place, gone

    def close(self, place: Place) -> None:
        """Release a place; a second call does nothing."""
        if not place.is_open:
            return
        place.is_open = False
        self.settle(place)
        del self._places[place]
        self._uncount(place)

    def _uncount(self, place: Place) -> None:
        counts = self._counts
        if place.account:
            counts.signed_in -= 1
            _less(counts.accounts, place.account)
        else:
            counts.strangers -= 1
            _less(counts.networks, place.network)

    def sign_in(self, place: Place, account: str) -> bool:
        """Move a stranger to the signed-in people's places; return whether there was room."""
        if place.account or not place.is_open:
            return True
        counts, bounds = self._counts, self.bounds
        if counts.signed_in >= bounds.signed_in or counts.accounts[account] >= bounds.account:
            return False
        due_ns = place.due_ns
        self.settle(place)
        self._uncount(place)
        place.account, place.due_ns = account, due_ns
        counts.signed_in += 1
        counts.accounts[account] += 1
        return True

    def await_request(self, place: Place, now_ns: int) -> None:
        """Wait for a complete request; a wait in progress keeps its deadline."""
        if place.due_ns is None:
            self._wait(place, now_ns + self.bounds.request_ns)

    def stall(self, place: Place, now_ns: int) -> None:
        """Wait for the client to read its answer."""
        self._wait(place, now_ns + self.bounds.stalled_ns)

    def _wait(self, place: Place, due_ns: int) -> None:
        if not place.is_open:
            return
        place.due_ns = due_ns
        if not place.account:
            self._order[place] = None
            self._awaited.setdefault(place.network, {})[place] = None

    def settle(self, place: Place) -> None:
        """End the wait: the client sent, or read, what was awaited."""
        place.due_ns = None
        self._order.pop(place, None)
        of_network = self._awaited.get(place.network)
        if of_network is not None:
            of_network.pop(place, None)
            if not of_network:
                del self._awaited[place.network]

    def overdue(self, now_ns: int) -> list[Place]:
        """Return the connections past their deadlines."""
        return [one for one in self._places if one.due_ns is not None and one.due_ns <= now_ns]


def _less(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]
