"""``python -m lab.bench.real_photos [FOLDER]``: read the photographs, print the figures.

``--training`` reads the training photographs, and apart from the others those of them that are held
out for decisions: no network learns from them. The test photographs are for measuring alone;
``--half`` reads them at half their size, scale unknown.
The photographs are not part of the project; without them this says so and ends.
"""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from lab.bench.real_photos.templates import match_set
from lab.bench.real_photos.truth import Labelled, matches, photographs
from models.cards import DECK
from vision.reader import Reader
from vision.sightings import Sightings
from vision.training.held_out import kept_for_decisions

OVERHEAD_CARD_PX = 106.0


@dataclass(frozen=True)
class Pass:
    """One set read once, and what it is to reach.

    Attributes:
        card_px: the card width it is reduced to and read with; ``None``: as it is, width unknown.
        right, wrong: least share read right without doubt, and largest share called wrongly.
    """

    name: str
    card_px: float | None
    right: float
    wrong: float


PASSES: tuple[Pass, ...] = (
    Pass("blackjack_overhead", None, 0.995, 0.0),
    Pass("blackjack_overhead", 106.0, 0.995, 0.0),
    Pass("blackjack_overhead", 57.0, 0.98, 0.0),
    Pass("blackjack_overhead", 43.0, 0.90, 0.001),
    Pass("webcam_piles", None, 0.95, 0.003),
    Pass("bicycle", None, 0.97, 0.003),
    Pass("phone_close", None, 0.97, 0.003),
    Pass("phone_any_angle", None, 0.95, 0.005),
)
HEADINGS = ("cards", "found", "right", "wrong", "doubtful", "twice", "false", "ms a card")
RIVAL_SET = "blackjack_overhead"
"""The set whose cards' corners are labelled, which a template matcher needs."""


@dataclass
class Tally:
    """Counts of one pass over one set."""

    cards: int = 0
    found: int = 0
    right: int = 0
    wrong: int = 0
    doubtful: int = 0
    twice: int = 0
    false: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Tally") -> "Tally":
        """Both passes together."""
        return Tally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def row(self) -> list[str]:
        """The figures as printed."""
        share = [f"{100 * n / max(1, self.cards):.1f}%" for n in (self.found, self.right)]
        counts = [str(n) for n in (self.wrong, self.doubtful, self.twice, self.false)]
        return [str(self.cards), *share, *counts, f"{1000 * self.seconds / max(1, self.cards):.1f}"]

    def met(self, target: Pass) -> str:
        """The target, and which half of it is missed."""
        right = self.right >= target.right * self.cards
        wrong = self.wrong <= target.wrong * self.cards
        missed = "met" if right and wrong else f"no: {'wrong' if right else 'right'}"
        missed = "no: both" if not right and not wrong else missed
        return f"{100 * target.right:.1f}% / {100 * target.wrong:.1f}%  {missed}"


def tally_set(
    reader: Reader,
    folder: Path,
    card_px: float | None,
    held_out: bool | None = None,
    scale: float = 1.0,
) -> Tally:
    """Read every photograph of a set, or only those held out, or only the others.

    Each is reduced to the card width ``card_px`` and read with that, else by ``scale``.
    """
    tally = Tally()
    reduced = scale if card_px is None else card_px / OVERHEAD_CARD_PX
    for image, cards in _pictures(folder, reduced, held_out):
        began = time.perf_counter()
        seen = reader.read(image, card_width_px=card_px)
        tally.seconds += time.perf_counter() - began
        count(tally, seen, cards, reader.confident_p)
    return tally


Pictured = tuple[NDArray[np.uint8], tuple[Labelled, ...]]


def _pictures(folder: Path, scale: float, held_out: bool | None) -> Iterator[Pictured]:
    for number, photograph in enumerate(photographs(folder)):
        if held_out is not None and kept_for_decisions(number) is not held_out:
            continue
        image = cv2.imread(str(photograph.path), cv2.IMREAD_COLOR)
        assert image is not None, photograph.path
        if scale != 1.0:
            image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        yield np.asarray(image, np.uint8), tuple(c.scaled(scale) for c in photograph.cards)


