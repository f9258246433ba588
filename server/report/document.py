"""The content of a report, independent of page or paper."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["plain", "good", "bad", "doubt", "quiet"]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names with their values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. A heading that begins with ``#`` belongs to numbers."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A rule in the words of its document, or the reason where no document states it."""

    text: str
    origin: str
    """The document's title and section."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A JPEG with its description; ``None`` where no camera has a picture."""

    jpeg: bytes | None
    caption: str


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures side by side."""

    shown: tuple[Picture, ...]
    across: int = 5


Block: TypeAlias = Text | Quote | Pairs | Table | Pictures


@dataclass(frozen=True, slots=True)
class Section:
    """A part with its heading."""

    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A report."""

    title: str
    verdict: str
    """The result, in a sentence."""
    sections: tuple[Section, ...]
    foot: str
    """The footer of every sheet."""
    made_ns: int = 0
    """Time of its making, nanoseconds since the Unix epoch, UTC."""
