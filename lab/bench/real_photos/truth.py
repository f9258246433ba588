"""The photographs' labels, and which sighting tells of which card."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.corners import ANCHOR_MM, CARD_HEIGHT_MM, CARD_WIDTH_MM

Box = tuple[float, float, float, float]
Quad = tuple[tuple[float, float], ...]
OVERLAP = 0.35
"""A sighting tells of a card when their boxes share this much of their union."""


@dataclass(frozen=True)
class Labelled:
    """One card as a person labelled it, by its whole box or by the boxes of its indices.

    ``quad``: its corners clockwise from its own top left, where they were labelled.
    """

    card: str
    box: Box | None
    index_boxes: tuple[Box, ...]
    quad: Quad | None = None

    def scaled(self, scale: float) -> "Labelled":
        """Return the same card in a picture ``scale`` times as large."""
        box = None if self.box is None else _times(self.box, scale)
        return Labelled(self.card, box, tuple(_times(each, scale) for each in self.index_boxes))


@dataclass(frozen=True)
class Photograph:
    """A picture's file and the cards in it."""

    path: Path
    cards: tuple[Labelled, ...]


def photographs(folder: Path) -> list[Photograph]:
    """Read a set's ``labels.jsonl``."""
    lines = (folder / "labels.jsonl").read_text("utf-8").splitlines()
    return [_photograph(folder, json.loads(line)) for line in lines]


def _photograph(folder: Path, entry: dict[str, object]) -> Photograph:
    cards = entry["cards"]
    assert isinstance(cards, list)
    return Photograph(
        folder / str(entry["image"]),
        tuple(
            Labelled(
                card["card"],
                None if card["box"] is None else tuple(card["box"]),
                tuple(tuple(box) for box in card.get("index_boxes", ())),
                tuple((x, y) for x, y in card["quad"]) if "quad" in card else None,
            )
            for card in cards
        ),
    )


def _times(box: Box, scale: float) -> Box:
    left, top, right, bottom = box
    return left * scale, top * scale, right * scale, bottom * scale


def matches(corners: NDArray[np.float32], cards: tuple[Labelled, ...]) -> dict[int, int]:
    """Pair sightings ``(N, 4, 2)`` with labelled cards by place alone: sighting to card."""
    fits = np.array([[fit(quad, card) for card in cards] for quad in corners])
    pairs: dict[int, int] = {}
    for flat in np.argsort(-fits, axis=None, kind="stable") if fits.size else ():
        sighting, card = divmod(int(flat), len(cards))
        if fits[sighting, card] <= 0:
            break
        if sighting not in pairs and card not in pairs.values():
            pairs[sighting] = card
    return pairs


def fit(quad: NDArray[np.float32], card: Labelled) -> float:
    """How well a sighting's place fits a card's, from 0, not at all, to 1."""
    if card.box is None:
        return max((_index_fit(quad, box) for box in card.index_boxes), default=0.0)
    box = (*quad.min(0), *quad.max(0))
    share = _shared(box, card.box)
    return share if share > OVERLAP else 0.0


def _index_fit(quad: NDArray[np.float32], box: Box) -> float:
    middle = np.array([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])
    reach = max(box[2] - box[0], box[3] - box[1])
    far = np.hypot(*(_index_places(quad) - middle).T).min() / reach
    return float(max(0.0, 1 - far / 0.75))


def _index_places(quad: NDArray[np.float32]) -> NDArray[np.float64]:
    """Where a card has its indices: at its own top left and bottom right, and nowhere else."""
    across, down = ANCHOR_MM[0] / CARD_WIDTH_MM, ANCHOR_MM[1] / CARD_HEIGHT_MM
    right, below = quad[1] - quad[0], quad[3] - quad[0]
    shares = [(across, down), (1 - across, 1 - down)]
    return np.array([quad[0] + right * x + below * y for x, y in shares], np.float64)


def _shared(one: tuple[float, ...], other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return float(width * height / (sum(areas) - width * height))
