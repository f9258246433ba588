"""A report as a PDF of A4 sheets: fonts embedded, every text and picture tagged."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from typing import Final, TypeAlias

from fpdf.image_parsing import preload_image

from server.report.document import (
    Block,
    Document,
    Pairs,
    Picture,
    Pictures,
    Quote,
    Section,
    Table,
    Text,
)
from server.report.sheets import LEADING, LEFT, PLAIN, QUIET, Ink, Sheets
from server.report.tags import Element, Kind, Scope

_SIZE: Final = 8.5
_SMALL: Final = 7.0
_GAP: Final = 10.0
_BRAND: Final = (107, 82, 22)
_BETWEEN: Final = 8.0
_TALLEST: Final = 1.45
"""Largest height of a picture, in its widths."""
_PICTURES_ROOM: Final = 210.0
"""Points of room that a heading needs when pictures follow it."""
_INKS: Final[dict[str, Ink]] = {
    "plain": PLAIN,
    "good": (20, 102, 59),
    "bad": (160, 27, 19),
    "doubt": (133, 86, 0),
    "quiet": QUIET,
}


def as_paper(report: Document) -> bytes:
    """Return the PDF; the same report gives the same bytes."""
    paper = _Paper(Sheets(f"Pitwatch: {report.title}", report.foot, report.made_ns))
    paper.text("P", "PITWATCH", 8, bold=True, ink=_BRAND)
    paper.text("H1", report.title, 16, bold=True)
    paper.text("P", report.verdict, 10.5)
    for section in report.sections:
        paper.section(section)
    return bytes(paper.sheets.output())


Columns: TypeAlias = Sequence[tuple[float, bool]]
"""For each column, its width and whether its cells are aligned right."""


@dataclass(frozen=True, slots=True)
class _Figure:
    """A picture placed on the sheet."""

    picture: Picture
    name: str | None
    """fpdf2's name for it; ``None`` where there is no picture."""
    wide: float
    tall: float
    caption: tuple[str, ...]


