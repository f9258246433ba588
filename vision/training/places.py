"""The detector's misplacement, which a classifier must learn to tolerate."""

import numpy as np
from numpy.typing import NDArray

from vision.training.scenes import anchor_at


def jitter(
    rng: np.random.Generator, onto: NDArray[np.float64], right_hand: bool, share: float = 1.0
) -> NDArray[np.float64]:
    """Misplace a card's map as a detector does: usually a little, at times by much.

    ``share``: the remaining share of a detector's misplacement.
    """
    far = share if rng.random() < 0.6 else 2.5 * share
    point = anchor_at(onto, right_hand)
    turn, grow = rng.normal(0, 0.06 * far), np.exp(rng.normal(0, 0.07 * far))
    c, s = np.cos(turn) * grow, np.sin(turn) * grow
    bend = np.array([[c, -s], [s, c]]) @ (np.eye(2) + rng.normal(0, 0.045 * far, (2, 2)))
    moved = np.column_stack([onto[:, :2] @ bend, [0.0, 0.0]])
    scale = np.sqrt(abs(np.linalg.det(onto[:, :2])))
    moved[:, 2] = point - anchor_at(moved, right_hand) + rng.normal(0, 0.7 * far, 2) * scale
    return moved
