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
class Picture:
    """A JPEG and what it shows."""

    jpeg: bytes
    caption: str


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures beside each other."""

    shown: tuple[Picture, ...]


Block: TypeAlias = Text | Pairs | Table | Pictures


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
