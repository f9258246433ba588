"""The look of a rectified card: its four index corners and its whole face."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM, PATCH_PX, anchor_of
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


def appearance(
    picture: NDArray[np.uint8],
    corners_px: NDArray[np.float32],
    faces_px: NDArray[np.float32] | None = None,
) -> Appearance:
    """Rectify cards of a BGR picture.

    Args:
        picture: ``(H, W, 3)``.
        corners_px: ``(N, 4, 2)``, the outlines as their indices give them: each index is cut where
            it is, wherever this deck has it.
        faces_px: ``(N, 4, 2)``, the outlines that the whole faces are cut by; the same where it is
            ``None``.
    """
    count, right_hand = len(corners_px), np.array([False, False, True, True])
    indices = np.empty((count, CORNERS, INDEX_PX[1], INDEX_PX[0], 3), np.uint8)
    size = (FACE_PX[0] + 2 * RIM_PX, FACE_PX[1] + 2 * RIM_PX)
    faces = np.empty((count, 2, size[1], size[0], 3), np.uint8)
    outlines = corners_px if faces_px is None else faces_px
    for at, (quad, outline) in enumerate(zip(corners_px, outlines, strict=True)):
        whole = _views(quad)
        onto = np.array([_beside(whole[k % 2], hand) for k, hand in enumerate(right_hand)])
        patches = cut_patches(picture, onto.astype(np.float32), right_hand, _STRAIGHT)[:, 0]
        indices[at] = [cv2.resize(p, INDEX_PX, interpolation=cv2.INTER_AREA) for p in patches]
        faces[at] = [_face(picture, end, size) for end in _views(outline)]
    return Appearance(indices, faces)


def _views(quad: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the perspective maps from the card's frame, from its top and bottom, ``(2, 3, 3)``."""
    w, h = CARD_WIDTH_MM, CARD_HEIGHT_MM
    frame = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32)
    top = cv2.getPerspectiveTransform(frame, np.asarray(quad, np.float32))
    half_turn = np.array([[-1, 0, w], [0, -1, h], [0, 0, 1.0]])
    return np.array([top, top @ half_turn], np.float64)


def _beside(whole: NDArray[np.float64], right_hand: bool) -> NDArray[np.float64]:
    """Return the map from the card's frame that holds beside one of its indices, ``(2, 3)``."""
    anchor = anchor_of(bool(right_hand))
    seen = whole @ [*anchor, 1.0]
    place = seen[:2] / seen[2]
    linear = (whole[:2, :2] - np.outer(place, whole[2, :2])) / seen[2]
    return np.column_stack([linear, place - linear @ anchor])


def ends(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return maps from the card's frame to the picture, from its top and from its bottom."""
    right, down = (quad[1] - quad[0]) / CARD_WIDTH_MM, (quad[3] - quad[0]) / CARD_HEIGHT_MM
    far = quad[0] + right * CARD_WIDTH_MM + down * CARD_HEIGHT_MM
    return np.stack(
        [np.column_stack([right, down, quad[0]]), np.column_stack([-right, -down, far])]
    )


def _face(
    picture: NDArray[np.uint8], whole: NDArray[np.float64], size: tuple[int, int]
) -> NDArray[np.uint8]:
    """Cut a whole card with its rim, averaging where the picture is finer than the cut-out."""
    step = CARD_WIDTH_MM / FACE_PX[0]
    place = whole @ np.array([[step, 0, -RIM_PX * step], [0, step, -RIM_PX * step], [0, 0, 1]])
    outline = np.array([[0, 0, 1], [size[0], 0, 1], [*size, 1], [0, size[1], 1]]) @ place.T
    corners = outline[:, :2] / outline[:, 2:]
    low = np.clip(np.floor(corners.min(0)).astype(int) - 2, 0, None)
    high = np.ceil(corners.max(0)).astype(int) + 3
    part = picture[low[1] : max(high[1], low[1]), low[0] : max(high[0], low[0])]
    if min(part.shape[:2]) < 2:
        return np.zeros((size[1], size[0], 3), np.uint8)
    area = cv2.contourArea(np.asarray(corners, np.float32))
    shrink = max(1.0, float(np.sqrt(area / (size[0] * size[1]))))
    shape = [max(2, round(side / shrink)) for side in part.shape[1::-1]]
    small = cv2.resize(part, shape, interpolation=cv2.INTER_AREA)
    x, y = np.array(shape) / part.shape[1::-1]
    into = np.array(
        [[x, 0, (0.5 - low[0]) * x - 0.5], [0, y, (0.5 - low[1]) * y - 0.5], [0, 0, 1.0]]
    )
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    edge = cv2.BORDER_REPLICATE
    cut = cv2.warpPerspective(small, into @ place, size, flags=flags, borderMode=edge)
    return np.asarray(cut, np.uint8)
