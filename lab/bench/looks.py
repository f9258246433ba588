"""What one look at an index is worth: ``python -m lab.bench.looks --each 500``.

Renders so many corners of every deck that no network learnt from, each look with a place, size,
light and camera of its own, and reads them where they lie. Prints how often the reader is right,
by the card's width, what its probabilities are worth, how many sure readings are wrong, and how
much likelier a look is to err when another look at the same face erred. Needs the ``train`` extra.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.patches import read_indices
from vision.reader import Reader
from vision.training.manifests import CALIBRATION_DECKS, test_sets
from vision.training.samples import index_places
from vision.training.scenes import anchor_at, close_up
from vision.training.scores import Read, calibration_error

WIDTHS_PX: Final = ((34, 43), (43, 57), (57, 75), (75, 106), (106, 146))


@dataclass(frozen=True, slots=True)
class Look:
    """One index as it was read, and the face that it belongs to."""

    deck: str
    face: Card
    told: Card
    p: float
    card_px: float

    @property
    def right(self) -> bool:
        """Whether the face was read rightly."""
        return self.told is self.face


def looks(reader: Reader, decks: Sequence[str], each: int, seed: int) -> Iterator[Look]:
    """Read ``each`` corners of every deck."""
    rng = np.random.default_rng(seed)
    for deck in decks:
        for _ in range(each):
            scene = close_up(rng, [deck])
            size = len(scene.picture)
            places = [place for place in index_places(scene)[0] if _central(place, size)]
            maps = np.array([place[0] for place in places], np.float32).reshape(-1, 2, 3)
            right_hand = np.array([place[1] for place in places], bool)
            read = read_indices(reader.classifier, scene.picture, maps, right_hand)
            for (_, _, face), row in zip(places, read.card_log, strict=True):
                told = DECK[int(row.argmax())]
                yield Look(deck, face, told, float(np.exp(row.max())), scene.card_px)


def _central(place: tuple[NDArray[np.float64], bool, Card], size: int) -> bool:
    return bool((np.abs(anchor_at(place[0], place[1]) - size / 2) < size / 4).all())


def report(found: list[Look], confident_p: float) -> None:
    """Print right, sure and wrong by width, and whether looks at one face err together."""
    print("card px   looks  right   mean p  calibration error  sure   sure and wrong")
    for low, high in (*WIDTHS_PX, (0, 1000)):
        some = [look for look in found if low <= look.card_px < high]
        sure = [look for look in some if look.p >= confident_p]
        error = calibration_error([Read(look.p, look.right) for look in some])
        print(
            f"{f'{low}-{high}' if low else 'all':8}{len(some):7}"
            f"{np.mean([look.right for look in some]):8.1%}"
            f"{np.mean([look.p for look in some]):8.1%}{error:15.1%}"
            f"{len(sure) / len(some):13.1%}{sum(not look.right for look in sure):8}"
        )
    after, wrong = together(found)
    print(f"a look is wrong in {wrong:.1%}, where another at the same face is wrong in {after:.1%}")


def together(found: Sequence[Look]) -> tuple[float, float]:
    """Share of wrong looks beside a wrong look at the same deck's same face, and beside any."""
    faces = defaultdict(list)
    for look in found:
        faces[look.deck, look.face].append(not look.right)
    pairs = [pair for errs in faces.values() for pair in permutations(errs, 2)]
    beside_wrong = [other for one, other in pairs if one]
    return float(np.mean(beside_wrong)), float(np.mean([other for _, other in pairs]))


def main() -> None:
    """Render, read, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--each", type=int, default=500, help="corners of each deck")
    ask.add_argument("--seed", type=int, default=91)
    asked = ask.parse_args()
    reader = Reader.load()
    unseen = {deck for decks in test_sets().values() for deck in decks}
    decks = sorted(unseen | set(CALIBRATION_DECKS))
    report(list(looks(reader, decks, asked.each, asked.seed)), reader.confident_p)


if __name__ == "__main__":
    main()
