"""A site's deck library, and readers for the decks in use."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from models.session import Lettering
from vision.decks.library import Library
from vision.decks.reading import DeckReader
from vision.sightings import CardReader, in_languages

VARIABLE: Final = "PITWATCH_DECKS"
DEFAULT: Final = "~/.local/share/pitwatch/decks"
BESIDE: Final = "decks"
"""The folder of a session's own decks."""


def library(folder: Path | None = None) -> Library:
    """Open the library in ``folder``; else in ``$PITWATCH_DECKS``, else in the user's data."""
    return Library(folder or Path(os.environ.get(VARIABLE) or DEFAULT).expanduser())


def taught(
    reader: CardReader,
    decks: Sequence[str],
    libraries: Sequence[Library],
    letters: Sequence[Lettering] = (),
) -> CardReader:
    """Return a reader for the decks in use; the same reader where nothing of them is known.

    Args:
        reader: reads without knowing any deck.
        decks: their names; the first library that has a deck supplies it.
        letters: every language of their letters; empty where it is unknown.
        libraries: the libraries, in order of search; at least one.

    Raises:
        OperatorError: no library has a deck, or the deck still lacks cards.
        InputRefused, TechnicianError: a profile is damaged.
    """
    reader = in_languages(reader, letters)
    profiles = [_library_of(deck, libraries).complete(deck) for deck in decks]
    return DeckReader(reader, profiles) if profiles else reader


def _library_of(deck: str, libraries: Sequence[Library]) -> Library:
    return next((one for one in libraries if deck in one.names()), libraries[-1])
