"""Other versions of a deck, for scoring alone: its negative, other letters, four colours.

Letters are set in typefaces that no network learnt from, as high as the deck's own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from models.cards import Card
from vision.languages import ENGLISH, LANGUAGES
from vision.scenes.decks import CARD_MM, FACE_PX, Deck
from vision.training.decks import typefaces
from vision.training.drawn import usable

PX_PER_MM: Final = FACE_PX[0] / CARD_MM[0]
CORNER_MM: Final = (15.0, 16.0)
"""Width and height of the corner in which a deck's rank stands."""
SIGN_MM: Final = 13.0  # a suit's sign in a corner ends this far below its rank, at most
INK_LEVELS: Final = 60  # grey levels by which ink differs from paper
GREEN_BGR, BLUE_BGR = (50, 120, 10), (170, 60, 20)

Face = NDArray[np.uint8]
"""``(H, W, 4)`` BGRA."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where the ranks of a deck stand in its corner, in pixels of a face."""

    left: int
    top: int
    right: int
    bottom: int


def inverted(deck: Deck) -> Deck:
    """The negative of a deck's faces: light signs on black."""
    return _each(deck, lambda _, face: np.dstack([255 - face[..., :3], face[..., 3]]))


def lettered(language: str) -> Callable[[Deck], Deck]:
    """Return how to give a deck the letters of a language."""

    def change(deck: Deck) -> Deck:
        letters = dict(zip("AJQK", LANGUAGES[language].decks[0], strict=True))
        box, font = rank_box(deck), _typeface(deck, "".join(letters.values()))
        english = dict(zip("AJQK", LANGUAGES[ENGLISH].decks[0], strict=True))

        def letter(card: Card, face: Face) -> Face:
            rank = card.rank
            if rank not in letters or letters[rank] == english[rank]:
                return face
            return _both_ends(face, lambda end: _set(end, letters[rank], box, font))

        return _each(deck, letter)

    return change


def four_coloured(deck: Deck) -> Deck:
    """Print clubs green and diamonds blue: their pips and indices."""
    box = rank_box(deck)
    inks = {"C": GREEN_BGR, "D": BLUE_BGR}

    def colour(card: Card, face: Face) -> Face:
        if card.suit not in inks:
            return face
        whole = np.s_[:, :]
        corner = np.s_[: box.bottom + round(SIGN_MM * PX_PER_MM), : box.right + 2]
        part = corner if card.rank in "JQK" else whole
        return _both_ends(face, lambda end: _inked(end, part, inks[card.suit]))

    return _each(deck, colour)


VERSIONS: Final[dict[str, Callable[[Deck], Deck]]] = {
    "inverted": inverted,
    "four-colours": four_coloured,
    **{language: lettered(language) for language in LANGUAGES if language != ENGLISH},
}


def rank_box(deck: Deck) -> Box:
    """Find where a deck's ranks stand, by its eights: nothing else lies in their corners."""
    width, height = (round(side * PX_PER_MM) for side in CORNER_MM)
    face = deck.faces[Card("8S")][:height, :width, :3].astype(int)
    ink = (np.abs(face - _paper(deck.faces[Card("8S")])).max(2) > INK_LEVELS).astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(ink)
    inside = [
        stats[at]
        for at in range(1, count)
        if min(stats[at][:2]) > 1 and stats[at][0] + stats[at][2] < width
    ]
    left, top, across, down, _ = max(inside, key=lambda stat: int(stat[3]))
    return Box(int(left), int(top), int(left + across), int(top + down))


def _each(deck: Deck, change: Callable[[Card, Face], Face]) -> Deck:
    return replace(deck, faces={card: change(card, face) for card, face in deck.faces.items()})


def _both_ends(face: Face, change: Callable[[Face], Face]) -> Face:
    once = change(face.copy())
    return np.ascontiguousarray(change(np.ascontiguousarray(once[::-1, ::-1]))[::-1, ::-1])


def _paper(face: Face) -> NDArray[np.int64]:
    """Return the colour of a face's paper, BGR."""
    middle = face[12:40, 40:-40, :3].reshape(-1, 3)
    return np.asarray(np.median(middle, axis=0), int)


def _set(face: Face, sign: str, box: Box, font: Path) -> Face:
    """Put a letter in place of the one in the upper left corner."""
    margin, paper = round(0.8 * PX_PER_MM), _paper(face)
    left, right = box.left - margin, box.right + margin + round(0.8 * PX_PER_MM)
    part = face[box.top - 2 : box.bottom + 3, max(0, left) : right, :3]
    inked = np.abs(part.astype(int) - paper).max(2) > INK_LEVELS
    ink = np.median(part[inked], axis=0)
    part[:] = paper
    mask = _drawn(sign, font, box.bottom - box.top, right - box.left)
    middle = (box.left + box.right) // 2
    at = max(box.left - 1, middle - mask.shape[1] // 2)
    under = face[box.top : box.top + mask.shape[0], at : at + mask.shape[1], :3]
    share = mask[: under.shape[0], : under.shape[1], None] / 255
    under[:] = np.round(under * (1 - share) + ink * share)
    return face


def _drawn(sign: str, font: Path, height: int, widest: int) -> NDArray[np.float64]:
    """Draw a letter, ``(height, width)``, from 0 to 255."""
    set_in = ImageFont.truetype(str(font), 200)
    _, _, right, bottom = (int(edge) for edge in set_in.getbbox(sign))
    canvas = Image.new("L", (right + 20, bottom + 20), 0)
    ImageDraw.Draw(canvas).text((4, 4), sign, 255, set_in)
    ink = canvas.crop(canvas.getbbox())
    size = max(2, min(widest, round(ink.width * height / ink.height))), height
    return np.asarray(ink.resize(size, Image.Resampling.LANCZOS), np.float64)


def _typeface(deck: Deck, signs: str) -> Path:
    """Choose a typeface for a deck that no network learnt from."""
    fonts = [font for font in typefaces(held_out=True) if usable(font, signs)]
    return fonts[sum(deck.id.encode()) % len(fonts)]


def _inked(face: Face, part: tuple[slice, slice], ink: tuple[int, int, int]) -> Face:
    """Print what is printed in a part of a face in another ink."""
    paper, where = _paper(face).astype(np.float64), face[part][..., :3]
    apart = np.abs(where - paper).max(2)
    inked = apart[apart > INK_LEVELS]
    share = np.clip(apart / max(1.0, float(np.median(inked)) if len(inked) else 1.0), 0, 1)
    changed = paper * (1 - share[..., None]) + np.array(ink) * share[..., None]
    border = np.zeros(face.shape[:2], bool)
    border[3:-3, 3:-3] = True
    kept = border[part][..., None]
    where[:] = np.where(kept, np.round(changed), where).astype(np.uint8)
    return face
