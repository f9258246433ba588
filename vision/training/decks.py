"""The decks that networks learn from and are tested on, and the atlases that are shipped.

Training decks are rasterised from Debian's card art and drawn in Debian's typefaces, on demand,
into ``.cache/decks``. Test decks are the shipped ones and their kin; a family for testing is never
trained on.
"""

import hashlib
import os
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from models.errors import OperatorError
from vision.languages import DE, LANGUAGES, TE
from vision.scenes.decks import FACE_PX, Deck, cut_atlas, deck_ids, load_deck
from vision.training.drawn import draw_atlas, family_of, usable
from vision.training.signs import SIGNS
from vision.training.style import Style

CACHE: Final = Path(".cache/decks")
SHEETS: Final = Path("/usr/share/aisleriot/cards")
KDE_SHEETS: Final = Path("/usr/share/carddecks")
TYPEFACES: Final = Path("/usr/share/fonts")
ALL_RANKS: Final = "A23456789TJQK"

TRAIN_SHEETS: Final = {
    "neoclassical": ALL_RANKS,
    "neoclassical_4_color": ALL_RANKS,
    "ornamental": ALL_RANKS,
    "plastic": ALL_RANKS,
    "simplistic": ALL_RANKS,
    "tango": ALL_RANKS,
    "atlasnye": ALL_RANKS,
    "bellot": ALL_RANKS,
    "dondorf": ALL_RANKS,
    "paris": ALL_RANKS,
    "ancient_french": "23456789T",
    "berlin": "A23456789TK",
    "lattmann": "A23456789TK",
    "rheinland": "A23456789TK",
    "guyenne-classic": "A23456789T",
    "orell": "A23456789T",
    "slavic_costumes": "23456789T",
    "tarocco": "A23456789T",
    "atlasnye_skat": "A23456789TQK",
}
"""Sheets of gnome-cards-data, each with the ranks that carry a known index."""

RUSSIAN: Final = (TE, "B", DE, "K")

LETTERED_SHEETS: Final = {
    "berlin": ("A", "B", "D", "K"),
    "rheinland": ("A", "B", "D", "K"),
    "atlasnye_skat": ("A", "B", "D", "K"),
    "slavic_costumes": RUSSIAN,
    "lattmann": ("A", "B", "D", "K"),
    "ancient_french": ("1", "V", "D", "R"),
    "Атласные": RUSSIAN,
    "tarocco": ("A", "F", "D", "R"),
}
"""Sheets of gnome-cards-data with other letters than A, J, Q and K, opened as ``lettered:NAME``."""
TEST_LETTERS: Final = ("lattmann", "ancient_french", "Атласные", "tarocco")
"""Those whose letters no network learns from."""

TRAIN_KDE: Final = ("ancient-egyptians", "nicu-white", "penguins")
"""Decks of kdegames-card-data-kf5 with a known index, unrelated to any test deck."""

REAL_WEIGHS: Final = 6
"""Weight. A deck of real card art is learnt from as often as this many drawn ones."""

FIGURES: Final = 0.6
"""Share of the redrawn decks whose courts show figures, as real ones do."""

# Share of the redrawn decks whose suits are a typeface's signs. Chosen, not measured.
SET_SIGNS: Final = 0.35
# Share of the redrawn decks whose ink pales across each sign. Chosen, not measured.
SHADED: Final = 0.25
PALE_BLACK: Final = 0.3
"""Share of the redrawn decks whose black is grey, bluish or brownish. Chosen, not measured."""

FOUR_INDICES: Final = frozenset({"dondorf"})

TEST_SHEETS: Final = ("anglo_poker", "tigullio")
"""Shipped sheets for testing, with their relatives below."""
TEST_KDE: Final = ("standard", "jolly-royal")
TEST_KIN: Final = frozenset(
    {
        *("anglo", "anglo_bitmap", "anglo_modern", "anglo_modern_4_color", "gnomangelo"),
        *("anglo_poker", "gnomangelo_bitmap", "tigullio", "tigullio-international"),
    }
)
TEST_TYPEFACES: Final = (
    "LiberationSansNarrow",
    "Caladea",
    "Carlito",
    "Vollkorn",
    "NimbusSansNarrow",
)
"""Typeface families that no training deck uses."""

# RGB of a four-colour deck's suits, in the order of the suits.
FOUR_COLOURS: Final = ((15, 15, 15), (205, 20, 30), (20, 60, 170), (10, 120, 50))


def train_deck_ids(drawn: int) -> tuple[str, ...]:
    """Name the decks to learn from: the sheets, and ``drawn`` generated decks."""
    sheets = (*(f"sheet:{name}" for name in TRAIN_SHEETS), *(f"kde:{name}" for name in TRAIN_KDE))
    return (*sheets, *(f"drawn:{n}" for n in range(drawn)))


