"""How decks are learnt from photographs: ``python -m lab.bench.deck_photos [SET…]``.

Learns the deck of each set of training photographs, taken by hand from all sides, as ``pitwatch
decks learn`` does; the photographs held out for decisions are left aside. Printed for each set: the
cards learnt, those of them by their index alone, those learnt from a picture in which they do not
lie, those missing of the cards that the photographs show, and what contradicts. The photographs are
not part of the project.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.bench.real_photos.truth import Labelled, photographs
from models.cards import DECK
from vision.decks.learning import Learnt, Lesson
from vision.reader import Reader
from vision.training.held_out import kept_for_decisions

SETS: Final = ("phone_any_angle", "bicycle", "phone_close")


def pictures(folder: Path) -> Iterator[tuple[str, NDArray[np.uint8], tuple[Labelled, ...]]]:
    """Yield the photographs of a set that are not held out: name, picture, cards."""
    for number, photograph in enumerate(photographs(folder)):
        if not kept_for_decisions(number):
            image = cv2.imread(str(photograph.path), cv2.IMREAD_COLOR)
            assert image is not None, photograph.path
            yield photograph.path.name, np.asarray(image, np.uint8), photograph.cards


def report(name: str, count: int, shown: dict[str, set[str]], learnt: Learnt) -> str:
    """Return the figures of one set; ``shown``: the cards that each picture shows."""
    deck = learnt.profile
    known = {str(card): file for card, file in zip(DECK, deck.pictures, strict=True) if file}
    wrong = sorted(card for card, file in known.items() if card not in shown[file])
    missing = sorted(set().union(*shown.values()) - known.keys())
    counts = f"{len(known)} cards learnt, {int(deck.faceless.sum())} by their index alone"
    what = f"not in their picture: {wrong or 'none'}; missing: {' '.join(missing) or 'none'}"
    return "\n  ".join([f"{name}, {count} pictures: {counts}; {what}", *learnt.contradictions])


def main() -> None:
    """Learn, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("sets", nargs="*", default=SETS)
    default = os.environ.get("PITWATCH_PHOTOS", "../shared/photos")
    ask.add_argument("--folder", type=Path, default=Path(default))
    asked = ask.parse_args()
    if not (asked.folder / "train").is_dir():
        raise SystemExit(f"no photographs in {asked.folder / 'train'}: set PITWATCH_PHOTOS")
    reader = Reader.load()
    for name in asked.sets:
        lesson, shown = Lesson.new(reader, name), dict[str, set[str]]()
        for file, image, cards in pictures(asked.folder / "train" / name):
            lesson.show(file, image)
            shown[file] = {card.card for card in cards}
        print(report(name, len(shown), shown, lesson.learnt()), flush=True)


if __name__ == "__main__":
    main()
