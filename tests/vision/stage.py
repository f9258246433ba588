"""Small performances to film, and ways to look at the pictures."""

from functools import cache
from pathlib import Path

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

import models
from models.cards import Card
from models.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM, TableLayout
from vision.scenes.decks import PX_PER_MM
from vision.scenes.lens import Lens
from vision.scenes.look import Look
from vision.scenes.performance import CardMove, ChipMove, Gesture, Performance, Place

MS = 1_000_000
PLAIN = Look(noise_sigma=0, blur_px=0.4, glare=0, width_px=1280, height_px=720)


@cache
def layout(name: str = "five-spots") -> TableLayout:
    text = (Path(models.__file__).parent / "layouts" / f"{name}.toml").read_bytes()
    return msgspec.toml.decode(text, type=TableLayout)


def laid(
    card: Card, place: Place, *, at_ms: int = 100, card_id: int = 1, under: int | None = None
) -> CardMove:
    """A card put down by nobody."""
    return CardMove(
        (at_ms - 100) * MS, at_ms * MS, card_id, card, None, place, "up", "up", None, under
    )


def performance(
    *cards: CardMove,
    chips: tuple[ChipMove, ...] = (),
    gestures: tuple[Gesture, ...] = (),
    ms: int = 2000,
) -> Performance:
    return Performance(ms * MS, cards, chips, gestures)


def rectified(
    picture: NDArray[np.uint8], place: Place, look: Look, table: TableLayout | None = None
) -> NDArray[np.uint8]:
    """Cut what lies at ``place`` out of a picture, upright, 4 pixels a millimetre."""
    size = round(CARD_WIDTH_MM * PX_PER_MM), round(CARD_HEIGHT_MM * PX_PER_MM)
    turn = np.deg2rad(place.angle_deg)
    right = np.array([np.cos(turn), np.sin(turn)]) * CARD_WIDTH_MM / 2
    down = np.array([-np.sin(turn), np.cos(turn)]) * CARD_HEIGHT_MM / 2
    middle = np.array([place.x_mm, place.y_mm])
    corners = [middle - right - down, middle + right - down, middle + right + down]
    seen = Lens(table or layout(), look).project(np.array([*corners, middle - right + down]))
    upright = np.array([[0, 0], [size[0], 0], [size[0], size[1]], [0, size[1]]], float) - 0.5
    flat = cv2.getPerspectiveTransform(seen.astype(np.float32), upright.astype(np.float32))
    return np.asarray(cv2.warpPerspective(picture, flat, size, flags=cv2.INTER_CUBIC), np.uint8)


def alike(seen: NDArray[np.uint8], face: NDArray[np.uint8]) -> float:
    """Correlation of a cut-out with a deck's face, -1 to 1, at the fineness of the picture."""
    small = (63, 89)
    one, other = (
        cv2.resize(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), small, interpolation=cv2.INTER_AREA)
        for image in (seen, np.ascontiguousarray(face[..., :3]))
    )
    inner = np.s_[4:-4, 4:-4]
    return float(np.corrcoef(one[inner].ravel(), other[inner].ravel())[0, 1])
