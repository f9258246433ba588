"""Teach an exported finder more of backs, while its answers on indices stay as they are.

Trained on as a whole, the finder saw more strips of backs and placed fans of real photographs
worse (`lab/notes/2026-11-24-backs-and-dark-decks.md`). Here only its backs learn from the scenes'
truth. On indices, and on everything in photographs, it is held to what the export answers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from vision.training.losses import back_loss, detector_input, halved
from vision.training.networks import Detector
from vision.training.onward import take_up
from vision.training.photographed import CREDITS, entries, opened
from vision.training.samples import Sample

HELD: Final = 2.0
"""Weight of the distance from the export's answers. Chosen."""
SIDES_PX: Final = (240.0, 1280.0)
"""Pixels. The longer side of a photograph that a tile is cut from: as the reader searches them."""
KNOWN_HEAT: Final = 0.05
"""Probability. A cell to which the export gives less shows no index: its places do not count."""


@dataclass(frozen=True)
class Held(Sample):
    """A batch of samples, and tiles of photographs ``(P, 3, S, S)`` uint8 without a truth."""

    photos: Tensor


def held_batches(
    scenes: Iterator[Sample], folder: Path | None, count: int, size: int, seed: int
) -> Iterator[Held]:
    """Add ``count`` tiles of the training photographs in ``folder`` to each batch of scenes."""
    pictures = [] if folder is None else _pictures(folder)
    rng = np.random.default_rng([seed, 11])
    for batch in scenes:
        tiles = [_tile(rng, pictures, size) for _ in range(count if pictures else 0)]
        stacked = np.array(tiles, np.uint8).reshape(-1, size, size, 3).transpose(0, 3, 1, 2)
        yield Held(**vars(batch), photos=torch.from_numpy(np.ascontiguousarray(stacked)))


def _pictures(folder: Path) -> list[tuple[Path, str]]:
    sets = [folder / name for name in CREDITS]
    return [(place, str(entry["image"])) for place in sets for entry in entries(place)]


def _tile(
    rng: np.random.Generator, pictures: Sequence[tuple[Path, str]], size: int
) -> NDArray[np.uint8]:
    """Cut a tile out of a photograph at a random scale, turned by quarters."""
    place, name = pictures[int(rng.integers(len(pictures)))]
    picture = opened(place, {"image": name})
    longer = max(picture.shape[:2])
    low, high = np.log(min(SIDES_PX[0], longer)), np.log(min(SIDES_PX[1], longer))
    scale = float(np.exp(rng.uniform(low, high))) / longer
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    below, right = (max(0, size - side) for side in small.shape[:2])
    padded = cv2.copyMakeBorder(small, 0, below, 0, right, cv2.BORDER_REPLICATE)
    top, left = (int(rng.integers(side - size + 1)) for side in padded.shape[:2])
    tile = np.rot90(padded[top : top + size, left : left + size], int(rng.integers(4)))
    return np.asarray(tile, np.uint8)


def held_loss(export: Path) -> Callable[[nn.Module, Held], Tensor]:
    """Return the loss of a finder that learns backs and is held to its export otherwise."""
    before: list[nn.Module] = []

    def loss(network: nn.Module, batch: Held) -> Tensor:
        if not before:
            before.append(_as_exported(export, batch.tile))
        # Its normalisations stay as exported: photographs and scenes differ in their spreads.
        network.eval()
        given = detector_input(torch.cat([batch.tile, batch.photos]))
        with halved(given.device):
            out = network(given)
            with torch.no_grad():
                known = before[0](given)
        out, known, count = out.float(), known.float(), len(batch.tile)
        scenes, photos = (
            _distance(out[:count], known[:count], 2),
            _distance(out[count:], known[count:], 3),
        )
        return back_loss(out[:count], batch) + HELD * (scenes + photos)

    return loss


def _as_exported(export: Path, tile: Tensor) -> nn.Module:
    """Return the network that answers as an export does."""
    network = Detector().to(tile.device).to(memory_format=torch.channels_last)
    take_up(network, export, [detector_input(tile[:1])])
    return network.eval()


def _distance(out: Tensor, known: Tensor, heats: int) -> Tensor:
    """Return how far answers are from those known: of the first ``heats`` heats and the places."""
    if not len(out):
        return out.sum()
    logits, p = out[:, :heats], known[:, :heats].sigmoid()
    lost = functional.binary_cross_entropy_with_logits(logits, p, reduction="none")
    least = functional.binary_cross_entropy(p, p, reduction="none")
    cells = p.sum().clamp(min=1)
    index = known[:, :2].sigmoid().amax(1, keepdim=True)
    index = index * (index > KNOWN_HEAT)
    apart = functional.smooth_l1_loss(out[:, 3:9], known[:, 3:9], beta=0.05, reduction="none")
    return (lost - least).sum() / cells + 2.0 * (apart * index).sum() / index.sum().clamp(min=1)
