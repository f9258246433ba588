"""Going on from an exported network where the checkpoints are gone."""

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper

from models.errors import OperatorError
from vision.networks import load_network
from vision.training.export import TileFinder, export_face
from vision.training.networks import Classifier, Detector, FaceReader
from vision.training.onward import blend, exported, take_up

pytestmark = pytest.mark.slow

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
    answers = load_network(name).run(pictures[0])
    with torch.no_grad():
        assert np.allclose(network.eval()(batches[0]).numpy(), answers, atol=1e-3)
        learning = network.train()
        for part in learning.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        same = learning(torch.cat(batches)).numpy()
        plain = network.eval()(torch.cat(batches)).numpy()
    assert np.abs(same - plain).mean() < 0.1 * np.abs(plain).mean()


def test_the_finder_that_is_taken_up_answers_as_its_export_does() -> None:
    rng = np.random.default_rng(3)
    pictures = rng.integers(0, 256, (4, 64, 96, 3), np.uint8)
    tiles = torch.tensor(pictures).permute(0, 3, 1, 2).float() / 255
    network = Detector()
    take_up(network, SHIPPED / "finder.onnx", [tiles])
    with torch.no_grad():
        answer = TileFinder(network.eval())(torch.tensor(pictures)).numpy()
    assert np.allclose(answer, load_network("finder").run(pictures), atol=1e-3)


def test_an_export_of_another_network_is_refused() -> None:
    with pytest.raises(OperatorError, match="another network"):
        take_up(Classifier(), SHIPPED / "face.onnx", [])


def test_half_the_way_between_two_exports_is_the_mean_of_their_weights(tmp_path: Path) -> None:
    networks = [FaceReader().eval() for _ in range(2)]
    for number, network in enumerate(networks):
        (tmp_path / str(number)).mkdir()
        export_face(network, tmp_path / str(number))
    before, after = tmp_path / "0" / "face.onnx", tmp_path / "1" / "face.onnx"
    whole = weights(after)
    blend(before, after, 0.5)
    for name, old in weights(before).items():
        assert np.allclose(weights(after)[name], (old + whole[name]) / 2, atol=1e-6)


def weights(path: Path) -> dict[str, NDArray[np.float32]]:
    held = onnx.load(str(path)).graph.initializer
    return {each.name: numpy_helper.to_array(each) for each in held}


def test_exports_of_different_networks_are_not_blended(tmp_path: Path) -> None:
    shutil.copy(SHIPPED / "face.onnx", tmp_path)
    with pytest.raises(OperatorError, match="not the export that"):
        blend(SHIPPED / "reader.onnx", tmp_path / "face.onnx", 0.5)


def test_a_manifest_records_how_far_its_network_was_trained() -> None:
    steps, cpu_s, history = exported(SHIPPED, "reader")
    assert steps >= 64_000
    assert cpu_s > 10_000
    assert all(isinstance(line, str) for line in history)


def test_a_manifest_without_steps_is_refused(tmp_path: Path) -> None:
    shutil.copy(SHIPPED / "face.onnx", tmp_path)
    (tmp_path / "face.toml").write_text('name = "face"\n', "utf-8")
    with pytest.raises(OperatorError, match=r"recipe\.steps_taken is missing"):
        exported(tmp_path, "face")


def test_a_folder_without_networks_is_refused_with_the_missing_name(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=r"no network to continue from"):
        exported(tmp_path, "face")
