"""Corners rendered once and stored on disk; the classifier's batches come from them.

Rendering a scene costs as much as learning from it. So each corner is rendered once, in the frame
of its own card and with a margin, and reused many times, each time displaced and lit differently.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray
from torch.utils.data import IterableDataset

from models.cards import RANKS, SUITS
from vision.corners import (
    ANCHOR_MM,
    CARD_WIDTH_MM,
    PATCH_PX,
    PATCH_PX_PER_MM,
    bend_between,
    other_hand,
    patch_map,
)
from vision.training.decks import decks_anew
from vision.training.photographed import Photographed
from vision.training.places import jitter
from vision.training.samples import (
    NOT_AN_INDEX,
    Cuts,
    Glimpses,
    cut,
    glimpses,
    index_places,
    no_index,
    own_numbers,
)
from vision.training.scenes import close_up, render

ROOM_PX: Final = (72, 88)
"""Width and height in pixels of a stored corner, at the patch's own scale."""
ANCHOR_PX: Final = (36.0, 38.0)
"""The index's anchor in it, in pixels."""
SHARD: Final = 2000
"""Pieces in one file."""
SCENE_SHARE: Final = 0.05
"""Largest share of corners cut from whole scenes instead of close-ups."""
# Corners from one scene at most. Chosen, not measured.
MOST_A_SCENE: Final = 24
EMPTY_SHARE: Final = 0.16
"""Share of the corners that show no index."""
MISTAKEN_HAND: Final = 0.12
"""Share of the indices cut as if they stood in the card's other upper corner."""
# Share of the displacements that stretch a corner too. Chosen, not measured.
STRETCHED: Final = 0.3
WAYS: Final = 6000
"""Displacements that the batches choose from."""
FRESH: Final = 16
"""Redrawn decks in one file of corners."""
OURS_WEIGH: Final = 4
"""Weight. Each of those is learnt from this many times as often as one of real card art."""


Kept = tuple[NDArray[np.uint8], int, int, int]
"""A piece's picture, rank, suit and hand, as in :class:`Pieces`."""


@dataclass(frozen=True)
class Pieces:
    """Stored corners or faces ``(N, H, W, 3)`` uint8 BGR; rank 13 and suit -1 for none.

    ``hands``: ``(N,)`` int64, 1 in a right-hand corner, 0 in a left-hand one, -1 for none.
    """

    rooms: NDArray[np.uint8]
    ranks: NDArray[np.int64]
    suits: NDArray[np.int64]
    hands: NDArray[np.int64]


def opened(files: Sequence[Path]) -> Pieces:
    """Open files of pieces as one, with at most one of them in memory twice."""
    sizes = [len(np.load(file)["ranks"]) for file in files]
    ends = np.cumsum(sizes)
    columns = []
    for field in fields(Pieces):
        first = np.load(files[0])[field.name]
        column = np.empty((ends[-1], *first.shape[1:]), first.dtype)
        for file, end, size in zip(files, ends, sizes, strict=True):
            column[end - size : end] = np.load(file)[field.name]
        columns.append(column)
    return Pieces(*columns)


