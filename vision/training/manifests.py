"""Calibrate the exported networks, measure them, and write their manifests."""

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.cards import RANKS, SUITS
from vision.inference import open_session
from vision.networks import Network
from vision.reader import Reader
from vision.training.decks import (
    TRAIN_KDE,
    TRAIN_SHEETS,
    test_deck_ids,
    train_deck_ids,
    typefaces,
)
from vision.training.drawn import family_of
from vision.training.loop import Pupil, Recipe
from vision.training.photographed import CREDITS
from vision.training.scores import Read, Votes, calibration_table, measure, votes

LICENCE = "AGPL-3.0-or-later"
# Candidate temperatures, in steps of 4 %.
_STEPS = tuple(round(0.4 * 1.04**step, 4) for step in range(60))
CALIBRATION_DECKS = tuple(f"unseen:{n}{anew}" for n in range(100, 112) for anew in ("", f"+{n}"))
"""Decks in unseen typefaces, each as it is and with redrawn suits."""
# Candidate weights, in steps of 0.04.
_WEIGHTS = tuple(round(0.04 * step, 2) for step in range(41))
CALIBRATION = {
    "rank_temperature": _STEPS,
    "suit_temperature": _STEPS,
    "corner_overlap": tuple(round(0.02 * step, 2) for step in range(51)),
    "beside_face": _WEIGHTS[10:],
    "face_rank_weight": _WEIGHTS,
    "face_suit_weight": _WEIGHTS,
}
"""The calibrated values, each with its candidates. The overlap is the share of an index's evidence
that the card's others repeat: 0 nothing, 1 all. The last three are the weight of a card's indices
beside its face, and the weights of its face's ranks and suits."""
FACELESS = {"beside_face": 1.0, "face_rank_weight": 0.0, "face_suit_weight": 0.0}
"""Weights of a reader without a network for faces."""
# Range of the confidence threshold, probabilities. Chosen, not measured.
LEAST_CONFIDENT, MOST_CONFIDENT = 0.985, 0.9995
# Most rounds of the search over all calibrated values. Chosen, not measured.
ROUNDS = 6
MOST_WRONG = 1e-4
"""Share of all cards that may be called wrongly."""


@dataclass(frozen=True)
class Course:
    """The history of the networks: the recipe and the state of the training.

    Attributes:
        photos: whether photographs were learnt from too.
        finder, reader, face: the networks with the notes of their training.
    """

    recipe: Recipe
    photos: bool
    finder: Pupil
    reader: Pupil
    face: Pupil


@dataclass(frozen=True)
class Calibration:
    """The calibrated values of the classifiers, and from which probability on a card is certain."""

    values: dict[str, float]
    confident_p: float


def calibration_of(folder: Path) -> Calibration:
    """Return the calibration of exported classifiers, from their manifest."""
    manifest = tomllib.loads((folder / "reader.toml").read_text("utf-8"))
    return Calibration(manifest["calibration"], manifest["confident_p"])


def finish(
    folder: Path,
    course: Course,
    scene_count: int,
    report: Callable[[str], None],
    calibration: Calibration | None = None,
) -> Reader:
    """Calibrate, measure and describe the networks in ``folder``; return them as a reader.

    Args:
        folder: the exports.
        course: their training.
        scene_count: scenes for measuring each set of decks; calibration uses twice as many.
        report: receives a line for each result.
        calibration: that of the classifiers, where they are kept as they were.
    """
    reader = uncalibrated(folder, faces=True)
    if calibration is None:
        report("calibrating on unseen typefaces")
        values = calibrated(votes(reader, CALIBRATION_DECKS, 2 * scene_count, seed=71))
        reader = replace(reader, classifier=_open(folder, "reader", {"calibration": values}))
        _, reads = measure(reader, CALIBRATION_DECKS, scene_count, seed=72)
        calibration = Calibration(values, threshold(reads))
    classifier = _open(folder, "reader", {"calibration": calibration.values})
    reader = replace(reader, classifier=classifier, confident_p=calibration.confident_p)
    report(f"calibration {calibration.values}, confident from {calibration.confident_p}")
    scores, every = {}, list[Read]()
    for name, decks in test_sets().items():
        score, reads = measure(reader, decks, scene_count, seed=73)
        scores[name] = score.table()
        every += reads
        report(f"{name}: {scores[name]}")
    scores["together"] = calibration_table(every)
    report(f"together: {scores['together']}")
    _describe(folder, course, reader, scores)
    return reader


def uncalibrated(folder: Path, *, faces: bool) -> Reader:
    """Open exported networks without a manifest, with or without the one for faces."""
    values = dict.fromkeys(CALIBRATION, 1.0) | ({} if faces else FACELESS)
    reader = _open(folder, "reader", {"calibration": values})
    face = _open(folder, "face", {}) if faces else None
    return Reader(_open(folder, "finder", {}), reader, face, LEAST_CONFIDENT)


def test_sets() -> dict[str, tuple[str, ...]]:
    """Return the decks to measure on, by the name of their set; no network has learnt from any."""
    shipped = tuple(name for name in test_deck_ids(0))
    return {
        **{f"deck_{re.sub('[^a-z]', '_', name)}": (name,) for name in shipped},
        "unseen_typefaces": tuple(name for name in test_deck_ids(8) if name not in shipped),
    }


