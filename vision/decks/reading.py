"""Read cards by the decks known to be in use, and measure how well each card fits them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.change import Rect
from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.decks.appearance import appearance
from vision.decks.cover import open_cards, open_corners
from vision.decks.matching import CardFits, Fits, Templates, evidence, fit, whole_fits
from vision.decks.profile import DeckProfile
from vision.sightings import CardReader, Sightings

READING_SAYS: Final = 0.9  # weight of the networks' reading
INDEX_SAYS: Final = 2.4  # weight of a deck's index; chosen, like the other two
FACE_SAYS: Final = 8.0
"""What a reading's logarithms, its best index's evidence and its whole face's weigh together:
near the likeliest on rendered decks that no network learnt from, and no more than lifts no
wrong card beyond doubt there."""
FOREIGN_FIT: Final = 0.7  # own decks fit 0.75 and better: docs/lab/2026-11-22-known-decks.md
FOREIGN_BACK_FIT: Final = 0.4
"""A face, and a back, that fits the decks in use worse is not of them."""
DISAGREED_P: Final = 0.98
"""No card is called with more than this where reading and deck prefer different ones."""
CANDIDATE_P: Final = 0.005
"""A card that it is with less chance is not what a sighting is held against."""
SIZE_STEP_PX: Final = 6.0
"""Card widths between which one set of templates serves."""
_LEAST_P: Final = 1e-9  # keeps a logarithm finite


class DeckReader:
    """A reader that knows which decks are in use.

    What the deck says can lift a doubt only where reading and deck prefer the same card;
    where they differ, the card is left in doubt.

    Args:
        reader: reads without knowing the deck.
        decks: complete profiles of every deck in use; at least one.

    Raises:
        ValueError: no deck, or one that lacks cards.
    """

    def __init__(self, reader: CardReader, decks: Sequence[DeckProfile]) -> None:
        if not decks or any(deck.lacking for deck in decks):
            raise ValueError("reading by a deck takes at least one, and whole ones")
        self._reader = reader
        self._decks = tuple(LearntDeck(deck) for deck in decks)

    @property
    def confident_p(self) -> float:
        """From which probability on a reading is beyond doubt."""
        return self._reader.confident_p

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        """Read the cards of ``region``, in pixels of the whole picture, by the decks in use."""
        seen = self._reader.read(image, card_width_px=card_width_px, region=region)
        if not len(seen):
            return replace(seen, deck_fit=np.zeros(0, np.float32))
        deck_fit = np.full(len(seen), np.nan, np.float32)
        whole, corners = open_cards(seen.corners_px), open_corners(seen.corners_px)
        up = np.flatnonzero(seen.face_up)
        card_p = seen.card_p.copy()
        if len(up):
            all_fits = [deck.fits(image, seen.corners_px[up]) for deck in self._decks]
            fits = [one.where_open(corners[up], whole[up], FOREIGN_FIT) for one in all_fits]
            card_p[up] = weighed(seen.card_p[up], fits)
            carrying = max(one.indices.shape[1] for one in all_fits)
            may_tell = corners[up][:, :carrying].any(1)
            deck_fit[up] = np.where(may_tell, _best_fit(card_p[up], all_fits), np.nan)
        down = np.flatnonzero(~seen.face_up & whole)
        if len(down):
            backs = [deck.back_fits(image, seen.corners_px[down]) for deck in self._decks]
            deck_fit[down] = np.max(backs, axis=0)
        return replace(seen, card_p=card_p, deck_fit=deck_fit)


class LearntDeck:
    """A deck's profile, ready to be compared with at any size."""

    def __init__(self, profile: DeckProfile) -> None:
        self._profile = profile
        self._templates: dict[int, Templates] = {}

    def fits(self, image: NDArray[np.uint8], corners_px: NDArray[np.float32]) -> CardFits:
        """Fit the faces at ``corners_px`` ``(N, 4, 2)`` to the deck's 52."""
        shown = appearance(image, corners_px)
        each = [fit(shown[at], self._seen_at(quad)) for at, quad in enumerate(corners_px)]
        indices = np.concatenate([one.indices for one in each])
        counting = 4 if self._profile.four_indices else 2
        return CardFits(indices[:, :counting], np.concatenate([one.faces for one in each]))

    def back_fits(self, image: NDArray[np.uint8], corners_px: NDArray[np.float32]) -> Fits:
        """How well the backs at ``corners_px`` fit the deck's, ``(N,)``; 1 where none is known."""
        backs = self._profile.backs
        if not len(backs):
            return np.ones(len(corners_px))
        shown = appearance(image, corners_px)
        return np.array([whole_fits(pair, backs[:, 0]).max() for pair in shown.faces])

    def _seen_at(self, quad: NDArray[np.float32]) -> Templates:
        across, down = quad[1] - quad[0], quad[3] - quad[0]
        area = abs(float(across[0] * down[1] - across[1] * down[0]))
        width_px = float(np.sqrt(area * CARD_WIDTH_MM / CARD_HEIGHT_MM))
        step = max(4, round(width_px / SIZE_STEP_PX))
        if step not in self._templates:
            self._templates[step] = Templates.of(self._profile.cards, step * SIZE_STEP_PX)
        return self._templates[step]


def weighed(card_p: NDArray[np.float32], fits: Sequence[CardFits]) -> NDArray[np.float32]:
    """Weigh readings ``(N, 52)`` together with how the cards fit the decks in use."""
    read = np.clip(card_p.astype(np.float64), _LEAST_P, 1)
    none = np.clip(1 - card_p.sum(1, keepdims=True).astype(np.float64), _LEAST_P, 1)
    says: Fits = np.max([deck_says(one) for one in fits], axis=0)
    logs = np.hstack(
        [
            READING_SAYS * np.log(read) + says - says.max(1, keepdims=True),
            READING_SAYS * np.log(none),
        ]
    )
    chances = np.exp(logs - logs.max(1, keepdims=True))
    both = (chances / chances.sum(1, keepdims=True))[:, :52]
    return np.array([_settled(*pair) for pair in zip(card_p, both, says, strict=True)], np.float32)


def deck_says(fits: CardFits) -> Fits:
    """A deck's evidence for every card ``(N, 52)``, as a logarithm up to a constant."""
    return INDEX_SAYS * evidence(fits.indices.max(1)) + FACE_SAYS * evidence(fits.faces)


def _settled(read: NDArray[np.float32], both: Fits, says: Fits) -> Fits:
    """Keep what was beyond doubt and is not contradicted; lift no doubt against either."""
    first = int(both.argmax())
    if first != int(read.argmax()):
        return _at_most(both, DISAGREED_P)
    if read[first] >= both[first]:
        return read.astype(np.float64)
    return both if int(says.argmax()) == first else _at_most(both, max(DISAGREED_P, read[first]))


def _at_most(chances: Fits, most: float) -> Fits:
    """Take from the likeliest what is above ``most``; it falls to "none of them"."""
    return np.minimum(chances, most)


def _best_fit(card_p: NDArray[np.float32], fits: Sequence[CardFits]) -> NDArray[np.float32]:
    """How well each card's best index fits one that the card may be, by its reading.

    Corners that may lie under another card are compared as well: which card lies on top is not
    known, a hand may hide the open one, and what fits is there.
    """
    best = np.max([one.indices.max(1) for one in fits], axis=0)
    likely = card_p >= np.minimum(CANDIDATE_P, card_p.max(1, keepdims=True))
    return np.asarray(np.where(likely, best, -1.0).max(1), np.float32)