def reader_deck_ids(drawn: int) -> tuple[str, ...]:
    """Name the decks to learn reading from, with the real ones repeated."""
    every = train_deck_ids(drawn)
    return every + every[: len(every) - drawn] * (REAL_WEIGHS - 1)


def decks_anew(rng: np.random.Generator, drawn: int, fresh: int, weigh: int) -> list[str]:
    """Choose the real decks once each, and ``fresh`` of ``drawn`` generated ones, redrawn.

    Each generated deck is learnt from ``weigh`` times as often as a real one.
    """
    every = train_deck_ids(drawn)
    real, ours = every[: len(every) - drawn], every[len(every) - drawn :]
    chosen = rng.choice(ours, min(fresh, drawn), replace=False)
    return [*real, *weigh * [f"{name}+{rng.integers(1 << 30)}" for name in chosen]]


def test_deck_ids(drawn: int) -> tuple[str, ...]:
    """Name the decks to test on: whole ones, and decks in untrained typefaces."""
    whole = (*deck_ids(), *(f"kde:{name}" for name in TEST_KDE))
    return (*whole, *(f"unseen:{n}" for n in range(drawn)))


def open_deck(name: str) -> Deck:
    """Open a deck by its name; rasterise it on first use.

    Raises:
        OperatorError: the card art or the typefaces it comes from are not installed.
    """
    kind, _, rest = name.partition(":")
    if not rest:
        return load_deck(name)
    use: Literal["train", "test"] = "test" if name in test_deck_ids(0) else "train"
    use = "test" if kind == "unseen" else use
    return cut_atlas(name, use, _cached(name, kind, rest))


def redrawn(name: str, seed: int, letters: tuple[str, str, str, str] | None = None) -> Deck:
    """Draw a generated deck with other outlines and court cards.

    It keeps a network from memorising ornaments, or one outline of a suit or rank.

    Args:
        name: a generated deck.
        seed: of what is drawn anew.
        letters: signs of ace, jack, queen and king, where they are not the English ones.
    """
    kind, _, number = name.partition(":")
    style = replace(drawn_style(kind, int(number)), court=seed, suits=seed + 1, ranks=seed + 2)
    if letters is not None:
        style = replace(style, letters=letters, font=_with_letters(style.font, letters, kind))
    figures = bool(np.random.default_rng([seed, 3]).random() < FIGURES)
    style = printed_anew(replace(style, figures=figures), held_out=kind == "unseen", seed=seed)
    return cut_atlas(name, "test" if kind == "unseen" else "train", draw_atlas(style, sharp=False))


def _with_letters(font: Path, letters: tuple[str, ...], kind: str) -> Path:
    """Return a typeface, or another one where it lacks one of the letters."""
    wanted = "".join(letters)
    if usable(font, wanted):
        return font
    fonts = [one for one in typefaces(kind == "unseen") if usable(one, wanted)]
    return fonts[sum(font.name.encode()) % len(fonts)]


def lettered(name: str) -> tuple[str, str, str, str]:
    """Return the signs of ace, jack, queen and king of a deck's name.

    ``drawn:5+7@french`` is ``drawn:5`` redrawn with the letters of a French deck; the seed chooses
    among the signs of its ace.
    """
    anew, _, language = name.partition("+")[2].partition("@")
    if language:
        decks = LANGUAGES[language].decks
        return decks[int(anew) % len(decks)]
    return LETTERED_SHEETS.get(name.removeprefix("lettered:"), ("A", "J", "Q", "K"))


def printed_anew(style: Style, *, held_out: bool, seed: int) -> Style:
    """Choose the source of a deck's suits, and how evenly and darkly it is printed."""
    rng = np.random.default_rng([seed, 4])
    if rng.random() < SET_SIGNS:
        fonts = sign_typefaces(held_out)
        style = replace(style, signs=fonts[rng.integers(len(fonts))] if fonts else None)
    if rng.random() < SHADED:
        style = replace(style, shading=seed + 5)
    if rng.random() < PALE_BLACK:
        ink = np.clip(rng.uniform(25, 85) + rng.normal(0, 7, 3), 0, 255).astype(int)
        pale = (int(ink[0]), int(ink[1]), int(ink[2]))
        spades, hearts, diamonds, clubs = style.colours
        style = replace(style, colours=(pale, hearts, diamonds, pale if clubs == spades else clubs))
    return style


def ranks_of(name: str) -> str:
    """Return the ranks of a deck that carry a known index."""
    return TRAIN_SHEETS.get(name.removeprefix("sheet:"), ALL_RANKS)


