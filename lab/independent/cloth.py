"""What is printed: the cloth of the table and the faces of its chips."""

import math
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from models.layout import DEALER_POINT, TableLayout

PX_PER_MM: Final = 2
TYPEFACES: Final = (
    "/usr/share/fonts/opentype/urw-base35/P052-Bold.otf",
    "/usr/share/fonts/truetype/lato/Lato-Bold.ttf",
    "/usr/share/fonts/opentype/urw-base35/C059-Bold.otf",
)
FLOOR: Final = (0.028, 0.017, 0.013)
"""Linear colour of the carpet beyond the table."""
RAIL_MM: Final = 1105.0
"""The middle of the rail, where the cloth ends, from the dealer's point."""
RULE: Final = "DEALER MUST DRAW TO 16 AND STAND ON ALL 17s"
CHIPS: Final = {
    50: ((0.75, 0.55, 0.60), (0.85, 0.85, 0.85)),
    100: ((0.80, 0.80, 0.77), (0.02, 0.05, 0.30)),
    500: ((0.45, 0.012, 0.02), (0.75, 0.72, 0.65)),
    2500: ((0.006, 0.14, 0.05), (0.75, 0.70, 0.40)),
    10000: ((0.008, 0.008, 0.01), (0.60, 0.45, 0.10)),
}
"""Chips by their value in cents: the linear colours of the body and of the edge spots."""


def felt_print(layout: TableLayout, cloth: tuple[float, float, float], seed: int) -> Image.Image:
    """Return the printed cloth from above, the dealer's edge at the top."""
    rng = np.random.default_rng([seed, 5])
    size = int(layout.width_mm * PX_PER_MM), int(layout.depth_mm * PX_PER_MM)
    image = Image.new("RGB", size, encoded(FLOOR))
    draw = ImageDraw.Draw(image)
    (x, y), r = _px(layout, DEALER_POINT), RAIL_MM * PX_PER_MM
    draw.ellipse((x - r, y - r, x + r, y + r), fill=encoded(cloth))
    ink = [(228, 205, 120), (235, 232, 220), (240, 215, 90)][int(rng.integers(3))]
    face = TYPEFACES[int(rng.integers(len(TYPEFACES)))]
    line = [_px(layout, point) for point in layout.insurance_line]
    draw.line(line, fill=ink, width=9, joint="curve")
    outer = [_px(layout, _out(point, 62.0)) for point in layout.insurance_line]
    draw.line(outer, fill=ink, width=9, joint="curve")
    for spot in layout.spots:
        x, y = _px(layout, (spot.circle.x_mm, spot.circle.y_mm))
        for radius, width in ((spot.circle.radius_mm, 10), (spot.circle.radius_mm - 12, 4)):
            r = radius * PX_PER_MM
            draw.ellipse((x - r, y - r, x + r, y + r), outline=ink, width=width)
    far = math.hypot(layout.insurance_line[0][0], layout.insurance_line[0][1] - DEALER_POINT[1])
    _along_arc(image, layout, "INSURANCE PAYS 2 TO 1", far + 31, 44, ink, face)
    _along_arc(image, layout, "BLACKJACK PAYS 3 TO 2", far - 70, 62, ink, face)
    _along_arc(image, layout, RULE, far - 130, 30, ink, face)
    return image


def chip_face(value: int, px: int = 256) -> Image.Image:
    """Return a chip's face: its colour with edge spots, a ring and its value."""
    body, spots = (encoded(colour) for colour in CHIPS[value])
    image = Image.new("RGB", (px, px), body)
    draw = ImageDraw.Draw(image)
    for number in range(6):
        draw.pieslice((0, 0, px, px), number * 60, number * 60 + 18, fill=spots)
    inner = px * 0.17
    draw.ellipse((inner, inner, px - inner, px - inner), fill=body, outline=spots, width=4)
    inner = px * 0.24
    draw.ellipse((inner, inner, px - inner, px - inner), fill=(235, 232, 222))
    text = f"${value // 100}" if value >= 100 else "50c"
    font = ImageFont.truetype(TYPEFACES[1], int(px * 0.24))
    draw.text((px / 2, px / 2), text, fill=(30, 30, 30), font=font, anchor="mm")
    return image


def deck_sheet(art: Path, to: Path) -> None:
    """Turn a deck's sheet into a picture that Blender reads."""
    sheet = cv2.imread(str(art), cv2.IMREAD_COLOR)
    if sheet is None:
        raise FileNotFoundError(art)
    cv2.imwrite(str(to), sheet)


def encoded(colour: tuple[float, float, float]) -> tuple[int, int, int]:
    """Return a linear colour as a picture's 8 bits."""
    r, g, b = (round(255 * float(one)) for one in srgb(np.array(colour)))
    return r, g, b


def srgb(linear: NDArray[np.floating]) -> NDArray[np.float32]:
    """Encode linear light for a screen, both from 0 to 1."""
    part = np.clip(linear, 0, 1).astype(np.float32)
    coded = np.where(part <= 0.0031308, 12.92 * part, 1.055 * part ** (1 / 2.4) - 0.055)
    return np.asarray(coded, np.float32)


def _px(layout: TableLayout, mm: tuple[float, float]) -> tuple[float, float]:
    return (mm[0] + layout.width_mm / 2) * PX_PER_MM, mm[1] * PX_PER_MM


def _out(mm: tuple[float, float], by_mm: float) -> tuple[float, float]:
    x, y = mm[0] - DEALER_POINT[0], mm[1] - DEALER_POINT[1]
    share = 1 + by_mm / math.hypot(x, y)
    return DEALER_POINT[0] + x * share, DEALER_POINT[1] + y * share


def _along_arc(
    image: Image.Image,
    layout: TableLayout,
    words: str,
    radius_mm: float,
    tall_mm: float,
    ink: tuple[int, int, int],
    face: str,
) -> None:
    """Set words along an arc about the dealer, their feet towards the players' side."""
    font = ImageFont.truetype(face, int(tall_mm * PX_PER_MM))
    widths = [font.getlength(letter) * 1.08 for letter in words]
    at = -sum(widths) / 2
    for letter, width in zip(words, widths, strict=True):
        angle = (at + width / 2) / (radius_mm * PX_PER_MM)
        at += width
        side = int(tall_mm * PX_PER_MM * 1.6)
        glyph = Image.new("L", (side, side))
        pen = ImageDraw.Draw(glyph)
        pen.text((side / 2, side / 2), letter, fill=255, font=font, anchor="mm")
        turned = glyph.rotate(math.degrees(angle), resample=Image.Resampling.BICUBIC)
        mm = (
            DEALER_POINT[0] + radius_mm * math.sin(angle),
            DEALER_POINT[1] + radius_mm * math.cos(angle),
        )
        x, y = _px(layout, mm)
        image.paste(ink, (int(x - side / 2), int(y - side / 2)), turned)
