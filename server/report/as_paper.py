"""A report as a PDF of A4 sheets, laid out from top to bottom."""

from collections.abc import Sequence
from typing import Final

from server.pdf import PAGE_POINTS, Page, document, jpeg_size, wide, wrapped
from server.report.document import Block, Document, Pairs, Picture, Pictures, Section, Table, Text

_LEFT: Final = 48.0
_TOP: Final = 52.0
_FOOT: Final = 60.0
_ACROSS: Final = PAGE_POINTS[0] - 2 * _LEFT
_SIZE: Final = 9.0
_LEADING: Final = 1.38
_GAP: Final = 10.0
_PICTURE: Final = 92.0
_INKS: Final = {
    "plain": "0.09 0.13 0.11",
    "good": "0.08 0.40 0.23",
    "bad": "0.63 0.11 0.07",
    "doubt": "0.52 0.34 0.00",
    "quiet": "0.34 0.39 0.36",
}


def as_paper(report: Document) -> bytes:
    """Return the PDF; the same report gives the same bytes."""
    paper = _Paper()
    paper.lines("PITWATCH", 8, bold=True, ink="0.42 0.32 0.09")
    paper.lines(report.title, 17, bold=True)
    paper.lines(report.verdict, 11)
    for section in report.sections:
        paper.section(section)
    for at, page in enumerate(paper.pages, start=1):
        _foot(page, report.foot, f"{at} of {len(paper.pages)}")
    return document(f"Pitwatch: {report.title}", paper.pages, paper.jpegs)


def _foot(page: Page, foot: str, number: str) -> None:
    down = PAGE_POINTS[1] - _FOOT + 16
    page.line(_LEFT, down - 10, _ACROSS)
    for at, line in enumerate(wrapped(foot, 6.5, _ACROSS - 50)):
        page.text(_LEFT, down + at * 8, line, 6.5, ink=_INKS["quiet"])
    page.text(_LEFT + _ACROSS - wide(number, 7), down, number, 7, ink=_INKS["quiet"])


class _Paper:
    """Sheets as they fill."""

    def __init__(self) -> None:
        self.pages = [Page()]
        self.jpegs: list[bytes] = []
        self._down = _TOP

    def section(self, section: Section) -> None:
        self._down += _GAP
        self._room(60)
        self.lines(section.heading, 12, bold=True)
        self._down += 2
        for block in section.blocks:
            self._block(block)

    def lines(self, text: str, size: float, *, bold: bool = False, ink: str | None = None) -> None:
        """Write a text across the sheet."""
        for line in wrapped(text, size, _ACROSS, bold=bold):
            self._room(size * _LEADING)
            self._down += size * _LEADING
            self.pages[-1].text(_LEFT, self._down, line, size, bold=bold, ink=ink or _INKS["plain"])

    def _block(self, block: Block) -> None:
        match block:
            case Text():
                self.lines(block.says, _SIZE, ink=_INKS[block.tone])
            case Pairs():
                first = max((wide(name, _SIZE) for name, _ in block.rows), default=0) + 14
                for cells in block.rows:
                    self._row(cells, (first, _ACROSS - first), (False, False))
            case Table():
                self._table(block)
            case Pictures():
                self._pictures(block.shown)
        self._down += 4

    # --- tables ---------------------------------------------------------------------------

    def _table(self, table: Table) -> None:
        names = tuple(heading.removeprefix("#") for heading in table.headings)
        right = tuple(heading.startswith("#") for heading in table.headings)
        widths = _widths(names, table.rows, right)
        self._head(names, widths, right)
        for cells in table.rows:
            if self._room(_tall(cells, widths)):
                self._head(names, widths, right)
            self._row(cells, widths, right)
            self.pages[-1].line(_LEFT, self._down + 3, _ACROSS)
            self._down += 1.5

    def _head(self, names: Sequence[str], widths: Sequence[float], right: Sequence[bool]) -> None:
        self._room(40)
        self._row(names, widths, right, bold=True)
        self.pages[-1].line(_LEFT, self._down + 3, _ACROSS)
        self._down += 2

    def _row(
        self,
        cells: Sequence[str],
        widths: Sequence[float],
        right: Sequence[bool],
        *,
        bold: bool = False,
    ) -> None:
        tall = _tall(cells, widths)
        self._room(tall)
        x = _LEFT
        for cell, width, at_right in zip(cells, widths, right, strict=True):
            for at, line in enumerate(wrapped(cell, _SIZE, width - 8, bold=bold), start=1):
                shift = width - 8 - wide(line, _SIZE, bold=bold) if at_right else 0
                down = self._down + at * _SIZE * _LEADING
                self.pages[-1].text(x + shift, down, line, _SIZE, bold=bold)
            x += width
        self._down += tall

    # --- pictures and sheets --------------------------------------------------------------

    def _pictures(self, shown: Sequence[Picture]) -> None:
        across = int(_ACROSS // (_PICTURE + 10))
        for start in range(0, len(shown), across):
            group = shown[start : start + across]
            sizes = [_fit(one.jpeg) for one in group]
            tallest = max(size[1] for size in sizes)
            self._room(tallest + 30)
            for at, (one, size) in enumerate(zip(group, sizes, strict=True)):
                x = _LEFT + at * (_PICTURE + 10)
                self.jpegs.append(one.jpeg)
                self.pages[-1].picture(len(self.jpegs) - 1, x, self._down + 4, size)
                for line, words in enumerate(wrapped(one.caption, 7, _PICTURE)[:2]):
                    down = self._down + tallest + 13 + line * 9
                    self.pages[-1].text(x, down, words, 7, ink=_INKS["quiet"])
            self._down += tallest + 30

    def _room(self, tall: float) -> bool:
        """Turn to a new sheet where so much does not fit; tell whether that was so."""
        if self._down + tall <= PAGE_POINTS[1] - _FOOT:
            return False
        self.pages.append(Page())
        self._down = _TOP
        return True


def _fit(jpeg: bytes) -> tuple[float, float]:
    width, height, _ = jpeg_size(jpeg)
    scale = min(_PICTURE / width, 1.4 * _PICTURE / height)
    return width * scale, height * scale


def _tall(cells: Sequence[str], widths: Sequence[float]) -> float:
    lines = (
        len(wrapped(cell, _SIZE, width - 8)) for cell, width in zip(cells, widths, strict=True)
    )
    return max(lines, default=1) * _SIZE * _LEADING


def _widths(
    names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]
) -> list[float]:
    """Give each column what it asks for; where that is too much, the widest give way.

    What is left over goes to the last column of words, so that numbers stand together.
    """
    asked = [
        max([wide(name, _SIZE, bold=True), *(wide(row[at], _SIZE) for row in rows)]) + 9
        for at, name in enumerate(names)
    ]
    most = max(asked)
    while sum(min(one, most) for one in asked) > _ACROSS and most > 30:
        most -= 4
    taken = [min(one, most) for one in asked]
    last = max((at for at, is_number in enumerate(right) if not is_number), default=0)
    taken[last] += max(0.0, _ACROSS - sum(taken))
    return taken