class _Paper:
    """Lays a report out from top to bottom."""

    def __init__(self, sheets: Sheets) -> None:
        self.sheets, self._tags = sheets, sheets.tags

    def section(self, section: Section) -> None:
        self.sheets.down += _GAP
        has_pictures = any(isinstance(block, Pictures) for block in section.blocks)
        self.sheets.room(_PICTURES_ROOM if has_pictures else 60)
        self.text("H2", section.heading, 11.5, bold=True)
        self.sheets.down += 2
        for block in section.blocks:
            self._block(block)

    def text(
        self,
        kind: Kind,
        text: str,
        size: float,
        *,
        bold: bool = False,
        ink: Ink = PLAIN,
        left: float = 0.0,
        parent: Element | None = None,
    ) -> None:
        """Write a text across the sheet, indented by ``left``."""
        element = self._tags.element(kind, parent)
        sheets = self.sheets
        for line in sheets.wrapped(text, size, sheets.across - left, bold=bold):
            sheets.room(size * LEADING)
            sheets.down += size * LEADING
            with self._tags.content(element):
                sheets.put(LEFT + left, sheets.down, line, size, bold=bold, ink=ink)

    def _block(self, block: Block) -> None:
        match block:
            case Text():
                self.text("P", block.text, _SIZE, ink=_INKS[block.tone])
            case Quote():
                self._quote(block)
            case Pairs():
                self._pairs(block)
            case Table():
                self._table(block)
            case Pictures():
                self._pictures(block)
        self.sheets.down += 4

    def _quote(self, quote: Quote) -> None:
        whole = self._tags.element("BlockQuote")
        self.text("P", quote.text, _SIZE, left=12, parent=whole)
        self.text("P", quote.origin, _SMALL, ink=QUIET, left=12, parent=whole)

    def _pairs(self, pairs: Pairs) -> None:
        table = self._tags.element("Table")
        first = max((self.sheets.wide(name, _SIZE) for name, _ in pairs.rows), default=0) + 14
        widths = ((first, False), (self.sheets.across - first, False))
        for cells in pairs.rows:
            self._row(table, cells, widths, header="row")

    # --- tables ---------------------------------------------------------------------------

    def _table(self, table: Table) -> None:
        names = tuple(heading.removeprefix("#") for heading in table.headings)
        right = tuple(heading.startswith("#") for heading in table.headings)
        columns = tuple(zip(self._widths(names, table.rows, right), right, strict=True))
        element = self._tags.element("Table")
        self._head(element, names, columns)
        for cells in table.rows:
            if self.sheets.room(self._tall(cells, columns)):
                self._head(None, names, columns)
            self._row(element, cells, columns)
            self._rule()

    def _head(self, table: Element | None, names: Sequence[str], columns: Columns) -> None:
        """Write the headings; screen readers read those of a continued table once."""
        self.sheets.room(40)
        self._row(table, names, columns, header="column")
        self._rule()

    def _rule(self) -> None:
        with self._tags.artifact():
            self.sheets.rule(self.sheets.down + 3)
        self.sheets.down += 1.5

    def _row(
        self,
        table: Element | None,
        cells: Sequence[str],
        columns: Columns,
        *,
        header: Scope | None = None,
    ) -> None:
        """Write a row; ``header`` states whether the row, or its first cell, is a heading."""
        tall = self._tall(cells, columns, bold=header == "column")
        self.sheets.room(tall)
        row = None if table is None else self._tags.element("TR", table)
        x = LEFT
        for at, (cell, column) in enumerate(zip(cells, columns, strict=True)):
            heads = header == "column" or (header == "row" and not at)
            with self._cell(row, header if heads else None):
                self._lines(cell, x, column, bold=header == "column", is_quiet=heads)
            x += column[0]
        self.sheets.down += tall

    def _cell(self, row: Element | None, header: Scope | None) -> AbstractContextManager[None]:
        if row is None:
            return self._tags.artifact()
        return self._tags.content(self._tags.element("TH" if header else "TD", row, scope=header))

    def _lines(
        self, cell: str, x: float, column: tuple[float, bool], *, bold: bool, is_quiet: bool
    ) -> None:
        sheets, (width, at_right) = self.sheets, column
        ink = QUIET if is_quiet and not bold else PLAIN
        for line, words in enumerate(sheets.wrapped(cell, _SIZE, width - 8, bold=bold), start=1):
            shift = width - 8 - sheets.wide(words, _SIZE, bold=bold) if at_right else 0
            sheets.put(
                x + shift, sheets.down + line * _SIZE * LEADING, words, _SIZE, bold=bold, ink=ink
            )

    def _tall(self, cells: Sequence[str], columns: Columns, *, bold: bool = False) -> float:
        lines = (
            len(self.sheets.wrapped(cell, _SIZE, width - 8, bold=bold))
            for cell, (width, _) in zip(cells, columns, strict=True)
        )
        return max(lines, default=1) * _SIZE * LEADING

    def _widths(
        self, names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]
    ) -> list[float]:
        """Give each column its natural width; where there is too little room, shrink the widest.

        Remaining room goes to the last text column, so that numbers stand together.
        """
        wide = self.sheets.wide
        asked = [
            max([wide(name, _SIZE, bold=True), *(wide(row[at], _SIZE) for row in rows)]) + 9
            for at, name in enumerate(names)
        ]
        most = max(asked)
        while sum(min(one, most) for one in asked) > self.sheets.across and most > 30:
            most -= 4
        taken = [min(one, most) for one in asked]
        last = max((at for at, is_number in enumerate(right) if not is_number), default=0)
        taken[last] += max(0.0, self.sheets.across - sum(taken))
        return taken

    # --- pictures -------------------------------------------------------------------------

    def _pictures(self, pictures: Pictures) -> None:
        across = pictures.across
        width = (self.sheets.across - (across - 1) * _BETWEEN) / across
        for start in range(0, len(pictures.shown), across):
            group = [self._figure(one, width) for one in pictures.shown[start : start + across]]
            tallest = max(one.tall for one in group)
            captions = max(len(one.caption) for one in group)
            tall = tallest + captions * _SMALL * LEADING + 12
            self.sheets.room(tall)
            for at, one in enumerate(group):
                self._draw(one, LEFT + at * (width + _BETWEEN), tallest)
            self.sheets.down += tall

    def _figure(self, picture: Picture, most: float) -> _Figure:
        caption = tuple(self.sheets.wrapped(picture.caption, _SMALL, most))
        if picture.jpeg is None:
            return _Figure(picture, None, most, 0.0, caption)
        name, _, info = preload_image(self.sheets.image_cache, BytesIO(picture.jpeg))
        ratio = info["h"] / info["w"]  # type: ignore[operator]  # fpdf2 types them as objects
        wide = min(most, most * _TALLEST / ratio)
        return _Figure(picture, name, wide, wide * ratio, caption)

    def _draw(self, figure: _Figure, x: float, tallest: float) -> None:
        sheets, down = self.sheets, self.sheets.down + 4
        whole = self._tags.element("Div")
        if figure.name is not None:
            alt = figure.picture.caption
            with self._tags.content(self._tags.element("Figure", whole, alt=alt)):
                sheets.image(figure.name, x, down, figure.wide, figure.tall)
        with self._tags.content(self._tags.element("Caption", whole)):
            for line, words in enumerate(figure.caption, start=1):
                sheets.put(x, down + tallest + line * _SMALL * LEADING, words, _SMALL, ink=QUIET)
