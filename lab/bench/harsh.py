"""How the shipped networks read scenes much harsher than a table: ``python -m lab.bench.harsh``.

The scenes that a training measures its networks on, of decks that no network learnt from, read as
a table's pictures are: with the shipped calibration and the network of letters. Printed for each
set of decks and for all: the cards with an index in plain view, how many were called rightly, how
many called wrongly, calls where no such card lies, and the calibration error beside the one that
chance alone gives for so many cards. Needs the ``train`` extra.
"""

import argparse
from typing import Final

from vision.reader import Reader
from vision.training.manifests import test_sets
from vision.training.scores import Read, calibration_error, calibration_noise, measure

SEED: Final = 73
"""Seed of the scenes that the manifests' scores are measured on."""


def main() -> None:
    """Render, read, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--scenes", type=int, default=250, help="of each set of decks")
    ask.add_argument("--seed", type=int, default=SEED, help="of the scenes")
    asked = ask.parse_args()
    reader = Reader.load()
    print("decks                     cards   right   wrong   false   calibration error (chance)")
    every, cards, right, wrong, false = list[Read](), 0, 0.0, 0, 0
    for name, decks in test_sets().items():
        score, reads = measure(reader, decks, asked.scenes, asked.seed)
        every += reads
        cards, right = cards + score.cards, right + score.right * score.cards
        wrong, false = wrong + score.wrong, false + score.false_cards
        print(_line(name, score.cards, score.right, score.wrong, score.false_cards, reads))
    print(_line("all", cards, right / max(1, cards), wrong, false, every))
    sure = [read.p for read in every if read.p >= reader.confident_p]
    print(f"wrong by their own probabilities: {sum(1 - p for p in sure):.1f} of {len(sure)} called")


def _line(name: str, cards: int, right: float, wrong: int, false: int, reads: list[Read]) -> str:
    error, noise = calibration_error(reads), calibration_noise(reads)
    counts = f"{cards:6}{right:8.1%}{wrong:8}{false:8}"
    return f"{name:25}{counts}{error:12.2%} ({noise:.2%})"


if __name__ == "__main__":
    main()