@dataclass(frozen=True)
class PictureStore:
    """The store of rendered pieces, and how to render more.

    Attributes:
        seeds: of everything rendered.
        room_px: width and height of a piece.
        cut: an endless stream of pieces from scenes, for one file.
    """

    folder: Path
    seeds: tuple[int, ...]
    room_px: tuple[int, int]
    cut: Callable[[np.random.Generator], Iterator[list[Kept]]]

    def pieces(self, count: int, workers: int) -> Pieces:
        """Open ``count`` pieces, rounded up to whole files, after rendering missing ones."""
        return opened(self.files(count, workers))

    def files(self, count: int, workers: int) -> list[Path]:
        """Return the files of ``count`` pieces, after rendering missing ones."""
        self.folder.mkdir(parents=True, exist_ok=True)
        numbers = range(-(-count // SHARD))
        missing = [number for number in numbers if not self._file(number).exists()]
        if workers < 2:
            for number in missing:
                self._fill(number)
        elif missing:
            with ProcessPoolExecutor(workers) as pool:
                list(pool.map(self._fill, missing))
        return [self._file(number) for number in numbers]

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:04d}.npz"

    def _fill(self, number: int) -> None:
        """Render one file of pieces."""
        cv2.setNumThreads(1)
        scenes = self.cut(np.random.default_rng([*self.seeds, number]))
        rooms = np.zeros((SHARD, self.room_px[1], self.room_px[0], 3), np.uint8)
        labels = np.zeros((3, SHARD), np.int64)
        for at, (room, *face) in enumerate(islice(chain.from_iterable(scenes), SHARD)):
            rooms[at], labels[:, at] = room, face
        part = self._file(number).with_suffix(".part.npz")
        np.savez(part, rooms=rooms, ranks=labels[0], suits=labels[1], hands=labels[2])
        part.rename(self._file(number))


def corner_store(folder: Path, decks: Sequence[str], size: int, seed: int) -> PictureStore:
    """Return the store of corners of those decks, some from scenes ``size`` pixels square."""
    return PictureStore(folder, (seed, 5), ROOM_PX, partial(_corners, decks, size))


def corner_store_anew(folder: Path, drawn: int, size: int, seed: int) -> PictureStore:
    """Return the store of corners of real decks and of ``drawn`` redrawn generated ones."""
    return PictureStore(folder, (seed, 11), ROOM_PX, partial(_corners_anew, drawn, size))


def _corners_anew(drawn: int, size: int, rng: np.random.Generator) -> Iterator[list[Kept]]:
    return _corners(decks_anew(rng, drawn, FRESH, OURS_WEIGH), size, rng)


def _corners(decks: Sequence[str], size: int, rng: np.random.Generator) -> Iterator[list[Kept]]:
    while True:
        yield _some_corners(rng, decks, size)


def _some_corners(rng: np.random.Generator, decks: Sequence[str], size: int) -> list[Kept]:
    if rng.random() < SCENE_SHARE:
        severity = 1.0 if rng.random() < 0.25 else 0.4
        scene, most = render(rng, decks, size, severity), MOST_A_SCENE
    else:
        scene, most = close_up(rng, decks), 2
    seen, unseen = index_places(scene)
    kept: list[Kept] = []
    for place in rng.permutation(len(seen))[:most]:
        onto, right, face = seen[place]
        label = RANKS.index(face.rank), SUITS.index(face.suit), int(right)
        kept.append((room(scene.picture, onto, right), *label))
    empty = max(len(kept) * EMPTY_SHARE, 0.1)
    for _ in range(rng.poisson(empty)):
        onto = no_index(rng, scene, seen, unseen)
        kept.append((room(scene.picture, onto, False), NOT_AN_INDEX, -1, -1))
    return kept


def room(
    picture: NDArray[np.uint8], onto: NDArray[np.float64], right_hand: bool
) -> NDArray[np.uint8]:
    """Cut an index with its margin, upright."""
    there = np.linalg.inv(np.vstack([upright(right_hand), [0, 0, 1]]))
    place = onto[:, :2] @ there[:2] + [[0, 0, onto[0, 2]], [0, 0, onto[1, 2]]]
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    room = cv2.warpAffine(picture, place, ROOM_PX, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(room, np.uint8)


def upright(right_hand: bool) -> NDArray[np.float64]:
    """Return the map from a card's frame to its stored corner, ``(2, 3)``."""
    x = CARD_WIDTH_MM - ANCHOR_MM[0] if right_hand else ANCHOR_MM[0]
    shift = np.array(ANCHOR_PX) - PATCH_PX_PER_MM * np.array([x, ANCHOR_MM[1]])
    return np.column_stack([np.eye(2) * PATCH_PX_PER_MM, shift])


@dataclass(frozen=True)
class Ways:
    """Displacements: maps from patch to stored corner ``(W, 2, 3)``, bends ``(W, 6)``."""

    maps: NDArray[np.float64]
    bends: NDArray[np.float32]


def ways(rng: np.random.Generator, right_hand: bool) -> Ways:
    """Choose displacements of an index like a detector's.

    Three in ten are stretched too, as by another typeface; their bends are unknown.
    """
    maps, bends = np.zeros((WAYS, 2, 3)), np.full((WAYS, 6), np.nan, np.float32)
    for at in range(WAYS):
        onto, right, bend = misplaced(rng, right_hand)
        maps[at] = patch_map(onto.astype(np.float32), right)
        if rng.random() < STRETCHED:
            maps[at] = _stretch(rng) @ np.vstack([maps[at], [0, 0, 1]])
        else:
            bends[at] = bend
    return Ways(maps, bends)


def misplaced(
    rng: np.random.Generator, right_hand: bool
) -> tuple[NDArray[np.float64], bool, NDArray[np.float32]]:
    """Displace a stored corner's card: its map, its hand (at times mistaken), and the bend."""
    true = upright(right_hand)
    onto = jitter(rng, true, right_hand)
    bend = bend_between(onto, true, right_hand)
    if rng.random() < MISTAKEN_HAND:
        return other_hand(onto, right_hand), not right_hand, bend
    return onto, right_hand, bend


def _stretch(rng: np.random.Generator) -> NDArray[np.float64]:
    grow = np.diag(np.exp(rng.normal(0, 0.09, 2)))
    middle = np.array(ANCHOR_PX)
    return np.column_stack([grow, middle - grow @ middle])


class Drawn(IterableDataset[Glimpses]):
    """An endless stream of batches from stored corners, determined by seed and start."""

    def __init__(
        self, corners: Pieces, photos: Photographed | None, batch: int, seed: int, start: int
    ) -> None:
        super().__init__()
        self.corners, self.photos, self.batch = corners, photos, batch
        self.seed, self.start = seed, start
        rng = np.random.default_rng([seed, 6])
        self.ways = (ways(rng, False), ways(rng, True))
        self.grain = rng.standard_normal((97, PATCH_PX[1], PATCH_PX[0], 3)).astype(np.float32)

    def __iter__(self) -> Iterator[Glimpses]:
        """Yield batches without end."""
        cv2.setNumThreads(1)
        for number in own_numbers(self.start):
            yield glimpses(self._batch(np.random.default_rng([self.seed, 7, number])))

    def _batch(self, rng: np.random.Generator) -> Cuts:
        n = self.batch
        chosen = rng.integers(len(self.corners.ranks), size=n)
        way = rng.integers(WAYS, size=n)
        cuts = Cuts(
            np.zeros((n, PATCH_PX[1], PATCH_PX[0], 3), np.uint8),
            self.corners.ranks[chosen],
            self.corners.suits[chosen],
            np.full((n, 6), np.nan, np.float32),
            self.corners.hands[chosen],
        )
        photographed = rng.random(n) < (0.0 if self.photos is None else self.photos.share)
        for at in range(n):
            if photographed[at] and self.photos is not None:
                _photographed(rng, cuts, at, self.photos)
            else:
                lies = self.ways[max(0, int(cuts.hands[at]))]
                cuts.patches[at] = cut(self.corners.rooms[chosen[at]], lies.maps[way[at]])
                if cuts.ranks[at] != NOT_AN_INDEX:
                    cuts.bends[at] = lies.bends[way[at]]
            cuts.patches[at] = seen_otherwise(rng, cuts.patches[at], self.grain)
        return cuts


def seen_otherwise(
    rng: np.random.Generator, patch: NDArray[np.uint8], grain: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Vary a patch: stroke thickness, blur, resolution, light and noise.

    ``grain``: noise of strength 1 to choose from, ``(N, *patch.shape)``.
    """
    kind = rng.random()
    if kind < 0.16:
        spread = cv2.erode if kind < 0.08 else cv2.dilate
        patch = np.asarray(spread(patch, np.ones((2, 2), np.uint8)), np.uint8)
    elif kind < 0.26:
        patch = np.asarray(cv2.GaussianBlur(patch, (0, 0), rng.uniform(0.5, 1.3)), np.uint8)
    elif kind < 0.34:
        share, size = rng.uniform(0.3, 0.6), patch.shape[1::-1]
        small = cv2.resize(patch, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
        patch = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_LINEAR), np.uint8)
    if rng.random() < 0.6:
        patch = np.asarray(cv2.LUT(patch, _light(rng)), np.uint8)
    if rng.random() < 0.3:
        noise = grain[rng.integers(len(grain))] * np.float32(rng.uniform(2, 11))
        patch = np.clip(patch + noise, 0, 255).astype(np.uint8)
    return patch


def _light(rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return gamma, gain and cast as a table, ``(256, 1, 3)``."""
    level = (np.arange(256) / 255) ** np.exp(rng.normal(0, 0.2))
    gain = np.exp(rng.normal(-0.05, 0.15) + rng.normal(0, 0.05, 3))
    light = np.clip(255 * level[:, None, None] * gain, 0, 255)
    return np.asarray(light, np.uint8)


def _photographed(rng: np.random.Generator, cuts: Cuts, at: int, photos: Photographed) -> None:
    chosen = rng.integers(len(photos.patches))
    cuts.patches[at] = photos.patches[chosen]
    cuts.ranks[at], cuts.suits[at] = photos.ranks[chosen], photos.suits[chosen]
    cuts.hands[at] = -1
