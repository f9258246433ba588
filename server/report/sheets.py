"""A4 sheets in the shipped typefaces, so that any name prints as written."""

from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.resources import as_file, files
from itertools import groupby
from typing import Final

from fpdf import FPDF
from fpdf.enums import MethodReturnValue
from fpdf.fonts import TTFFont

from server import report
from server.report.tags import Tags

Ink = tuple[int, int, int]

LEFT: Final = 48.0
"""In points, like all lengths here: PDF's unit, a 72nd of an inch."""
TOP: Final = 52.0
FOOT: Final = 64.0
LEADING: Final = 1.38
"""Line height, in font sizes."""
PLAIN: Final = (23, 33, 28)
QUIET: Final = (86, 99, 91)
RED: Final = (178, 26, 20)
_LINE: Final = (190, 200, 194)
FAMILY: Final = "DejaVu"
"""Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic; no Chinese, Japanese or Korean."""
_FONTS: Final = {"": "DejaVuSans.ttf", "B": "DejaVuSans-Bold.ttf"}
_LACKED: Final = "[U+…] replaces characters that this document's typefaces lack."
_FOOT_SIZE: Final = 6.5
_PAGES: Final = "{nb}"
"""fpdf2 replaces it by the number of pages."""


def add_typefaces(pdf: FPDF) -> None:
    """Register the shipped typefaces with a PDF; it embeds the characters in use."""
    for style, name in _FONTS.items():
        with as_file(files(report).joinpath("fonts", name)) as path:
            pdf.add_font(FAMILY, style, path)


class TypefaceLetters:
    """The characters of the typefaces; a missing one is never dropped silently."""

    def __init__(self, pdf: FPDF) -> None:
        self._known = frozenset.intersection(
            *(frozenset(font.cmap) for font in pdf.fonts.values() if isinstance(font, TTFFont))
        ) | {ord("\n"), ord("\t")}
        self.lacked = False

    def printable(self, text: str) -> str:
        """Return the text with missing characters as their numbers: ``[U+5F20 U+4F1F]``.

        Spaces separate them, so that a line breaks there and within no number.
        """
        if self._known.issuperset(map(ord, text)):
            return text
        self.lacked = True
        runs = groupby(text, lambda letter: ord(letter) in self._known)
        return "".join("".join(run) if known else _numbers(run) for known, run in runs)


def _numbers(letters: Iterable[str]) -> str:
    return f"[{' '.join(f'U+{ord(letter):04X}' for letter in letters)}]"


def moment(at_ns: int) -> datetime:
    """Return an instant for PDF metadata, to the second."""
    return datetime.fromtimestamp(at_ns // 1_000_000_000, UTC)


class Sheets(FPDF):
    """Sheets filled from top to bottom, each with its footer and number."""

    def __init__(self, title: str, foot: str, made_ns: int) -> None:
        super().__init__(unit="pt", format="A4")
        self.struct_builder = self.tags = Tags(self)
        self._foot = foot
        self.set_margins(LEFT, TOP)
        self.set_auto_page_break(False)
        add_typefaces(self)
        self._letters = TypefaceLetters(self)
        self.set_title(title)
        self.set_producer("Pitwatch")
        self.set_lang("en")
        self.set_creation_date(moment(made_ns))
        self.add_page()
        self.down = TOP

    @property
    def across(self) -> float:
        """The width of the text."""
        return float(self.epw)

    def footer(self) -> None:
        """Write the footer of a sheet; fpdf2 calls it when the sheet is full."""
        with self.tags.artifact():
            down = self.h - FOOT + 16
            self.rule(down - 10)
            foot = f"{self._foot} {_LACKED}" if self._letters.lacked else self._foot
            for at, line in enumerate(self.wrapped(foot, _FOOT_SIZE, self.across - 50)):
                self.put(LEFT, down + at * 8.5, line, _FOOT_SIZE, ink=QUIET)
            self.set_xy(LEFT + self.across - 60, down - 6)
            self.cell(60, 8, f"{self.page} of {_PAGES}", align="R")

    def room(self, tall: float) -> bool:
        """Start a new sheet where ``tall`` does not fit; return whether it did."""
        if self.down + tall <= self.h - FOOT:
            return False
        self.add_page()
        self.down = TOP
        return True

    def rule(self, down: float) -> None:
        """Draw a thin horizontal line across the text."""
        self.set_draw_color(*_LINE)
        self.set_line_width(0.5)
        self.line(LEFT, down, LEFT + self.across, down)

    def put(
        self, x: float, down: float, text: str, size: float, *, bold: bool = False, ink: Ink = PLAIN
    ) -> None:
        """Write one line with its baseline ``down`` from the top; hearts and diamonds are red."""
        self.set_font(FAMILY, "B" if bold else "", size)
        for is_red, run in groupby(self._letters.printable(text), lambda letter: letter in "♥♦"):
            part = "".join(run)
            self.set_text_color(*(RED if is_red else ink))
            self.text(x, down, part)
            x += self.get_string_width(part)

    def wide(self, text: str, size: float, *, bold: bool = False) -> float:
        """Return the width of a line."""
        self.set_font(FAMILY, "B" if bold else "", size)
        return float(self.get_string_width(self._letters.printable(text)))

    def wrapped(self, text: str, size: float, most: float, *, bold: bool = False) -> list[str]:
        """Break a text into lines no wider than ``most``; cut a word that is too wide."""
        text = self._letters.printable(text)
        if "\n" not in text and self.wide(text, size, bold=bold) <= most:
            return [text]
        self.set_font(FAMILY, "B" if bold else "", size)
        margin, self.c_margin = self.c_margin, 0
        found = self.multi_cell(
            most, size, text, align="L", dry_run=True, output=MethodReturnValue.LINES
        )
        self.c_margin = margin
        assert isinstance(found, list)
        return found or [""]
