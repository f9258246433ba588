"""Read cards by the decks in use, and measure the fit of each card to them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision.change import Rect
from vision.decks.appearance import appearance
from vision.decks.cover import open_cards, open_corners
from vision.decks.matching import (
    COVERED_FIT,
    CardFits,
    Fits,
    Templates,
    evidence,
    fit,
    whole_fits,
)
from vision.decks.outline import on_own_edges, outlined, width_px
from vision.decks.profile import DeckProfile
from vision.sightings import CardReader, Sightings, for_session, in_languages

READING_WEIGHT: Final = 0.9  # weight of the networks' reading
INDEX_WEIGHT: Final = 2.4  # weight of a deck's index; chosen, like the other two
FACE_WEIGHT: Final = 8.0
"""Weights of the logarithms of a reading, of its best index's evidence and of its whole face's:
close to the most likely ones on rendered decks that no network learnt from, and small enough that
no wrong card there becomes certain."""
FOREIGN_FIT: Final = 0.8
FOREIGN_BACK_FIT: Final = 0.5
"""Fit. A back below it, or a face below ``FOREIGN_FIT``, is not of the decks in use. On films 373
faces of these fit 0.85 and better, 205 backs 0.60: lab/notes/2026-11-28-foreign-cards.md."""
FOREIGN_COVERED_FIT: Final = 0.6
"""A face that overlaps another is foreign below this, and fits from ``FOREIGN_FIT`` on: between
them nothing is known. On 24 films of the deck in use none fitted less than 0.66 in two looks."""
SURE_FIT: Final = 0.85
"""A face that fits less well, and lies alone, is compared where its edges are."""
ON_TOP_FIT: Final = 0.7
"""A whole face that fits so well lies on top of what it overlaps."""
DISAGREED_P: Final = 0.98
"""Largest probability where reading and deck prefer different cards."""
DECISIVE: Final = 10.0
"""Lead of a deck's evidence, as a logarithm, that decides between cards a reading leaves open. Of
5,367 looks at tables with two learnt decks, a wrong card led by 5.3 at most; kings of clubs whose
index is read as spades, and whose whole face shows, led by 14 to 25."""
LEFT_OPEN_P: Final = 0.1
"""Probability from which a reading leaves a card open. Chosen; those kings had 0.2 to 0.5."""
CANDIDATE_P: Final = 0.005
"""Probability. Less likely cards are not compared with a sighting."""
SIZE_STEP_PX: Final = 6.0
"""Pixels of card width that one set of templates serves."""
_LEAST_P: Final = 1e-9  # keeps a logarithm finite


class DeckReader:
    """A reader that knows which decks are in use.

    The deck can resolve a doubt only where reading and deck prefer the same card; where they
    differ, the card stays in doubt, unless the reading leaves both open and the deck's pictures do
    not.

    Args:
        reader: reads without knowing the deck.
        decks: complete profiles of every deck in use; at least one.

    Raises:
        ValueError: there is no deck, or one lacks cards.
    """

    def __init__(self, reader: CardReader, decks: Sequence[DeckProfile]) -> None:
        if not decks or any(deck.lacking for deck in decks):
            raise ValueError("reading by a deck takes at least one, and whole ones")
        self._reader, self._profiles = reader, tuple(decks)
        self._decks = tuple(LearntDeck(deck) for deck in decks)

    def in_languages(self, languages: Sequence[str]) -> CardReader:
        """Return a reader by the same decks, whose letters are of these languages."""
        return DeckReader(in_languages(self._reader, languages), self._profiles)

    def for_session(self) -> CardReader:
        """Return a reader of one table's pictures by the same decks."""
        return DeckReader(for_session(self._reader), self._profiles)

    @property
    def confident_p(self) -> float:
        """Probability from which a reading is certain."""
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
        quads = seen.corners_px
        if card_width_px is None:
            quads = _on_edges(image, quads, whole & seen.face_up)
        card_p = seen.card_p.copy()
        if len(up):
            all_fits = [deck.fits(image, seen.corners_px[up], quads[up]) for deck in self._decks]
            fits = [one.where_open(corners[up], whole[up], ON_TOP_FIT) for one in all_fits]
            card_p[up] = weighed(seen.card_p[up], fits)
            carrying = max(one.indices.shape[1] for one in all_fits)
            comparable = corners[up][:, :carrying].any(1)
            found = np.where(comparable, _best_fit(card_p[up], all_fits), np.nan)
            deck_fit[up] = self._face_fits(
                image, quads[up], card_p[up], found, card_width_px, alone=whole[up]
            )
        down = np.flatnonzero(~seen.face_up & whole)
        if len(down):
            deck_fit[down] = self._back_fits(image, quads[down])
            strange = down[deck_fit[down] < FOREIGN_BACK_FIT]
            deck_fit[strange] = _fits_on_edges(
                image, quads[strange], card_width_px, lambda at, _: self._back_fits(image, at)
            )
        return replace(seen, card_p=card_p, deck_fit=deck_fit)

    def _face_fits(
        self,
        image: NDArray[np.uint8],
        corners_px: NDArray[np.float32],
        card_p: NDArray[np.float32],
        found: NDArray[np.floating],
        card_width_px: float | None,
        *,
        alone: NDArray[np.bool_],
    ) -> NDArray[np.floating]:
        """Return the fit of faces; NaN where it says nothing.

        Args:
            image: the picture.
            corners_px: their outlines, ``(N, 4, 2)``.
            card_p: what they are read as, ``(N, 52)``.
            found: their fit where they were found; NaN where no corner can be compared.
            card_width_px: how wide a card is there; ``None`` where nobody knows.
            alone: whether each overlaps no other card.
        """
        fits = np.where((found >= FOREIGN_COVERED_FIT) & (found < FOREIGN_FIT), np.nan, found)
        unsure = np.flatnonzero(alone & ~(fits >= SURE_FIT))
        edged = _fits_on_edges(
            image,
            corners_px[unsure],
            card_width_px,
            lambda at, of: _best_fit(
                card_p[unsure][of], [deck.fits(image, at, at) for deck in self._decks]
            ),
        )
        fitting = fits[unsure] >= FOREIGN_FIT
        fits[unsure] = np.where(np.isnan(edged) & fitting, fits[unsure], edged)
        return fits

    def _back_fits(self, image: NDArray[np.uint8], corners_px: NDArray[np.float32]) -> Fits:
        """Return the fit of backs ``(N, 4, 2)`` to that deck in use which they fit best."""
        fits: Fits = np.max([deck.back_fits(image, corners_px) for deck in self._decks], axis=0)
        return fits


