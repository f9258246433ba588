"""``python -m vision.training``: render, train, calibrate, export, measure, describe."""

import argparse
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from models.errors import OperatorError
from vision.reader import Reader
from vision.training.export import export_face, export_finder, export_reader
from vision.training.loop import (
    Pupil,
    Recipe,
    Report,
    backs_lesson,
    face_lesson,
    finder_lesson,
    new_pupil,
    reader_lesson,
    train,
)
from vision.training.manifests import Course, calibration_of, finish, uncalibrated
from vision.training.onward import blend, exported
from vision.training.photographed import CREDITS, Photographed, harvest
from vision.training.photographed_faces import harvest_faces

# Scenes for each set of measured decks; twice as many calibrate. Chosen, not measured.
SCENES = 250
NETWORKS = ("finder", "reader", "face")
# Steps of a network that continues from an export. Chosen, not measured.
FURTHER_STEPS = 12_000
CORNERS = "corners"
FACES = "faces"
ONWARD = "onward"
"""Folder beside the checkpoints for the exports that a training continues from."""
QUICK = Recipe(
    finder_steps=3,
    reader_steps=3,
    finder_decks=2,
    reader_decks=2,
    finder_batch=2,
    reader_batch=8,
    corners=40,
    corners_anew=40,
    decks_anew=2,
    face_steps=3,
    face_batch=8,
    faces=40,
    tile_px=128,
    workers=0,
)


def main() -> None:
    """Run the whole recipe."""
    options = _options()
    recipe = QUICK if options.quick else Recipe()
    chosen = {"seed": options.seed, "threads": options.threads}
    chosen |= {f"{network}_steps": _steps(options, network) for network in NETWORKS}
    if options.pieces is not None:
        chosen |= {"corners": 0, "corners_anew": options.pieces, "faces": options.pieces}
    recipe = replace(recipe, **{key: value for key, value in chosen.items() if value is not None})
    options.onward = _set_aside(options)
    began = time.monotonic()

    def report(line: str) -> None:
        print(f"{time.monotonic() - began:7.1f} s  {line}", file=sys.stderr, flush=True)

    finder = _kept("finder", recipe, options) or _finder(recipe, options, report)
    reader, face = (_kept(name, recipe, options) for name in ("reader", "face"))
    calibration = None if reader is None or face is None else calibration_of(options.onward)
    photos = None
    if options.photos is not None and calibration is None:
        photos = _photographed(recipe, options, report)
    reader = reader or _taught_indices(recipe, options, photos, report)
    face = face or _taught_faces(recipe, options, report)
    course = Course(recipe, photos is not None, finder, reader, face)
    count = options.scenes or (4 if options.quick else SCENES)
    finish(options.out, course, count, report, calibration)
    report(f"networks and manifests written to {options.out}")


def _steps(options: argparse.Namespace, network: str) -> int | None:
    """Return a network's total steps, where given or where it continues from an export."""
    if options.onward is None:
        return None if options.steps is None else int(options.steps)
    aside = Path(options.checkpoints) / ONWARD
    taken, _, _ = exported(aside if aside.exists() else options.onward, network)
    if network == "finder":
        return taken + int(options.finder_steps)
    return taken + (FURTHER_STEPS if options.steps is None else int(options.steps))


def _begun(options: argparse.Namespace, network: str) -> int:
    """Return the steps of the export that a network continues from; 0 where it does not."""
    return 0 if options.onward is None else exported(options.onward, network)[0]


def _set_aside(options: argparse.Namespace) -> Path | None:
    """Copy the exports to continue from beside the checkpoints: new exports may overwrite them."""
    if options.onward is None:
        return None
    aside = Path(options.checkpoints) / ONWARD
    if not aside.exists():
        shutil.copytree(options.onward, aside)
    return aside


def _blended(pupil: Pupil, name: str, share: float, options: argparse.Namespace) -> None:
    """Blend an export with the one it continued from."""
    if options.onward is not None:
        blend(options.onward / f"{name}.onnx", options.out / f"{name}.onnx", share)
        learnt = f"{share} of the way from there to the weights of step {pupil.step} is exported"
        pupil.history = [*pupil.history, learnt]


def _kept(name: str, recipe: Recipe, options: argparse.Namespace) -> Pupil | None:
    """Take over an export that is to learn nothing further, as it is."""
    if options.onward is None:
        return None
    taken, spent_s, history = exported(options.onward, name)
    if taken < getattr(recipe, f"{name}_steps"):
        return None
    pupil = new_pupil(name, recipe, torch.device("cpu"))
    pupil.step, pupil.cpu_s, pupil.history = taken, spent_s, history
    options.out.mkdir(parents=True, exist_ok=True)
    shutil.copy(options.onward / f"{name}.onnx", options.out)
    return pupil


