"""The tag register: the card or chip of each tag.

A TOML file of the table. Tags are written as the reader sends them; case does not matter.

::

    cut = ["0415148F27"]           # tags of cut cards
    start = ["0415148F28"]         # tags shown to the reader when a fresh shoe is loaded

    [cards]
    "0415148F26" = "8S"

    [chips]                        # values in cents
    "0F0021BA31" = 2500
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from models.cards import Card
from models.decode import from_toml
from models.errors import InputRefused, InstallerError

Tag: TypeAlias = Annotated[str, Meta(pattern=r"^[\x21-\x7e]{1,32}$")]
ChipValue: TypeAlias = Annotated[int, Meta(ge=1, le=10**12)]


class TagRegister(msgspec.Struct, frozen=True, kw_only=True):
    """The card or chip of each tag; each tag occurs once, in upper case."""

    cards: dict[str, Card] = {}
    chips: dict[str, int] = {}
    """Chip values in cents."""
    cut: tuple[str, ...] = ()
    start: tuple[str, ...] = ()


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    cards: dict[Tag, str] = {}
    chips: dict[Tag, ChipValue] = {}
    cut: tuple[Tag, ...] = ()
    start: tuple[Tag, ...] = ()


def read_register(file: Path) -> TagRegister:
    """Read a register.

    Raises:
        InputRefused: a field does not match the format, or a tag occurs twice.
        InstallerError: there is no such file.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InstallerError(
            f"the tag register cannot be read: {fault}",
            where=str(file),
            way_out="Name the file of this table's tags in the reader's setting register",
        ) from fault
    source, found = str(file), from_toml(text, _File, str(file))
    twice = _twice((*found.cards, *found.chips, *found.cut, *found.start))
    if twice is not None:
        raise InputRefused(source=source, field=twice, expected="each tag once", found="it twice")
    return TagRegister(
        cards={tag.upper(): _card(tag, card, source) for tag, card in found.cards.items()},
        chips={tag.upper(): value for tag, value in found.chips.items()},
        cut=tuple(tag.upper() for tag in found.cut),
        start=tuple(tag.upper() for tag in found.start),
    )


def _card(tag: str, card: str, source: str) -> Card:
    try:
        return Card(card)
    except ValueError as fault:
        raise InputRefused(
            source=source, field=f"cards.{tag}", expected="a card such as AS", found=repr(card)
        ) from fault


def _twice(tags: Iterable[str]) -> str | None:
    counted = Counter(tag.upper() for tag in tags)
    return next((tag for tag, times in counted.items() if times > 1), None)
