"""Where the cards come from, by one story: what left the shoe and did not come to rest yet."""

from models.events import CardBoxed, CardBurned, CutCardReached, ShoeStarted
from settlement.reconcile.draws import Draw


class Supply:
    """Cards and reports on their way to the felt."""

    def __init__(self) -> None:
        self.drawn: list[Draw] = []
        """Cards that left the shoe and did not come to rest yet, in order."""
        self.boxed: list[Draw] = []
        """Cards that were found face up in the shoe."""
        self.entered: list[CardBurned | CardBoxed] = []
        """What people stated of cards that the shoe did not read yet."""
        self.deaf = False
        """Whether nobody hears the shoe's reader."""
        self.fresh_shoe: ShoeStarted | None = None
        """A shoe was loaded, and no card of it was dealt."""
        self.cut_card: CutCardReached | None = None
        """The cut card came, and the next round was not opened yet."""

    def copy(self) -> "Supply":
        """Return a copy for another story."""
        other = Supply()
        other.drawn, other.boxed = self.drawn[:], self.boxed[:]
        other.entered, other.fresh_shoe = self.entered[:], self.fresh_shoe
        other.cut_card, other.deaf = self.cut_card, self.deaf
        return other
