"""The decks that the shipped table simulator deals: card faces and a back, as pictures.

A deck's art lies in one picture, ``art/<id>.webp``: thirteen faces across from ace to king, the
suits ``S H D C`` down, and the back at the right end of the first row. They are for testing only;
no network is trained on them.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from models.errors import OperatorError
from vision import scenes

CARD_MM: Final = (63.5, 88.9)
"""Width and height of a poker card, the casinos' size."""
PX_PER_MM: Final = 4  # of a drawn card, four times the camera's
FACE_PX: Final = (254, 356)
"""Width and height of a face's picture."""
CORNER_RADIUS_MM: Final = 3.3  # of a card; chosen


@dataclass(frozen=True, slots=True)
class Deck:
    """A deck's pictures, cut to the card's outline.

    Attributes:
        use: ``test`` for the shipped decks, ``train`` for decks that networks learn from.
        faces: each face, ``(356, 254, 4)`` uint8 BGRA, alpha 0 outside the rounded corners.
        back: the back, likewise.
    """

    id: str
    use: Literal["train", "test"]
    faces: Mapping[Card, NDArray[np.uint8]]
    back: NDArray[np.uint8]


def deck_ids() -> tuple[str, ...]:
    """Return the ids of the shipped decks, the simulator's default first."""
    return tuple(_catalogue())


@cache
def load_deck(id: str) -> Deck:  # noqa: A002 - the deck's id
    """Read a shipped deck.

    Raises:
        OperatorError: there is no such deck.
    """
    entry = _catalogue().get(id)
    if entry is None:
        raise OperatorError(
            f"there is no deck {id!r}",
            where="deck",
            way_out=f"Choose one of: {', '.join(deck_ids())}",
        )
    picture = np.frombuffer((_art() / f"{id}.webp").read_bytes(), np.uint8)
    atlas = np.asarray(cv2.imdecode(picture, cv2.IMREAD_COLOR), np.uint8)
    return cut_atlas(id, "test", atlas)


def cut_atlas(name: str, use: Literal["train", "test"], atlas: NDArray[np.uint8]) -> Deck:
    """Cut a deck's one picture, ``(1424, 3556, 3)`` BGR, into its faces and back."""
    faces = {card: _cell(atlas, *divmod(at, 13)) for at, card in enumerate(DECK)}
    return Deck(name, use, faces, _cell(atlas, 0, 13))


def _cell(atlas: NDArray[np.uint8], row: int, column: int) -> NDArray[np.uint8]:
    width, height = FACE_PX
    face = atlas[row * height : (row + 1) * height, column * width : (column + 1) * width]
    cell: NDArray[np.uint8] = np.dstack([face, _outline()])
    cell.flags.writeable = False
    return cell


@cache
def _outline() -> NDArray[np.uint8]:
    """Return the alpha of a card's outline with rounded corners, supersampled."""
    (width, height), fine = FACE_PX, 4
    radius = round(CORNER_RADIUS_MM * PX_PER_MM * fine)
    mask = np.zeros((height * fine, width * fine), np.uint8)
    right, bottom = width * fine - 1, height * fine - 1
    cv2.rectangle(mask, (radius, 0), (right - radius, bottom), 255, -1)
    cv2.rectangle(mask, (0, radius), (right, bottom - radius), 255, -1)
    for x in (radius, right - radius):
        for y in (radius, bottom - radius):
            cv2.circle(mask, (x, y), radius, 255, -1)
    return np.asarray(cv2.resize(mask, FACE_PX, interpolation=cv2.INTER_AREA), np.uint8)


def _art() -> Traversable:
    return resources.files(scenes) / "art"


@cache
def _catalogue() -> dict[str, dict[str, str]]:
    decks: dict[str, dict[str, str]] = tomllib.loads((_art() / "decks.toml").read_text("utf-8"))
    return decks