def _finder(recipe: Recipe, options: argparse.Namespace, report: Report) -> Pupil:
    """Train and export the finder."""
    lesson = finder_lesson(recipe)
    if options.onward is not None:
        begun, export = exported(options.onward, "finder")[0], options.onward / "finder.onnx"
        lesson = backs_lesson(recipe, begun, export, options.photos)
    pupil = train(lesson, recipe, options.checkpoints, report, onward=options.onward)
    export_finder(pupil.kept, options.out)
    if options.onward is not None:
        learnt = "backs alone were learnt from there, indices held to that export"
        pupil.history = [*pupil.history, learnt]
    return pupil


def _taught_indices(
    recipe: Recipe, options: argparse.Namespace, photos: Photographed | None, report: Report
) -> Pupil:
    """Train and export the network that reads indices."""
    lesson = reader_lesson(recipe, options.checkpoints / CORNERS, photos, _begun(options, "reader"))
    pupil = train(lesson, recipe, options.checkpoints, report, onward=options.onward)
    export_reader(pupil.kept, options.out)
    _blended(pupil, "reader", recipe.reader_share, options)
    return pupil


def _photographed(recipe: Recipe, options: argparse.Namespace, report: Report) -> Photographed:
    """Harvest photographs with the classifier trained on rendered cards alone.

    Its reading of photographs at this point measures how it reads unseen decks.
    """
    if options.onward is not None:
        reader = uncalibrated(options.onward, faces=False)
        return _harvested(options.photos, reader, recipe, report)
    plain = min(recipe.photos_from, recipe.reader_steps // 2)
    lesson = reader_lesson(recipe, options.checkpoints / CORNERS, None)
    pupil = train(lesson, recipe, options.checkpoints, report, until=plain)
    folder = options.checkpoints / "plain"
    shutil.copytree(options.out, folder, dirs_exist_ok=True)
    if pupil.step == plain or not (folder / "reader.onnx").exists():
        export_reader(pupil.kept, folder)
    return _harvested(options.photos, uncalibrated(folder, faces=False), recipe, report)


def _harvested(folder: Path, reader: Reader, recipe: Recipe, report: Report) -> Photographed:
    photos = harvest(folder, reader, recipe.seed)
    report(f"{len(photos.patches)} patches out of photographs")
    return photos


def _taught_faces(recipe: Recipe, options: argparse.Namespace, report: Report) -> Pupil:
    """Train and export the face network, with photographs where there are some."""
    photos = None
    if options.photos is not None:
        photos = harvest_faces(options.photos, uncalibrated(options.out, faces=False))
        report(f"{len(photos.rooms)} faces out of photographs")
    lesson = face_lesson(recipe, options.checkpoints / FACES, photos, _begun(options, "face"))
    pupil = train(lesson, recipe, options.checkpoints, report, onward=options.onward)
    export_face(pupil.kept, options.out)
    _blended(pupil, "face", recipe.face_share, options)
    return pupil


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m vision.training",
        description="Train the networks that find and read cards, on rendered scenes. Takes "
        "about thirteen hours of CPU, less on a GPU; resumes where it was stopped.",
    )
    parser.add_argument("--out", type=Path, default=Path("models/networks"), help="folder to write")
    parser.add_argument(
        "--checkpoints",
        type=Path,
        default=Path(".cache/training"),
        help="folder where the state of the training is kept, every minute",
    )
    parser.add_argument(
        "--photos",
        type=Path,
        help="folder of labelled photographs to learn from as well: " + ", ".join(CREDITS),
    )
    parser.add_argument(
        "--onward",
        type=Path,
        help="folder of exported networks to continue from if there is no checkpoint, such as "
        "models/networks. Each time with --checkpoints of its own",
    )
    described = "batches for each network to learn from; with --onward, so many further ones for "
    described += "the two classifiers, 0 to keep them as they are, else "
    parser.add_argument("--steps", type=int, help=f"{described}{FURTHER_STEPS}")
    described = "further batches for the finder with --onward, which teach it backs and leave "
    described += "indices as they are; without, it is kept as it is"
    parser.add_argument("--finder-steps", type=int, default=0, help=described)
    described = (
        "rendered corners, and as many faces, to learn from: all of redrawn decks, each file "
    )
    described += "of 2,000 of others. Without, as the recipe has it"
    parser.add_argument("--pieces", type=int, help=described)
    parser.add_argument(
        "--scenes", type=int, help=f"to measure each set of decks on; else {SCENES}"
    )
    parser.add_argument("--seed", type=int, help="seed of the scenes and the weights")
    parser.add_argument("--threads", type=int, help="threads to compute with")
    parser.add_argument("--quick", action="store_true", help="tiny batches, to try everything out")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except OperatorError as wrong:
        print(wrong, file=sys.stderr)
        sys.exit(2)
