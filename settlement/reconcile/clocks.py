"""Whether a camera's clock and the shoe's are one: the same faces come to both in the same order.

A card lies still about half a second after the shoe read it. Where the last faces that a camera
read fit the shoe's cards, but all sooner or later by the same time, or by a time that grows evenly,
the clocks part. One card that was seen late, misread, or of which another lies there tells nothing.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final, TypeAlias

from models.cards import Card
from models.events import CardSighted, Observation, ShoeCardRead, ShoeLoaded
from settlement.reconcile.timing import MS, SECOND

_Shown: TypeAlias = tuple[int, Card]

_LEAST_LAG_NS: Final = 150 * MS
_MOST_LAG_NS: Final = 1_100 * MS
"""From the shoe's mouth a card comes to rest within these times. Of 776 cards of simulated sessions
all but three took 0.43 to 0.58 s. What the reckoning takes for granted bears 0.5 s
more: at 0.7 s wagers were settled out of order in two sessions of three."""
_MOST_LAG_BESIDE_NS: Final = 1_250 * MS
"""The same beside a camera whose clock is sound: the first camera to see a card times it."""
_KEPT: Final = 8
"""Cards of each face that a sensor's cards are compared with: eight decks."""
_FIT_NS: Final = 350 * MS
"""A card fits the lag of the others within this time. Chosen, as are those below."""
_STEEPEST: Final = 0.5
"""The rate of a clock is off by this share at most."""
_NEAR_NS: Final = 60 * SECOND
_WINDOWS: Final = ((6, 6, _NEAR_NS), (7, 6, _NEAR_NS), (10, 8, 1 << 62))
"""Cards that are compared, how many must fit, and how far off: few cards fit far off by chance. One
of seven cards of the shoe is the hole card."""
_ENDS: Final = 3
"""A lag is sought between a card of the first so many and one of the last so many."""
_SOUND: Final = 5
"""Of the last ten cards, those that came in time, from which on no lag is sought."""
_DRIFTS: Final = 0.1
"""A lag that changes by this share of the time is a rate that is off; few cards tell no less."""


class Lag:
    """By how much a camera's times are later than the shoe's."""

    def __init__(self, at: int, lag_ns: float, rate: float) -> None:
        self.at, self.lag_ns, self.rate = at, lag_ns, rate

    def in_words(self, source: str) -> str:
        """Say how the clocks part."""
        off_s = (self.lag_ns - 500 * MS) / SECOND
        way = "ahead of" if off_s > 0 else "behind"
        text = f"the clock of {source} is about {abs(off_s):.1f} s {way} the shoe's"
        if abs(self.rate) < _DRIFTS:
            return text
        return f"{text} and runs about {abs(self.rate):.0%} {'fast' if self.rate > 0 else 'slow'}"


class _Cards:
    """The cards that a sensor reported: the newest, and when each face came lately."""

    def __init__(self) -> None:
        self.newest: deque[_Shown] = deque(maxlen=_WINDOWS[-1][0])
        self._times: dict[Card, deque[int]] = {}

    def add(self, at: int, card: Card) -> None:
        """Take in a card."""
        self.newest.append((at, card))
        self._times.setdefault(card, deque(maxlen=_KEPT)).append(at)

    def lags(self, one: _Shown, sign: int) -> list[int]:
        """Return by how much a card of another sensor is later than each of its face, or sooner."""
        return [sign * (one[0] - at) for at in self._times.get(one[1], ())]


class Clocks:
    """Compares every camera's clock with the shoe's."""

    def __init__(self) -> None:
        self._drawn = _Cards()
        self._seen: dict[str, _Cards] = {}
        self.parted: dict[str, str] = {}
        """How each camera's clock parts from the shoe's; without those that agree."""

    def take(self, observation: Observation) -> None:
        """Take in what a sensor reported."""
        match observation:
            case ShoeLoaded():
                # A start between two shoes knows no card of the shoe, and finds this anew.
                self._drawn = _Cards()
                self.parted.clear()
            case ShoeCardRead(card=Card() as card):
                self._drawn.add(observation.at or 0, card)
                for source, seen in self._seen.items():
                    self._compare(source, self._drawn, seen, -1)
            case CardSighted(change="new", face="up", card=Card() as card):
                own = self._seen.setdefault(observation.source, _Cards())
                own.add(observation.at or 0, card)
                self._compare(observation.source, own, self._drawn, 1)

    def _compare(self, source: str, own: _Cards, others: _Cards, sign: int) -> None:
        """Compare the newest cards of one sensor with those of the other."""
        newest = [*own.newest]
        lags = [others.lags(one, sign) for one in newest]
        most_ns = self._most_lag_ns(source)
        usual = sum([any(_is_usual(lag, most_ns) for lag in its) for its in lags])
        if source in self.parted:
            if usual >= _WINDOWS[-1][1]:
                del self.parted[source]
            return
        if usual >= _SOUND:
            return
        for cards, fitting, far_ns in _WINDOWS:
            if len(newest) < cards:
                continue
            lag = _lag(newest[-cards:], lags[-cards:], fitting, far_ns)
            if lag is not None and not _is_usual(lag.lag_ns, most_ns):
                self.parted[source] = lag.in_words(source)
                return

    def _most_lag_ns(self, source: str) -> int:
        """Return how long cards may be carried by the clock of a camera."""
        sound = self._seen.keys() - self.parted.keys() - {source}
        return _MOST_LAG_BESIDE_NS if sound else _MOST_LAG_NS


def _is_usual(lag_ns: float, most_ns: int) -> bool:
    """Return whether cards are carried for so long."""
    return _LEAST_LAG_NS <= lag_ns <= most_ns


def _lag(
    own: Sequence[_Shown], all_lags: Sequence[Sequence[int]], fitting: int, far_ns: int
) -> Lag | None:
    """Return the lag that so many of the cards have, as a line over their times."""
    lags = [[lag for lag in its if abs(lag) <= far_ns] for its in all_lags]
    if sum(map(bool, lags)) < fitting:
        return None
    last_at = own[-1][0]
    for first in range(_ENDS):
        for last in range(len(own) - _ENDS, len(own)):
            passed_ns = own[last][0] - own[first][0]
            if passed_ns <= 0:
                continue
            for begin in lags[first]:
                for end in lags[last]:
                    rate = (end - begin) / passed_ns
                    if abs(rate) > _STEEPEST:
                        continue
                    if _fits(own, lags, own[last][0], end, rate) >= fitting:
                        now_ns = end + rate * (last_at - own[last][0])
                        return Lag(last_at, now_ns, rate)
    return None


def _fits(
    own: Sequence[_Shown], lags: Sequence[Sequence[int]], at: int, lag_ns: int, rate: float
) -> int:
    """Return how many cards have the lag of a line."""
    found = 0
    for (own_at, _), its in zip(own, lags, strict=True):
        due_ns = lag_ns + rate * (own_at - at)
        found += any(abs(lag - due_ns) <= _FIT_NS for lag in its)
    return found
