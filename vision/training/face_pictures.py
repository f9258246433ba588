"""Whole cards rendered once and stored on disk; the face network's batches come from them.

Like corners, each is stored in the frame of its own card with a margin, and reused many times, each
time displaced and lit differently.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from torch.utils.data import IterableDataset

from models.cards import RANKS, SUITS
from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.faces import FACE_PX, FACE_PX_PER_MM, face_map
from vision.patches import Layers
from vision.training.decks import decks_anew
from vision.training.picture_store import Kept, PictureStore, Pieces, seen_otherwise
from vision.training.places import jitter
from vision.training.samples import (
    NOT_AN_INDEX,
    SEEN,
    Cuts,
    Glimpses,
    Place,
    cut,
    glimpses,
    no_index,
    own_numbers,
)
from vision.training.scenes import Scene, anchors, render

ROOM_PX: Final = (100, 128)
"""Width and height in pixels of a stored face, at the cut's own scale."""
# Pixels of a rendered scene's side. Chosen, not measured.
SCENE_PX: Final = 320
FRESH: Final = 16
"""Redrawn decks in one file of faces."""
OURS_WEIGH: Final = 2
"""Weight. Each of those is learnt from this many times as often as one of real card art."""
# Share of the pieces without a card. Chosen, not measured.
EMPTY_SHARE: Final = 0.1
# Share of the scenes with added courts. Chosen, not measured.
COURT_SCENES: Final = 0.6
COURTS: Final = 0.7
"""Share of the cards in those scenes that are courts: their suits are the hardest to read."""
COURTS_EACH: Final = COURT_SCENES * (COURTS / 3 + (1 - COURTS) / 13) + (1 - COURT_SCENES) / 13
"""The resulting share of each court rank, instead of one in thirteen."""
OFTENER: Final = tuple(
    math.log(13 * (COURTS_EACH if rank in "JQK" else (1 - 3 * COURTS_EACH) / 10)) for rank in RANKS
)
"""Logarithm of each rank's frequency relative to a real table."""
LEFT_OF_MISPLACEMENT: Final = 0.5
"""Share of the detector's misplacement that remains after the correction by the index."""
STRETCHED: Final = 0.3
"""Share of the displacements that stretch a face too."""
# Displacements that the batches choose from. Chosen, not measured.
WAYS: Final = 6000
# Share of the faces with a hidden part. Chosen, not measured.
BLOTTED: Final = 0.16
INDEX_BLOTTED: Final = 0.6
"""Share of those faces that lose an index."""
TURNED: Final = 0.2
"""Share of the faces rotated by half a turn, so that their other index is on top."""
OVERLAID: Final = 0.3
"""Share of the faces partly covered by another stored card."""
PHOTO_SHARE: Final = 0.12
"""Share of the faces that are photographed."""


def face_store(folder: Path, drawn: int, seed: int) -> PictureStore:
    """Return the store of faces of the training decks, ``drawn`` of them generated."""
    return PictureStore(folder, (seed, 8), ROOM_PX, partial(_faces, drawn))


def _faces(drawn: int, rng: np.random.Generator) -> Iterator[list[Kept]]:
    return faces_from(decks_anew(rng, drawn, FRESH, OURS_WEIGH), rng)


def faces_from(decks: Sequence[str], rng: np.random.Generator) -> Iterator[list[Kept]]:
    """Render scenes with cards of those decks without end, and yield the faces of each."""
    while True:
        severity = 1.0 if rng.random() < 0.25 else 0.4
        courts = COURTS if rng.random() < COURT_SCENES else 0.0
        yield faces_of(rng, render(rng, decks, SCENE_PX, severity, courts=courts))


def faces_of(rng: np.random.Generator, scene: Scene) -> list[Kept]:
    """Cut out every card with a visible index, by one of those, and places without any."""
    layers = Layers(scene.picture, FACE_PX_PER_MM)
    kept: list[Kept] = []
    places: list[Place] = []
    for card in scene.cards:
        if card.face is None:
            continue
        maps = anchors(card)
        shown = [at for at in range(len(maps)) if card.shown[at] >= SEEN]
        places += [(maps[at], at >= 2, card.face) for at in shown]
        if shown:
            at = int(rng.choice(shown))
            face = RANKS.index(card.face.rank), SUITS.index(card.face.suit), int(at >= 2)
            kept.append((_room(layers, maps[at]), *face))
    for _ in range(rng.poisson(max(len(kept) * EMPTY_SHARE, 0.1))):
        onto = no_index(rng, scene, places, [])
        kept.append((_room(layers, onto), NOT_AN_INDEX, -1, 0))
    return kept


def upright_face() -> NDArray[np.float64]:
    """Return the map from a card's frame to its stored face, ``(2, 3)``."""
    size = np.array([CARD_WIDTH_MM, CARD_HEIGHT_MM]) * FACE_PX_PER_MM
    return np.column_stack([np.eye(2) * FACE_PX_PER_MM, (np.array(ROOM_PX) - size) / 2])


def _room(layers: Layers, onto: NDArray[np.float64]) -> NDArray[np.uint8]:
    there = np.linalg.inv(np.vstack([upright_face(), [0, 0, 1]]))
    place = onto[:, :2] @ there[:2] + [[0, 0, onto[0, 2]], [0, 0, onto[1, 2]]]
    return layers.cut(onto, place, ROOM_PX)