def four_indices(name: str) -> bool:
    """Return whether a deck carries an index in each of its corners."""
    kind, _, rest = name.partition(":")
    if kind in {"drawn", "unseen"}:
        return drawn_style(kind, int(rest)).four_indices
    return rest in FOUR_INDICES


def _cached(name: str, kind: str, rest: str) -> NDArray[np.uint8]:
    style = drawn_style(kind, int(rest)) if kind in {"drawn", "unseen"} else None
    path = CACHE / f"{hashlib.sha256(f'{name} {style}'.encode()).hexdigest()[:16]}.png"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        sheet = {"sheet": sheet_atlas, "lettered": sheet_atlas, "kde": kde_atlas}.get(kind)
        atlas = draw_atlas(drawn_style(kind, int(rest))) if sheet is None else sheet(rest)
        part = path.with_suffix(f".{os.getpid()}.png")
        cv2.imwrite(str(part), atlas)
        part.replace(path)
    return np.asarray(cv2.imread(str(path), cv2.IMREAD_COLOR), np.uint8)


def sheet_atlas(name: str) -> NDArray[np.uint8]:
    """Rasterise a sheet of gnome-cards-data into an atlas, BGR."""
    sheet = _rasterise(SHEETS / f"{name}.svgz", "--width", "3900", "--height", "2150")
    across, down = sheet.shape[1] / 13, sheet.shape[0] / 5
    width, height = FACE_PX
    atlas = np.full((4 * height, 14 * width, 3), 255, np.uint8)
    places = {(row, column): (row, column) for row in range(4) for column in range(13)}
    order = (3, 2, 1, 0)  # the sheets go clubs, diamonds, hearts, spades
    for row, column in [*places, (4, 2)]:
        top, left = round(row * down), round(column * across)
        cell = _trim(sheet[top : round((row + 1) * down), left : round((column + 1) * across)])
        at = (0, 13) if row == 4 else (order[row], column)
        face = cv2.resize(cell, FACE_PX, interpolation=cv2.INTER_AREA)
        atlas[at[0] * height :, at[1] * width :][:height, :width] = face
    return atlas


