"""A felt's markers as pages to print: true to size, each with its number and its place."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.errors import InstallerError
from models.layout import Marker, TableLayout
from server.pdf import escaped, numbered
from vision.markers import pattern

_PAGE_MM: Final = (210.0, 297.0)
_POINTS: Final = 72 / 25.4
"""PDF's unit is a 72nd of an inch."""
_TOP_MM: Final = 40.0
_FOOT_MM: Final = 25.0
_GAP_MM: Final = 14.0
_RULER_MM: Final = 100.0


def marker_sheets(layout: TableLayout) -> bytes:
    """Return a PDF of A4 pages with the layout's markers, to be printed at 100%.

    Raises:
        InstallerError: the layout has no markers, or one too large for the page.
    """
    if not layout.markers:
        raise InstallerError(
            "it has no markers",
            where=f"layout {layout.name}",
            way_out="Say where they are to lie under [[markers]]: id, x_mm, y_mm, side_mm",
        )
    pages = [_page(layout, markers) for markers in _paged(layout)]
    return _document(pages)


def _paged(layout: TableLayout) -> Iterator[list[tuple[Marker, float]]]:
    """Yield each page's markers with how far down the page each one's rim begins."""
    page: list[tuple[Marker, float]] = []
    down = _TOP_MM
    for marker in layout.markers:
        tall = _rimmed_mm(layout, marker)
        if tall > _PAGE_MM[0] - 2 * _GAP_MM:
            raise InstallerError(
                f"marker {marker.id} of {marker.side_mm:g} mm is too large for a page",
                where=f"layout {layout.name}",
                way_out="Choose a side_mm of at most 130",
            )
        if page and down + tall > _PAGE_MM[1] - _FOOT_MM:
            yield page
            page, down = [], _TOP_MM
        page.append((marker, down))
        down += tall + _GAP_MM
    yield page


def _rimmed_mm(layout: TableLayout, marker: Marker) -> float:
    """A marker's side with its white rim, a cell wide."""
    cells = len(pattern(layout.marker_family, marker.id))
    return marker.side_mm * (cells + 2) / cells


def _page(layout: TableLayout, markers: Sequence[tuple[Marker, float]]) -> str:
    x = 20.0
    drawn = [
        _text(x, 16, 11, f"{layout.name}: markers. Print at 100%; this line is 100 mm long:"),
        _rectangle(x, 22, _RULER_MM, 0.5),
        _text(x, 31, 9, "Cut along the thin lines. Top edges towards the dealer, unless said."),
    ]
    for marker, down in markers:
        tall = _rimmed_mm(layout, marker)
        cells = pattern(layout.marker_family, marker.id)
        drawn += [_frame(x, down, tall)]
        drawn += _cells(cells, x, down, tall)
        drawn += [
            _text(x + tall + 8, down + 10 + 7 * line, 10 if line else 14, words)
            for line, words in enumerate(_words(marker))
        ]
    return "\n".join(drawn)


def _words(marker: Marker) -> tuple[str, ...]:
    side = "the dealer's left" if marker.x_mm >= 0 else "the dealer's right"
    return (
        f"marker {marker.id}",
        f"middle {abs(marker.x_mm):g} mm to {side}",
        f"and {marker.y_mm:g} mm from the dealer's edge",
        f"black square {marker.side_mm:g} mm, turned {marker.angle_deg:g} degrees clockwise",
    )


def _cells(cells: NDArray[np.bool_], x: float, down: float, tall: float) -> Iterator[str]:
    """Dark cells as rectangles, runs of a row in one: no hairlines between them."""
    size = tall / (len(cells) + 2)
    for row, dark in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], dark.astype(int), [0]])))
        for start, end in edges.reshape(-1, 2):
            yield _rectangle(
                x + (start + 1) * size, down + (row + 1) * size, (end - start) * size, size * 1.002
            )


def _rectangle(x: float, down: float, wide: float, tall: float) -> str:
    left, bottom = x * _POINTS, (_PAGE_MM[1] - down - tall) * _POINTS
    return f"{left:.3f} {bottom:.3f} {wide * _POINTS:.3f} {tall * _POINTS:.3f} re f"


def _frame(x: float, down: float, side: float) -> str:
    left, bottom = x * _POINTS, (_PAGE_MM[1] - down - side) * _POINTS
    return f"0.2 w {left:.3f} {bottom:.3f} {side * _POINTS:.3f} {side * _POINTS:.3f} re S"


def _text(x: float, down: float, size: int, words: str) -> str:
    left, bottom = x * _POINTS, (_PAGE_MM[1] - down) * _POINTS
    return f"BT /F1 {size} Tf {left:.3f} {bottom:.3f} Td ({escaped(words)}) Tj ET"


def _document(pages: Sequence[str]) -> bytes:
    """Write PDF 1.4: a catalogue, a font, and for each page itself and what is drawn on it."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    box = f"{_PAGE_MM[0] * _POINTS:.2f} {_PAGE_MM[1] * _POINTS:.2f}"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, page in enumerate(pages):
        drawn = page.encode("latin-1")
        objects += [
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {box}] "
                f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * at} 0 R >>"
            ).encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        ]
    return numbered(objects)
