"""What the camera's looks at one card say of its face, taken together.

Each look gives every face a likelihood. However sure it is, a look may be plainly wrong, so no
look by itself counts for more than that allows; the next look at the same card is evidence of
its own, and likelihoods multiply.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from models.cards import DECK, Card

MISREAD_P: Final = 0.005
"""How often a look is sure of a face that the card does not have, at worst."""

_ANYTHING: Final = MISREAD_P / len(DECK)
_LEAST: Final = 1e-60
"""Below this a probability only says never: many looks do not underflow."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Probabilities of the faces, all equally likely before the first look.

    Attributes:
        listed: probability by face of those that any look named, the likeliest first.
        other: the most that any one face has that no look named: a look names the likeliest
            faces, and what it leaves over may all be one more.
        looks: how many looks it rests on.
    """

    listed: tuple[tuple[Card, float], ...]
    other: float
    looks: int

    @classmethod
    def of(cls, card: Card | None, candidates: Mapping[str, float]) -> "Reading | None":
        """Take one look: its candidates, or a face without any; ``None`` where it says nothing."""
        named = {Card(name): p for name, p in candidates.items()}
        if not named and card is not None:
            named = {card: 1.0}
        if not named:
            return None
        given: dict[Card, float] = {}
        for face, p in named.items():
            faces = (face,) if face.suited else _of_rank(face)
            for one in faces:
                given[one] = given.get(one, 0.0) + p / len(faces)
        rest = min(max(0.0, 1.0 - sum(given.values())), *given.values(), 1.0)
        doubted = {face: _doubted(p) for face, p in given.items()}
        return _normalised(doubted, _doubted(rest), 1)

    def and_look(self, look: "Reading") -> "Reading":
        """Return what this and another look at the same card say together."""
        faces = {face for face, _ in (*self.listed, *look.listed)}
        joint = {face: self._each(face) * look._each(face) for face in faces}
        return _normalised(joint, self.other * look.other, self.looks + look.looks)

    def p(self, card: Card) -> float:
        """Return the probability of ``card``; of any suit where it is a rank alone."""
        faces = (card,) if card.suited else _of_rank(card)
        return min(1.0, sum(self._each(face) for face in faces))

    def _each(self, card: Card) -> float:
        return next((p for face, p in self.listed if face is card), self.other)


def _of_rank(card: Card) -> tuple[Card, ...]:
    return tuple(face for face in DECK if face.rank == card.rank)


def _doubted(p: float) -> float:
    return (1.0 - MISREAD_P) * p + _ANYTHING


def _normalised(weights: Mapping[Card, float], other: float, looks: int) -> Reading:
    mass = sum(weights.values()) + other
    shares = [(face, max(weight / mass, _LEAST)) for face, weight in weights.items()]
    shares.sort(key=lambda share: (-share[1], share[0].value))
    return Reading(tuple(shares), max(other / mass, _LEAST), looks)
