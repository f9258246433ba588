"""The cards that a reader finds in one picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vision.change import Rect


@dataclass(frozen=True, slots=True)
class Sightings:
    """N cards found in one picture, in parallel arrays. Row *i* of each is card *i*.

    Attributes:
        corners_px: ``(N, 4, 2)`` float32, the card's corners in pixels of the picture as captured,
            origin top left, clockwise from the card's own top left corner.
        face_up: ``(N,)`` bool; false for a back.
        found_p: ``(N,)`` float32, probability that a card lies there.
        card_p: ``(N, 52)`` float32, calibrated probability of each face in the order of
            ``models.cards.DECK``; a row sums to at most 1, the rest is "none of them". All zero for
            a back.
        deck_fit: ``(N,)`` float32, its fit to the decks in use, at most 1; NaN where other cards
            may cover the compared parts; ``None`` where no deck is known.
        held_at: ``(N, 2)`` float32, the point where each card's corners are exact, in shares of its
            width and height: a lone index, whose deck may print it larger or smaller than usual,
            or the middle between two ends. ``None``: a face's index, a back's middle.
        index_px: ``(N,)`` float32, the width of a usual card with an index of this size; NaN for a
            back; ``None`` where the reader does not tell.
        mirrored: ``(N,)`` float32, what each card says of the picture: from 1, it is mirrored, to
            -1, it is not; ``None`` where the reader does not tell.
    """

    corners_px: NDArray[np.float32]
    face_up: NDArray[np.bool_]
    found_p: NDArray[np.float32]
    card_p: NDArray[np.float32]
    deck_fit: NDArray[np.float32] | None = None
    held_at: NDArray[np.float32] | None = None
    index_px: NDArray[np.float32] | None = None
    mirrored: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        n = len(self.corners_px)
        shapes = (self.corners_px.shape, self.face_up.shape, self.found_p.shape, self.card_p.shape)
        if shapes != ((n, 4, 2), (n,), (n,), (n, 52)):
            raise ValueError(f"sightings of {n} cards have mismatched arrays: {shapes}")
        if self.deck_fit is not None and self.deck_fit.shape != (n,):
            raise ValueError(f"sightings of {n} cards have fits {self.deck_fit.shape}")
        if self.held_at is not None and self.held_at.shape != (n, 2):
            raise ValueError(f"sightings of {n} cards are held at {self.held_at.shape}")
        if self.index_px is not None and self.index_px.shape != (n,):
            raise ValueError(f"sightings of {n} cards have index sizes {self.index_px.shape}")
        if self.mirrored is not None and self.mirrored.shape != (n,):
            raise ValueError(f"sightings of {n} cards have mirrors {self.mirrored.shape}")

    def __len__(self) -> int:
        return len(self.corners_px)

    def only(self, chosen: NDArray[np.bool_]) -> "Sightings":
        """Return the chosen cards."""
        every = (getattr(self, field) for field in Sightings.__slots__)
        rows: list[Any] = [None if one is None else one[chosen] for one in every]
        return Sightings(*rows)

    def with_more(self, more: "Sightings") -> "Sightings":
        """Append further cards; of what either does not tell, nothing is told."""
        rows: list[Any] = []
        for field in Sightings.__slots__:
            one, two = getattr(self, field), getattr(more, field)
            known = one is not None and two is not None
            rows.append(np.concatenate([one, two]) if known else None)
        return Sightings(*rows)


class CardReader(Protocol):
    """Finds and reads the cards in a part of a picture."""

    @property
    def confident_p(self) -> float:
        """Probability from which a reading is certain."""

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        """Read the cards of ``region``, in pixels of the whole picture.

        Args:
            image: ``(H, W, 3)`` uint8 BGR.
            card_width_px: the width of a card, where the layout is known; ``None``: any size.
            region: left, top, width and height; the whole picture where it is ``None``.
        """


@runtime_checkable
class Learning(Protocol):
    """A reader that learns from the pictures of one table."""

    def for_session(self) -> CardReader:
        """Return a reader that has seen no picture of the table yet."""

    def in_languages(self, languages: Sequence[str]) -> CardReader:
        """Return a reader of decks whose letters are of some languages; of any for none."""


def for_session(reader: CardReader) -> CardReader:
    """Return the reader of one table's pictures: it may learn from them."""
    return reader.for_session() if isinstance(reader, Learning) else reader


def in_languages(reader: CardReader, languages: Sequence[str]) -> CardReader:
    """Return a reader of decks whose letters are of some languages; the same one for none."""
    if not languages or not isinstance(reader, Learning):
        return reader
    return reader.in_languages(languages)
