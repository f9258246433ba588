"""A report as what it says, before it is a page or a sheet of paper."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["plain", "good", "bad", "doubt", "quiet"]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    says: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names and what stands for them."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. A heading that begins with ``#`` stands over numbers."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A rule in the words of the document that states it, or the reason where none does."""

    says: str
    origin: str
    """The document's title and the section."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A JPEG and what it shows; ``None`` where no camera has a picture of it."""

    jpeg: bytes | None
    caption: str


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures, so many beside each other."""

    shown: tuple[Picture, ...]
    across: int = 5


Block: TypeAlias = Text | Quote | Pairs | Table | Pictures


@dataclass(frozen=True, slots=True)
class Section:
    """A part under its heading."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A report."""

    title: str
    verdict: str
    """What it comes to, in a sentence."""
    sections: tuple[Section, ...]
    foot: str
    """What stands at the foot of every sheet."""
    made_ns: int = 0
    """When it was made, nanoseconds since the Unix epoch, UTC."""
