"""Continue training from exported networks, for example after a loss of the checkpoints.

An export has its normalisations folded into its convolutions. This module unfolds them with the
convolutions' output on the training pictures, so that the network answers like its export and can
be trained.
"""

import tomllib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from models.errors import OperatorError

BATCHES: Final = 24
"""Batches that measure the spread of the convolutions' output."""


def exported(folder: Path, name: str) -> tuple[int, float, list[str]]:
    """Return an exported network's steps, CPU seconds and history, from its manifest.

    Raises:
        OperatorError: there is no such network, or its manifest lacks its steps.
    """
    path = folder / f"{name}.toml"
    if not path.exists() or not path.with_suffix(".onnx").exists():
        raise OperatorError(
            "no network to continue from",
            where=str(path),
            way_out=f"Name a folder with {name}.toml and {name}.onnx, such as models/networks",
        )
    recipe = tomllib.loads(path.read_text("utf-8")).get("recipe", {})
    if "steps_taken" not in recipe:
        raise OperatorError(
            "recipe.steps_taken is missing",
            where=str(path),
            way_out="Name a folder of networks with the manifests that their training wrote",
        )
    steps, cpu_s = int(recipe["steps_taken"]), float(recipe.get("cpu_seconds", 0))
    return steps, cpu_s, recipe.get("history", [])


def take_up(network: nn.Module, path: Path, batches: Iterable[Tensor]) -> None:
    """Give a classifier the weights of its export.

    Args:
        network: a classifier of corners or of faces, plain convolutions each with its
            normalisation.
        path: its export.
        batches: pictures ``(B, 3, H, W)`` of its training.

    Raises:
        OperatorError: the export is of another network.
    """
    graph = onnx.load(str(path)).graph
    weights = {each.name: torch.tensor(numpy_helper.to_array(each)) for each in graph.initializer}
    folded = [node.input[1:3] for node in graph.node if node.op_type == "Conv"]
    pairs = list(_convolutions(network))
    linear = {n: m for n, m in network.named_modules() if isinstance(m, nn.Linear)}
    shapes = [tuple(weights[weight].shape) for weight, _ in folded]
    expected = [tuple(conv.weight.shape) for conv, _ in pairs]
    if shapes != expected or not all(f"classifier.{n}.weight" in weights for n in linear):
        raise OperatorError(
            f"another network: convolutions {shapes}, expected {expected}",
            where=str(path),
            way_out="Train from the beginning, or name the export of this very network",
        )
    with torch.no_grad():
        for (conv, norm), (weight, bias) in zip(pairs, folded, strict=True):
            conv.weight.copy_(weights[weight])
            _unfold(norm, weights[bias], torch.zeros_like(weights[bias]), 1 - norm.eps)
        for n, module in linear.items():
            module.weight.copy_(weights[f"classifier.{n}.weight"])
            module.bias.copy_(weights[f"classifier.{n}.bias"])
        given = _spreads(network, [conv for conv, _ in pairs], batches)
        for (_, norm), (_, bias), (mean, variance) in zip(pairs, folded, given, strict=True):
            _unfold(norm, weights[bias], mean, variance)


def blend(before: Path, after: Path, share: float) -> None:
    """Blend an export with its predecessor: ``share`` is the weight of the new one.

    Weights between the two read better than either: further training adds and forgets.

    Args:
        before: the export that the training continued from.
        after: the export of the trained network; overwritten.
        share: 0 for the one before, 1 for the one after.

    Raises:
        OperatorError: they are exports of different networks.
    """
    old, new = onnx.load(str(before)), onnx.load(str(after))
    first, last = old.graph.initializer, new.graph.initializer
    if [list(each.dims) for each in first] != [list(each.dims) for each in last]:
        raise OperatorError(
            f"not the export that {after} came from",
            where=str(before),
            way_out="Name the networks that the training went on from",
        )
    for one, other in zip(first, last, strict=True):
        start, end = numpy_helper.to_array(one), numpy_helper.to_array(other)
        if start.dtype == np.float32:
            between = (start + share * (end - start)).astype(np.float32)
            other.CopyFrom(numpy_helper.from_array(between, other.name))
    onnx.save(new, str(after))


def _unfold(norm: nn.BatchNorm2d, bias: Tensor, mean: Tensor, variance: Tensor | float) -> None:
    """Make a normalisation add ``bias`` and change nothing else, at that mean and variance."""
    norm.running_mean.copy_(mean)
    norm.running_var.copy_(torch.as_tensor(variance))
    norm.weight.copy_((norm.running_var + norm.eps).sqrt())
    norm.bias.copy_(bias.to(mean.device) + mean)


def _convolutions(network: nn.Module) -> Iterator[tuple[nn.Conv2d, nn.BatchNorm2d]]:
    """Yield each convolution with its normalisation, in order of execution."""
    parts = [m for m in network.modules() if isinstance(m, nn.Conv2d | nn.BatchNorm2d)]
    for conv, norm in zip(parts[::2], parts[1::2], strict=True):
        assert isinstance(conv, nn.Conv2d)
        assert isinstance(norm, nn.BatchNorm2d)
        yield conv, norm


def _spreads(
    network: nn.Module, convs: list[nn.Conv2d], batches: Iterable[Tensor]
) -> list[tuple[Tensor, Tensor]]:
    """Return mean and variance of each convolution's output, by channel."""
    moments: list[list[tuple[Tensor, Tensor]]] = [[] for _ in convs]

    def keep(at: int, given: Tensor) -> None:
        moments[at].append((given.mean((0, 2, 3)), given.pow(2).mean((0, 2, 3))))

    hooks = [
        conv.register_forward_hook(lambda _m, _i, given, at=at: keep(at, given))
        for at, conv in enumerate(convs)
    ]
    learning = network.training
    network.eval()
    for batch in islice(batches, BATCHES):
        network(batch)
    network.train(learning)
    for hook in hooks:
        hook.remove()
    means = [torch.stack([m for m, _ in each]).mean(0) for each in moments]
    squares = [torch.stack([s for _, s in each]).mean(0) for each in moments]
    return [(m, (s - m * m).clamp(min=1e-6)) for m, s in zip(means, squares, strict=True)]
