"""The letters that name aces and court cards in each language's decks.

Numbers are the same everywhere. One letter can name two ranks: V is the jack of a French deck and
the queen of a Dutch one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from models.cards import RANKS

TE: Final = "\N{CYRILLIC CAPITAL LETTER TE}"
DE: Final = "\N{CYRILLIC CAPITAL LETTER DE}"
FOREIGN_SIGNS: Final = ("1", "E", "B", "D", "V", "R", "H", "Kn", "F", TE, DE)
"""Signs of ranks that no English deck has. A Russian jack and king have what look like B and K."""
SIGNS: Final = (*RANKS, "not an index", *FOREIGN_SIGNS)
"""Every sign that the network of letters tells apart, in the order of its output."""
NO_SIGN: Final = SIGNS.index("not an index")
NUMBERS: Final = "23456789T"
LETTERED: Final = "AJQK"
"""The ranks that a letter names."""


@dataclass(frozen=True, slots=True)
class Language:
    """The signs of the ranks that letters name; the first of several is the usual one."""

    aces: tuple[str, ...]
    jack: str
    queen: str
    king: str

    @property
    def decks(self) -> tuple[tuple[str, str, str, str], ...]:
        """The signs of ace, jack, queen and king, of every kind of deck in this language."""
        return tuple((ace, self.jack, self.queen, self.king) for ace in self.aces)


ENGLISH: Final = "english"
LANGUAGES: Final[Mapping[str, Language]] = {
    ENGLISH: Language(("A", "1"), "J", "Q", "K"),
    "german": Language(("A", "1"), "B", "D", "K"),
    "french": Language(("1", "A"), "V", "D", "R"),
    "dutch": Language(("A",), "B", "V", "H"),
    "scandinavian": Language(("A", "E", "1"), "Kn", "D", "K"),
    "russian": Language((TE,), "B", DE, "K"),
    "italian": Language(("A", "1"), "F", "D", "R"),
}
