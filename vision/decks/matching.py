"""The fit of cards to a deck's pictures: colour correlation, with some tolerance of place.

A fit of 1 is the same picture up to light and contrast, 0 is none. A fit becomes evidence like a
match under unknown light, contrast and noise: ``-log(1 - fit²)``.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from vision.corners import CARD_WIDTH_MM
from vision.decks.appearance import FACE_PX, INDEX_PX, RIM_PX, Appearance

PLAY_PX: Final = 2
"""Pixels of tolerance for an index or a whole card, each way."""
LEFT_BOX: Final = (2, 4, 14, 26)
"""Left, top, right, bottom in pixels of the compared part of a left-hand index."""
# Left, top, right, bottom in pixels: LEFT_BOX mirrored.
RIGHT_BOX: Final = (INDEX_PX[0] - 14, 4, INDEX_PX[0] - 2, 26)
# The face without its rim, in pixels.
WHOLE_BOX: Final = (RIM_PX, RIM_PX, RIM_PX + FACE_PX[0], RIM_PX + FACE_PX[1])
CLOSEST: Final = 0.98
"""The largest fit that counts: a higher one counts the same, so that evidence stays finite."""
COVERED_FIT: Final = -1.0
"""The fit of a part that is not compared: no evidence."""
_FLAT: Final = 1e-3  # least length of a levelled picture: a blank one correlates with nothing

Pictures: TypeAlias = NDArray[np.uint8]
Fits: TypeAlias = NDArray[np.float64]
Box: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Templates:
    """K cards at a camera's resolution, ready for comparison.

    Attributes:
        left, right: ``(P, 2K)`` float32, the two left-hand and the two right-hand indices of every
        card, each of mean 0 by colour and length 1; first all top ones, then all bottom ones.
        faces: ``(Q, K)`` float32, the same for the whole cards.
    """

    left: NDArray[np.float32]
    right: NDArray[np.float32]
    faces: NDArray[np.float32]

    @classmethod
    def of(cls, cards: Appearance, card_width_px: float) -> "Templates":
        """Make templates of cards as a camera shows them at this width in pixels."""
        coarse = card_width_px / CARD_WIDTH_MM
        ends = np.concatenate([cards.indices[:, [0, 2]], cards.indices[:, [1, 3]]])
        faces = _boxed(cards.faces[:, 0], WHOLE_BOX)
        return cls(
            left=_levelled(_boxed(_coarser(ends[:, 0], coarse), LEFT_BOX)).T,
            right=_levelled(_boxed(_coarser(ends[:, 1], coarse), RIGHT_BOX)).T,
            faces=_levelled(_coarser(faces, 2 * coarse)).T,
        )


@dataclass(frozen=True, slots=True)
class CardFits:
    """The fits of N cards to K templates.

    Attributes:
        indices: ``(N, 4, K)`` float64, each corner.
        faces: ``(N, K)`` float64, the whole card.
    """

    indices: Fits
    faces: Fits

    def where_open(
        self, corners: NDArray[np.bool_], whole: NDArray[np.bool_], on_top_fit: float
    ) -> "CardFits":
        """Remove the corners ``(N, 4)`` and the cards ``(N,)`` that may be covered.

        It is unknown which of two cards lies on top, but the top one fits its own picture: a whole
        face with a fit of ``on_top_fit`` counts whatever else lies there.
        """
        opened = corners[:, : self.indices.shape[1], None]
        shown = whole | (self.faces.max(1) >= on_top_fit)
        return CardFits(
            np.where(opened, self.indices, COVERED_FIT),
            np.where(shown[:, None], self.faces, COVERED_FIT),
        )


def fit(cards: Appearance, templates: Templates) -> CardFits:
    """Compare every card with every template."""
    count = templates.faces.shape[1]
    indices, faces = np.zeros((len(cards), 4, count)), np.zeros((len(cards), count))
    for at in range(len(cards)):
        for corner, picture in enumerate(cards.indices[at]):
            pattern, box = _of_corner(templates, corner)
            indices[at, corner] = _best(picture, box, pattern).reshape(2, count).max(0)
        faces[at] = _whole(cards.faces[at], templates.faces)
    return CardFits(indices, faces)


def right_hand_fits(cards: Appearance, templates: Templates) -> Fits:
    """Return the fit of top right corners to the *left-hand* indices of K cards, ``(N, K)``."""
    count = templates.faces.shape[1]
    best = [_best(corners[2], RIGHT_BOX, templates.left) for corners in cards.indices]
    return np.array([fits.reshape(2, count).max(0) for fits in best])


def whole_fits(card: Pictures, pictures: Pictures) -> Fits:
    """Return the fit of a card or back ``(2, 48, 36, 3)`` to pictures ``(K, 48, 36, 3)``."""
    return _whole(card, _levelled(_boxed(pictures, WHOLE_BOX)).T)


def evidence(fits: Fits) -> Fits:
    """Convert fits to evidence, on the scale of a reading's logarithms."""
    return np.asarray(-np.log(1 - np.clip(fits, 0, CLOSEST) ** 2), np.float64)


def _whole(card: Pictures, pattern: NDArray[np.float32]) -> Fits:
    """Fit a whole card, either way up."""
    return np.maximum(*[_best(end, WHOLE_BOX, pattern) for end in card])


def _of_corner(templates: Templates, corner: int) -> tuple[NDArray[np.float32], Box]:
    return (templates.left, LEFT_BOX) if corner < 2 else (templates.right, RIGHT_BOX)


def _best(picture: Pictures, box: Box, pattern: NDArray[np.float32]) -> Fits:
    """Return the best fit of a picture to each pattern over all places within the tolerance."""
    left, top, right, bottom = box
    part = picture[top - PLAY_PX : bottom + PLAY_PX, left - PLAY_PX : right + PLAY_PX]
    places = sliding_window_view(part, (bottom - top, right - left), axis=(0, 1))
    pieces = places.transpose(0, 1, 3, 4, 2).reshape(-1, bottom - top, right - left, 3)
    return np.asarray((_levelled(pieces) @ pattern).max(0), np.float64)


def _boxed(pictures: Pictures, box: Box) -> Pictures:
    left, top, right, bottom = box
    return pictures[:, top:bottom, left:right]


def _levelled(pictures: Pictures) -> NDArray[np.float32]:
    """Normalise pictures ``(N, H, W, 3)`` to mean 0 by colour and length 1, ``(N, H * W * 3)``."""
    values = pictures.reshape(len(pictures), -1, 3).astype(np.float32)
    values -= values.mean(1, keepdims=True)
    flat = values.reshape(len(pictures), -1)
    lengths = np.linalg.norm(flat, axis=1, keepdims=True)
    return np.asarray(flat / np.maximum(lengths, _FLAT), np.float32)


def _coarser(pictures: Pictures, scale: float) -> Pictures:
    """Remove detail that a camera at ``scale`` does not resolve."""
    if scale >= 1:
        return pictures
    height, width = pictures.shape[1:3]
    small = (max(4, round(width * scale)), max(4, round(height * scale)))
    reduced = (cv2.resize(p, small, interpolation=cv2.INTER_AREA) for p in pictures)
    grown = [cv2.resize(p, (width, height), interpolation=cv2.INTER_LINEAR) for p in reduced]
    return np.asarray(grown, np.uint8)
