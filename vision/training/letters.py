"""Train the network of letters: ``python -m vision.training.letters``.

It tells the letters of the world apart. It starts from the exported network that reads indices and
learns on corners of drawn decks with every language's letters, of real decks that Debian ships,
and, where given, on photographs of English ones. Temperatures are calibrated, and errors counted,
on typefaces and sheets that nothing learnt from. Resumes where it was stopped.
"""

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from models.cards import SUITS, Card
from vision.inference import open_session
from vision.languages import ENGLISH, LANGUAGES, NO_SIGN, SIGNS
from vision.networks import Network
from vision.patches import NUDGES_MM, cut_patches, log_softmax, mean_answers
from vision.reader import Reader
from vision.training.decks import (
    LETTERED_SHEETS,
    TEST_LETTERS,
    TRAIN_KDE,
    TRAIN_SHEETS,
    lettered,
    typefaces,
)
from vision.training.export import export_letters
from vision.training.loop import (
    Lesson,
    Pupil,
    Recipe,
    Report,
    falling,
    fastest,
    loader,
    new_pupil,
    trained,
)
from vision.training.losses import classifier_input, letters_loss
from vision.training.manifests import LICENCE, families, toml
from vision.training.networks import Classifier, LettersReader
from vision.training.onward import take_up
from vision.training.photographed import CREDITS, Photographed, harvest
from vision.training.picture_store import (
    EMPTY_SHARE,
    ROOM_PX,
    Drawn,
    Kept,
    PictureStore,
    Pieces,
    room,
)
from vision.training.samples import Glimpses, index_places, no_index
from vision.training.scenes import anchor_at, close_up

# Chosen, not measured, unless a line says otherwise.
DRAWN: Final = 2000  # generated decks whose styles are drawn with letters
FRESH: Final = 6  # of them in one file of corners
ENGLISH_SHARE: Final = 0.35  # of the drawn decks that keep English letters
SHEETS_WEIGH: Final = 2  # times as often as a drawn deck is each real one learnt from
PHOTOS_EVERY: Final = 4  # photographs of which one is learnt from
LETTERS: Final = 0.55  # share of added aces and courts
TEST_STYLES: Final = 2  # drawn decks of each language in unseen typefaces
_TEMPERATURES: Final = tuple(round(0.5 * 1.04**step, 4) for step in range(50))


def train_sheets() -> tuple[str, ...]:
    """Name the decks of real card art to learn letters from."""
    own = [f"lettered:{name}" for name in LETTERED_SHEETS if name not in TEST_LETTERS]
    english = [f"sheet:{name}" for name in TRAIN_SHEETS if name not in LETTERED_SHEETS]
    return (*own, *own, *english, *(f"kde:{name}" for name in TRAIN_KDE))


def letter_decks(rng: np.random.Generator) -> list[str]:
    """Choose the decks of one file: the real ones, and some drawn in languages by chance."""
    foreign = [name for name in LANGUAGES if name != ENGLISH]
    chosen = []
    for number in rng.choice(DRAWN, FRESH, replace=False):
        language = ENGLISH if rng.random() < ENGLISH_SHARE else str(rng.choice(foreign))
        chosen.append(f"drawn:{number}+{rng.integers(1 << 30)}@{language}")
    sheets = list(train_sheets())
    return [*SHEETS_WEIGH * list(rng.choice(sheets, 6, replace=False)), *2 * chosen]


def sign_number(deck: str, card: Card) -> int:
    """Return the number among the signs of what stands in a card's corner."""
    letters = dict(zip("AJQK", lettered(deck), strict=True))
    return SIGNS.index(letters.get(card.rank, card.rank))


def letter_store(folder: Path, seed: int) -> PictureStore:
    """Return the store of corners whose ranks number the signs of every language."""
    return PictureStore(folder, (seed, 17), ROOM_PX, _corners)


def _corners(rng: np.random.Generator) -> Iterator[list[Kept]]:
    decks = letter_decks(rng)
    while True:
        yield _some(rng, decks[int(rng.integers(len(decks)))])


