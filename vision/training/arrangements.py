"""How cards lie together in a training scene: cascades, rows, fans, heaps."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Pose = tuple[float, float, float]
"""Middle of a card on the felt in millimetres, and its turn clockwise in radians."""


def rotation(angle: float) -> NDArray[np.float64]:
    """Return a turn by ``angle`` radians, ``(2, 2)``."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def hand_poses(
    rng: np.random.Generator, field: float, down: float = 0.0
) -> list[tuple[Pose, bool]]:
    """Choose a hand's arrangement: its cards' poses, and whether they lie face up.

    ``down`` is the share of added hands face down, almost squared up.
    """
    middle = rng.uniform(-0.5, 0.5, 2) * field
    angle = rng.uniform(0, 2 * np.pi)
    if down and rng.random() < down:
        local = _dealt_down(rng)
    else:
        local = _ARRANGEMENTS[rng.choice(len(_ARRANGEMENTS), p=_SHARES)](rng)
    turn, found = rotation(angle), []
    for x, y, a, up in local:
        at = middle + turn @ (np.array([x, y]) + rng.normal(0, 1.5, 2))
        found.append(((float(at[0]), float(at[1]), angle + a + rng.normal(0, 0.05)), up))
    return found


Local = list[tuple[float, float, float, bool]]


def _cascade(rng: np.random.Generator) -> Local:
    step = np.array([rng.uniform(12, 30), rng.uniform(-24, 4)])
    n = int(rng.integers(1, 7))
    cards: Local = [(*(step * k), 0.0, True) for k in range(n)]
    if rng.random() < 0.2:
        x, y = step * n + [9, 0]
        cards.append((x, y, np.pi / 2 * rng.choice([-1, 1]), True))
    return cards


def _row(rng: np.random.Generator) -> Local:
    pitch = rng.uniform(64, 78)
    return [(k * pitch, 0.0, 0.0, rng.random() < 0.85) for k in range(int(rng.integers(1, 5)))]


def _hole_card(rng: np.random.Generator) -> Local:
    shift = rng.uniform(15, 45) * rng.choice([-1, 1])
    cards: Local = [(shift, rng.uniform(-15, 15), 0.0, False), (0.0, 0.0, 0.0, True)]
    return cards if rng.random() < 0.7 else cards[::-1]


def _backs(rng: np.random.Generator) -> Local:
    n = int(rng.integers(1, 4))
    step = rng.uniform(-30, 30, 2)
    return [(*(step * k), rng.normal(0, 0.2), False) for k in range(n)]


def _dealt_down(rng: np.random.Generator) -> Local:
    """Lay the cards of a hand face down almost squared up: strips of the lower ones show."""
    n = 2 if rng.random() < 0.75 else int(rng.integers(1, 5))
    step = np.array([rng.uniform(4, 26), rng.uniform(-12, 12)]) * rng.choice([-1, 1], 2)
    return [(*(step * k), rng.normal(0, 0.03), False) for k in range(n)]


def _fan(rng: np.random.Generator) -> Local:
    n, spread, reach = int(rng.integers(2, 8)), rng.uniform(0.1, 0.45), rng.uniform(60, 160)
    angles = (np.arange(n) - n / 2) * spread
    return [(reach * np.sin(a), reach - reach * np.cos(a), float(a), True) for a in angles]


def _heap(rng: np.random.Generator) -> Local:
    n = int(rng.integers(2, 9))
    return [
        (*rng.normal(0, 45, 2), rng.uniform(0, 2 * np.pi), rng.random() < 0.85) for _ in range(n)
    ]


def _spread(rng: np.random.Generator) -> Local:
    step = rng.uniform(8, 22)
    return [(k * step, 0.0, 0.0, True) for k in range(int(rng.integers(3, 12)))]


_ARRANGEMENTS: Final = (_cascade, _row, _hole_card, _backs, _fan, _heap, _spread, _dealt_down)


# Probabilities of the arrangements, in the order of ``_ARRANGEMENTS``. Chosen, not measured.
_SHARES: Final = (0.28, 0.1, 0.15, 0.08, 0.09, 0.11, 0.04, 0.15)
