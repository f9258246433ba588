"""PDF 1.4 as its objects: text in the standard fonts, lines and JPEG pictures.

The fonts are those that every reader has, so nothing is embedded. Suits are of the Symbol font;
other letters that Western European text (Windows-1252) has not are written ``?``.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from models.errors import InputRefused

PAGE_POINTS: Final = (595.28, 841.89)
"""A4, in PDF's unit, a 72nd of an inch."""
_FONTS: Final = {
    "F1": b"/BaseFont /Helvetica /Encoding /WinAnsiEncoding",
    "F2": b"/BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding",
    "F3": b"/BaseFont /Symbol",
}
_SUITS: Final[Mapping[str, tuple[str, bool]]] = {
    "♣": ("\xa7", False),
    "♦": ("\xa8", True),
    "♥": ("\xa9", True),
    "♠": ("\xaa", False),
}
"""Where the Symbol font has them, and whether they are red."""
_SUIT_WIDTH: Final = 753
_BOLD: Final = 1.07
"""Helvetica-Bold is at most so much wider, on the whole, than Helvetica."""
_WIDE: Final = 556
_WIDTHS: Final = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 "
    "556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 "
    "556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 "
    "556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 "
    "500 500 500 334 260 334 584"
)
_ADVANCE: Final = dict(zip(map(chr, range(32, 127)), map(int, _WIDTHS.split()), strict=True))
"""Helvetica's advance widths, thousandths of its size, of the letters of ASCII."""

_INK: Final = "0.09 0.13 0.11"
_RED: Final = "0.70 0.10 0.08"


def wide(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a line is, in points."""
    thousandths = sum(_SUIT_WIDTH if one in _SUITS else _ADVANCE.get(one, _WIDE) for one in text)
    return thousandths * size / 1000 * (_BOLD if bold else 1)


def wrapped(text: str, size: float, most: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines no wider than ``most`` points; a word too wide is cut."""
    lines, line = [], ""
    for word in text.split():
        while wide(word, size, bold=bold) > most and len(word) > 1:
            cut = _fitting(word, size, most - 1, bold=bold)
            lines += [line] if line else []
            lines, line, word = [*lines, word[:cut]], "", word[cut:]  # noqa: PLW2901
        longer = f"{line} {word}" if line else word
        if wide(longer, size, bold=bold) <= most:
            line = longer
        else:
            lines, line = [*lines, line], word
    return [*lines, line] if line or not lines else lines


def _fitting(word: str, size: float, most: float, *, bold: bool) -> int:
    return max(
        (end for end in range(1, len(word)) if wide(word[:end], size, bold=bold) <= most),
        default=1,
    )


@dataclass
class Page:
    """What is drawn on one page; ``down`` is from its top, all in points."""

    drawn: list[str] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)

    def text(
        self, x: float, down: float, text: str, size: float, *, bold: bool = False, ink: str = _INK
    ) -> None:
        """Write one line, its base ``down`` from the top."""
        bottom = PAGE_POINTS[1] - down
        for part, suit in _runs(text):
            font = "F3" if suit else "F2" if bold else "F1"
            shown = _SUITS[part][0] if suit else part
            colour = _RED if suit and _SUITS[part][1] else ink
            begin = f"{colour} rg BT /{font} {size:g} Tf {x:.2f} {bottom:.2f} Td"
            self.drawn.append(f"{begin} ({escaped(shown)}) Tj ET")
            x += wide(part, size, bold=bold)

    def line(self, x: float, down: float, long: float) -> None:
        """Draw a thin level line."""
        bottom = PAGE_POINTS[1] - down
        self.drawn.append(f"0.75 G 0.5 w {x:.2f} {bottom:.2f} m {x + long:.2f} {bottom:.2f} l S")

    def picture(self, number: int, x: float, down: float, size: tuple[float, float]) -> None:
        """Show a picture of the file, by its number, its top left corner there."""
        bottom = PAGE_POINTS[1] - down - size[1]
        self.pictures.append(number)
        self.drawn.append(
            f"q {size[0]:.2f} 0 0 {size[1]:.2f} {x:.2f} {bottom:.2f} cm /I{number} Do Q"
        )


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Part a line into texts and single suits."""
    held = ""
    for one in text:
        if one in _SUITS:
            if held:
                yield held, False
            yield one, True
            held = ""
        else:
            held += one
    if held:
        yield held, False


def escaped(text: str) -> str:
    """Write a text as it stands between a PDF string's brackets, a character a byte."""
    plain = text.encode("cp1252", "replace").decode("latin-1")
    return plain.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def document(title: str, pages: Sequence[Page], jpegs: Sequence[bytes]) -> bytes:
    """Return a file of A4 pages.

    Args:
        title: what a reader shows as its name.
        pages: what is drawn, page by page.
        jpegs: the pictures that pages show by their place here.

    Raises:
        InputRefused: one of the pictures is no JPEG.
    """
    first_font, first_picture = 4, 4 + len(_FONTS)
    first_page = first_picture + len(jpegs)
    kids = " ".join(f"{first_page + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        f"<< /Title ({escaped(title)}) /Producer (Pitwatch) >>".encode("latin-1"),
        *(b"<< /Type /Font /Subtype /Type1 %b >>" % font for font in _FONTS.values()),
        *map(_picture, jpegs),
    ]
    fonts = " ".join(f"/{name} {first_font + at} 0 R" for at, name in enumerate(_FONTS))
    for at, page in enumerate(pages):
        shown = " ".join(f"/I{number} {first_picture + number} 0 R" for number in page.pictures)
        objects += [
            (
                "<< /Type /Page /Parent 2 0 R "
                f"/MediaBox [0 0 {PAGE_POINTS[0]:g} {PAGE_POINTS[1]:g}] "
                f"/Resources << /Font << {fonts} >> /XObject << {shown} >> >> "
                f"/Contents {first_page + 2 * at + 1} 0 R >>"
            ).encode(),
            _stream(
                b"/Filter /FlateDecode", zlib.compress("\n".join(page.drawn).encode("latin-1"))
            ),
        ]
    return numbered(objects, info=3)


