"""Export the networks to ONNX, for any batch size and for tiles of any size."""

import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

from vision.corners import PATCH_PX
from vision.faces import FACE_PX

# ONNX operator set of the exports.
OPSET = 18


class TileFinder(nn.Module):
    """The deployed detector: bytes in, heats as probabilities out."""

    def __init__(self, detector: nn.Module) -> None:
        super().__init__()
        self.detector = detector

    def forward(self, tile: Tensor) -> Tensor:
        """``(B, H, W, 3)`` uint8 BGR, sides multiples of 16, to ``(B, 14, H/4, W/4)``."""
        out = self.detector(tile.permute(0, 3, 1, 2).float() / 255)
        return torch.cat([out[:, :3].sigmoid(), out[:, 3:]], 1)


class PatchReader(nn.Module):
    """A deployed classifier of corners or of faces: bytes in, raw output out."""

    def __init__(self, classifier: nn.Module) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(self, patch: Tensor) -> Tensor:
        """``(B, 64, 40, 3)`` uint8 BGR to ``(B, 25)``, as in vision/patches.py.

        Letters become ``(B, 25)`` signs, as in vision/languages.py; faces are ``(B, 104, 76, 3)``
        and become ``(B, 18)``, as in vision/faces.py.
        """
        return self.classifier(patch.permute(0, 3, 1, 2).float())


def export_finder(detector: nn.Module, folder: Path) -> None:
    """Write ``finder.onnx``."""
    tile = torch.zeros((1, 320, 320, 3), dtype=torch.uint8)
    free = {0: "batch", 1: "height", 2: "width"}
    _write(TileFinder(detector), tile, folder / "finder.onnx", free)


def export_reader(classifier: nn.Module, folder: Path) -> None:
    """Write ``reader.onnx``."""
    _write_patches(classifier, folder / "reader.onnx")


def export_letters(network: nn.Module, folder: Path) -> None:
    """Write ``letters.onnx``."""
    _write_patches(network, folder / "letters.onnx")


def _write_patches(network: nn.Module, path: Path) -> None:
    patch = torch.zeros((2, PATCH_PX[1], PATCH_PX[0], 3), dtype=torch.uint8)
    _write(PatchReader(network), patch, path, {0: "batch"})


def export_face(network: nn.Module, folder: Path) -> None:
    """Write ``face.onnx``."""
    face = torch.zeros((2, FACE_PX[1], FACE_PX[0], 3), dtype=torch.uint8)
    _write(PatchReader(network), face, folder / "face.onnx", {0: "batch"})


def _write(network: nn.Module, example: Tensor, path: Path, free: dict[int, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    network = network.to("cpu").eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            (example,),
            str(path),
            input_names=["picture"],
            output_names=["found"],
            dynamic_axes={"picture": free, "found": {0: "batch"}},
            opset_version=OPSET,
            dynamo=False,
        )
