"""What the face network learnt by heart: ``python -m lab.bench.faces``.

Reads rendered faces that it never saw, of decks never seen, of the same drawn anew and of decks
that it learnt from, misplaced and lit as they are in training, and prints how often it is right
and the mean logarithm of the chance that it gives to the truth. ``--learnt FOLDER`` adds faces
that it did learn from: where those are far likelier, it wants more faces. Needs the ``train``
extra.
"""

import argparse
from collections.abc import Callable
from itertools import chain, islice
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from vision.networks import Network, load_network
from vision.patches import log_softmax
from vision.training import face_pictures
from vision.training.decks import reader_deck_ids
from vision.training.face_pictures import DrawnFaces, faces_from
from vision.training.manifests import CALIBRATION_DECKS
from vision.training.picture_store import Pieces, opened
from vision.training.samples import NOT_AN_INDEX

BATCH = 256


def fresh(decks: tuple[str, ...], count: int, seed: int) -> Pieces:
    """Render faces of some decks."""
    scenes = faces_from(decks, np.random.default_rng(seed))
    kept = islice(chain.from_iterable(scenes), count)
    rooms, ranks, suits, hands = zip(*kept, strict=True)
    return Pieces(np.stack(rooms), np.array(ranks), np.array(suits), np.array(hands))


def line(network: Network, name: str, faces: Pieces, count: int) -> str:
    """Read this many cuts of faces, and return how they were read as text."""
    gains: dict[str, list[NDArray[np.float64]]] = {"rank": [], "suit": []}
    right: dict[str, list[NDArray[np.bool_]]] = {"rank": [], "suit": []}
    with patch.multiple(face_pictures, TURNED=0.0, OVERLAID=0.0):
        for batch in islice(DrawnFaces(faces, None, BATCH, 5, 0), count // BATCH):
            card = batch.ranks.numpy() != NOT_AN_INDEX
            pictures = batch.patches.permute(0, 2, 3, 1).contiguous().numpy()[card]
            out = network.run(pictures).astype(np.float64)
            for part, truth, logits in (
                ("rank", batch.ranks.numpy()[card], out[:, :14]),
                ("suit", batch.suits.numpy()[card], out[:, 14:]),
            ):
                gains[part].append(log_softmax(logits)[np.arange(len(truth)), truth])
                right[part].append(logits.argmax(1) == truth)
    told = (
        f"{part} {np.concatenate(right[part]).mean():.1%} right, "
        f"log-likelihood {np.concatenate(gains[part]).mean():.3f}"
        for part in ("rank", "suit")
    )
    return f"{name:22} " + "; ".join(told)


def main() -> None:
    """Print a line for each kind of deck."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--count", type=int, default=2048, help="faces of each kind")
    ask.add_argument("--learnt", type=Path, help="folder of faces kept by a training")
    asked = ask.parse_args()
    network = load_network("face")
    plain = tuple(name for name in CALIBRATION_DECKS if "+" not in name)
    anew = tuple(name for name in CALIBRATION_DECKS if "+" in name)
    kinds: dict[str, Callable[[], Pieces]] = {
        "unseen decks": lambda: fresh(plain, asked.count, 1),
        "the same, drawn anew": lambda: fresh(anew, asked.count, 2),
        "decks learnt from": lambda: fresh(tuple(reader_deck_ids(320)), asked.count, 3),
    }
    if asked.learnt is not None:
        files = sorted(asked.learnt.glob("[0-9]*.npz"))[:1]
        if not files:
            raise SystemExit(f"{asked.learnt}: no kept faces, expected 0000.npz and on")
        kinds["faces learnt from"] = lambda: opened(files)
    for name, faces in kinds.items():
        print(line(network, name, faces(), asked.count), flush=True)


if __name__ == "__main__":
    main()
