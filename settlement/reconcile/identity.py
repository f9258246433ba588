"""Which card it is, by what the shoe said and what the camera's looks say, taken together."""

from dataclasses import dataclass
from typing import Final

from models.cards import Card
from settlement.reconcile.looks import Reading

_SHOE_MISREAD_P: Final = 0.001
"""How often the shoe's reader says a face that the card does not have, at worst."""

_EACH: Final = _SHOE_MISREAD_P / 51

SETTLED_ODDS: Final = 20_000.0
"""Where shoe and camera disagree, one face is believed once it is so much likelier."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The likeliest face, and how many times likelier it is than the next."""

    card: Card
    odds: float

    @property
    def settled(self) -> bool:
        """Whether a disagreement of the sensors is settled by it."""
        return self.odds >= SETTLED_ODDS


def identity(said: Card, reading: Reading) -> Identity:
    """Weigh the face that the shoe ``said`` against those that the camera named."""
    weights = {face: p * _shoe(said, face) for face, p in reading.listed}
    if said.suited and said not in weights:
        weights[said] = reading.p(said) * _shoe(said, said)
    ranked = sorted(weights.items(), key=lambda weighed: -weighed[1])
    rest = reading.other * _EACH
    second = max(ranked[1][1], rest) if len(ranked) > 1 else rest
    return Identity(ranked[0][0], ranked[0][1] / second)


def _shoe(said: Card, face: Card) -> float:
    agrees = said is face if said.suited else said.rank == face.rank
    return 1.0 - _SHOE_MISREAD_P if agrees else _EACH
