"""The indices that were found in a picture, and how each was read."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Indices:
    """N indices found and read.

    Attributes:
        maps: ``(N, 2, 3)`` float32, from the index's own card frame to the picture.
        right_hand: ``(N,)`` bool.
        heat: ``(N,)`` float32.
        card_log: ``(N, 52)`` float64, logarithms of the cards' probabilities.
        none_log: ``(N,)`` float64, of its being no index.
    """

    maps: NDArray[np.float32]
    right_hand: NDArray[np.bool_]
    heat: NDArray[np.float32]
    card_log: NDArray[np.float64]
    none_log: NDArray[np.float64]

    def only(self, chosen: NDArray[np.bool_]) -> "Indices":
        """Return the chosen indices."""
        return Indices(*(getattr(self, field)[chosen] for field in Indices.__slots__))

    def with_more(self, more: "Indices") -> "Indices":
        """Append further indices."""
        fields = Indices.__slots__
        return Indices(*(np.concatenate([getattr(self, f), getattr(more, f)]) for f in fields))