def _picture(jpeg: bytes) -> bytes:
    width, height, grey = jpeg_size(jpeg)
    space = b"/DeviceGray" if grey else b"/DeviceRGB"
    about = b"/Type /XObject /Subtype /Image /Width %d /Height %d " % (width, height)
    about += b"/ColorSpace %b /BitsPerComponent 8 /Filter /DCTDecode" % space
    return _stream(about, jpeg)


def jpeg_size(jpeg: bytes) -> tuple[int, int, bool]:
    """Return a JPEG's width and height in pixels, and whether it is grey.

    Raises:
        InputRefused: it is none.
    """
    at = 2
    while jpeg.startswith(b"\xff\xd8") and at + 10 <= len(jpeg) and jpeg[at] == 0xFF:
        marker, length = jpeg[at + 1], int.from_bytes(jpeg[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xC2:
            height, width = (int.from_bytes(jpeg[at + n : at + n + 2], "big") for n in (5, 7))
            return width, height, jpeg[at + 9] == 1
        at += 2 + length
    raise InputRefused(
        source="picture", field="content", expected="a JPEG", found=f"{len(jpeg)} other bytes"
    )


def _stream(about: bytes, content: bytes) -> bytes:
    return b"<< %b /Length %d >>\nstream\n%b\nendstream" % (about, len(content), content)


def numbered(objects: Sequence[bytes], info: int | None = None) -> bytes:
    """Return a PDF file of these objects, the first its catalogue, with where each stands."""
    written, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    about = b"" if info is None else b" /Info %d 0 R" % info
    return bytes(written) + (
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d /Root 1 0 R%b >>\n"
        b"startxref\n%d\n%%%%EOF\n" % (count, table, count, about, len(written))
    )
