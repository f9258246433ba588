"""A look at a card on the felt, and where it lies."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from models.cards import Card
from models.events import CardSighted
from settlement.reconcile.looks import Reading, called

Track: TypeAlias = tuple[str, int]
"""A camera, and its own identity of a card. Of several cameras the first that reported it."""

AGREED_P: Final = 0.9
"""From this on the camera says that a face is the one."""

AFRESH: Final = ("moved", "turned")
"""Changes after which the camera sees a card in another light."""


class Place:
    """Where a card's middle lies, and its top edge's direction, clockwise from the felt's -y."""

    def __init__(self, x_mm: float, y_mm: float, angle_deg: float) -> None:
        self.x_mm: Final = x_mm
        self.y_mm: Final = y_mm
        self.angle_deg: Final = angle_deg


@dataclass(frozen=True, slots=True)
class Sight:
    """One camera's look at a card, as ``settlement.reconcile.cameras`` identified it."""

    seen: CardSighted
    """As the camera reported it, but placed by all cameras, and changed as the card was."""
    track: Track
    """The card."""
    afresh: bool
    """Whether it was moved or turned since this camera's last look."""
    further: bool = False
    """Whether it is this camera's first look at a card that another camera saw before."""

    @classmethod
    def alone(cls, seen: CardSighted) -> "Sight":
        """Return a look at a card that no other camera sees."""
        return cls(seen, (seen.source, seen.track), seen.change in AFRESH)

    @property
    def reading(self) -> Reading | None:
        """What this look says of the face; ``None`` where it says nothing."""
        seen = self.seen
        if seen.face == "down":
            return None
        summed = not seen.single_look
        return Reading.of(seen.card, seen.candidates, camera=seen.source, summed=summed)


def likeliest_face(seen: CardSighted) -> Card | None:
    """Return the face that a look holds the likeliest; ``None`` where it holds none possible."""
    if not seen.candidates:
        return seen.card
    most = max(seen.candidates.values())
    return called(next(name for name, p in seen.candidates.items() if p == most))


def same(one: Card, other: Card) -> bool:
    """Tell whether two readings may be of one face: a rank alone fits its four suits."""
    if one.suited and other.suited:
        return one is other
    return one.rank == other.rank
