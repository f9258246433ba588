"""A card on the felt as the camera last told of it."""

from dataclasses import dataclass
from typing import TypeAlias

from models.cards import Card
from models.events import CardSighted, Face
from settlement.reconcile.looks import Reading

Track: TypeAlias = tuple[str, int]
"""A camera, and its own identity of a card. Of several cameras the first that told of it."""

EXCLUDED_P = 0.01
"""Below this the camera says that a face is not the one."""

AGREED_P = 0.9
"""From this on the camera says that a face is the one."""

AFRESH = ("moved", "turned")
"""Changes after which the camera sees a card in another light."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a card's middle lies, and its top edge's direction, clockwise from the felt's -y."""

    x_mm: float
    y_mm: float
    angle_deg: float


@dataclass(frozen=True, slots=True)
class Sight:
    """One camera's look at a card, as ``settlement.reconcile.cameras`` identified it."""

    seen: CardSighted
    """As the camera told of it, but placed by all cameras, and changed as the card was."""
    track: Track
    """The card."""
    afresh: bool
    """Whether it was moved or turned since this camera's last look."""

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


@dataclass(frozen=True, slots=True)
class Lying:
    """One card that the cameras see: since when it rests, where, and what was read of its face."""

    track: Track
    at: int
    face: Face
    card: Card | None
    """The face that the camera holds beyond doubt."""
    reading: Reading | None
    """What all its looks at the face say; ``None`` where it has no opinion."""
    place: Place
    seqs: tuple[int, ...]

    @classmethod
    def of(cls, sight: Sight) -> "Lying":
        """Take a card as it was sighted."""
        seen = sight.seen
        return cls(
            track=sight.track,
            at=seen.at or 0,
            face=seen.face,
            card=seen.card,
            reading=sight.reading,
            place=Place(seen.x_mm, seen.y_mm, seen.angle_deg),
            seqs=(seen.seq,) if seen.seq is not None else (),
        )

    def after(self, later: "Lying", sight: Sight) -> "Lying":
        """Return the card as told of again: it rests since it was first seen resting.

        Args:
            later: the card as it was sighted again.
            sight: that sighting.
        """
        card, reading = later.card, later.reading
        if later.face == "up":
            reading = self._with_look(reading, afresh=sight.afresh)
            card = card or (self.card if sight.seen.single_look or later.reading is None else None)
            if card is not None and reading is not None and reading.p(card) < AGREED_P:
                card = None
        return Lying(
            later.track, self.at, later.face, card, reading, later.place, self.seqs + later.seqs
        )

    def since(self, at: int) -> "Lying":
        """Return it as one that rests since then."""
        return Lying(self.track, at, self.face, self.card, self.reading, self.place, self.seqs)

    def _with_look(self, look: Reading | None, *, afresh: bool) -> Reading | None:
        if look is None or self.reading is None:
            return look or self.reading
        return self.reading.and_look(look, afresh=afresh)

    def p(self, card: Card) -> float | None:
        """Return what the camera gives ``card``; ``None`` where it has no opinion."""
        return None if self.reading is None else self.reading.p(card)

    def excludes(self, card: Card) -> bool:
        """Tell whether the camera says that this is not ``card``."""
        p = self.p(card)
        return p is not None and p < EXCLUDED_P

    def names(self) -> tuple[str, ...]:
        """Name the faces that the camera holds possible, the likeliest first."""
        if self.reading is None:
            return ()
        return tuple(str(face) for face, p in self.reading.listed if p >= EXCLUDED_P)


def same(one: Card, other: Card) -> bool:
    """Tell whether two readings may be of one face: a rank alone fits its four suits."""
    if one.suited and other.suited:
        return one is other
    return one.rank == other.rank