def count(tally: Tally, seen: Sightings, cards: tuple[Labelled, ...], confident_p: float) -> None:
    """Add one picture's sightings to the counts."""
    faces = np.flatnonzero(seen.face_up)
    pairs = matches(seen.corners_px[faces], cards)
    tally.cards += len(cards)
    tally.found += len(pairs)
    known = {card.card for card in cards}
    for at, row in enumerate(seen.card_p[faces]):
        sure, called = row.max() >= confident_p, str(DECK[int(row.argmax())])
        if at not in pairs:
            tally.twice += bool(sure and called in known)
            tally.false += bool(sure and called not in known)
        elif not sure:
            tally.doubtful += 1
        elif called == cards[pairs[at]].card:
            tally.right += 1
        else:
            tally.wrong += 1


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Read real photographs and print the figures.")
    default = os.environ.get("PITWATCH_PHOTOS", "../shared/photos")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(default))
    told = "read the training photographs instead, to choose by"
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--training", action="store_true", help=told)
    which.add_argument("--half", action="store_true", help="read each picture at half its size")
    asked = parser.parse_args()
    photos = asked.folder / ("train" if asked.training else "test")
    if not photos.is_dir():
        print(f"{photos}: no photographs here; name their folder, or set PITWATCH_PHOTOS. Skipped.")
        return
    console = Console(width=126)
    if asked.training:
        console.print(_training(Reader.load(), photos))
        return
    if asked.half:
        console.print(_halved(Reader.load(), photos))
        return
    console.print(_ours(Reader.load(), photos))
    console.print(_rival(photos / RIVAL_SET))


def _ours(reader: Reader, photos: Path) -> Table:
    table = _table(f"Real photographs, called from p {reader.confident_p:.4f}", HEADINGS)
    table.add_column("target: right / wrong")
    total = Tally()
    for each in PASSES:
        tally = tally_set(reader, photos / each.name, each.card_px)
        table.add_row(each.name, _px(each.card_px), *tally.row(), tally.met(each))
        total = total + tally
    table.add_section()
    table.add_row("all", "", *total.row())
    return table


def _halved(reader: Reader, photos: Path) -> Table:
    table = _table(f"At half size, called from p {reader.confident_p:.4f}", HEADINGS)
    total = Tally()
    for each in (one for one in PASSES if one.card_px is None):
        tally = tally_set(reader, photos / each.name, None, scale=0.5)
        table.add_row(each.name, _px(None), *tally.row())
        total = total + tally
    table.add_section()
    table.add_row("all", "", *total.row())
    return table


def _training(reader: Reader, photos: Path) -> Table:
    table = _table(f"Training photographs, called from p {reader.confident_p:.4f}", HEADINGS)
    for held_out, kind in ((False, ", learnt from"), (True, ", held out")):
        total = Tally()
        for folder in sorted(path for path in photos.iterdir() if path.is_dir()):
            tally = tally_set(reader, folder, None, held_out)
            table.add_row(folder.name + kind, _px(None), *tally.row())
            total = total + tally
        table.add_row("all" + kind, "", *total.row())
        table.add_section()
    return table


def _rival(folder: Path) -> Table:
    """A template matcher that is told every card's corners and has the deck's pictures."""
    table = _table("A template matcher told where every card lies", ("cards", "right", "wrong"))
    table.add_column("ms a card")
    for card_px in (OVERHEAD_CARD_PX, 57.0, 43.0):
        told = match_set(folder, card_px / OVERHEAD_CARD_PX)
        share, wrong = 100 * told.right / told.cards, told.cards - told.right
        ms = f"{1000 * told.seconds / told.cards:.1f}"
        table.add_row(folder.name, _px(card_px), str(told.cards), f"{share:.1f}%", str(wrong), ms)
    return table


def _table(title: str, headings: tuple[str, ...]) -> Table:
    table = Table(title=title)
    for heading in ("set", "card px", *headings):
        table.add_column(heading)
    return table


def _px(card_px: float | None) -> str:
    return "as it is" if card_px is None else f"{card_px:.0f}"


if __name__ == "__main__":
    main()
