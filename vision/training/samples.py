"""Training samples from a scene: a tile with its targets, and index patches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info

from models.cards import Card
from vision.corners import (
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    PATCH_PX,
)
from vision.training.networks import DETECTOR_CHANNELS
from vision.training.places import jitter
from vision.training.scenes import Lain, Scene, anchor_at, anchors, render

# Pixels of a cell of the heat map, by the network's design.
CELL_PX = 4
NOMINAL_PX = 64.0
"""Pixels. The card width that lengths refer to."""
# Index of the fourteenth rank, "not an index".
NOT_AN_INDEX = 13
SEEN, HIDDEN = 0.75, 0.3
"""Visible shares of an index: above the first it must be found, below the second it must not;
between them both answers count."""
BACK_SEEN, BACK_HIDDEN = 0.07, 0.04
"""The same for a back: a strip of 5 mm shows of a card tucked under another. Chosen."""

# Among the values: directions in the picture, across and down; and a double angle's two parts.
_WAYS = ((0, 1), (2, 3), (4, 5), (9, 10))
_DOUBLED = slice(6, 8)


@dataclass(frozen=True)
class Sample:
    """The sample of one scene.

    Attributes:
        tile: ``(3, S, S)`` uint8.
        heat: ``(3, S/4, S/4)`` float32, 1 at a point; negative where both answers count.
        values: ``(11, S/4, S/4)`` float32, the channels after the heats.
        index_cells, back_cells: ``(S/4, S/4)`` float32, where the values of each kind count.
    """

    tile: Tensor
    heat: Tensor
    values: Tensor
    index_cells: Tensor
    back_cells: Tensor


@dataclass(frozen=True)
class Glimpses:
    """Index patches ``(P, 3, 64, 40)`` uint8 with ranks and suits ``(P,)`` int64, -1 for none.

    ``bends``, ``(P, 6)`` float32, the misplacement of each patch, as in ``vision.corners``; NaN
    where it is unknown. ``hands``, ``(P,)`` int64: 1 in a right-hand corner, 0 in a left-hand one,
    -1 where it is unknown.
    """

    patches: Tensor
    ranks: Tensor
    suits: Tensor
    bends: Tensor
    hands: Tensor


class Scenes(IterableDataset[Sample]):
    """An endless stream of samples, the same for a seed, a worker and a start."""

    def __init__(
        self, decks: Sequence[str], size: int, seed: int, start: int = 0, down: float = 0.0
    ) -> None:
        super().__init__()
        self.decks, self.size, self.seed, self.start = tuple(decks), size, seed, start
        self.down = down

    def __iter__(self) -> Iterator[Sample]:
        """Yield samples without end."""
        cv2.setNumThreads(1)
        for number in own_numbers(self.start):
            rng = np.random.default_rng([self.seed, number])
            yield sample(render(rng, self.decks, self.size, down=self.down))


def own_numbers(start: int) -> Iterator[int]:
    """Count from ``start`` on; a loader's workers take turns, so that none repeats a number."""
    info = get_worker_info()
    worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
    return count(start + worker, workers)


@dataclass(frozen=True, slots=True)
class Cuts:
    """The same as :class:`Glimpses`, in arrays, the patches ``(P, 64, 40, 3)``."""

    patches: NDArray[np.uint8]
    ranks: NDArray[np.int64]
    suits: NDArray[np.int64]
    bends: NDArray[np.float32]
    hands: NDArray[np.int64]


def glimpses(cuts: Cuts) -> Glimpses:
    """Convert patches to torch."""
    turned = np.ascontiguousarray(cuts.patches.transpose(0, 3, 1, 2))
    parts = (turned, cuts.ranks, cuts.suits, cuts.bends, cuts.hands)
    return Glimpses(*(torch.from_numpy(each) for each in parts))


