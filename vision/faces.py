"""Cut out rectified whole cards and read them: pips, court figures and indices in one look.

A face is cut so that the index it was found by stands at the top. Whatever lies over the rest of
the card is in the cut too; the network must cope with it.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM, MIDDLE_MM
from vision.joining import turned
from vision.networks import Network
from vision.patches import RANK_OF, SUIT_OF, Layers, log_softmax

FACE_PX: Final = (76, 104)
"""Width and height of the cut the network reads: the card and some 2 mm round it."""
# What the face network was trained on: 76 by 104 px hold a card and its rim.
FACE_PX_PER_MM: Final = 1.12
FACE_LOOKS: Final = (
    (0.0, 0.0, 1.0, False),
    (1.6, 1.1, 1.05, True),
    (-1.6, -1.1, 0.95, False),
)
"""The looks at each face, slightly displaced: right and down in millimetres, scale, and whether
from its other end."""


def face_map(onto: NDArray[np.floating]) -> NDArray[np.float64]:
    """Map from the pixels of a face's cut to the picture, ``(2, 3)``."""
    step = 1 / FACE_PX_PER_MM
    left, top = (CARD_WIDTH_MM - FACE_PX[0] * step) / 2, (CARD_HEIGHT_MM - FACE_PX[1] * step) / 2
    place = np.array([[step, 0, left], [0, step, top], [0, 0, 1]])
    return np.asarray(onto.astype(np.float64) @ place)


def cut_faces(picture: NDArray[np.uint8], maps: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Cut faces ``(N, 104, 76, 3)`` uint8 out of a picture, by the cards' maps ``(N, 2, 3)``."""
    layers = Layers(picture, FACE_PX_PER_MM)
    faces = np.empty((len(maps), FACE_PX[1], FACE_PX[0], 3), np.uint8)
    for at, onto in enumerate(maps):
        faces[at] = layers.cut(onto, face_map(onto), FACE_PX)
    return faces


def nudged(maps: NDArray[np.float32], x_mm: float, y_mm: float, grow: float) -> NDArray[np.float32]:
    """Move cards' maps ``(N, 2, 3)`` by ``x_mm`` and ``y_mm``, and scale them about its middle."""
    linear = maps[:, :, :2].astype(np.float64)
    middles = linear @ (MIDDLE_MM + np.array([x_mm, y_mm])) + maps[:, :, 2]
    grown = linear * grow
    origins = middles - grown @ MIDDLE_MM
    return np.asarray(np.concatenate([grown, origins[:, :, None]], axis=2), np.float32)


@dataclass(frozen=True, slots=True)
class Faces:
    """N whole faces as read, in natural logarithms of probabilities, not yet calibrated.

    Attributes:
        ranks: ``(N, 14)`` float64, of each rank, and of no such card.
        suits: ``(N, 4)`` float64.
    """

    ranks: NDArray[np.float64]
    suits: NDArray[np.float64]

    def weighted(self, rank_weight: float, suit_weight: float) -> NDArray[np.float64]:
        """Return the weighted evidence for the 52 cards and for none of them, ``(N, 53)``."""
        ranks, suits = self.ranks * rank_weight, self.suits * suit_weight
        return np.column_stack([ranks[:, RANK_OF] + suits[:, SUIT_OF], ranks[:, 13]])


def read_faces(network: Network, picture: NDArray[np.uint8], maps: NDArray[np.float32]) -> Faces:
    """Read the faces of cards in every look, by their maps to the picture ``(N, 2, 3)``."""
    if not len(maps):
        return unread(0)
    other_end = np.array([turned(onto) for onto in maps], np.float32)
    places = np.concatenate(
        [nudged(other_end if end else maps, *nudge) for *nudge, end in FACE_LOOKS]
    )
    every = network.run(cut_faces(picture, places)).astype(np.float64)
    answer = every.reshape(len(FACE_LOOKS), len(maps), -1).mean(0)
    return Faces(log_softmax(answer[:, :14]), log_softmax(answer[:, 14:]))


def unread(count: int) -> Faces:
    """Return ``count`` faces without evidence."""
    return Faces(np.zeros((count, 14)), np.zeros((count, 4)))
