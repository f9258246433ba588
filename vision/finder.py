"""Find index anchors and card backs in a picture: decode the detector's heat maps."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.networks import Network

CELL_PX: Final = 4  # a cell of the heat map, by the network's design
NOMINAL_PX: Final = 64.0
"""Pixels. The card width that lengths in the network's output refer to."""
STRIDE_PX: Final = 16
"""Pixels. The sides of the network's input are multiples of it."""
PEAK_P: Final = 0.25
"""Probability. Lower heat is not reported."""


@dataclass(frozen=True, slots=True)
class Found:
    """N indices and M backs, in pixels of the picture.

    Attributes:
        anchors: ``(N, 2)`` float32, each index's anchor.
        ups, rights: ``(N, 2)`` float32, pixels travelled for one card width to the card's top
            and to its right.
        right_hand: ``(N,)`` bool, the index stands in a top right corner.
        heat: ``(N,)`` float32, probability that it is there.
        back_points: ``(M, 2)`` float32, a point of what is visible of each back.
        back_middles: ``(M, 2)`` float32, middles of whole backs; back_ups, back_rights and
            back_heat as for indices, their direction known up to half a turn.
    """

    anchors: NDArray[np.float32]
    ups: NDArray[np.float32]
    rights: NDArray[np.float32]
    right_hand: NDArray[np.bool_]
    heat: NDArray[np.float32]
    back_points: NDArray[np.float32]
    back_middles: NDArray[np.float32]
    back_ups: NDArray[np.float32]
    back_rights: NDArray[np.float32]
    back_heat: NDArray[np.float32]

    def moved(self, scale: float, shift: NDArray[np.float32]) -> "Found":
        """Return the same finds in a picture ``scale`` times as large, moved by ``shift``."""
        half = np.float32(0.5)
        return Found(
            (self.anchors + half) * np.float32(scale) - half + shift,
            self.ups * np.float32(scale),
            self.rights * np.float32(scale),
            self.right_hand,
            self.heat,
            (self.back_points + half) * np.float32(scale) - half + shift,
            (self.back_middles + half) * np.float32(scale) - half + shift,
            self.back_ups * np.float32(scale),
            self.back_rights * np.float32(scale),
            self.back_heat,
        )


def join(parts: list[Found]) -> Found:
    """Combine the finds of several runs."""
    fields = Found.__slots__
    return Found(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def find(network: Network, picture: NDArray[np.uint8]) -> Found:
    """Find everything in a picture ``(H, W, 3)`` whose cards are about 64 px wide."""
    height, width = picture.shape[:2]
    below, right = -height % STRIDE_PX, -width % STRIDE_PX
    padded = cv2.copyMakeBorder(picture, 0, below, 0, right, cv2.BORDER_REPLICATE)
    answer = network.run(np.asarray(padded, np.uint8)[None])[0]
    return decode(answer)


def decode(answer: NDArray[np.float32]) -> Found:
    """Convert the network's output ``(14, H/4, W/4)`` into points in pixels of its input."""
    left, right = _peaks(answer[0]), _peaks(answer[1])
    index = np.concatenate([left, right])
    right_hand = np.repeat([False, True], [len(left), len(right)])
    heat = answer[right_hand.astype(int), index[:, 0], index[:, 1]]
    back = _peaks(answer[2])
    of_index, of_back = answer[:, index[:, 0], index[:, 1]], answer[:, back[:, 0], back[:, 1]]
    angle = np.arctan2(of_back[10], of_back[9]) / 2
    points = _points(back, of_back)
    way = np.stack([np.cos(angle), np.sin(angle)], 1) * NOMINAL_PX * np.exp(of_back[11:12].T)
    return Found(
        _points(index, of_index),
        (of_index[5:7].T * NOMINAL_PX).astype(np.float32),
        (of_index[7:9].T * NOMINAL_PX).astype(np.float32),
        right_hand,
        heat.astype(np.float32),
        points,
        (points + of_back[12:14].T * NOMINAL_PX).astype(np.float32),
        way.astype(np.float32),
        (way[:, ::-1] * [-1, 1]).astype(np.float32),
        answer[2, back[:, 0], back[:, 1]].astype(np.float32),
    )


def _peaks(heat: NDArray[np.float32]) -> NDArray[np.int64]:
    """Rows and columns of the local maxima above the threshold, ``(K, 2)``."""
    top = cv2.dilate(heat, np.ones((3, 3), np.uint8))
    return np.argwhere((heat >= top) & (heat > PEAK_P))


def _points(cells: NDArray[np.int64], values: NDArray[np.float32]) -> NDArray[np.float32]:
    at = (cells[:, ::-1] + 0.5 + values[3:5].T) * CELL_PX
    return np.asarray(at, np.float32)