def sample(scene: Scene) -> Sample:
    """Turn a scene into targets."""
    cells = len(scene.picture) // CELL_PX
    targets = Targets(cells)
    for card in scene.cards:
        if card.face is None:
            targets.add_back(card)
        else:
            targets.add_indices(card)
    return Sample(
        torch.from_numpy(np.ascontiguousarray(scene.picture.transpose(2, 0, 1))),
        torch.from_numpy(targets.heat),
        torch.from_numpy(targets.values),
        torch.from_numpy(targets.index_cells),
        torch.from_numpy(targets.back_cells),
    )


def quarter_turned(sample: Sample, turns: int) -> Sample:
    """Turn samples clockwise by quarters: pictures, heats, and the directions among the values."""
    tile, heat, values, index, back = (
        torch.rot90(each, -turns, (-2, -1))
        for each in (sample.tile, sample.heat, sample.values, sample.index_cells, sample.back_cells)
    )
    values = values.clone()
    for _ in range(turns % 4):
        for x, y in _WAYS:
            across, down = values[..., x, :, :].clone(), values[..., y, :, :].clone()
            values[..., x, :, :], values[..., y, :, :] = -down, across
        values[..., _DOUBLED, :, :] *= -1  # half a turn of a double angle
    return Sample(tile, heat, values, index, back)


class Targets:
    """The detector's target channels, filled a card at a time."""

    def __init__(self, cells: int) -> None:
        self.cells = cells
        self.heat = np.zeros((3, cells, cells), np.float32)
        self.values = np.zeros((DETECTOR_CHANNELS - 3, cells, cells), np.float32)
        self.index_cells = np.zeros((cells, cells), np.float32)
        self.back_cells = np.zeros((cells, cells), np.float32)
        self._grid = np.mgrid[0:cells, 0:cells].astype(np.float32)

    def add_indices(self, card: Lain) -> None:
        """Mark each index of a face that can be seen."""
        for at, onto in enumerate(anchors(card)):
            right_hand = at >= 2
            point = anchor_at(onto, right_hand) / CELL_PX
            shown = card.shown[at]
            scale = float(np.sqrt(abs(np.linalg.det(onto[:, :2]))) * CARD_WIDTH_MM)
            bell = self._bell(point, 0.75 + scale / 160)
            if shown < SEEN:
                if shown > HIDDEN:
                    self._excuse(int(right_hand), bell)
                continue
            np.maximum(self.heat[int(right_hand)], bell, out=self.heat[int(right_hand)])
            near = bell > 0.5
            self.index_cells[near] = bell[near]
            ways = np.concatenate([-onto[:, 1], onto[:, 0]]) * CARD_WIDTH_MM / NOMINAL_PX
            self._write(near, point, slice(2, 6), ways)

    def add_back(self, card: Lain) -> None:
        """Mark the visible part of a back, at its middle."""
        point, shown = card.middle / CELL_PX, card.shown[0]
        bell = self._bell(point, 1.6)
        if shown < BACK_SEEN:
            if shown > BACK_HIDDEN:
                self._excuse(2, bell)
            return
        np.maximum(self.heat[2], bell, out=self.heat[2])
        near = bell > 0.5
        self.back_cells[near] = bell[near]
        up = -card.map[:, 1]
        angle = 2 * np.arctan2(up[1], up[0])
        width = np.sqrt(abs(np.linalg.det(card.map[:, :2]))) * CARD_WIDTH_MM
        middle = card.map[:, :2] @ [CARD_WIDTH_MM / 2, CARD_HEIGHT_MM / 2] + card.map[:, 2]
        way = (middle - card.middle) / NOMINAL_PX
        values = np.array([np.cos(angle), np.sin(angle), np.log(width / NOMINAL_PX), *way])
        self._write(near, point, slice(6, 11), values)

    def _bell(self, point: NDArray[np.float64], sigma: float) -> NDArray[np.float32]:
        x, y = point
        far = (self._grid[1] + 0.5 - x) ** 2 + (self._grid[0] + 0.5 - y) ** 2
        bell = np.asarray(np.exp(-far / (2 * sigma**2)), np.float32)
        column, row = int(x), int(y)
        if 0 <= column < self.cells and 0 <= row < self.cells:
            bell[row, column] = 1.0
        return bell

    def _excuse(self, channel: int, bell: NDArray[np.float32]) -> None:
        spot = (bell > 0.2) & (self.heat[channel] < 0.5)
        self.heat[channel][spot] = -1.0

    def _write(
        self,
        near: NDArray[np.bool_],
        point: NDArray[np.float64],
        channels: slice,
        values: NDArray[np.float64],
    ) -> None:
        self.values[0][near] = point[0] - (self._grid[1][near] + 0.5)
        self.values[1][near] = point[1] - (self._grid[0][near] + 0.5)
        self.values[channels, near] = values[:, None]


