"""Index patches from labelled photographs, for training beside rendered ones.

The photographs are no part of the project. A trained finder harvests a folder of sets, each with
its ``labels.jsonl`` and pictures; only training sets are used.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, RANKS, SUITS, Card
from vision.corners import card_to_picture
from vision.indices import Indices
from vision.patches import NUDGES_MM, Readings, cut_patches, read_indices
from vision.reader import Reader
from vision.training.held_out import kept_for_decisions
from vision.training.places import jitter

CREDITS = {
    "bicycle": "EdjeElectronics TensorFlow tutorial, Apache-2.0",
    "phone_any_angle": "Quentin0312/poker-cards-yolo, CC BY 4.0",
    "phone_close": "Ammememe/CardCounterML, CC BY 4.0",
}
"""The sets for training, with their sources and licences."""
JITTERS = 8
"""Cuts of each index, each slightly displaced."""
SHARE = 0.2
"""Share of photographed patches in the training."""
DUBIOUS = 0.1
"""Least probability of the label's card at the first reading; "not an index" must be at most as
likely."""


@dataclass(frozen=True)
class Photographed:
    """Patches ``(N, 64, 40, 3)`` uint8 from photographs, with their ranks and suits ``(N,)``.

    A patch without an index has rank 13 and suit -1.
    """

    patches: NDArray[np.uint8]
    ranks: NDArray[np.int64]
    suits: NDArray[np.int64]
    share: float = SHARE


def harvest(folder: Path, reader: Reader, seed: int, every: int = 1) -> Photographed:
    """Cut out the indices of training photographs, and the finder's false finds.

    ``every``: of so many photographs one is used.
    """
    rng = np.random.default_rng([seed, 3])
    parts = [_harvest_set(rng, folder / name, reader, every) for name in CREDITS]
    patches, ranks, suits = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Photographed(patches, ranks, suits)


Part = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]


def _harvest_set(rng: np.random.Generator, folder: Path, reader: Reader, every: int) -> Part:
    patches, ranks, suits = [], [], []
    for entry in islice(entries(folder), 0, None, every):
        picture = opened(folder, entry)
        found = reader.find(picture, None)
        maps = card_to_picture(found.anchors, found.ups, found.rights, found.right_hand)
        read = read_indices(reader.classifier, picture, maps, found.right_hand)
        for at in range(len(maps)):
            face = labelled_face(entry["cards"], found.anchors[at], read, at)
            if face is None:
                continue
            patches.append(_cut(rng, picture, read.maps[at], bool(found.right_hand[at])))
            ranks += [face[0]] * JITTERS
            suits += [face[1]] * JITTERS
    return np.concatenate(patches), np.array(ranks, int), np.array(suits, int)


def entries(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the labels of a set's training pictures."""
    for number, line in enumerate((folder / "labels.jsonl").read_text("utf-8").splitlines()):
        if not kept_for_decisions(number):
            yield json.loads(line)


def opened(folder: Path, entry: dict[str, Any]) -> NDArray[np.uint8]:
    """The picture that an entry labels."""
    return np.asarray(cv2.imread(str(folder / entry["image"])), np.uint8)


def _cut(
    rng: np.random.Generator, picture: NDArray[np.uint8], onto: NDArray[np.float32], right: bool
) -> NDArray[np.uint8]:
    moved = [jitter(rng, onto.astype(np.float64), right) for _ in range(JITTERS)]
    sides = np.full(JITTERS, right)
    return cut_patches(picture, np.array(moved, np.float32), sides, NUDGES_MM[:1])[:, 0]


def labelled_face(
    cards: Sequence[dict[str, Any]], anchor: NDArray[np.float32], read: Readings | Indices, at: int
) -> tuple[int, int] | None:
    """Return rank and suit at a point: of the one labelled card there, or of no index.

    ``None`` where two cards are possible, or the index of the one cannot be recognised.
    """
    here = {card["card"] for card in cards if any(_within(box, anchor) for box in _boxes(card))}
    if not here:
        return len(RANKS), -1
    if len(here) > 1:
        return None
    (card,) = here
    plain = read.none_log[at] <= np.log(DUBIOUS)
    alike = read.card_log[at, DECK.index(Card(card))] > np.log(DUBIOUS)
    return (RANKS.index(card[0]), SUITS.index(card[1])) if plain and alike else None


def _boxes(card: dict[str, Any]) -> list[list[float]]:
    return [card["box"]] if card["box"] is not None else card["index_boxes"]


def _within(box: Sequence[float], point: NDArray[np.float32]) -> bool:
    slack = 0.1 * max(box[2] - box[0], box[3] - box[1])
    inside = (
        box[0] - slack <= point[0] <= box[2] + slack,
        box[1] - slack <= point[1] <= box[3] + slack,
    )
    return all(inside)
