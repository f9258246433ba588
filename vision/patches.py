"""Cut the rectified index patches and read them with the classifier."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, RANKS, SUITS
from vision.corners import PATCH_PX, PATCH_PX_PER_MM, other_hand, patch_map, unbent
from vision.networks import Network

RANK_OF: Final = np.array([RANKS.index(card.rank) for card in DECK])
SUIT_OF: Final = np.array([SUITS.index(card.suit) for card in DECK])
ANSWERS: Final = 25
"""Length of the output: fourteen ranks, "not an index" the last; four suits; six for the
misplacement of the patch; the logit of a right-hand corner."""
NUDGES_MM: Final = ((0.0, 0.0, 1.0), (0.9, 0.6, 1.06), (-0.9, -0.6, 0.94))
"""The looks at each index, slightly displaced: right and down in millimetres, scale."""
HOPELESS: Final = 0.98
"""Probability of "not an index" at the first look above which no further look is taken."""


@dataclass(frozen=True, slots=True)
class Readings:
    """N indices as read, in natural logarithms of calibrated probabilities.

    Attributes:
        card_log: ``(N, 52)`` float64, of each card.
        none_log: ``(N,)`` float64, of its being no index; with the cards, they sum to 1.
        right_hand: ``(N,)`` bool, whether it stands in a right-hand corner.
        maps: ``(N, 2, 3)`` float32, from the index's own card frame to the picture, corrected by
            the reading.
    """

    card_log: NDArray[np.float64]
    none_log: NDArray[np.float64]
    right_hand: NDArray[np.bool_]
    maps: NDArray[np.float32]


def read_indices(
    network: Network,
    picture: NDArray[np.uint8],
    maps: NDArray[np.float32],
    right_hand: NDArray[np.bool_],
) -> Readings:
    """Read each index: once, and where that shows an index, corrected and displaced as well."""
    first = read_once(network, picture, maps, right_hand, NUDGES_MM[:1])
    again = np.flatnonzero(first.none_log < np.log(HOPELESS))
    every = read_once(network, picture, first.maps[again], first.right_hand[again], NUDGES_MM)
    for field in Readings.__slots__:
        getattr(first, field)[again] = getattr(every, field)
    return first


def read_once(
    network: Network,
    picture: NDArray[np.uint8],
    maps: NDArray[np.float32],
    right_hand: NDArray[np.bool_],
    nudges: tuple[tuple[float, float, float], ...],
) -> Readings:
    """Read each index under every displacement, average the outputs, and correct its map."""
    answer = mean_answers(network, cut_patches(picture, maps, right_hand, nudges))
    calibration = network.manifest["calibration"]
    rank = log_softmax(answer[:, :14] / calibration["rank_temperature"])
    suit = log_softmax(answer[:, 14:18] / calibration["suit_temperature"])
    right = unbent(maps, answer[:, 18:24].astype(np.float32), right_hand)
    seen_right = answer[:, 24] > 0
    for at in np.flatnonzero(seen_right != right_hand):
        right[at] = other_hand(right[at], bool(right_hand[at]))
    return Readings(rank[:, RANK_OF] + suit[:, SUIT_OF], rank[:, 13], seen_right, right)


def mean_answers(
    network: Network, patches: NDArray[np.uint8], answers: int = ANSWERS
) -> NDArray[np.float64]:
    """Run patches ``(N, nudges, 64, 40, 3)``; return the means of the outputs over the nudges."""
    n, nudges = patches.shape[:2]
    if n == 0:
        return np.zeros((0, answers))
    answer = network.run(patches.reshape(-1, *patches.shape[2:])).astype(np.float64)
    return np.asarray(answer.reshape(n, nudges, -1).mean(1))


def cut_patches(
    picture: NDArray[np.uint8],
    maps: NDArray[np.float32],
    right_hand: NDArray[np.bool_],
    nudges: tuple[tuple[float, float, float], ...] = NUDGES_MM,
) -> NDArray[np.uint8]:
    """Cut each index's patches, ``(N, nudges, 64, 40, 3)`` uint8."""
    patches = np.empty((len(maps), len(nudges), PATCH_PX[1], PATCH_PX[0], 3), np.uint8)
    layers = Layers(picture, PATCH_PX_PER_MM)
    for at, (onto, right) in enumerate(zip(maps, right_hand, strict=True)):
        for number, (x, y, grow) in enumerate(nudges):
            place = patch_map(onto, bool(right)) @ _nudge(x, y, grow)
            patches[at, number] = layers.cut(onto, place, PATCH_PX)
    return patches


def _nudge(x_mm: float, y_mm: float, grow: float) -> NDArray[np.float64]:
    middle_x, middle_y = PATCH_PX[0] / 2, PATCH_PX[1] / 2
    x = x_mm * PATCH_PX_PER_MM + middle_x * (1 - grow)
    y = y_mm * PATCH_PX_PER_MM + middle_y * (1 - grow)
    return np.array([[grow, 0, x], [0, grow, y], [0, 0, 1]])


class Layers:
    """A picture, with halved copies so that a reduced cut uses every pixel.

    Args:
        picture: ``(H, W, 3)`` uint8 BGR.
        px_per_mm: the resolution of the cuts.
    """

    def __init__(self, picture: NDArray[np.uint8], px_per_mm: float) -> None:
        self._halved = {1: picture}
        self._px_per_mm = px_per_mm

    def cut(
        self, onto: NDArray[np.floating], place: NDArray[np.float64], size: tuple[int, int]
    ) -> NDArray[np.uint8]:
        """Cut a part out of the picture.

        Args:
            onto: map from the card's frame to the picture, ``(2, 3)``, which gives its size.
            place: map from the cut's pixels to the picture, ``(2, 3)``.
            size: width and height of the cut.
        """
        px_per_mm = float(np.sqrt(abs(np.linalg.det(onto[:, :2]))))
        coarser = max(px_per_mm, 1e-3) / self._px_per_mm * 0.8
        scale = 1 << max(0, int(np.floor(np.log2(coarser))))
        moved = place / scale
        moved[:, 2] = (place[:, 2] + 0.5) / scale - 0.5
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        layer, edge = self._layer(scale), cv2.BORDER_REPLICATE
        return np.asarray(
            cv2.warpAffine(layer, moved, size, flags=flags, borderMode=edge), np.uint8
        )

    def _layer(self, scale: int) -> NDArray[np.uint8]:
        if scale not in self._halved:
            share, whole = 1 / scale, self._halved[1]
            smaller = cv2.resize(whole, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
            self._halved[scale] = np.asarray(smaller, np.uint8)
        return self._halved[scale]


def log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms of the probabilities of logits, row by row."""
    level = logits - logits.max(-1, keepdims=True)
    return np.asarray(level - np.log(np.exp(level).sum(-1, keepdims=True)))