def _fits_on_edges(
    image: NDArray[np.uint8],
    quads: NDArray[np.float32],
    card_width_px: float | None,
    fits_at: Callable[[NDArray[np.float32], NDArray[np.bool_]], NDArray[np.floating]],
) -> NDArray[np.float64]:
    """Return the fit of cards where their edges are; NaN where those are unclear.

    A finger on a card misleads the finder, and a back has no index that shows how it lies: print a
    millimetre off fits nothing. Cards that overlap have each other's edges.

    Args:
        image: the picture.
        quads: their outlines as found, ``(N, 4, 2)``.
        card_width_px: how wide a card is there; ``None`` where nobody knows.
        fits_at: returns the fits of outlines, which are of the cards in a mask.
    """
    edged, own = on_own_edges(image, quads, card_width_px)
    fits = np.full(len(quads), np.nan)
    if own.any():
        fits[own] = fits_at(edged[own], own)
    return fits


def _on_edges(
    image: NDArray[np.uint8], quads: NDArray[np.float32], chosen: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Move the chosen outlines ``(N, 4, 2)`` onto the cards' edges: they may be seen aslant."""
    found = [
        outlined(image, quad) if one else quad for quad, one in zip(quads, chosen, strict=True)
    ]
    return np.array(found, np.float32).reshape(-1, 4, 2)


class LearntDeck:
    """A deck's profile, ready for comparison at any size."""

    def __init__(self, profile: DeckProfile) -> None:
        self._profile = profile
        self._knows_faces = not profile.faceless.any()
        self._templates: dict[int, Templates] = {}

    def fits(
        self,
        image: NDArray[np.uint8],
        corners_px: NDArray[np.float32],
        faces_px: NDArray[np.float32],
    ) -> CardFits:
        """Fit cards to the deck's 52: their indices at ``corners_px``, their faces at ``faces_px``.

        Both are outlines ``(N, 4, 2)``. While a card of the deck is known by its index alone, no
        face counts: the others' would.
        """
        shown = appearance(image, corners_px, faces_px)
        each = [fit(shown[at], self._seen_at(quad)) for at, quad in enumerate(corners_px)]
        indices = np.concatenate([one.indices for one in each])
        faces = np.concatenate([one.faces for one in each])
        if not self._knows_faces:
            faces = np.full_like(faces, COVERED_FIT)
        counting = 4 if self._profile.four_indices else 2
        return CardFits(indices[:, :counting], faces)

    def back_fits(self, image: NDArray[np.uint8], corners_px: NDArray[np.float32]) -> Fits:
        """Return the fit of the backs at ``corners_px`` to the deck's, ``(N,)``; 1 for no backs."""
        backs = self._profile.backs
        if not len(backs):
            return np.ones(len(corners_px))
        shown = appearance(image, corners_px)
        return np.array([whole_fits(pair, backs[:, 0]).max() for pair in shown.faces])

    def _seen_at(self, quad: NDArray[np.float32]) -> Templates:
        step = max(4, round(width_px(quad) / SIZE_STEP_PX))
        if step not in self._templates:
            self._templates[step] = Templates.of(self._profile.cards, step * SIZE_STEP_PX)
        return self._templates[step]


def weighed(card_p: NDArray[np.float32], fits: Sequence[CardFits]) -> NDArray[np.float32]:
    """Combine readings ``(N, 52)`` with the fits of the cards to the decks in use."""
    read = np.clip(card_p.astype(np.float64), _LEAST_P, 1)
    none = np.clip(1 - card_p.sum(1, keepdims=True).astype(np.float64), _LEAST_P, 1)
    deck: Fits = np.max([deck_evidence(one) for one in fits], axis=0)
    logs = np.hstack(
        [
            READING_WEIGHT * np.log(read) + deck - deck.max(1, keepdims=True),
            READING_WEIGHT * np.log(none),
        ]
    )
    chances = np.exp(logs - logs.max(1, keepdims=True))
    both = (chances / chances.sum(1, keepdims=True))[:, :52]
    return np.array([_settled(*pair) for pair in zip(card_p, both, deck, strict=True)], np.float32)


def deck_evidence(fits: CardFits) -> Fits:
    """Return a deck's evidence for every card ``(N, 52)``, as a logarithm up to a constant."""
    return INDEX_WEIGHT * evidence(fits.indices.max(1)) + FACE_WEIGHT * evidence(fits.faces)


def _settled(read: NDArray[np.float32], both: Fits, deck: Fits) -> Fits:
    """Keep certain, uncontradicted readings; resolve a doubt against neither reading nor deck.

    Between cards that a reading leaves open, a whole face decides that is one card's picture alone.
    """
    first, named = int(both.argmax()), int(read.argmax())
    if first != named:
        decided = deck[first] - deck[named] >= DECISIVE and read[first] >= LEFT_OPEN_P
        return both if decided else _at_most(both, DISAGREED_P)
    if read[first] >= both[first]:
        return read.astype(np.float64)
    return both if int(deck.argmax()) == first else _at_most(both, max(DISAGREED_P, read[first]))


def _at_most(chances: Fits, most: float) -> Fits:
    """Limit the most likely card to ``most``; the rest goes to "none of them"."""
    return np.minimum(chances, most)


def _best_fit(card_p: NDArray[np.float32], fits: Sequence[CardFits]) -> NDArray[np.float32]:
    """Return each card's best index fit among the cards of its reading.

    Corners that may lie under another card are compared too: it is unknown which card lies on top,
    a hand may hide the open one, and a corner that fits is visible.
    """
    best = np.max([one.indices.max(1) for one in fits], axis=0)
    likely = card_p >= np.minimum(CANDIDATE_P, card_p.max(1, keepdims=True))
    return np.asarray(np.where(likely, best, -1.0).max(1), np.float32)