def _some(rng: np.random.Generator, deck: str) -> list[Kept]:
    scene = close_up(rng, [deck], LETTERS)
    seen, unseen = index_places(scene)
    kept: list[Kept] = []
    for place in rng.permutation(len(seen))[:2]:
        onto, right, face = seen[place]
        label = sign_number(deck, face), SUITS.index(face.suit), int(right)
        kept.append((room(scene.picture, onto, right), *label))
    for _ in range(rng.poisson(max(len(kept) * EMPTY_SHARE, 0.1))):
        onto = no_index(rng, scene, seen, unseen)
        kept.append((room(scene.picture, onto, False), NO_SIGN, -1, -1))
    return kept


def letters_lesson(
    recipe: Recipe, steps: int, corners: Pieces, photos: Photographed | None
) -> Lesson:
    """Return the lesson on letters: rendered corners and, where given, photographed ones."""

    def batches(first: int) -> Iterator[Glimpses]:
        return iter(loader(Drawn(corners, photos, recipe.reader_batch, recipe.seed, first), recipe))

    rate_at = partial(falling, steps=steps, peak=1e-3, fall=0.7)
    return Lesson("letters", steps, rate_at, batches, classifier_input, letters_loss)


def begun(path: Path, lesson: Lesson, recipe: Recipe) -> Pupil:
    """Return a pupil that looks at patches as the exported network of indices does."""
    pupil, reader = new_pupil("letters", recipe, fastest()), Classifier()
    take_up(reader, path, (lesson.given(batch) for batch in lesson.batches(0)))
    assert isinstance(pupil.live, LettersReader)
    pupil.live.look.load_state_dict(reader.look.state_dict())
    pupil.kept.load_state_dict(pupil.live.state_dict())
    pupil.history = ["from the look of the exported network that reads indices"]
    return pupil


Row = tuple[str, int, NDArray[np.float64]]
"""A deck, the number of the sign in a corner, and the signs' logits."""


def read_corners(network: Network, decks: Sequence[str], each: int, seed: int) -> Iterator[Row]:
    """Read ``each`` corners of every deck as they lie."""
    rng = np.random.default_rng(seed)
    for deck in decks:
        for _ in range(each):
            scene = close_up(rng, [deck], LETTERS)
            half = len(scene.picture) / 2
            for onto, right, face in index_places(scene)[0]:
                if (abs(anchor_at(onto, right) - half) < half / 2).all():
                    maps, hands = np.array([onto], np.float32), np.array([right])
                    patches = cut_patches(scene.picture, maps, hands, NUDGES_MM)
                    answer = mean_answers(network, patches, len(SIGNS))[0]
                    yield deck, sign_number(deck, face), answer


def test_letters(seed: int) -> tuple[str, ...]:
    """Name decks in every language in typefaces that no network learnt from."""
    return tuple(
        f"unseen:{(seed + n) % 40}+{seed * 1000 + n}@{language}"
        for language in LANGUAGES
        for n in range(TEST_STYLES)
    )


def calibrated(rows: Sequence[Row]) -> float:
    """Return the temperature that makes the true signs likeliest."""
    answers, signs = np.array([row[2] for row in rows]), np.array([row[1] for row in rows])

    def likelihood(temperature: float) -> float:
        return float(log_softmax(answers / temperature)[np.arange(len(signs)), signs].sum())

    return max(_TEMPERATURES, key=likelihood)