def kde_atlas(name: str) -> NDArray[np.uint8]:
    """Rasterise a deck of kdegames-card-data-kf5 into an atlas, BGR."""
    path = next(iter((KDE_SHEETS / f"svg-{name}").glob("*.svgz")), KDE_SHEETS / f"svg-{name}")
    width, height = FACE_PX
    atlas = np.full((4 * height, 14 * width, 3), 255, np.uint8)
    ranks = ("1", *"23456789", "10", "jack", "queen", "king")
    suits = ("spade", "heart", "diamond", "club")
    faces = {
        f"{rank}_{suit}": (s, r) for s, suit in enumerate(suits) for r, rank in enumerate(ranks)
    }
    for element, (row, column) in (faces | {"back": (0, 13)}).items():
        whole = _trim(_element(path, element, height))
        fine = _trim(_element(path, element, min(6000, height * height // whole.shape[0])))
        face = cv2.resize(fine, FACE_PX, interpolation=cv2.INTER_AREA)
        atlas[row * height :, column * width :][:height, :width] = face
    return atlas


def _element(path: Path, element: str, page_px: int) -> NDArray[np.uint8]:
    """Return one element of a drawing from a page ``page_px`` high, BGRA."""
    page = _rasterise(path, "--export-id", element, "--height", str(page_px))
    rows, columns = np.nonzero(page[..., 3] > 128)
    return page[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]


def _rasterise(path: Path, *how: str) -> NDArray[np.uint8]:
    if not path.exists():
        raise OperatorError(
            "the card art is not installed",
            where=str(path),
            way_out="Install Debian's gnome-cards-data, kdegames-card-data-kf5 and librsvg2-bin",
        )
    command = ["rsvg-convert", *how, str(path)]
    png = subprocess.run(command, check=True, capture_output=True).stdout
    return np.asarray(cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED), np.uint8)


def _trim(cell: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Cut a cell to its card and put that on white."""
    rows = np.flatnonzero((cell[..., 3] > 128).mean(1) > 0.5)
    columns = np.flatnonzero((cell[..., 3] > 128).mean(0) > 0.5)
    if len(rows) and len(columns):
        cell = cell[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    alpha = cell[..., 3:].astype(np.float32) / 255
    return np.asarray(cell[..., :3] * alpha + 255 * (1 - alpha), np.uint8)


ODD_TYPEFACES: Final = (
    *("Math", "Keyboard", "Initials", "Aoyagi", "Hairline", "Thin", "Symbol", "D050000L", "Tamil"),
    *("Biolinum_K.", "Libertine_I.", "Cupola", "eurof35", "eurof36", "eurofc35", "eurofc36"),
    *("Abogado", "Delphine", "Domestic", "Junkyard", "Penguin", "Solothurn", "Steve", "Ubuntu-T"),
    *("Wargames", "unifur", "wasn"),
)
"""Words in the names of typefaces that no deck is printed in: symbols, hairlines, handwriting that
is hard to read, small letters in place of capitals."""


@cache
def typefaces(held_out: bool) -> tuple[Path, ...]:
    """List the typefaces for ranks: for training, or for testing."""
    files = sorted([*TYPEFACES.rglob("*.ttf"), *TYPEFACES.rglob("*.otf")])
    plain = [file for file in files if not any(word in file.name for word in ODD_TYPEFACES)]
    kept = [f for f in plain if f.name.startswith(TEST_TYPEFACES) == held_out and usable(f)]
    if not kept:
        raise OperatorError(
            "no typeface to draw decks in",
            where=str(TYPEFACES),
            way_out="Install Debian's fonts-liberation, fonts-crosextra-caladea and more: "
            "CONTRIBUTING.md names those that the shipped networks were trained with",
        )
    return tuple(kept)


@cache
def typeface_families() -> tuple[tuple[Path, ...], ...]:
    """List the typefaces for training by family, so that one with many weights counts once."""
    families: dict[str, list[Path]] = {}
    for font in typefaces(held_out=False):
        families.setdefault(family_of(font), []).append(font)
    return tuple(tuple(families[name]) for name in sorted(families))


@cache
def sign_typefaces(held_out: bool) -> tuple[Path, ...]:
    """List the typefaces that have the signs of the suits."""
    signs = "".join(SIGNS.values())
    return tuple(font for font in typefaces(held_out) if usable(font, signs))


@cache
def drawn_style(kind: str, seed: int) -> Style:
    """Choose the style of a generated deck."""
    rng = np.random.default_rng([seed, 1 if kind == "drawn" else 2])
    if kind == "unseen":
        fonts = typefaces(held_out=True)
    else:
        families = typeface_families()
        fonts = families[rng.integers(len(families))]
    jumbo = rng.random() < 0.45
    tall = rng.uniform(8.5, 12.5) if jumbo else rng.uniform(5.0, 8.0)
    style = Style(
        font=fonts[rng.integers(len(fonts))],
        rank_height=tall,
        rank_width=tall * rng.uniform(0.5, 1.0),
        bold=float(rng.choice([0.0, 0.0, 0.15, 0.3, 0.5])) * tall / 8,
        suit_height=tall * rng.uniform(0.55, 0.9),
        index_x=max(tall * rng.uniform(0.4, 0.55), 3.5) + rng.uniform(0.5, 2.0),
        index_top=rng.uniform(2.2, 6.0),
        gap=rng.uniform(0.5, 2.2),
        suit_beside=rng.random() < 0.06,
        four_indices=bool(rng.random() < 0.15) or seed % 6 == 3,
        paper=_paper(rng),
        pip_height=rng.uniform(9.0, 15.0),
        pip_shape=rng.uniform(0, 1),
        court=int(rng.integers(1 << 30)),
        frame=rng.random() < 0.7,
        back=int(rng.integers(1 << 30)),
        back_colour=_back_colour(rng),
        back_border=float(rng.choice([0.0, 2.5, 3.5, 5.0])),
    )
    return replace(style, colours=_suit_colours(rng))


def _paper(rng: np.random.Generator) -> tuple[int, int, int]:
    white = int(rng.integers(238, 256))
    return (white, white - int(rng.integers(0, 6)), white - int(rng.integers(0, 18)))


def _back_colour(rng: np.random.Generator) -> tuple[int, int, int]:
    choices = (
        (160, 25, 35),
        (25, 40, 120),
        (20, 90, 60),
        (30, 30, 30),
        (110, 40, 110),
        (190, 110, 20),
    )
    base = np.array(choices[rng.integers(len(choices))]) + rng.integers(-20, 21, 3)
    r, g, b = (int(value) for value in np.clip(base, 0, 255))
    return (r, g, b)


def _suit_colours(rng: np.random.Generator) -> tuple[tuple[int, int, int], ...]:
    red = (int(rng.integers(165, 235)), int(rng.integers(5, 50)), int(rng.integers(10, 60)))
    black = (int(rng.integers(0, 45)),) * 3
    if rng.random() < 0.12:
        return (black, red, FOUR_COLOURS[2], FOUR_COLOURS[3])
    return (black, red, red, black)
