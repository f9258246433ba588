"""The training loop: the detector first, then the classifier."""

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset

from vision.training.decks import reader_deck_ids, train_deck_ids
from vision.training.face_pictures import DrawnFaces, face_store
from vision.training.losses import (
    classifier_input,
    classifier_loss,
    detector_input,
    detector_loss,
    face_loss,
)
from vision.training.more_backs import Held, held_batches, held_loss
from vision.training.networks import Classifier, Detector, FaceReader, LettersReader
from vision.training.onward import exported, take_up
from vision.training.photographed import Photographed
from vision.training.picture_store import Drawn, Pieces, corner_store, corner_store_anew, opened
from vision.training.samples import Glimpses, Sample, Scenes, quarter_turned

Report = Callable[[str], None]


# Clock ticks a second, the unit of CPU times in ``/proc``.
CLOCK_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PLAIN, ANEW = "plain", "anew"
"""Folders of corners of decks as they are, and redrawn."""
LATER = 6
"""Batches after which one comes again, turned."""


@dataclass(frozen=True)
class Recipe:
    """All settings of a training run."""

    finder_steps: int = 5900
    finder_decks: int = 150
    reader_steps: int = 92_000
    reader_decks: int = 320
    finder_batch: int = 16
    reader_batch: int = 256
    corners: int = 160_000
    """Rendered corners for the classifier."""
    corners_anew: int = 222_000
    """Rendered corners of redrawn decks."""
    decks_anew: int = 2000
    """Generated decks that those, and the faces, are redrawn from."""
    tile_px: int = 256
    seed: int = 1
    finder_rate: float = 2.5e-3
    finder_further_rate: float = 8e-4
    """Peak rate of a finder that continues from an export."""
    finder_turns: int = 4
    """How many quarter turns of each scene the finder learns from, at most 4: rendering a scene
    costs three times as much as a step with it."""
    finder_photos: int = 4
    """Tiles of photographs in each batch of a finder that continues from an export."""
    finder_down: float = 0.4
    """Its share of added hands face down, and of scenes with wagers."""
    reader_rate: float = 2e-3
    further_rate: float = 5e-4
    """First rate of a classifier that continues from an export; it falls straight to nothing."""
    weight_decay: float = 1e-2
    reader_fall: float = 0.5
    """Share of the classifier's steps, at the end, over which its rate falls to nothing."""
    photos_from: int = 5000
    """The classifier's first step with photographs."""
    face_steps: int = 70_800
    face_batch: int = 256
    face_rate: float = 2e-3
    face_fall: float = 0.5
    faces: int = 284_000
    """Rendered whole cards for the face network."""
    reader_share: float = 0.4
    face_share: float = 0.6
    """Share of the new weights in the export, where training continued from an earlier one."""
    workers: int = 1
    threads: int = 1
    """Threads. More are up to nine times slower when other programs run beside."""
    average: float = 0.998


@dataclass(frozen=True)
class Lesson:
    """What one network learns from, and its loss."""

    name: str
    steps: int
    rate_at: Callable[[int], float]
    """Learning rate of a step."""
    batches: Callable[[int], Iterator[Any]]
    """Batches from a step onwards."""
    given: Callable[[Any], Tensor]
    """The network's input, of a batch."""
    loss: Callable[[nn.Module, Any], Tensor]


def finder_lesson(recipe: Recipe) -> Lesson:
    """Return the detector's lesson: indices and backs in scenes."""

    def batches(first: int) -> Iterator[Sample]:
        return _scenes(recipe, first)

    rate_at = partial(waning, steps=recipe.finder_steps, peak=recipe.finder_rate)
    return Lesson("finder", recipe.finder_steps, rate_at, batches, _tiles, detector_loss)


def backs_lesson(recipe: Recipe, begun: int, export: Path, photos: Path | None) -> Lesson:
    """Return the lesson of a detector that continues from an ``export``: backs alone.

    ``begun``: the steps of the export. ``photos``: a folder of photographs on which it is to answer
    as before.
    """

    def batches(first: int) -> Iterator[Held]:
        scenes = _scenes(recipe, first, recipe.finder_down)
        seed = recipe.seed + first
        return held_batches(scenes, photos, recipe.finder_photos, recipe.tile_px, seed)

    steps, peak = recipe.finder_steps, recipe.finder_further_rate

    def rate_at(step: int) -> float:
        return waning(step - begun, steps - begun, peak)

    return Lesson("finder", steps, rate_at, batches, _tiles, held_loss(export))


def _scenes(recipe: Recipe, first: int, down: float = 0.0) -> Iterator[Sample]:
    """Yield batches of scenes from a step onwards."""
    decks = train_deck_ids(recipe.finder_decks)
    start = first // recipe.finder_turns * recipe.finder_batch
    scenes = Scenes(decks, recipe.tile_px, recipe.seed, start, down)
    fresh = iter(loader(scenes, recipe, recipe.finder_batch, _stacked))
    return turned_again(fresh, recipe.finder_turns)


def _tiles(batch: Sample) -> Tensor:
    return detector_input(batch.tile)


