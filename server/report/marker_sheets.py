"""A felt's markers as printable pages: to scale, each with its number and its place."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from fpdf import FPDF
from fpdf.prefs import ViewerPreferences
from numpy.typing import NDArray

from models.errors import InstallerError
from models.layout import Marker, TableLayout
from server.report.sheets import FAMILY, add_typefaces, moment
from vision.markers import pattern

_PAGE_MM: Final = (210.0, 297.0)
_TOP_MM: Final = 40.0
_FOOT_MM: Final = 25.0
_GAP_MM: Final = 14.0
_RULER_MM: Final = 100.0


def marker_sheets(layout: TableLayout, made_ns: int) -> bytes:
    """Return a PDF of A4 pages with the layout's markers, for printing at 100%.

    Args:
        layout: the felt.
        made_ns: now, nanoseconds since the Unix epoch, UTC.

    Raises:
        InstallerError: the layout has no markers, or one too large for the page.
    """
    if not layout.markers:
        raise InstallerError(
            "it has no markers",
            where=f"layout {layout.name}",
            way_out="Give their places under [[markers]]: id, x_mm, y_mm, side_mm",
        )
    pdf = FPDF(unit="mm", format=_PAGE_MM)
    pdf.set_auto_page_break(False)
    pdf.viewer_preferences = ViewerPreferences(print_scaling="None")
    pdf.set_creation_date(moment(made_ns))
    pdf.set_line_width(0.07)
    add_typefaces(pdf)
    for markers in _paged(layout):
        _draw_page(pdf, layout, markers)
    return bytes(pdf.output())


def _paged(layout: TableLayout) -> Iterator[list[tuple[Marker, float]]]:
    """Yield each page's markers, each with the vertical position of its rim."""
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
    """Return a marker's side with its white rim, one cell wide."""
    cells = len(pattern(layout.marker_family, marker.id))
    return marker.side_mm * (cells + 2) / cells


def _draw_page(pdf: FPDF, layout: TableLayout, markers: Sequence[tuple[Marker, float]]) -> None:
    pdf.add_page()
    left = 20.0
    _write(pdf, left, 16, 11, f"{layout.name}: markers. Print at 100%; this line is 100 mm long:")
    pdf.rect(left, 22, _RULER_MM, 0.5, style="F")
    _write(
        pdf,
        left,
        31,
        9,
        "Cut along the thin lines. Top edges towards the dealer, unless the label says otherwise.",
    )
    for marker, down in markers:
        tall = _rimmed_mm(layout, marker)
        pdf.rect(left, down, tall, tall, style="D")
        for piece in _cells(pattern(layout.marker_family, marker.id), left, down, tall):
            pdf.rect(*piece, style="F")
        for line, words in enumerate(_words(marker)):
            _write(pdf, left + tall + 8, down + 10 + 7 * line, 10 if line else 14, words)


def _write(pdf: FPDF, x: float, down: float, size: int, words: str) -> None:
    pdf.set_font(FAMILY, size=size)
    pdf.text(x, down, words)


def _words(marker: Marker) -> tuple[str, ...]:
    side = "the dealer's left" if marker.x_mm >= 0 else "the dealer's right"
    return (
        f"marker {marker.id}",
        f"middle {abs(marker.x_mm):g} mm to {side}",
        f"and {marker.y_mm:g} mm from the dealer's edge",
        f"black square {marker.side_mm:g} mm, turned {marker.angle_deg:g} degrees clockwise",
    )


def _cells(
    cells: NDArray[np.bool_], x: float, down: float, tall: float
) -> Iterator[tuple[float, float, float, float]]:
    """Yield dark cells as left, top, width and height, with adjacent ones of a row joined."""
    size = tall / (len(cells) + 2)
    for row, dark in enumerate(cells):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], dark.astype(int), [0]])))
        for start, end in edges.reshape(-1, 2).tolist():
            yield (
                x + (start + 1) * size,
                down + (row + 1) * size,
                (end - start) * size,
                size * 1.002,
            )
