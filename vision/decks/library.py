"""A site's library of deck profiles: a folder with two files a deck."""

from dataclasses import dataclass
from pathlib import Path

from models.errors import OperatorError
from vision.decks.profile import DeckProfile, read_profile


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of profiles; it need not exist while nothing was learnt."""

    folder: Path

    def names(self) -> tuple[str, ...]:
        """Return the names of the decks kept here, sorted."""
        return tuple(sorted(path.stem for path in self.folder.glob("*.toml")))

    def manifest(self, name: str) -> Path:
        """Return the path of a deck's manifest; its pictures lie beside it."""
        return self.folder / f"{name}.toml"

    def open(self, name: str) -> DeckProfile:
        """Read a deck's profile, complete or not.

        Raises:
            OperatorError: no deck of this name is kept here.
            InputRefused, TechnicianError: its files are damaged.
        """
        if not self.manifest(name).is_file():
            kept = ", ".join(self.names()) or "none yet"
            raise OperatorError(
                f"no deck is called {name!r}",
                where=str(self.folder),
                way_out=f"Learn it with `pitwatch decks learn`, or choose one of: {kept}",
            )
        return read_profile(self.manifest(name))

    def complete(self, name: str) -> DeckProfile:
        """Read a complete profile, for reading cards.

        Raises:
            OperatorError: there is none, or it still lacks cards.
            InputRefused, TechnicianError: its files are damaged.
        """
        profile = self.open(name)
        if profile.lacking:
            lacking = " ".join(str(card) for card in profile.lacking)
            raise OperatorError(
                f"the deck {name!r} still lacks {lacking}",
                where=str(self.manifest(name)),
                way_out="Show these cards with `pitwatch decks learn` before using the deck",
            )
        return profile
