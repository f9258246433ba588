"""Combine several looks at one card into probabilities of its face."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card

_FACES: Final = len(DECK)
_FLOOR: Final = 1e-4
"""Probability that a look leaves, at least, to every other face."""
_KEPT: Final = 12  # looks; older ones are forgotten. Chosen, not measured


class Evidence:
    """The readings of one resting card, combined.

    Looks at one card share its ink, its lighting and the lens, and may share an error. Of looks
    that agree, only the most certain counts. Another look at a card that is less visible neither
    takes away nor adds. Looks that contradict each other do not share an error: the most certain of
    each side are multiplied as if independent. No look excludes a face by itself, so two certain
    contradicting ones leave doubt.
    """

    def __init__(self) -> None:
        self._looks: list[NDArray[np.float64]] = []
        self.card_p: NDArray[np.float64] = np.zeros(_FACES)

    def add(self, card_p: NDArray[np.float64]) -> None:
        """Add one calibrated reading, ``(52,)``, with a sum of at most 1."""
        look = np.clip(card_p, 0.0, 1.0)
        if look.sum() <= 0:
            return
        self._looks = [*self._looks, look][-_KEPT:]
        self.card_p = _pooled(self._looks)

    def best(self) -> tuple[Card | None, float]:
        """Return the most likely face and its probability; ``None`` and 0 without a reading."""
        if not self._looks:
            return None, 0.0
        first = int(self.card_p.argmax())
        return DECK[first], float(self.card_p[first])


def candidates(card_p: NDArray[np.float64], most: int, least_p: float) -> dict[str, float]:
    """Return the most likely faces of ``(52,)`` probabilities, best first, to four places."""
    order = np.argsort(-card_p, kind="stable")[:most]
    named = {str(DECK[int(i)]): round(min(float(card_p[i]), 1.0), 4) for i in order}
    return {code: p for code, p in named.items() if p >= least_p}


def agreement(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the probability that two readings are of the same face."""
    return float(one @ other)


def _pooled(looks: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    sides: dict[int, list[NDArray[np.float64]]] = {}
    for look in looks:
        sides.setdefault(int(look.argmax()), []).append(look)
    surest = [max(side, key=lambda look: float(look.max())) for side in sides.values()]
    if len(surest) == 1:
        return surest[0]
    full = [np.append(look, max(1.0 - look.sum(), 0.0)) for look in surest]
    logs = np.log(np.clip(full, _FLOOR, 1.0)).sum(0)
    joint = np.exp(logs - logs.max())
    return np.asarray((joint / joint.sum())[:_FACES], np.float64)
