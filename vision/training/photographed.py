"""Index patches out of labelled photographs, to learn from beside rendered ones.

The photographs are no part of the project. A folder of sets, each with its ``labels.jsonl``
and pictures, is harvested with a finder already trained; only sets kept for training are.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, RANKS, SUITS, Card
from vision.corners import card_to_picture
from vision.patches import cut_patches, interpret
from vision.reader import Reader

CREDITS = {
    "bicycle": "EdjeElectronics TensorFlow tutorial, Apache-2.0",
    "phone_any_angle": "Quentin0312/poker-cards-yolo, CC BY 4.0",
    "phone_close": "Ammememe/CardCounterML, CC BY 4.0",
}
"""The sets that may be learnt from, with their sources and licences."""
NUDGES = tuple(
    (x, y, g) for x, y in ((0, 0), (0.8, -0.5), (-0.8, 0.7), (0.4, 1.0)) for g in (0.96, 1.04)
)
SHARE = 0.15
"""Share of the patches learnt from that are photographed."""


DUBIOUS = 0.1
"""What the label says must be this likely at first sight, and "not an index" no likelier."""


@dataclass(frozen=True)
class Photographed:
    """Patches ``(N, 64, 40, 3)`` uint8 out of photographs, with their ranks and suits ``(N,)``."""

    patches: NDArray[np.uint8]
    ranks: NDArray[np.int64]
    suits: NDArray[np.int64]

    def mix_in(
        self,
        rng: np.random.Generator,
        patches: NDArray[np.uint8],
        ranks: NDArray[np.int64],
        suits: NDArray[np.int64],
    ) -> None:
        """Put photographed patches in the place of some others."""
        for at in np.flatnonzero(rng.random(len(patches)) < SHARE):
            chosen = rng.integers(len(self.patches))
            shade = np.exp(rng.normal(0, 0.2)) * self.patches[chosen].astype(np.float32)
            patches[at] = np.clip(shade, 0, 255).astype(np.uint8)
            ranks[at], suits[at] = self.ranks[chosen], self.suits[chosen]


def harvest(folder: Path, reader: Reader) -> Photographed:
    """Cut the indices out of every training photograph, as the finder finds them."""
    parts = [_harvest_set(folder / name, reader) for name in CREDITS]
    return Photographed(*(np.concatenate([part[k] for part in parts]) for k in range(3)))


Part = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]


def _harvest_set(folder: Path, reader: Reader) -> Part:
    patches, ranks, suits = [], [], []
    for line in (folder / "labels.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        picture = np.asarray(cv2.imread(str(folder / entry["image"])), np.uint8)
        found = reader.find(picture, None)
        maps = card_to_picture(found.anchors, found.ups, found.rights, found.right_hand)
        read = interpret(reader.classifier, cut_patches(picture, maps, found.right_hand))
        for at in range(len(maps)):
            card = _told_by_label(entry["cards"], found.anchors[at], read.card_log[at])
            if card is None or read.none_log[at] > np.log(DUBIOUS):
                continue
            patches.append(
                cut_patches(picture, maps[at : at + 1], found.right_hand[at : at + 1], NUDGES)[0]
            )
            ranks += [RANKS.index(card[0])] * len(NUDGES)
            suits += [SUITS.index(card[1])] * len(NUDGES)
    return np.concatenate(patches), np.array(ranks, int), np.array(suits, int)


def _told_by_label(
    cards: Sequence[dict[str, Any]], anchor: NDArray[np.float32], card_log: NDArray[np.float64]
) -> str | None:
    """Name the one labelled card whose index lies at a point; ``None`` where it may be two."""
    here = {card["card"] for card in cards if any(_within(box, anchor) for box in _boxes(card))}
    if len(here) != 1:
        return None
    (card,) = here
    return card if card_log[DECK.index(Card(card))] > np.log(DUBIOUS) else None


def _boxes(card: dict[str, Any]) -> list[list[float]]:
    return [card["box"]] if card["box"] is not None else card["index_boxes"]


def _within(box: Sequence[float], point: NDArray[np.float32]) -> bool:
    slack = 0.1 * max(box[2] - box[0], box[3] - box[1])
    inside = (
        box[0] - slack <= point[0] <= box[2] + slack,
        box[1] - slack <= point[1] <= box[3] + slack,
    )
    return all(inside)
