"""Dark decks: light signs on black. They are read in the inverted picture.

The networks learnt dark signs on white. In the inverted picture a dark deck looks like that.
"""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.sightings import Sightings

GROUND_LEVEL: Final = 96
"""Grey level, of 255. A darker ground may be that of a dark deck. Chosen, not measured."""
SIGN_LEVELS: Final = 50
"""Grey levels by which a dark deck's signs are lighter than its ground, at least. Chosen."""
GROUND_SHARE: Final = 60
"""Percentile of a card's levels that is still ground; figures leave less of it. Chosen."""
SIGN_SHARE: Final = 97  # percentile of a card's levels that is sign; chosen
_SEARCH_PX: Final = 16.0
"""Width of a card, in pixels, when a picture is searched for dark ones."""
# Chosen so that the hands and sleeves of filmed tables rarely look like a dark card.
_LEAST_CARDS, _MOST_CARDS = 0.5, 3.0  # cards' areas that a dark piece takes
_FILLED: Final = 0.7  # share of the rectangle round a dark piece that it fills
_COLOURED: Final = 40  # grey levels between the channels from which on a ground is no black
_LEAST_SIGNS: Final = 0.03  # share of a dark card that its signs take, at least
_SAMPLE_PX: Final = (24, 34)  # width and height of the sample of a card
_RIM: Final = 0.08  # share of a card's sides left out of the sample: its border and what is beside


def inverted(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the negative of a picture."""
    return np.asarray(cv2.bitwise_not(picture), np.uint8)


def may_be_dark(picture: NDArray[np.uint8], corners_px: NDArray[np.float32]) -> bool:
    """Return whether a find ``(4, 2)`` shows light signs on a dark ground."""
    across, down = _SAMPLE_PX
    margin = np.array([across, down]) * _RIM
    low, high = -margin, np.array([across, down]) + margin
    frame = np.array([low, (high[0], low[1]), (low[0], high[1])], np.float32)
    onto = cv2.getAffineTransform(corners_px[[0, 1, 3]], frame)
    sample = cv2.warpAffine(picture, onto, _SAMPLE_PX, flags=cv2.INTER_AREA)
    ground, sign = np.percentile(sample.max(2), (GROUND_SHARE, SIGN_SHARE))
    return bool(ground < GROUND_LEVEL and sign - ground > SIGN_LEVELS)


def dark_card_in(picture: NDArray[np.uint8], card_width_px: float) -> bool:
    """Return whether a picture has a dark piece of a card's size with light signs on it.

    Sleeves and shadows are dark too, but have none.
    """
    share = min(1.0, _SEARCH_PX / card_width_px)
    size = [max(1, round(side * share)) for side in picture.shape[1::-1]]
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    levels = small.max(2)
    dark = (levels < GROUND_LEVEL) & (levels - small.min(2) < _COLOURED)
    whole = cv2.morphologyEx(dark.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    _, pieces, stats, _ = cv2.connectedComponentsWithStats(whole)
    card = _SEARCH_PX**2 * CARD_HEIGHT_MM / CARD_WIDTH_MM
    areas = stats[1:, cv2.CC_STAT_AREA] / card
    sized = np.flatnonzero((areas > _LEAST_CARDS) & (areas < _MOST_CARDS)) + 1
    return any(_shows_signs(levels, pieces == at) for at in sized)


def _shows_signs(levels: NDArray[np.uint8], piece: NDArray[np.bool_]) -> bool:
    """Return whether a dark piece has straight sides and light signs."""
    rows, columns = np.nonzero(piece)
    _, sides, _ = cv2.minAreaRect(np.stack([columns, rows], 1).astype(np.float32))
    box = (sides[0] + 1) * (sides[1] + 1)
    signs = (levels[piece] > GROUND_LEVEL + SIGN_LEVELS // 2).mean()
    return bool(piece.sum() > _FILLED * box and signs > _LEAST_SIGNS)


def joined(seen: Sightings, negative: Sightings, confident_p: float) -> Sightings:
    """Replace finds by certain cards of the negative picture that lie on them.

    A card that is certain in the picture itself stays. What is in doubt in the negative counts only
    beside a card that is certain there: it is of the same dark deck.
    """
    sure, dark = _sure(seen, confident_p), _sure(negative, confident_p)
    dark &= ~_on_any(negative, seen, sure)
    if not dark.any():
        return seen
    taken = negative.face_up & ~_on_any(negative, seen, sure)
    kept = sure | ~_on_any(seen, negative, taken)
    return seen.only(kept).with_more(negative.only(taken))


def _sure(seen: Sightings, confident_p: float) -> NDArray[np.bool_]:
    return np.asarray(seen.card_p.max(1, initial=0.0) >= confident_p)


def _on_any(ones: Sightings, others: Sightings, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of ``ones`` have their middle on one of the ``chosen`` others."""
    middles = ones.corners_px.mean(1).astype(float).tolist()
    outlines = others.corners_px[chosen]
    return np.array(
        [
            any(
                cv2.pointPolygonTest(outline, middle, measureDist=False) >= 0
                for outline in outlines
            )
            for middle in middles
        ],
        np.bool_,
    )