def room_of(picture: NDArray[np.uint8], onto: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Cut a card with its margin, upright, by its map to the picture."""
    return _room(Layers(picture, FACE_PX_PER_MM), onto)


def ways(rng: np.random.Generator, right_hand: bool) -> NDArray[np.float64]:
    """Choose displacements: maps from face to stored face, ``(W, 2, 3)``."""
    maps = np.zeros((WAYS, 2, 3))
    for at in range(WAYS):
        maps[at] = face_map(jitter(rng, upright_face(), right_hand, LEFT_OF_MISPLACEMENT))
        if rng.random() < STRETCHED:
            grow, middle = np.diag(np.exp(rng.normal(0, 0.06, 2))), np.array(ROOM_PX) / 2
            stretch = np.column_stack([grow, middle - grow @ middle])
            maps[at] = stretch @ np.vstack([maps[at], [0, 0, 1]])
    return maps


class DrawnFaces(IterableDataset[Glimpses]):
    """An endless stream of batches from stored faces, determined by seed and start."""

    def __init__(
        self, faces: Pieces, photos: Pieces | None, batch: int, seed: int, start: int
    ) -> None:
        super().__init__()
        self.faces, self.photos = faces, photos
        self.batch, self.seed, self.start = batch, seed, start
        rng = np.random.default_rng([seed, 9])
        self.ways = (ways(rng, False), ways(rng, True))
        shape = (97, FACE_PX[1], FACE_PX[0], 3)
        self.grain = rng.standard_normal(shape).astype(np.float32)

    def __iter__(self) -> Iterator[Glimpses]:
        """Yield batches without end."""
        cv2.setNumThreads(1)
        for number in own_numbers(self.start):
            yield glimpses(self._batch(np.random.default_rng([self.seed, 10, number])))

    def _batch(self, rng: np.random.Generator) -> Cuts:
        n = self.batch
        cuts = Cuts(
            np.zeros((n, FACE_PX[1], FACE_PX[0], 3), np.uint8),
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
            np.full((n, 6), np.nan, np.float32),
            np.full(n, -1, np.int64),
        )
        for at in range(n):
            real = self.photos is not None and rng.random() < PHOTO_SHARE
            source = self.photos if real and self.photos is not None else self.faces
            one = int(rng.integers(len(source.ranks)))
            way = self.ways[max(0, int(source.hands[one]))][rng.integers(WAYS)]
            room = source.rooms[one]
            if rng.random() < TURNED:
                room = np.ascontiguousarray(room[::-1, ::-1])
            if rng.random() < OVERLAID and source.ranks[one] != NOT_AN_INDEX:
                over = self.faces.rooms[rng.integers(len(self.faces.rooms))]
                room = overlaid(rng, room, over, bool(source.hands[one] == 1))
            face = cut(room, way, FACE_PX)
            if rng.random() < BLOTTED and source.ranks[one] != NOT_AN_INDEX:
                face = blotted(rng, face)
            cuts.patches[at] = seen_otherwise(rng, face, self.grain)
            cuts.ranks[at], cuts.suits[at] = source.ranks[one], source.suits[one]
        return cuts


def overlaid(
    rng: np.random.Generator, room: NDArray[np.uint8], over: NDArray[np.uint8], right_hand: bool
) -> NDArray[np.uint8]:
    """Cover a stored face with another card, beside or below its index, as in dealt hands."""
    x_mm = rng.uniform(11, 50)
    y_mm = rng.uniform(-60, 60)
    if rng.random() < 0.2:
        x_mm, y_mm = -x_mm, rng.uniform(25, 70)
    askew = rng.normal(0, 0.06) if rng.random() < 0.75 else rng.uniform(0, 2 * np.pi)
    way = np.array([-x_mm if right_hand else x_mm, y_mm]) * FACE_PX_PER_MM
    middle = np.array(ROOM_PX) / 2
    cosine, sine = np.cos(askew), np.sin(askew)
    turn = np.array([[cosine, -sine], [sine, cosine]])
    onto = np.column_stack([turn, middle + way - turn @ middle])
    card = cv2.warpAffine(over, onto, ROOM_PX, flags=cv2.INTER_LINEAR)
    share = cv2.warpAffine(_stencil(), onto, ROOM_PX, flags=cv2.INTER_LINEAR)[..., None]
    return np.asarray(np.round(share * card + (1 - share) * room), np.uint8)


@cache
def _stencil() -> NDArray[np.float32]:
    """Return the mask of the card in a stored face, 1 and 0, ``(128, 100)``."""
    mask = np.zeros(ROOM_PX[::-1], np.float32)
    onto = upright_face()
    low, high = onto[:, 2], onto[:, 2] + onto[:, :2] @ [CARD_WIDTH_MM, CARD_HEIGHT_MM]
    left, top = np.ceil(low).astype(int)
    right, bottom = np.floor(high).astype(int)
    mask[top:bottom, left:right] = 1
    for x, y in ((left, top), (right - 2, top), (left, bottom - 2), (right - 2, bottom - 2)):
        mask[y : y + 2, x : x + 2] = 0
    return mask


def blotted(rng: np.random.Generator, face: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Hide an index or another part of a face, so that the network learns the rest too."""
    face = face.copy()
    width, height = FACE_PX
    both = rng.random() < 0.5
    if rng.random() < INDEX_BLOTTED:
        wide, tall = int(rng.uniform(14, 20)), int(rng.uniform(24, 36))
        spots = [(0, 0, wide, tall), (width - wide, height - tall, width, height)][: 1 + both]
    else:
        x, y = int(rng.integers(0, width - 12)), int(rng.integers(0, height - 12))
        spots = [(x, y, x + int(rng.uniform(12, 50)), y + int(rng.uniform(12, 60)))]
    for left, top, right, bottom in spots:
        part = face[top:bottom, left:right]
        ink = rng.uniform(0, 255, 3) if rng.random() < 0.5 else np.median(part, axis=(0, 1))
        part[:] = np.clip(ink + rng.normal(0, 6, part.shape), 0, 255).astype(np.uint8)
    return face
