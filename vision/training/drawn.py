"""Generated casino-style decks: indices in a typeface, pips in rows, ornamental courts.

Lengths are in millimetres on the card unless a name states otherwise. Pictures are drawn at
``PX_PER_MM`` times ``FINE`` and reduced.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from fontTools.ttLib import TTFont, TTLibError
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from models.cards import DECK, Card
from vision.scenes.decks import CARD_MM, FACE_PX, PX_PER_MM
from vision.training.signs import _bent, suit_mask
from vision.training.style import Style

# Supersampling factor.
FINE: Final = 2
# RGB of the courts' clothes.
COURT_COLOURS: Final = (
    (190, 25, 35),
    (235, 190, 40),
    (25, 45, 120),
    (20, 20, 20),
    (40, 110, 70),
)
# RGB.
SKIN: Final = (255, 232, 205)
RANKS_SHADED: Final = 0.5
"""Share of the decks with shaded ink whose ranks are shaded too, not only the suits."""
LEAST_HALO_MM: Final = 0.3
"""Least width of a large pip's clear ground."""
# Column (0 to 2) and height (0 to 1) of each pip, by rank.
PIP_ROWS: Final[dict[int, tuple[tuple[float, float], ...]]] = {
    2: ((1, 0), (1, 1)),
    3: ((1, 0), (1, 0.5), (1, 1)),
    4: ((0, 0), (2, 0), (0, 1), (2, 1)),
    5: ((0, 0), (2, 0), (1, 0.5), (0, 1), (2, 1)),
    6: ((0, 0), (2, 0), (0, 0.5), (2, 0.5), (0, 1), (2, 1)),
    7: ((0, 0), (2, 0), (1, 0.25), (0, 0.5), (2, 0.5), (0, 1), (2, 1)),
    8: ((0, 0), (2, 0), (1, 0.25), (0, 0.5), (2, 0.5), (1, 0.75), (0, 1), (2, 1)),
    9: (*((c, r / 3) for c in (0, 2) for r in range(4)), (1, 0.5)),
    10: (*((c, r / 3) for c in (0, 2) for r in range(4)), (1, 1 / 6), (1, 5 / 6)),
}


def draw_atlas(style: Style, *, sharp: bool = True) -> NDArray[np.uint8]:
    """Draw a whole deck as the one picture that ``vision.scenes.decks`` cuts, BGR.

    ``sharp``: reduce it by Lanczos' filter; else by the mean of pixels, in a tenth of the time.
    """
    width, height = FACE_PX
    atlas = np.full((4 * height, 14 * width, 3), 255, np.uint8)
    for at, card in enumerate(DECK):
        row, column = divmod(at, 13)
        fine = draw_face(card, style)
        face = fine.resize(FACE_PX, Image.Resampling.LANCZOS) if sharp else fine.reduce(FINE)
        place = np.s_[row * height : (row + 1) * height, column * width : (column + 1) * width]
        atlas[place] = np.asarray(face)
    atlas[:height, 13 * width :] = draw_back(style)
    return np.ascontiguousarray(atlas[:, :, ::-1])


def draw_face(card: Card, style: Style) -> Image.Image:
    """Draw one face at ``FINE`` times its final size."""
    size = (round(CARD_MM[0] * PX_PER_MM * FINE), round(CARD_MM[1] * PX_PER_MM * FINE))
    face = Image.new("RGB", size, style.paper)
    if card.rank in "JQK":
        _court(face, card, style)
    else:
        _pips(face, card, style)
    _indices(face, card, style)
    return face


def _px(mm: float) -> int:
    return max(1, round(mm * PX_PER_MM * FINE))


def _colour(card: Card, style: Style) -> tuple[int, int, int]:
    return style.colours["SHDC".index(card.suit)]


def _indices(face: Image.Image, card: Card, style: Style) -> None:
    corner = _index(card, style)
    x = _px(style.index_x) - corner.width // 2 if not style.suit_beside else _px(2.6)
    at = (max(_px(1.0), x), _px(style.index_top))
    sides = (False, True) if style.four_indices else (False,)
    for turned in (False, True):
        for right in sides:
            place = (face.width - at[0] - corner.width, at[1]) if right else at
            face.paste(corner, place, corner)
        if not turned:
            face.paste(face.rotate(180).copy())
    face.paste(face.rotate(180))


