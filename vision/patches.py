"""Cut the rectified index patches and read them with the classifier."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, RANKS, SUITS
from vision.corners import PATCH_PX, PATCH_PX_PER_MM, patch_map
from vision.networks import Network

RANK_OF: Final = np.array([RANKS.index(card.rank) for card in DECK])
SUIT_OF: Final = np.array([SUITS.index(card.suit) for card in DECK])
NUDGES_MM: Final = ((0.0, 0.0, 1.0), (0.9, 0.6, 1.05), (-0.9, -0.6, 0.95))
"""Each index is read this often, a little off each time: to the right, down, scale."""
HOPELESS: Final = 0.98
"""What looks like no index with this chance at the first reading is not read again."""


@dataclass(frozen=True, slots=True)
class Readings:
    """N indices as read, in natural logarithms of calibrated probabilities.

    Attributes:
        card_log: ``(N, 52)`` float64, of each card.
        none_log: ``(N,)`` float64, of its being no index; with the cards, they sum to 1.
    """

    card_log: NDArray[np.float64]
    none_log: NDArray[np.float64]


def read_indices(
    network: Network,
    picture: NDArray[np.uint8],
    maps: NDArray[np.float32],
    right_hand: NDArray[np.bool_],
) -> Readings:
    """Read each index: once, and where that shows an index, nudged as well."""
    first = interpret(network, cut_patches(picture, maps, right_hand, NUDGES_MM[:1]))
    again = np.flatnonzero(first.none_log < np.log(HOPELESS))
    every = interpret(network, cut_patches(picture, maps[again], right_hand[again], NUDGES_MM))
    first.card_log[again], first.none_log[again] = every.card_log, every.none_log
    return first


def interpret(network: Network, patches: NDArray[np.uint8]) -> Readings:
    """Run patches ``(N, nudges, 64, 40, 3)`` and join what their nudges say."""
    n, nudges = patches.shape[:2]
    if n == 0:
        return Readings(np.zeros((0, 52)), np.zeros(0))
    logits = network.run(patches.reshape(-1, *patches.shape[2:])).astype(np.float64)
    logits = logits.reshape(n, nudges, -1).mean(1)
    calibration = network.manifest["calibration"]
    rank = log_softmax(logits[:, :14] / calibration["rank_temperature"])
    suit = log_softmax(logits[:, 14:] / calibration["suit_temperature"])
    return Readings(rank[:, RANK_OF] + suit[:, SUIT_OF], rank[:, 13])


def cut_patches(
    picture: NDArray[np.uint8],
    maps: NDArray[np.float32],
    right_hand: NDArray[np.bool_],
    nudges: tuple[tuple[float, float, float], ...] = NUDGES_MM,
) -> NDArray[np.uint8]:
    """Cut each index's patches, ``(N, nudges, 64, 40, 3)`` uint8."""
    patches = np.empty((len(maps), len(nudges), PATCH_PX[1], PATCH_PX[0], 3), np.uint8)
    layers = {0: picture}
    for at, (onto, right) in enumerate(zip(maps, right_hand, strict=True)):
        layer, scale = _layer(layers, onto)
        for number, (x, y, grow) in enumerate(nudges):
            place = patch_map(onto, bool(right)) @ _nudge(x, y, grow)
            place[:, 2] = (place[:, 2] + 0.5) / scale - 0.5
            place[:, :2] /= scale
            patches[at, number] = _cut(layer, place)
    return patches


def _nudge(x_mm: float, y_mm: float, grow: float) -> NDArray[np.float64]:
    middle_x, middle_y = PATCH_PX[0] / 2, PATCH_PX[1] / 2
    x = x_mm * PATCH_PX_PER_MM + middle_x * (1 - grow)
    y = y_mm * PATCH_PX_PER_MM + middle_y * (1 - grow)
    return np.array([[grow, 0, x], [0, grow, y], [0, 0, 1]])


def _layer(
    layers: dict[int, NDArray[np.uint8]], onto: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], int]:
    """Pick the picture, halved as often as keeps every pixel in the patch's say."""
    px_per_mm = float(np.sqrt(abs(np.linalg.det(onto[:, :2]))))
    halvings = max(0, int(np.floor(np.log2(max(px_per_mm, 1e-3) / PATCH_PX_PER_MM * 0.8))))
    if halvings not in layers:
        scale = 1.0 / (1 << halvings)
        smaller = cv2.resize(layers[0], None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        layers[halvings] = np.asarray(smaller, np.uint8)
    return layers[halvings], 1 << halvings


def _cut(picture: NDArray[np.uint8], place: NDArray[np.float64]) -> NDArray[np.uint8]:
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    patch = cv2.warpAffine(picture, place, PATCH_PX, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(patch, np.uint8)


def log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithms of the probabilities that logits stand for, row by row."""
    level = logits - logits.max(-1, keepdims=True)
    return np.asarray(level - np.log(np.exp(level).sum(-1, keepdims=True)))
