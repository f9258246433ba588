"""The look of a rectified card: its four index corners and its whole face."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM, PATCH_PX
from vision.patches import cut_patches

INDEX_PX: Final = (PATCH_PX[0] // 2, PATCH_PX[1] // 2)
"""Width and height of an index, at one pixel a millimetre."""
FACE_PX: Final = (32, 44)
"""Width and height of a whole card, at half a pixel a millimetre."""
RIM_PX: Final = 2
"""Pixels of extra margin on every side, so that a slightly misplaced card still fits."""
CORNERS: Final = 4
"""Top left, bottom right, top right, bottom left: the first two carry every deck's index."""
_STRAIGHT: Final = ((0.0, 0.0, 1.0),)  # one cut, as it lies: moved by x and y, enlarged


@dataclass(frozen=True, slots=True)
class Appearance:
    """N cards as they look in one picture.

    Attributes:
        indices: ``(N, 4, 32, 20, 3)`` uint8 BGR, each corner with its own end of the card up.
        faces: ``(N, 2, 48, 36, 3)`` uint8 BGR, the whole card with its rim, both ways up.
    """

    indices: NDArray[np.uint8]
    faces: NDArray[np.uint8]

    def __post_init__(self) -> None:
        n, (width, height), rim = len(self.indices), FACE_PX, 2 * RIM_PX
        indices = (n, CORNERS, INDEX_PX[1], INDEX_PX[0], 3)
        if (self.indices.shape, self.faces.shape) != (
            indices,
            (n, 2, height + rim, width + rim, 3),
        ):
            raise ValueError(f"mismatched arrays: {self.indices.shape}, {self.faces.shape}")

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, at: int) -> "Appearance":
        """Return one card alone."""
        return Appearance(self.indices[at : at + 1], self.faces[at : at + 1])


def appearance(picture: NDArray[np.uint8], corners_px: NDArray[np.float32]) -> Appearance:
    """Rectify the cards at ``corners_px`` ``(N, 4, 2)`` of a BGR picture."""
    maps = np.stack([ends(quad) for quad in corners_px.astype(np.float64)] or [_NO_ENDS])
    maps = maps[: len(corners_px)]
    indices = np.empty((len(maps), CORNERS, INDEX_PX[1], INDEX_PX[0], 3), np.uint8)
    for at, both in enumerate(maps):
        onto = np.concatenate([both, both]).astype(np.float32)
        right_hand = np.array([False, False, True, True])
        patches = cut_patches(picture, onto, right_hand, _STRAIGHT)[:, 0]
        indices[at] = [cv2.resize(p, INDEX_PX, interpolation=cv2.INTER_AREA) for p in patches]
    size = (FACE_PX[0] + 2 * RIM_PX, FACE_PX[1] + 2 * RIM_PX)
    faces = np.array([[_face(picture, end, size) for end in both] for both in maps], np.uint8)
    return Appearance(indices, faces.reshape(len(maps), 2, size[1], size[0], 3))


_NO_ENDS: Final = np.zeros((2, 2, 3))  # shape of the two maps of no card


def ends(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return maps from the card's frame to the picture, from its top and from its bottom."""
    right, down = (quad[1] - quad[0]) / CARD_WIDTH_MM, (quad[3] - quad[0]) / CARD_HEIGHT_MM
    far = quad[0] + right * CARD_WIDTH_MM + down * CARD_HEIGHT_MM
    return np.stack(
        [np.column_stack([right, down, quad[0]]), np.column_stack([-right, -down, far])]
    )


def _face(
    picture: NDArray[np.uint8], onto: NDArray[np.float64], size: tuple[int, int]
) -> NDArray[np.uint8]:
    """Cut a whole card with its rim, averaging where the picture is finer than the cut-out."""
    step = CARD_WIDTH_MM / FACE_PX[0]
    place = onto @ np.array([[step, 0, -RIM_PX * step], [0, step, -RIM_PX * step], [0, 0, 1]])
    corners = np.array([[0, 0, 1], [size[0], 0, 1], [*size, 1], [0, size[1], 1]]) @ place.T
    low = np.clip(np.floor(corners.min(0)).astype(int) - 2, 0, None)
    high = np.ceil(corners.max(0)).astype(int) + 3
    part = picture[low[1] : max(high[1], low[1]), low[0] : max(high[0], low[0])]
    if min(part.shape[:2]) < 2:
        return np.zeros((size[1], size[0], 3), np.uint8)
    shrink = max(1.0, float(np.sqrt(abs(np.linalg.det(place[:, :2])))))
    shape = [max(2, round(side / shrink)) for side in part.shape[1::-1]]
    small = cv2.resize(part, shape, interpolation=cv2.INTER_AREA)
    scale = np.array(shape) / part.shape[1::-1]
    place[:, 2] = (place[:, 2] - low + 0.5) * scale - 0.5
    place[:, :2] *= scale[:, None]
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    cut = cv2.warpAffine(small, place, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cut, np.uint8)