def _index(card: Card, style: Style) -> Image.Image:
    """Return rank and suit as they stand in a corner, RGBA."""
    rank = rank_mask(style.sign(card.rank), style)
    suit = suit_mask(card.suit, _px(style.suit_height), style)
    gap = _px(style.gap)
    if style.suit_beside:
        size = (rank.width + gap + suit.width, max(rank.height, suit.height))
        places = ((0, 0), (rank.width + gap, 0))
    else:
        width = max(rank.width, suit.width)
        size = (width, rank.height + gap + suit.height)
        places = (
            ((width - rank.width) // 2, 0),
            ((width - suit.width) // 2, rank.height + gap),
        )
    corner = Image.new("RGBA", size)
    for mask, place, is_rank in ((rank, places[0], True), (suit, places[1], False)):
        ink = _ink(mask, card, style, rank=is_rank)
        ink.putalpha(mask)
        corner.paste(ink, place)
    return corner


def _ink(mask: Image.Image, card: Card, style: Style, *, rank: bool = False) -> Image.Image:
    """Return the ink of a rank or suit over its mask's size: even, or paler towards one side."""
    colour = np.array(_colour(card, style), np.float32)
    flat = np.broadcast_to(colour, (mask.height, mask.width, 3))
    rng = np.random.default_rng([style.shading, 11])
    paler, turn, lit = rng.uniform(0.2, 0.6), rng.uniform(0, 2 * np.pi), rng.random()
    ranks_too = rng.random() < RANKS_SHADED
    if style.shading and (ranks_too or not rank):
        y, x = np.mgrid[0 : mask.height, 0 : mask.width].astype(np.float32)
        x, y = x / max(1, mask.width - 1) - 0.5, y / max(1, mask.height - 1) - 0.5
        along = x * np.cos(turn) + y * np.sin(turn) + 0.5
        round_middle = 1 - 2 * np.hypot(x, y)
        share = np.clip(along if lit < 0.7 else round_middle, 0, 1)[..., None] * paler
        flat = colour + share * (255 - colour)
    return Image.fromarray(np.asarray(flat, np.uint8))


def rank_mask(text: str, style: Style) -> Image.Image:
    """Return the alpha of a rank at the style's height, squeezed to its largest width."""
    font = ImageFont.truetype(str(style.font), _px(style.rank_height) * 2)
    box = font.getbbox(text)
    stroke = _px(style.bold) * 2 if style.bold else 0
    canvas = Image.new("L", (int(box[2] + 4 * stroke + 8), int(box[3] + 4 * stroke + 8)), 0)
    ImageDraw.Draw(canvas).text(
        (2 * stroke + 2, 2 * stroke + 2), text, 255, font, stroke_width=stroke
    )
    if style.ranks:
        rng = np.random.default_rng([style.ranks, *text.encode()])
        canvas = Image.fromarray(_bent(rng, np.asarray(canvas)))
    ink = canvas.crop(canvas.getbbox())
    height = _px(style.rank_height)
    width = min(
        ink.width * height // ink.height, _px(style.rank_width * (1.25 if len(text) > 1 else 1))
    )
    return ink.resize((max(2, width), height), Image.Resampling.LANCZOS)


def _pips(face: Image.Image, card: Card, style: Style) -> None:
    if card.rank == "A":
        size = style.pip_height * (2.4 if card.suit == "S" else 1.7)
        sign = suit_mask(card.suit, _px(size), style)
        _stamp(face, sign, 0.5 * CARD_MM[0], 0.5 * CARD_MM[1], _ink(sign, card, style))
        return
    pip = suit_mask(card.suit, _px(style.pip_height), style)
    ink = _ink(pip, card, style)
    top, bottom = 15.0, CARD_MM[1] - 15.0
    left = max(17.0, style.index_x + style.rank_width * 0.6 + style.pip_height * 0.5)
    for column, share in PIP_ROWS[card.points]:
        upright = share <= 0.5
        x, y = left + column * (CARD_MM[0] / 2 - left), top + share * (bottom - top)
        signs = (pip, ink) if upright else (pip.rotate(180), ink.rotate(180))
        _stamp(face, signs[0], x, y, signs[1])


def _stamp(face: Image.Image, mask: Image.Image, x: float, y: float, ink: Image.Image) -> None:
    face.paste(ink, (_px(x) - mask.width // 2, _px(y) - mask.height // 2), mask)


def _court(face: Image.Image, card: Card, style: Style) -> None:
    """Draw a panel with half-turn symmetry: ornament or a figure, its suit, a letter."""
    rng = np.random.default_rng([style.court, DECK.index(card)])
    deck = np.random.default_rng([style.court, len(DECK)])
    left, top = (deck.uniform(8.5, 13.5), deck.uniform(5.0, 9.5)) if style.figures else (11.5, 8.5)
    box = (_px(left), _px(top), face.width - _px(left), face.height - _px(top))
    size = (box[2] - box[0], box[3] - box[1])
    ornament = Image.new("RGB", size, style.paper)
    pen = ImageDraw.Draw(ornament)
    for _ in range(26):
        _ornament(pen, rng, size, [*COURT_COLOURS, style.paper])
    if style.figures:
        panel = _figure(rng, deck, ornament, card, style)
    else:
        panel = ornament
        pip = suit_mask(card.suit, _px(10), style)
        panel.paste(_ink(pip, card, style), (_px(2), _px(2)), pip)
    half = panel.crop((0, 0, size[0], size[1] // 2))
    panel.paste(half.rotate(180), (0, size[1] - half.height))
    if not style.figures and rng.random() < 0.5:
        letter = rank_mask(style.sign(card.rank), replace(style, rank_height=20.0, rank_width=18.0))
        panel.paste(
            _ink(letter, card, style, rank=True),
            ((size[0] - letter.width) // 2, (size[1] - letter.height) // 2),
            letter,
        )
    face.paste(panel, box[:2])
    if style.frame:
        ImageDraw.Draw(face).rectangle(box, outline=(30, 40, 110), width=_px(0.4))


def _figure(
    rng: np.random.Generator,
    deck: np.random.Generator,
    ornament: Image.Image,
    card: Card,
    style: Style,
) -> Image.Image:
    """Draw the upper half of a court card: an ornamented figure, a large pip beside its head.

    ``rng`` is the card's own; ``deck`` is the same for all courts of a deck.
    """
    pip_mm, margin_mm, halo_mm = deck.uniform(7, 13.5), deck.uniform(0.3, 3), deck.uniform(0, 1.5)
    right = deck.random() < 0.25 or rng.random() < 0.3
    skin = SKIN if deck.random() < 0.4 else style.paper
    panel = Image.new("RGB", ornament.size, style.paper)
    _person(panel, rng, ornament, -1 if right else 1, skin)
    pip = suit_mask(card.suit, _px(pip_mm), style)
    margin = _px(margin_mm)
    left = panel.width - margin - pip.width if right else margin
    if halo_mm > LEAST_HALO_MM:
        clear = _px(halo_mm)
        ground = (left - clear, 0, left + pip.width + clear, margin + pip.height + clear)
        panel.paste(style.paper, ground)
    panel.paste(_ink(pip, card, style), (left, margin), pip)
    return panel


def _person(
    panel: Image.Image,
    rng: np.random.Generator,
    ornament: Image.Image,
    side: int,
    skin: tuple[int, int, int],
) -> None:
    """Draw a head with hat and locks on shoulders, to the right or left of the middle.

    Lengths are in pixels; ``side``: 1 for the right, -1 for the left.
    """
    width, half = panel.width, panel.height / 2
    head = rng.uniform(0.085, 0.14) * width
    x = width / 2 + side * rng.uniform(0, 0.14) * width
    y = half * rng.uniform(0.3, 0.42)
    wide = [rng.uniform(0.2, 0.34), rng.uniform(0.34, 0.52), rng.uniform(0.3, 0.55)]
    falls = [y + 0.9 * head, y + 1.9 * head, half * 1.05]
    sides = [(part * width, fall) for part, fall in zip(wide, falls, strict=True)]
    body = [*((x + w, f) for w, f in sides), *((x - w, f) for w, f in reversed(sides))]
    hat = head * rng.uniform(1.0, 1.5)
    peaks = [(x - hat + k * hat / 2, y - head * rng.uniform(1.2, 2.4)) for k in range(5)]
    clad = Image.new("L", panel.size, 0)
    for outline in (body, [(x - hat, y - head * 0.6), *peaks, (x + hat, y - head * 0.6)]):
        ImageDraw.Draw(clad).polygon(outline, fill=255)
    panel.paste(ornament, mask=clad)
    ink = COURT_COLOURS[rng.integers(len(COURT_COLOURS))]
    pen = ImageDraw.Draw(panel)
    pen.ellipse((x - head, y - 1.2 * head, x + head, y + 1.2 * head), fill=skin, outline=ink)
    for _ in range(7):
        dx, dy = rng.uniform(-0.7, 0.7, 2) * head
        pen.line((x + dx, y + dy, x + dx + head / 3, y + dy + rng.normal(0, 4)), fill=ink, width=3)
    for lock in (-1, 1):
        at = x + lock * head
        pen.arc((at - head / 2, y - head, at + head / 2, y + 1.6 * head), 0, 360, fill=ink, width=5)
    if rng.random() < 0.6:
        staff = x + rng.choice([-1, 1]) * rng.uniform(0.3, 0.45) * width
        pen.line((staff, half * rng.uniform(0, 0.4), staff, half), fill=ink, width=9)


def _ornament(
    pen: ImageDraw.ImageDraw,
    rng: np.random.Generator,
    size: tuple[int, int],
    palette: list[tuple[int, int, int]],
) -> None:
    colour = palette[rng.integers(len(palette))]
    x, y = rng.uniform(0, size[0]), rng.uniform(0, size[1] / 2)
    reach = rng.uniform(0.06, 0.3) * size[0]
    kind = rng.integers(4)
    if kind == 0:
        pen.ellipse((x - reach, y - reach, x + reach, y + reach), fill=colour, outline=(20, 20, 20))
    elif kind == 1:
        points = [(x + rng.normal(0, reach), y + rng.normal(0, reach)) for _ in range(4)]
        pen.polygon(points, fill=colour, outline=(20, 20, 20))
    elif kind == 2:
        for step in range(5):
            pen.line(
                (x, y + step * 9, x + 2 * reach, y + step * 9 - reach / 2), fill=colour, width=4
            )
    else:
        pen.arc((x - reach, y - reach, x + reach, y + reach), 0, 250, fill=colour, width=6)


def draw_back(style: Style) -> NDArray[np.uint8]:
    """Draw a back with half-turn symmetry, RGB, at the final size."""
    rng = np.random.default_rng([style.back, 7])
    width, height = FACE_PX
    y, x = np.mgrid[0:height, 0:width].astype(np.float64) / PX_PER_MM
    x, y = x - CARD_MM[0] / 2, y - CARD_MM[1] / 2
    pitch = rng.uniform(2.5, 7)
    waves = [
        np.cos(2 * np.pi * x / pitch) * np.cos(2 * np.pi * y / pitch),
        np.cos(2 * np.pi * (x + y) / pitch) + np.cos(2 * np.pi * (x - y) / pitch) - 0.4,
        np.cos(2 * np.pi * np.hypot(x, y) / pitch) * np.cos(6 * np.arctan2(y, x)),
        np.cos(2 * np.pi * x / pitch * 0.5) + np.cos(2 * np.pi * y / pitch * 0.5) ** 2 - 0.6,
        np.abs(np.mod((x + y) / pitch, 2) - 1) - 0.35,
        np.full_like(x, -1.0),
    ]
    wave = waves[style.back % len(waves)]
    ink = np.clip(wave * 3 + 0.5, 0, 1)[..., None]
    colour = np.array(style.back_colour, np.float64)
    light = np.array(style.paper, np.float64) * 0.9 + colour * 0.1
    back = colour * (1 - ink) + light * ink
    edge = np.minimum(CARD_MM[0] / 2 - np.abs(x), CARD_MM[1] / 2 - np.abs(y))
    back[edge < style.back_border] = style.paper
    if style.back % 2:
        back[np.abs(edge - style.back_border - 1.2) < 0.35] = style.paper
    return np.asarray(np.clip(back, 0, 255), np.uint8)


def usable(font: Path, letters_wanted: str = "A234567890JQK1") -> bool:
    """Return whether a typeface has every letter and figure of a rank, or others."""
    try:
        with TTFont(font, fontNumber=0, lazy=True) as face:
            letters = face.getBestCmap() or {}
    except (TTLibError, OSError):
        return False
    return all(ord(sign) in letters for sign in letters_wanted) and _inked(font, letters_wanted)


def _inked(font: Path, signs: str) -> bool:
    """Return whether every sign is drawn: some typefaces name signs that they leave empty."""
    face = ImageFont.truetype(str(font), 40)
    return all(face.getmask(sign).getbbox() for sign in signs)


def family_of(font: Path) -> str:
    """Return the family of a typeface, as its file names it."""
    with TTFont(font, fontNumber=0, lazy=True) as face:
        names = face["name"]
        return str(names.getDebugName(16) or names.getDebugName(1) or font.stem)
