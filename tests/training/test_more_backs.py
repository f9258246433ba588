"""A finder that continues from its export learns backs, and keeps its answers on indices."""

from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

import torch

from vision.training.held_out import BLOCK, OF_BLOCKS
from vision.training.losses import back_loss, detector_input
from vision.training.more_backs import Held, held_batches, held_loss
from vision.training.networks import Detector
from vision.training.onward import take_up
from vision.training.photographed import CREDITS
from vision.training.samples import CELL_PX, Sample

pytestmark = pytest.mark.slow

SHIPPED = Path("models/networks")
SIZE = 64


def empty(count: int = 2) -> Sample:
    """Scenes of noise without a card."""
    cells, rng = SIZE // CELL_PX, np.random.default_rng(5)
    return Sample(
        torch.tensor(rng.integers(0, 256, (count, 3, SIZE, SIZE), np.uint8)),
        torch.zeros((count, 3, cells, cells)),
        torch.zeros((count, 11, cells, cells)),
        torch.zeros((count, cells, cells)),
        torch.zeros((count, cells, cells)),
    )


def as_shipped() -> torch.nn.Module:
    network = Detector()
    take_up(network, SHIPPED / "finder.onnx", [detector_input(empty().tile)])
    return network.eval()


def batch(photos: int) -> Held:
    rng = np.random.default_rng(6)
    tiles = torch.tensor(rng.integers(0, 256, (photos, 3, SIZE, SIZE), np.uint8))
    return Held(**vars(empty()), photos=tiles)


@pytest.mark.parametrize("photos", [0, 2])
def test_a_finder_that_answers_as_its_export_loses_by_its_backs_alone(photos: int) -> None:
    network, given = as_shipped(), batch(photos)
    with torch.no_grad():
        by_backs = back_loss(network(detector_input(given.tile)).float(), given)
        lost = held_loss(SHIPPED / "finder.onnx")(network, given)
    assert float(lost) == pytest.approx(float(by_backs), rel=0.02, abs=0.02)


@pytest.mark.parametrize("channel", [0, 1])
def test_an_answer_on_indices_that_leaves_the_exports_is_lost(channel: int) -> None:
    network, given, loss = as_shipped(), batch(2), held_loss(SHIPPED / "finder.onnx")
    with torch.no_grad():
        before = float(loss(network, given))
        network.get_submodule("head")[-1].bias[channel] += 4.0
        assert float(loss(network, given)) > before + 1.0


def test_tiles_are_cut_from_training_photographs_and_none_that_is_held_out(tmp_path: Path) -> None:
    for at, name in enumerate(CREDITS):
        folder = tmp_path / name
        folder.mkdir()
        lines = []
        for number in range(BLOCK * OF_BLOCKS):
            held_out = number // BLOCK % OF_BLOCKS == OF_BLOCKS - 1
            grey = 255 if held_out else 10 * at
            if held_out or number == 0:
                cv2.imwrite(str(folder / f"{grey}.png"), np.full((90, 120, 3), grey, np.uint8))
            lines.append(f'{{"image": "{grey}.png", "cards": []}}')
        (folder / "labels.jsonl").write_text("\n".join(lines), "utf-8")
    scenes = iter([empty()] * 20)
    found = list(islice(held_batches(scenes, tmp_path, 3, SIZE, seed=1), 20))
    assert all(one.photos.shape == (3, 3, SIZE, SIZE) for one in found)
    assert {int(tile.max()) for one in found for tile in one.photos} == {0, 10, 20}
    assert all(len(one.tile) == 2 for one in found)
