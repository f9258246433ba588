"""Cameras that start amid a round: ``python -m lab.bench.starts --seeds 4 5 6 7``.

Films rounds by seed and watches each from many of its pictures on, with a reader that knows the
cards. A camera that starts while an arm moves over the felt must not take it for felt: a card that
is laid there later is then never reported gone, and its round never closes.
"""

import argparse
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lab.bench.record import Claim, add_option, record
from simulation.session import Scene, Settings, prepare
from tests.vision.scoring import left_lying
from vision.scenes.film import film
from vision.scenes.look import Look

_FPS: Final = 10
_AFTERWARDS_S: Final = 3
"""So long the emptied felt is shown after the last picture."""
_LEAST_S: Final = 4
"""No start is later than this before the end: cards lie there until then."""

_Pictures = Sequence[NDArray[np.uint8]]


def filmed(seed: int) -> tuple[Scene, _Pictures]:
    """Return a round of two spots and its pictures, the last two in turn at the end."""
    look = Look(width_px=640, height_px=360, fps=_FPS, noise_sigma=1.0)
    scene = prepare(Settings(rounds=1, seed=seed, spots=(1, 3), look=look))
    shown = list(film(scene.staged.performance, scene.layout, scene.look))
    return scene, [*shown, *islice(cycle(shown[-2:]), _AFTERWARDS_S * _FPS)]


def main() -> None:
    """Watch every film from every so many pictures on, and count."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seeds", type=int, nargs="+", default=[4, 5, 6, 7])
    ask.add_argument("--every", type=int, default=9, help="pictures from one start to the next")
    add_option(ask)
    asked = ask.parse_args()
    starts = kept = 0
    for seed in asked.seeds:
        scene, pictures = filmed(seed)
        last = len(pictures) - (_AFTERWARDS_S + _LEAST_S) * _FPS
        found = [left_lying(scene, pictures, start, _FPS) for start in range(0, last, asked.every)]
        starts, kept = starts + len(found), kept + sum(cards > 0 for cards in found)
        print(f"seed {seed}: {sum(cards > 0 for cards in found)} of {len(found)}", flush=True)
    claim = Claim("starts after which a card that is gone is held to lie there", kept, of=starts)
    print(f"{claim.claim}: {kept} of {starts}")
    if asked.record:
        record("starts", [claim])


if __name__ == "__main__":
    main()