def turned_again(fresh: Iterable[Sample], turns: int) -> Iterator[Sample]:
    """Yield each batch, and after it earlier ones turned by quarters, each in every turn once."""
    waiting: deque[tuple[Sample, int]] = deque()
    for batch in fresh:
        yield batch
        waiting.extend((batch, turn) for turn in range(1, turns))
        for _ in range(turns - 1 if len(waiting) > LATER * (turns - 1) else 0):
            yield quarter_turned(*waiting.popleft())


def reader_lesson(
    recipe: Recipe, folder: Path, photos: Photographed | None, begun: int = 0
) -> Lesson:
    """Return the classifier's lesson: rendered index patches and, where given, photographed ones.

    ``folder`` holds the rendered corners, half of them of redrawn decks. ``begun``: the steps of
    the export that it continues from.
    """

    def batches(first: int) -> Iterator[Glimpses]:
        decks = reader_deck_ids(recipe.reader_decks)
        size, seed = recipe.tile_px, recipe.seed
        plain = corner_store(folder / PLAIN, decks, size, seed)
        anew = corner_store_anew(folder / ANEW, recipe.decks_anew, size, seed)
        files = plain.files(recipe.corners, recipe.threads)
        corners = opened(files + anew.files(recipe.corners_anew, recipe.threads))
        drawn = Drawn(corners, photos, recipe.reader_batch, recipe.seed, first)
        return iter(loader(drawn, recipe))

    steps, peak, fall = recipe.reader_steps, recipe.reader_rate, recipe.reader_fall
    if begun:
        peak, fall = recipe.further_rate, 1.0
    rate_at = partial(_falling_from, begun=begun, steps=steps, peak=peak, fall=fall)
    return Lesson("reader", steps, rate_at, batches, classifier_input, classifier_loss)


def face_lesson(recipe: Recipe, folder: Path, photos: Pieces | None, begun: int = 0) -> Lesson:
    """Return the face network's lesson: rendered whole cards and, where given, photographed ones.

    ``folder`` holds the rendered faces. ``begun``: as of :func:`reader_lesson`.
    """

    def batches(first: int) -> Iterator[Glimpses]:
        store = face_store(folder, recipe.decks_anew, recipe.seed)
        faces = store.pieces(recipe.faces, recipe.threads)
        drawn = DrawnFaces(faces, photos, recipe.face_batch, recipe.seed, first)
        return iter(loader(drawn, recipe))

    steps, peak, fall = recipe.face_steps, recipe.face_rate, recipe.face_fall
    if begun:
        peak, fall = recipe.further_rate, 1.0
    rate_at = partial(_falling_from, begun=begun, steps=steps, peak=peak, fall=fall)
    return Lesson("face", steps, rate_at, batches, classifier_input, face_loss)


def loader(
    source: IterableDataset[Any],
    recipe: Recipe,
    count: int | None = None,
    collate: Callable[[list[Any]], Any] | None = None,
) -> DataLoader[Any]:
    """Draw the batches of ``source`` in the recipe's workers, ``count`` samples in each.

    Without a count, what the source yields is a batch already.
    """
    return DataLoader(
        source,
        batch_size=count,
        collate_fn=collate,
        num_workers=recipe.workers,
        prefetch_factor=6 if recipe.workers else None,
    )


def _stacked(samples: list[Sample]) -> Sample:
    return Sample(*(torch.stack([getattr(s, name) for s in samples]) for name in vars(samples[0])))


@dataclass
class Pupil:
    """A network in training, with its running average, which is exported."""

    live: nn.Module
    kept: nn.Module
    optimiser: torch.optim.Optimizer
    step: int = 0
    history: list[str] = field(default_factory=list)
    """Interruptions and continuations of the training."""
    cpu_s: float = 0.0
    """CPU seconds so far, including the rendering of its scenes."""

    def save(self, path: Path) -> None:
        """Write the complete state of the training."""
        path.parent.mkdir(parents=True, exist_ok=True)
        state = {"step": self.step, "history": self.history, "cpu_s": self.cpu_s}
        state |= {"optimiser": self.optimiser.state_dict()}
        state |= {"live": self.live.state_dict(), "kept": self.kept.state_dict()}
        torch.save(state, path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)

    def resume(self, path: Path) -> None:
        """Restore the state of an earlier training, if there is one."""
        if not path.exists():
            return
        state = torch.load(path, "cpu", weights_only=True)
        self.live.load_state_dict(state["live"])
        self.kept.load_state_dict(state["kept"])
        if "optimiser" in state:
            self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.history = int(state["step"]), list(state["history"])
        self.cpu_s = float(state.get("cpu_s", 0.0))


def fastest() -> torch.device:
    """Return the GPU where there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def new_pupil(name: str, recipe: Recipe, device: torch.device) -> Pupil:
    """Create a network from the recipe's seed."""
    torch.manual_seed(recipe.seed)
    kinds: dict[str, type[nn.Module]] = {
        "finder": Detector,
        "reader": Classifier,
        "face": FaceReader,
        "letters": LettersReader,
    }
    make = kinds[name]
    live, kept = (make().to(device).to(memory_format=torch.channels_last) for _ in range(2))
    kept.load_state_dict(live.state_dict())
    optimiser = torch.optim.AdamW(live.parameters(), weight_decay=recipe.weight_decay)
    return Pupil(live, kept, optimiser)


