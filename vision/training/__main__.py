"""``python -m vision.training``: render, train, calibrate, export, measure, describe."""

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

# Ultralytics is used for its blocks alone; it is to look nothing up and report nothing.
os.environ.setdefault("YOLO_OFFLINE", "true")
os.environ.setdefault("YOLO_AUTOINSTALL", "false")

from vision.training.export import export
from vision.training.loop import Recipe, train
from vision.training.manifests import finish

SCENES = 250
QUICK = Recipe(steps=3, batch=2, tile_px=128, drawn_decks=2, workers=0)


def main() -> None:
    """Run the whole recipe."""
    options = _options()
    recipe = QUICK if options.quick else Recipe()
    chosen = {"steps": options.steps, "seed": options.seed, "threads": options.threads}
    recipe = replace(recipe, **{key: value for key, value in chosen.items() if value is not None})
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - began:7.1f} s  {line}", file=sys.stderr, flush=True)

    pair = train(recipe, options.checkpoint, say)
    export(pair, options.out)
    finish(options.out, recipe, 4 if options.quick else SCENES, say)
    say(f"networks and manifests written to {options.out}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m vision.training",
        description="Train the networks that find and read cards, on rendered scenes. Takes "
        "about 45 minutes on two CPU cores, less on a GPU; resumes where it was stopped.",
    )
    parser.add_argument("--out", type=Path, default=Path("models/networks"), help="folder to write")
    parser.add_argument(
        "--checkpoint",
        type=Path,
        default=Path(".cache/training/pair.pt"),
        help="where the state of the training is kept, every minute",
    )
    parser.add_argument("--steps", type=int, help="batches to learn from")
    parser.add_argument("--seed", type=int, help="seed of the scenes and the weights")
    parser.add_argument("--threads", type=int, help="threads to compute with")
    parser.add_argument("--quick", action="store_true", help="tiny batches, to try everything out")
    return parser.parse_args()


if __name__ == "__main__":
    main()