Place = tuple[NDArray[np.float64], bool, Card]


def index_places(scene: Scene) -> tuple[list[Place], list[NDArray[np.float64]]]:
    """Return every index in plain view, and the maps of cards with a hidden index."""
    seen: list[Place] = []
    unseen: list[NDArray[np.float64]] = []
    for card in scene.cards:
        if card.face is None:
            continue
        for at, onto in enumerate(anchors(card)):
            if card.shown[at] >= SEEN:
                seen.append((onto, at >= 2, card.face))
            elif card.shown[at] < HIDDEN and at < 2:
                unseen.append(onto)
    places = np.array([anchor_at(onto, hand) for onto, hand, _ in seen]).reshape(-1, 2)
    reach = 0.3 * scene.card_px
    return seen, [onto for onto in unseen if _alone(anchor_at(onto, False), places, reach)]


def _alone(point: NDArray[np.float64], others: NDArray[np.float64], reach: float) -> bool:
    return not len(others) or bool(np.hypot(*(others - point).T).min() > reach)


def no_index(
    rng: np.random.Generator,
    scene: Scene,
    seen: list[Place],
    unseen: list[NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Choose a card's map whose index place shows none, or one in a wrong direction."""
    kind = rng.random()
    if unseen and kind < 0.25:
        return jitter(rng, unseen[rng.integers(len(unseen))], False)
    angle, width = rng.uniform(0, 2 * np.pi), scene.card_px * np.exp(rng.normal(0, 0.2))
    places = np.array([anchor_at(other, hand) for other, hand, _ in seen]).reshape(-1, 2)
    if len(places) and kind < 0.4:
        at = rng.integers(len(places))
        up = -seen[at][0][:, 1]
        angle = np.arctan2(up[1], up[0]) + np.pi / 2 + rng.uniform(0.9, 2 * np.pi - 0.9)
        target = places[at]
    else:
        target = _elsewhere(rng, scene, places, 0.25 * width)
    c, s = np.cos(angle) * width / CARD_WIDTH_MM, np.sin(angle) * width / CARD_WIDTH_MM
    onto = np.array([[c, -s, 0.0], [s, c, 0.0]])
    onto[:, 2] = target - anchor_at(onto, False)
    return onto


def _elsewhere(
    rng: np.random.Generator, scene: Scene, places: NDArray[np.float64], reach: float
) -> NDArray[np.float64]:
    """Choose a point away from every index, usually on a card."""
    rows, columns = np.nonzero(scene.owner >= 0)
    target = rng.uniform(0.03, 0.97, 2) * len(scene.picture)
    for _ in range(20):
        target = rng.uniform(0.03, 0.97, 2) * len(scene.picture)
        if len(rows) and rng.random() < 0.7:
            at = rng.integers(len(rows))
            target = np.array([columns[at], rows[at]], np.float64)
        if _alone(target, places, reach):
            break
    return target


def cut(
    picture: NDArray[np.uint8], onto: NDArray[np.float64], size: tuple[int, int] = PATCH_PX
) -> NDArray[np.uint8]:
    """Cut a patch out of a picture, given the map from patch pixels to picture pixels."""
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    patch = cv2.warpAffine(picture, onto, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(patch, np.uint8)