def calibrated(votes: Sequence[Votes]) -> dict[str, float]:
    """Choose the calibration with the greatest likelihood of the cards' true faces.

    First that of the indices alone, then their weights beside the faces. It varies each number in
    turn, until a round changes none: some depend on each other.
    """
    values = dict.fromkeys(CALIBRATION, 1.0) | FACELESS
    alone = [name for name in CALIBRATION if name not in FACELESS]
    for names in (alone, list(FACELESS)) if votes else ():
        for _ in range(ROUNDS):
            before = values
            for name in names:
                values = values | {name: _likeliest(votes, values, name)}
            if values == before:
                break
    return values


def _likeliest(votes: Sequence[Votes], values: dict[str, float], name: str) -> float:
    def likelihood(value: float) -> float:
        return sum(some.likelihood(values | {name: value}) for some in votes)

    return max(CALIBRATION[name], key=likelihood)


def threshold(reads: list[Read]) -> float:
    """Choose the probability above which at most one card in 10,000 is called wrongly.

    It relies on the calibrated probabilities themselves: a few thousand cards hold too few wrong
    ones to count.
    """
    chances = np.sort([read.p for read in reads])[::-1]
    calls = int((np.cumsum(1 - chances) <= len(reads) * MOST_WRONG).sum())
    least = float(chances[calls - 1]) if calls else 1.0
    return round(float(np.clip(least, LEAST_CONFIDENT, MOST_CONFIDENT)), 4)


def _open(folder: Path, name: str, manifest: dict[str, Any]) -> Network:
    return Network(manifest, open_session((folder / f"{name}.onnx").read_bytes()))


def _describe(
    folder: Path, course: Course, read: Reader, scores: dict[str, dict[str, float]]
) -> None:
    recipe = asdict(course.recipe) | _sources(course)
    finder = {
        "labels": ["index", "index in a right-hand corner", "back"],
        "input": "uint8 BGR, (B, H, W, 3), sides multiples of 16, a card about 64 px wide",
        "output": "float32 (B, 14, H/4, W/4), channels as in vision/finder.py",
    }
    reader = {
        "labels": [*RANKS, "not an index", *SUITS],
        "input": "uint8 BGR, (B, 64, 40, 3), an index patch at 2 px a millimetre",
        "output": "float32 (B, 25): logits of ranks and suits, bend, hand, as in vision/patches.py",
        "confident_p": read.confident_p,
        "calibration": read.classifier.manifest["calibration"],
    }
    face = {
        "labels": [*RANKS, "no card lies so", *SUITS],
        "input": "uint8 BGR, (B, 104, 76, 3), a whole card at 1.12 px a millimetre",
        "output": "float32 (B, 18): logits of ranks and suits; the reader's manifest weighs them",
    }
    for name, about in (("finder", finder), ("reader", reader), ("face", face)):
        sha256 = hashlib.sha256((folder / f"{name}.onnx").read_bytes()).hexdigest()
        head = {"name": name, "licence": LICENCE, "sha256": sha256, "seed": course.recipe.seed}
        pupil: Pupil = getattr(course, name)
        timed = {"cpu_seconds": round(pupil.cpu_s)} if pupil.cpu_s else {}
        went = timed | {"steps_taken": pupil.step, "history": pupil.history}
        measured = {"recipe": recipe | went, "scores": scores}
        (folder / f"{name}.toml").write_text(toml(head | about | measured), "utf-8")


def _sources(course: Course) -> dict[str, Any]:
    recipe, photos = course.recipe, course.photos
    drawn = max(recipe.finder_decks, recipe.reader_decks, recipe.decks_anew)
    mixed_in = [f"{name}: {credit}" for name, credit in CREDITS.items()] if photos else []
    return {
        "command": "python -m vision.training" + (" --photos FOLDER" if photos else ""),
        "decks_seen": len(train_deck_ids(drawn)),
        "photographs": mixed_in,
        "art": [
            "Debian package gnome-cards-data, GPL-3.0-or-later: " + ", ".join(TRAIN_SHEETS),
            "Debian package kdegames-card-data-kf5, GPL-2.0-or-later: " + ", ".join(TRAIN_KDE),
        ],
        "drawn": "vision.training.drawn, ranks in Debian's typefaces",
        "typefaces": families(typefaces(held_out=False)),
        "typefaces_held_out": families(typefaces(held_out=True)),
        "calibration_decks": list(CALIBRATION_DECKS),
    }


def families(fonts: Sequence[Path]) -> list[str]:
    """List the families of typefaces with the number of each."""
    counts = Counter(family_of(font) for font in fonts)
    return [f"{family} {count}" for family, count in sorted(counts.items())]


def toml(values: dict[str, Any], prefix: str = "") -> str:
    """Write a manifest: plain values first, then a table for every mapping."""
    plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
    lines = [f"{key} = {_literal(value)}" for key, value in plain.items()]
    for key, value in values.items():
        if isinstance(value, dict):
            name = f"{prefix}{key}"
            lines += ["", f"[{name}]", toml(value, f"{name}.").rstrip()]
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(_literal(each) for each in value) + "]"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
