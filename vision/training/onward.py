"""Continue training from exported networks, for example after a loss of the checkpoints.

An export has its normalisations folded into its convolutions. This module unfolds them with the
convolutions' output on the training pictures, so that the network answers like its export and can
be trained.
"""

import tomllib
from collections.abc import Iterable
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
    """Give a network the weights of its export.

    Args:
        network: the finder, or a classifier of corners or of faces.
        path: its export.
        batches: what the network takes in training, ``(B, 3, H, W)``.

    Raises:
        OperatorError: the export is of another network.
    """
    graph = onnx.load(str(path)).graph
    weights = {each.name: torch.tensor(numpy_helper.to_array(each)) for each in graph.initializer}
    convs = [node for node in graph.node if node.op_type == "Conv"]
    named = {_module_of(node.name): node.input[1:3] for node in convs}
    layers = {n: m for n, m in network.named_modules() if isinstance(m, nn.Conv2d)}
    linear = {n: m for n, m in network.named_modules() if isinstance(m, nn.Linear)}
    shapes = {n: tuple(weights[weight].shape) for n, (weight, _) in named.items()}
    expected = {n: tuple(conv.weight.shape) for n, conv in layers.items()}
    if shapes != expected or not all(f"classifier.{n}.weight" in weights for n in linear):
        raise OperatorError(
            f"another network: convolutions {shapes}, expected {expected}",
            where=str(path),
            way_out="Train from the beginning, or name the export of this very network",
        )
    with torch.no_grad():
        norms: list[tuple[nn.Conv2d, nn.BatchNorm2d, Tensor]] = []
        for n, conv in layers.items():
            weight, bias = (weights[one] for one in named[n])
            conv.weight.copy_(weight)
            if conv.bias is not None:
                conv.bias.copy_(bias)
                continue
            norm = _norm_after(network, n)
            _unfold(norm, bias, torch.zeros_like(bias), 1 - norm.eps)
            norms.append((conv, norm, bias))
        for n, module in linear.items():
            module.weight.copy_(weights[f"classifier.{n}.weight"])
            module.bias.copy_(weights[f"classifier.{n}.bias"])
        given = _spreads(network, [conv for conv, _, _ in norms], batches)
        for (_, norm, bias), (mean, variance) in zip(norms, given, strict=True):
            _unfold(norm, bias, mean, variance)


def _module_of(node: str) -> str:
    """Return the name of the module that a node of the export comes from.

    A node is called ``/classifier/look/look.1/look.1.0/Conv``: each part repeats the one before it
    where a sequence contains the next.
    """
    names = list[str]()
    for part in node.split("/")[2:-1]:
        if names and part.startswith(names[-1] + "."):
            names.pop()
        names.append(part)
    return ".".join(names)


def _norm_after(network: nn.Module, name: str) -> nn.BatchNorm2d:
    """Return the normalisation that follows a convolution in its own block."""
    block, _, own = name.rpartition(".")
    after = [m for n, m in network.get_submodule(block).named_children() if n != own]
    norm = next(m for m in after if isinstance(m, nn.BatchNorm2d))
    assert isinstance(norm, nn.BatchNorm2d)
    return norm


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