def scores(rows: Sequence[Row], temperature: float) -> dict[str, Any]:
    """Return the shares of signs read rightly, and how many are sure and wrong, by deck."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        name = row[0].partition("@")[2] or f"sheet_{_ascii(row[0].partition(':')[2])}"
        groups.setdefault(name, []).append(row)
    return {name: _score(some, temperature) for name, some in groups.items()}


def _ascii(name: str) -> str:
    """Return a sheet's name as a manifest's key."""
    return name if name.isascii() else f"of_{''.join(f'{ord(sign):x}' for sign in name[:3])}"


def _score(rows: Sequence[Row], temperature: float) -> dict[str, float]:
    p = np.exp(log_softmax(np.array([row[2] for row in rows]) / temperature))
    signs = np.array([row[1] for row in rows])
    right = p.argmax(1) == signs
    return {
        "corners": len(rows),
        "right": round(float(right.mean()), 5),
        "sure_and_wrong": int((~right & (p.max(1) > 0.998)).sum()),
    }


def main() -> None:
    """Render, train, calibrate, export, measure, describe."""
    options = _options()
    start = time.monotonic()
    recipe = Recipe(
        seed=options.seed,
        reader_batch=options.batch,
        workers=options.workers,
        threads=options.threads,
    )

    def report(line: str) -> None:
        print(f"{time.monotonic() - start:7.1f} s  {line}", file=sys.stderr, flush=True)

    pupil = new_pupil("letters", recipe, fastest())
    pupil.resume(options.checkpoints / "letters.pt")
    if pupil.step < options.steps:
        pupil = _taught(options, recipe, report)
    export_letters(pupil.kept, options.out)
    network = Network({}, open_session((options.out / "letters.onnx").read_bytes()))
    temperature = calibrated(list(read_corners(network, test_letters(1), options.each, 81)))
    decks = (*test_letters(2), *(f"lettered:{name}" for name in TEST_LETTERS))
    found = scores(list(read_corners(network, decks, options.each, 82)), temperature)
    for name, score in found.items():
        report(f"{name}: {score}")
    _describe(options, pupil, temperature, found)


def _taught(options: argparse.Namespace, recipe: Recipe, report: Report) -> Pupil:
    """Render, harvest and train, from the last checkpoint on."""
    store = letter_store(options.checkpoints / "corners", recipe.seed)
    corners = store.pieces(options.corners, options.threads)
    report(f"{len(corners.ranks)} corners rendered")
    photos = _photographed(options.photos, recipe, report)
    lesson = letters_lesson(recipe, options.steps, corners, photos)
    pupil = begun(options.reader, lesson, recipe)
    return trained(pupil, lesson, recipe, options.checkpoints, report)


def _photographed(folder: Path | None, recipe: Recipe, report: Report) -> Photographed | None:
    if folder is None:
        return None
    photos = harvest(folder, Reader.load(), recipe.seed, PHOTOS_EVERY)
    report(f"{len(photos.patches)} patches out of photographs")
    return photos


def _describe(
    options: argparse.Namespace, pupil: Pupil, temperature: float, found: dict[str, Any]
) -> None:
    path: Path = options.out / "letters.onnx"
    sheets = [name.partition(":")[2] for name in dict.fromkeys(train_sheets())]
    manifest = {
        "name": "letters",
        "licence": LICENCE,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "seed": options.seed,
        "labels": list(SIGNS),
        "input": "uint8 BGR, (B, 64, 40, 3), an index patch at 2 px a millimetre",
        "output": "float32 (B, 25): logits of the signs, as in vision/languages.py",
        "calibration": {"temperature": temperature},
        "recipe": {
            "command": "python -m vision.training.letters"
            + (" --photos FOLDER" if options.photos else ""),
            "corners": options.corners,
            "batch": options.batch,
            "steps_taken": pupil.step,
            "cpu_seconds": round(pupil.cpu_s),
            "history": pupil.history,
            "photographs": [f"{name}: {credit}" for name, credit in CREDITS.items()]
            if options.photos
            else [],
            "art": [
                "Debian packages gnome-cards-data and kdegames-card-data-kf5: " + ", ".join(sheets)
            ],
            "art_held_out": list(TEST_LETTERS),
            "languages": list(LANGUAGES),
            "typefaces": families(typefaces(held_out=False)),
            "typefaces_held_out": families(typefaces(held_out=True)),
        },
        "scores": found,
    }
    path.with_suffix(".toml").write_text(toml(manifest), "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m vision.training.letters", description=__doc__)
    networks = Path("models/networks")
    parser.add_argument("--out", type=Path, default=networks, help="folder to write")
    parser.add_argument("--reader", type=Path, default=networks / "reader.onnx")
    parser.add_argument("--checkpoints", type=Path, default=Path(".cache/letters"))
    parser.add_argument("--photos", type=Path, help="folder of labelled photographs")
    parser.add_argument("--corners", type=int, default=160_000, help="drawn before it learns")
    parser.add_argument("--steps", type=int, default=13_858, help="of learning in all")
    parser.add_argument("--each", type=int, default=25, help="corners of each deck to measure on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=512, help="corners of one step")
    parser.add_argument("--workers", type=int, default=0, help="processes that draw the batches")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
