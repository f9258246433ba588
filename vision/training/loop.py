"""The training loop: both networks learn from the same scenes, side by side."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader

from vision.training.decks import train_deck_ids
from vision.training.networks import Classifier, Detector
from vision.training.samples import NOT_AN_INDEX, Sample, Scenes


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training run."""

    steps: int = 3000
    batch: int = 16
    tile_px: int = 256
    drawn_decks: int = 150
    seed: int = 1
    peak_rate: float = 2.5e-3
    weight_decay: float = 1e-2
    workers: int = 1
    threads: int = 1
    average: float = 0.998


@dataclass
class Pair:
    """The two networks, and their running averages, which are what is exported."""

    detector: nn.Module
    classifier: nn.Module

    def parts(self) -> tuple[nn.Module, nn.Module]:
        """Both networks."""
        return self.detector, self.classifier

    def state(self) -> dict[str, dict[str, Tensor]]:
        """Both networks' weights."""
        return {"detector": self.detector.state_dict(), "classifier": self.classifier.state_dict()}

    def load(self, state: dict[str, dict[str, Tensor]]) -> None:
        """Take up saved weights."""
        self.detector.load_state_dict(state["detector"])
        self.classifier.load_state_dict(state["classifier"])


def fresh_pair(device: torch.device) -> Pair:
    """Two untrained networks."""
    detector, classifier = Detector().to(device), Classifier().to(device)
    layout = torch.channels_last
    return Pair(detector.to(memory_format=layout), classifier.to(memory_format=layout))


def collate(samples: list[Sample]) -> Sample:
    """Stack samples into a batch; patches run through as one list."""
    stack = {f: torch.stack([getattr(s, f) for s in samples]) for f in ("tile", "heat", "values")}
    cells = {
        f: torch.stack([getattr(s, f) for s in samples]) for f in ("index_cells", "back_cells")
    }
    flat = {f: torch.cat([getattr(s, f) for s in samples]) for f in ("patches", "ranks", "suits")}
    return Sample(**stack, **cells, **flat)


def detector_loss(out: Tensor, batch: Sample) -> Tensor:
    """Focal loss on the heats, absolute error on the values where there is something."""
    logits, values = out[:, :3], out[:, 3:]
    target, excused = batch.heat.clamp(min=0), batch.heat < 0
    p = logits.sigmoid().clamp(1e-5, 1 - 1e-5)
    hit = target > 0.999
    gain = torch.where(hit, (1 - p) ** 2 * p.log(), (1 - target) ** 4 * p**2 * (1 - p).log())
    heat = -(gain * ~excused).sum() / hit.sum().clamp(min=1)
    error = functional.smooth_l1_loss(values, batch.values, beta=0.05, reduction="none")
    index, back = batch.index_cells[:, None], batch.back_cells[:, None]
    total_index, total_back = index.sum().clamp(min=1), back.sum().clamp(min=1)
    point = (error[:, :2] * (index + back)).sum() / (total_index + total_back)
    ways = (error[:, 2:6] * index).sum() / total_index
    lies = (error[:, 6:] * back).sum() / total_back
    return heat + 0.5 * point + 2.0 * ways + 0.7 * lies


def classifier_loss(out: Tensor, batch: Sample) -> Tensor:
    """Cross entropy of rank and, where there is an index, of suit."""
    rank = functional.cross_entropy(out[:, :14], batch.ranks)
    index = batch.ranks != NOT_AN_INDEX
    return rank + functional.cross_entropy(out[index, 14:], batch.suits[index])


def train(recipe: Recipe, checkpoint: Path, say: Callable[[str], None]) -> Pair:
    """Train, resuming from ``checkpoint`` where it exists; return the averaged networks."""
    torch.set_num_threads(recipe.threads)
    torch.manual_seed(recipe.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pair, kept = fresh_pair(device), fresh_pair(device)
    kept.load(pair.state())
    weights = [weight for part in pair.parts() for weight in part.parameters()]
    optimiser = torch.optim.AdamW(weights, lr=recipe.peak_rate, weight_decay=recipe.weight_decay)
    first = _resume(checkpoint, pair, kept, optimiser)
    saved = began = time.monotonic()
    for step, batch in zip(range(first, recipe.steps), _batches(recipe, first), strict=False):
        losses = _step(pair, optimiser, _to(batch, device), rate_at(step, recipe))
        _follow(kept, pair, min(recipe.average, (step + 1) / (step + 20)))
        if step % 20 == 0:
            pace = (time.monotonic() - began) / (step - first + 1)
            say(f"step {step}: find {losses[0]:.3f} read {losses[1]:.3f} {pace:.2f} s/step")
        if time.monotonic() - saved > 60 or step + 1 == recipe.steps:
            _save(checkpoint, step + 1, pair, kept, optimiser)
            saved = time.monotonic()
    return kept


def rate_at(step: int, recipe: Recipe) -> float:
    """Learning rate: a short rise, then half a cosine down."""
    rise = max(1, min(200, recipe.steps // 10))
    if step < rise:
        return recipe.peak_rate * (step + 1) / rise
    share = (step - rise) / max(1, recipe.steps - rise)
    return recipe.peak_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * share)))


def _batches(recipe: Recipe, first: int) -> Iterator[Sample]:
    decks = train_deck_ids(recipe.drawn_decks)
    scenes = Scenes(decks, recipe.tile_px, recipe.seed, first * recipe.batch)
    return iter(
        DataLoader(
            scenes,
            batch_size=recipe.batch,
            collate_fn=collate,
            num_workers=recipe.workers,
            prefetch_factor=6 if recipe.workers else None,
        )
    )


def _to(batch: Sample, device: torch.device) -> Sample:
    return Sample(**{name: value.to(device) for name, value in vars(batch).items()})


def _step(
    pair: Pair, optimiser: torch.optim.Optimizer, batch: Sample, rate: float
) -> tuple[float, float]:
    for group in optimiser.param_groups:
        group["lr"] = rate
    with torch.autocast(batch.tile.device.type, dtype=torch.bfloat16):
        found = pair.detector(_laid_out(batch.tile) / 255)
        read = pair.classifier(_laid_out(batch.patches))
    find, tell = detector_loss(found.float(), batch), classifier_loss(read.float(), batch)
    optimiser.zero_grad(set_to_none=True)
    (find + tell).backward()
    for part in pair.parts():
        nn.utils.clip_grad_norm_(part.parameters(), 5.0)
    optimiser.step()
    return float(find), float(tell)


def _laid_out(pictures: Tensor) -> Tensor:
    return pictures.float().contiguous(memory_format=torch.channels_last)


@torch.no_grad()
def _follow(kept: Pair, pair: Pair, share: float) -> None:
    for average, live in zip(kept.parts(), pair.parts(), strict=True):
        for name, value in live.state_dict().items():
            mine = average.state_dict()[name]
            if value.is_floating_point():
                mine.mul_(share).add_(value, alpha=1 - share)
            else:
                mine.copy_(value)


def _save(path: Path, step: int, pair: Pair, kept: Pair, optimiser: torch.optim.Optimizer) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"step": step, "pair": pair.state(), "kept": kept.state()}
    torch.save(state | {"optimiser": optimiser.state_dict()}, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def _resume(path: Path, pair: Pair, kept: Pair, optimiser: torch.optim.Optimizer) -> int:
    if not path.exists():
        return 0
    state = torch.load(path, weights_only=True)
    pair.load(state["pair"])
    kept.load(state["kept"])
    optimiser.load_state_dict(state["optimiser"])
    return int(state["step"])
