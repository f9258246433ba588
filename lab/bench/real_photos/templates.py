"""A rival: templates of a known deck's corners, matched where each card is known to lie.

It is given what a reader has to find out, every card's true corners and pictures of the very
deck, and needs no network. Its templates are the corners in the other photographs at their full
size; rank and suit are those of the template that correlates best.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.bench.real_photos.truth import Photograph, photographs
from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.joining import turned
from vision.patches import NUDGES_MM, cut_patches

MARGIN_PX = 3
"""A template is this much smaller than the patch it is slid over, on every side."""


@dataclass(frozen=True)
class Matched:
    """How many cards were matched, how many rightly, and how long it took."""

    cards: int
    right: int
    seconds: float


def match_set(folder: Path, scale: float) -> Matched:
    """Match every card of a set reduced to ``scale`` against the set's other photographs."""
    whole = [(photo, _corners(photo, 1.0)) for photo in photographs(folder)]
    cards = right = 0
    seconds = 0.0
    for photo, _ in whole:
        known = [
            (card.card, patch)
            for other, patches in whole
            if other is not photo
            for card, both in zip(other.cards, patches, strict=True)
            for patch in both
        ]
        seen = _corners(photo, scale)
        began = time.perf_counter()
        told = [_best(both, known) for both in seen]
        seconds += time.perf_counter() - began
        cards += len(told)
        right += sum(card.card == name for card, name in zip(photo.cards, told, strict=True))
    return Matched(cards, right, seconds)


def _corners(photo: Photograph, scale: float) -> list[NDArray[np.uint8]]:
    """Both corners of every card, grey, ``(2, 64, 40)``, cut out by the card's true outline."""
    picture = cv2.imread(str(photo.path), cv2.IMREAD_COLOR)
    assert picture is not None, photo.path
    sized = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    cut = []
    for card in photo.cards:
        assert card.quad is not None, photo.path
        onto = _map(np.array(card.quad) * scale)
        maps = np.array([onto, turned(onto)], np.float32)
        patches = cut_patches(np.asarray(sized, np.uint8), maps, np.zeros(2, bool), NUDGES_MM[:1])
        cut.append(np.stack([cv2.cvtColor(p, cv2.COLOR_BGR2GRAY) for p in patches[:, 0]]))
    return [np.asarray(both, np.uint8) for both in cut]


def _map(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """The affine map from a card's frame that fits its four corners best."""
    w, h = CARD_WIDTH_MM, CARD_HEIGHT_MM
    frame = np.array([[0, 0, 1], [w, 0, 1], [w, h, 1], [0, h, 1]])
    return np.asarray(np.linalg.lstsq(frame, quad, rcond=None)[0].T, np.float64)


def _best(both: NDArray[np.uint8], known: list[tuple[str, NDArray[np.uint8]]]) -> str:
    inner = slice(MARGIN_PX, -MARGIN_PX)
    scores = [
        (float(cv2.matchTemplate(seen, like[inner, inner], cv2.TM_CCOEFF_NORMED).max()), name)
        for name, like in known
        for seen in both
    ]
    return max(scores)[1]
