"""A batch as a network's input, and the loss of its answer."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from vision.training.face_pictures import OFTENER
from vision.training.samples import NOT_AN_INDEX, Glimpses, Sample

HEAT_SHARES = torch.tensor([1.0, 1.0, 2.5])
"""Weights of the heats' losses. Backs are rarer than indices and harder to find."""


def halved(device: torch.device) -> torch.autocast:
    """Return the context that computes in bfloat16 where the device does so faster.

    A processor without AVX-512 takes nine times as long as in single precision: oneDNN refuses it
    there, and PyTorch's own convolutions are slow.
    """
    fast = device.type != "cpu" or torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=fast)


def detector_input(tiles: Tensor) -> Tensor:
    """Return tiles ``(B, 3, S, S)`` as the detector takes them, 0..1."""
    return _laid_out(tiles) / 255


def classifier_input(batch: Glimpses) -> Tensor:
    """Return the patches or faces, 0..255."""
    return _laid_out(batch.patches)


def detector_loss(network: nn.Module, batch: Sample) -> Tensor:
    """Focal loss on the heats; absolute error on the values where there is something."""
    with halved(batch.tile.device):
        out = network(detector_input(batch.tile))
    out = out.float()
    error = _value_error(out, batch)
    index, back = batch.index_cells[:, None], batch.back_cells[:, None]
    total_index, total_back = index.sum().clamp(min=1), back.sum().clamp(min=1)
    point = (error[:, :2] * (index + back)).sum() / (total_index + total_back)
    ways = (error[:, 2:6] * index).sum() / total_index
    lies = (error[:, 6:] * back).sum() / total_back
    return _heat_loss(out, batch, slice(0, 3)) + 0.5 * point + 2.0 * ways + 0.7 * lies


def back_loss(out: Tensor, batch: Sample) -> Tensor:
    """Return what :func:`detector_loss` counts of backs, given the detector's answer."""
    error = _value_error(out, batch)
    back = batch.back_cells[:, None]
    total = back.sum().clamp(min=1)
    point, lies = (error[:, :2] * back).sum() / total, (error[:, 6:] * back).sum() / total
    return _heat_loss(out, batch, slice(2, 3)) + 0.5 * point + 0.7 * lies


def _heat_loss(out: Tensor, batch: Sample, kinds: slice) -> Tensor:
    """Return the focal loss on some of the heats, for each point that is to be found."""
    target, excused = batch.heat[:, kinds].clamp(min=0), batch.heat[:, kinds] < 0
    p = out[:, kinds].sigmoid().clamp(1e-5, 1 - 1e-5)
    hit = target > 0.999
    gain = torch.where(hit, (1 - p) ** 2 * p.log(), (1 - target) ** 4 * p**2 * (1 - p).log())
    weighed = gain * ~excused * HEAT_SHARES[kinds].to(out).view(1, -1, 1, 1)
    return -weighed.sum() / hit.sum().clamp(min=1)


def _value_error(out: Tensor, batch: Sample) -> Tensor:
    return functional.smooth_l1_loss(out[:, 3:], batch.values, beta=0.05, reduction="none")


def classifier_loss(network: nn.Module, batch: Glimpses) -> Tensor:
    """Cross entropy of rank and, where there is an index, of suit; of hand; error of the bend."""
    with halved(batch.patches.device):
        out = network(classifier_input(batch))
    out = out.float()
    index = batch.ranks != NOT_AN_INDEX
    rank = functional.cross_entropy(out[:, :14], batch.ranks)
    suit = functional.cross_entropy(out[index, 14:18], batch.suits[index])
    known = batch.bends.isfinite().all(1)
    bend = functional.smooth_l1_loss(out[known, 18:24], batch.bends[known], beta=0.05)
    cornered = batch.hands >= 0
    hand = functional.binary_cross_entropy_with_logits(
        out[cornered, 24], batch.hands[cornered].float()
    )
    return rank + suit + 2.0 * bend + 0.3 * hand


def letters_loss(network: nn.Module, batch: Glimpses) -> Tensor:
    """Cross entropy of the sign: the ranks of the batch number the signs."""
    with halved(batch.patches.device):
        out = network(classifier_input(batch))
    return functional.cross_entropy(out.float(), batch.ranks)


def face_loss(network: nn.Module, batch: Glimpses) -> Tensor:
    """Cross entropy of rank and, where there is a card, of suit.

    It learns the look of ranks, not their frequency among the rendered faces.
    """
    with halved(batch.patches.device):
        out = network(classifier_input(batch))
    out = out.float()
    card = batch.ranks != NOT_AN_INDEX
    oftener = torch.tensor([*OFTENER, 0.0], device=out.device)
    rank = functional.cross_entropy(out[:, :14] + oftener, batch.ranks)
    return rank + functional.cross_entropy(out[card, 14:18], batch.suits[card])


def _laid_out(pictures: Tensor) -> Tensor:
    return pictures.float().contiguous(memory_format=torch.channels_last)