def train(
    lesson: Lesson,
    recipe: Recipe,
    folder: Path,
    report: Report,
    *,
    until: int | None = None,
    onward: Path | None = None,
) -> Pupil:
    """Train one network to its last step, or to ``until``, resuming an earlier training.

    Without an earlier training, it continues from its export in the folder ``onward``.
    """
    torch.set_num_threads(recipe.threads)
    device = fastest()
    pupil, checkpoint = new_pupil(lesson.name, recipe, device), folder / f"{lesson.name}.pt"
    if onward is not None and not checkpoint.exists():
        _go_on_from(onward, pupil, lesson, device)
        report(f"{lesson.name} continues from step {pupil.step}")
    return trained(pupil, lesson, recipe, folder, report, until=until)


def trained(
    pupil: Pupil,
    lesson: Lesson,
    recipe: Recipe,
    folder: Path,
    report: Report,
    *,
    until: int | None = None,
) -> Pupil:
    """Train a pupil to the lesson's last step, or to ``until``, resuming from its checkpoint."""
    last = lesson.steps if until is None else until
    torch.set_num_threads(recipe.threads)
    checkpoint = folder / f"{lesson.name}.pt"
    device = next(pupil.live.parameters()).device
    pupil.resume(checkpoint)
    if pupil.step >= last:
        return pupil
    saved = began = time.monotonic()
    first, spent = pupil.step, pupil.cpu_s - _cpu_seconds()
    for batch in lesson.batches(first):
        loss = _step(pupil, lesson, _to(batch, device), recipe)
        if pupil.step % 20 == 0:
            pace = (time.monotonic() - began) / (pupil.step - first)
            report(f"{lesson.name} step {pupil.step}: loss {loss:.3f}, {pace:.2f} s a step")
        if time.monotonic() - saved > 60 or pupil.step >= last:
            pupil.cpu_s = spent + _cpu_seconds()
            pupil.save(checkpoint)
            saved = time.monotonic()
        if pupil.step >= last:
            break
    return pupil


def _go_on_from(folder: Path, pupil: Pupil, lesson: Lesson, device: torch.device) -> None:
    pupil.step, pupil.cpu_s, history = exported(folder, lesson.name)
    pupil.history = [*history, f"at step {pupil.step} the exported weights were taken up again"]
    batches = lesson.batches(pupil.step)
    seen = (lesson.given(_to(batch, device)) for batch in batches)
    take_up(pupil.live, folder / f"{lesson.name}.onnx", seen)
    pupil.kept.load_state_dict(pupil.live.state_dict())


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and its renderers, where the system provides them."""
    spent = time.process_time()
    for child in active_children():
        stat = Path(f"/proc/{child.pid}/stat")
        if stat.exists():
            spent += sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[11:13])) / CLOCK_TICKS
    return spent


def waning(step: int, steps: int, peak: float) -> float:
    """Return the learning rate: a short rise, then a half cosine down."""
    rise = max(1, min(200, steps // 10))
    if step < rise:
        return peak * (step + 1) / rise
    share = (step - rise) / max(1, steps - rise)
    return peak * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * share)))


def falling(step: int, steps: int, peak: float, fall: float) -> float:
    """Return the learning rate: a short rise, a level stretch, then a linear fall.

    The length of the level stretch can still be chosen while it lasts.
    """
    rise = max(1, min(200, steps // 10))
    left = (steps - step) / max(1.0, steps * fall)
    return peak * min(1.0, (step + 1) / rise, max(left, 0.01))


def _falling_from(step: int, begun: int, steps: int, peak: float, fall: float) -> float:
    """Return the learning rate of a classifier that continues after ``begun`` steps."""
    return falling(step - begun, steps - begun, peak, fall)


def _to(batch: Any, device: torch.device) -> Any:
    return type(batch)(**{name: value.to(device) for name, value in vars(batch).items()})


def _step(pupil: Pupil, lesson: Lesson, batch: Any, recipe: Recipe) -> float:
    for group in pupil.optimiser.param_groups:
        group["lr"] = lesson.rate_at(pupil.step)
    loss = lesson.loss(pupil.live, batch)
    pupil.optimiser.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(pupil.live.parameters(), 5.0)
    pupil.optimiser.step()
    _follow(pupil.kept, pupil.live, min(recipe.average, (pupil.step + 1) / (pupil.step + 20)))
    pupil.step += 1
    return float(loss.detach())


@torch.no_grad()
def _follow(kept: nn.Module, live: nn.Module, share: float) -> None:
    averages = kept.state_dict()
    for name, value in live.state_dict().items():
        if value.is_floating_point():
            averages[name].mul_(share).add_(value, alpha=1 - share)
        else:
            averages[name].copy_(value)
