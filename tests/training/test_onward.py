"""Going on from an exported network where the checkpoints are gone."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

import torch

from models.errors import OperatorError
from vision.networks import load_network
from vision.training.networks import Classifier, FaceReader
from vision.training.onward import exported, take_up

SHIPPED = Path("models/networks")
KINDS = pytest.mark.parametrize(
    ("name", "make", "sides"), [("face", FaceReader, (104, 76)), ("reader", Classifier, (64, 40))]
)


@KINDS
def test_what_is_taken_up_answers_as_its_export_does(
    name: str, make: type, sides: tuple[int, int]
) -> None:
    rng = np.random.default_rng(3)
    pictures = rng.integers(0, 256, (3, 32, *sides, 3), np.uint8)
    batches = [torch.tensor(each).permute(0, 3, 1, 2).float() for each in pictures]
    network = make()
    take_up(network, SHIPPED / f"{name}.onnx", batches)
    told = load_network(name).run(pictures[0])
    with torch.no_grad():
        assert np.allclose(network.eval()(batches[0]).numpy(), told, atol=1e-3)
        learning = network.train()
        for part in learning.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        same = learning(torch.cat(batches)).numpy()
        plain = network.eval()(torch.cat(batches)).numpy()
    assert np.abs(same - plain).mean() < 0.1 * np.abs(plain).mean()


def test_an_export_of_another_network_is_refused() -> None:
    with pytest.raises(OperatorError, match="another network"):
        take_up(Classifier(), SHIPPED / "face.onnx", [])


def test_a_manifest_tells_how_far_its_network_was_trained() -> None:
    steps, cpu_s, history = exported(SHIPPED, "reader")
    assert steps >= 64_000
    assert cpu_s > 10_000
    assert all(isinstance(line, str) for line in history)


def test_a_folder_without_networks_says_which_is_missing(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=r"no network to go on from"):
        exported(tmp_path, "face")
