"""What several looks at one card say together of its face."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card

_FACES: Final = len(DECK)
_FLOOR: Final = 1e-4
_KEPT: Final = 12
_ALIKE: Final = 0.8
"""Correlation of two looks at one card: they share its ink, its lighting and the lens."""


class Evidence:
    """The readings of one card that lies still, and what they amount to.

    Looks at the same ink are far from independent, so their probabilities are not multiplied:
    they are averaged as logarithms, each by how much it says, and *n* agreeing looks count as
    ``n / (1 + (n - 1) * 0.8)`` of one, never more than 1.25. A look that says nothing changes
    nothing; two that contradict each other leave doubt.
    """

    def __init__(self) -> None:
        self._looks: list[NDArray[np.float64]] = []
        self.card_p: NDArray[np.float64] = np.zeros(_FACES)

    def add(self, card_p: NDArray[np.float64]) -> None:
        """Take in one calibrated reading, ``(52,)``, summing to at most 1."""
        look = np.clip(card_p, 0.0, 1.0)
        if look.sum() <= 0:
            return
        self._looks = [*self._looks, look][-_KEPT:]
        self.card_p = _pooled(self._looks)

    def best(self) -> tuple[Card | None, float]:
        """The likeliest face and its probability; ``None`` and 0 while nothing was read."""
        if not self._looks:
            return None, 0.0
        first = int(self.card_p.argmax())
        return DECK[first], float(self.card_p[first])

    def candidates(self, most: int, least_p: float) -> dict[str, float]:
        """The likeliest faces, best first, to four places."""
        order = np.argsort(-self.card_p, kind="stable")[:most]
        named = {str(DECK[int(i)]): round(min(float(self.card_p[i]), 1.0), 4) for i in order}
        return {code: p for code, p in named.items() if p >= least_p}


def agreement(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How likely two readings are of the same face."""
    return float(one @ other)


def _pooled(looks: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    if len(looks) == 1:
        return looks[0]
    full = [np.append(look, max(1.0 - look.sum(), 0.0)) for look in looks]
    logs = np.log(np.clip(full, _FLOOR, 1.0))
    says = np.array([_information(look) for look in full])
    if says.sum() <= 0:
        return np.asarray(np.mean(looks, axis=0), np.float64)
    together = float(says.sum() ** 2 / (says**2).sum())
    counts = together / (1 + (together - 1) * _ALIKE)
    mixed = np.exp(counts * (says / says.sum()) @ logs)
    return np.asarray((mixed / mixed.sum())[:_FACES], np.float64)


def _information(full: NDArray[np.float64]) -> float:
    """1 for a certain reading, 0 for one that says nothing."""
    p = full[full > 0]
    return max(0.0, 1.0 + float((p * np.log(p)).sum()) / math.log(len(full)))
