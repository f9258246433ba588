"""A sighting, and what it may mean in a story."""

from collections.abc import Callable
from typing import Final

from models.cards import Card
from models.events import Dealt, Spot
from settlement.reconcile.draws import Draw
from settlement.reconcile.sightings import Place, Sight

Room = Callable[[Card], int]
"""How many more of a face can come."""

MOVED_MM: Final = 12.0
"""A card lies elsewhere from so far on: twice what two sightings of one place differ by."""


class Option:
    """One meaning of an observation in a story."""

    def __init__(
        self,
        evidence: float,
        mistakes: float = 0.0,
        *,
        ident: int = 0,
        to: Dealt = "dealer",
        number: int = 0,
        unseen: tuple[int, ...] = (),
        served: tuple[tuple[Spot, int], ...] = (),
        kind: str = "none",
        draw: Draw | None = None,
        turned: bool = False,
        since: bool = False,
        passed: tuple[Dealt, ...] = (),
        skipped: int = 0,
        left_at: int | None = None,
        play: float = 0.0,
        as_back: bool = False,
        dealt_up: bool = False,
    ) -> None:
        self.evidence, self.mistakes, self.play = evidence, mistakes, play
        """``play`` is the part of its evidence that tells how a game usually goes on."""
        self.ident, self.to, self.number, self.unseen, self.kind = ident, to, number, unseen, kind
        self.served = served
        """Hands that got a card unseen before: spot and number."""
        self.draw, self.turned, self.since = draw, turned, since
        self.passed, self.skipped = passed, skipped
        self.left_at = left_at
        """When a card that the shoe did not read left it; ``None`` for just now."""
        self.as_back = as_back
        """Whether the face that was read is the back of a card."""
        self.dealt_up = dealt_up
        """Whether a card that nobody saw was dealt face up, and should not have been."""


class Look:
    """A sighting, read once for every story."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._of_back: Look | None = None
        self.seen = seen = sight.seen
        self.track = sight.track
        self.at = seen.at or 0
        self.face = seen.face
        self.place = Place(seen.x_mm, seen.y_mm, seen.angle_deg)
        self.reading = sight.reading
        self.afresh, self.further = sight.afresh, sight.further
        self.doubted = seen.face == "up" and seen.card is None
        """Whether it shows a face, and not certainly which."""
        self.as_back = False
        """Whether what was read as a face is taken for a back."""
        self.seqs: tuple[int, ...] = () if seen.seq is None else (seen.seq,)

    @property
    def of_back(self) -> "Look":
        """The look as one at the back of a card, which was read as a face."""
        if self._of_back is None:
            self._of_back = other = Look(self._sight)
            other.face, other.reading, other.doubted, other.as_back = "down", None, False, True
        return self._of_back
