"""Where the cards come from, by one story: what left the shoe and did not come to rest yet."""

from math import exp, log
from typing import Final

from models.events import CardBoxed, CardBurned, CutCardReached, ShoeStarted
from settlement.reckoning.odds import (
    HIDDEN,
    HIDDEN_LONG_NS,
    MISSED,
)
from settlement.reconcile.draws import Draw
from settlement.reconcile.timing import CARRY_NS, SECOND

_SEEN_BY_NS: Final = CARRY_NS + SECOND * 4 // 5
"""A card that no arm hides is reported by then: the next card comes no sooner."""


def _unseen_for(since_ns: int) -> float:
    """Return how likely a card that left the shoe so long ago was not seen yet."""
    if since_ns <= _SEEN_BY_NS:
        return 1.0
    return MISSED + HIDDEN * exp((_SEEN_BY_NS - since_ns) / HIDDEN_LONG_NS)


class Supply:
    """Cards and reports on their way to the felt."""

    def __init__(self) -> None:
        self.drawn: list[Draw] = []
        """Cards that left the shoe and did not come to rest yet, in order."""
        self.boxed: list[Draw] = []
        """Cards that were found face up in the shoe."""
        self.entered: list[CardBurned | CardBoxed] = []
        """What people stated of cards that the shoe did not read yet."""
        self.disconnected = False
        """Whether nobody hears the shoe's reader."""
        self.fresh_shoe: ShoeStarted | None = None
        """A shoe was loaded, and no card of it was dealt."""
        self.cut_card: CutCardReached | None = None
        """The cut card came, and the next round was not opened yet."""

    def unseen_until(self, now_ns: int) -> float:
        """Return how likely no camera saw the cards on their way by now, as a logarithm."""
        return sum(log(_unseen_for(now_ns - draw.at)) for draw in self.drawn if draw.certain)

    def copy(self) -> "Supply":
        """Return a copy for another story."""
        other = Supply()
        other.drawn, other.boxed = self.drawn[:], self.boxed[:]
        other.entered, other.fresh_shoe = self.entered[:], self.fresh_shoe
        other.cut_card, other.disconnected = self.cut_card, self.disconnected
        return other
