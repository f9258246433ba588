"""Where the decks of a site are kept, and readers that know those in use."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vision.decks.library import Library
from vision.decks.reading import DeckReader
from vision.sightings import CardReader

VARIABLE: Final = "PITWATCH_DECKS"
DEFAULT: Final = "~/.local/share/pitwatch/decks"
BESIDE: Final = "decks"
"""A session may bring the decks it was dealt from in this folder of its own."""


def library(folder: Path | None = None) -> Library:
    """Open the library in ``folder``; else in ``$PITWATCH_DECKS``, else in the user's data."""
    return Library(folder or Path(os.environ.get(VARIABLE) or DEFAULT).expanduser())


def taught(reader: CardReader, decks: Sequence[str], shelves: Sequence[Library]) -> CardReader:
    """Return a reader that knows the decks in use; the same one where none is named.

    Args:
        reader: reads without knowing any deck.
        decks: their names; each is taken from the first shelf that keeps it.
        shelves: where to look, in this order; at least one.

    Raises:
        OperatorError: a deck is not kept on any shelf or still lacks cards.
        InputRefused, TechnicianError: a profile is damaged.
    """
    profiles = [_shelf_of(deck, shelves).complete(deck) for deck in decks]
    return DeckReader(reader, profiles) if profiles else reader


def _shelf_of(deck: str, shelves: Sequence[Library]) -> Library:
    return next((shelf for shelf in shelves if deck in shelf.names()), shelves[-1])
