"""A card on the felt as the camera last told of it."""

from dataclasses import dataclass, replace

from models.cards import Card
from models.events import CardSighted, Face

EXCLUDED_P = 0.01
"""Below this the camera says that a face is not the one."""

AGREED_P = 0.9
"""From this on the camera says that a face is the one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a card's middle lies, and its top edge's direction, clockwise from the felt's -y."""

    x_mm: float
    y_mm: float
    angle_deg: float


@dataclass(frozen=True, slots=True)
class Lying:
    """One track of the camera: since when it rests, where, and what was read of its face."""

    track: int
    at: int
    face: Face
    card: Card | None
    candidates: tuple[tuple[str, float], ...]
    place: Place
    seqs: tuple[int, ...]

    @classmethod
    def of(cls, seen: CardSighted) -> "Lying":
        """Take a card as it was sighted."""
        return cls(
            track=seen.track,
            at=seen.at or 0,
            face=seen.face,
            card=seen.card,
            candidates=tuple(seen.candidates.items()),
            place=Place(seen.x_mm, seen.y_mm, seen.angle_deg),
            seqs=(seen.seq,) if seen.seq is not None else (),
        )

    def after(self, seen: CardSighted) -> "Lying":
        """Return the card as told of again: it rests since it was first seen resting."""
        later = Lying.of(seen)
        if later.face == "up" and later.card is None and not later.candidates:
            later = replace(later, card=self.card, candidates=self.candidates)
        return replace(later, at=self.at, seqs=self.seqs + later.seqs)

    def p(self, card: Card) -> float | None:
        """Return the most that the camera gives ``card``; ``None`` where it has no opinion."""
        if self.face == "down" or (self.card is None and not self.candidates):
            return None
        if not self.candidates:
            return 1.0 if self.card is not None and same(self.card, card) else 0.0
        listed = [p for name, p in self.candidates if same(Card(name), card)]
        unlisted = max(0.0, 1.0 - sum(p for _, p in self.candidates))
        return min(1.0, sum(listed) + (0.0 if listed and card.suited else unlisted))

    def excludes(self, card: Card) -> bool:
        """Tell whether the camera says that this is not ``card``."""
        p = self.p(card)
        return p is not None and p < EXCLUDED_P

    def names(self) -> tuple[str, ...]:
        """Name the faces that the camera holds possible, the likeliest first."""
        if self.candidates:
            likeliest = sorted(self.candidates, key=lambda named: -named[1])
            return tuple(name for name, p in likeliest if p >= EXCLUDED_P)
        return (str(self.card),) if self.card is not None else ()


def same(one: Card, other: Card) -> bool:
    """Tell whether two readings may be of one face: a rank alone fits its four suits."""
    if one.suited and other.suited:
        return one is other
    return one.rank == other.rank
