"""What knowing the deck is worth: ``python -m lab.bench.decks``.

Learns each shipped deck (none of which any network learnt from) from 53 snapshots without
labels, films tables dealt with it, and reads stills of them with and without its profile; with
the profiles of the other decks, every card is a foreign one.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK
from simulation.session import Scene as Dealt
from simulation.session import Settings, prepare
from tests.vision.snapshots import snapshot
from tests.vision.truth_reader import Shown, Told, on_felt
from vision.decks.learning import Lesson
from vision.decks.profile import DeckProfile
from vision.decks.reading import FOREIGN_FIT, DeckReader
from vision.felt import Felt, locate_felt
from vision.reader import Reader
from vision.scenes.decks import deck_ids, load_deck
from vision.scenes.film import reference_points, still
from vision.scenes.look import varied_look
from vision.sightings import Sightings

_NEAR_MM = 12.0
_NEAR_DEG = 12.0


@dataclass
class Tally:
    """Counts of sightings that match a card on the felt."""

    faces: int = 0
    doubted: int = 0
    wrong: int = 0
    backs: int = 0
    strange_faces: int = 0
    strange_backs: int = 0
    fits: list[tuple[bool, float]] = field(default_factory=list)
    """Of every sighting: whether it lies face up, and how well it fits the deck."""

    def add(self, seen: Sightings, truth: dict[int, Shown], confident_p: float) -> None:
        """Count the sightings of one still that match a card."""
        for at, card in truth.items():
            strange = seen.deck_fit is not None and float(seen.deck_fit[at]) < FOREIGN_FIT
            if seen.deck_fit is not None:
                self.fits.append((card.face_up, float(seen.deck_fit[at])))
            if not card.face_up:
                self.backs += 1
                self.strange_backs += strange
                continue
            row = seen.card_p[at]
            self.faces += 1
            self.strange_faces += strange
            self.doubted += bool(row.max() < confident_p)
            self.wrong += bool(
                row.max() >= confident_p and DECK[int(row.argmax())] is not card.card
            )


def learn(reader: Reader, deck: str) -> DeckProfile:
    """Learn a shipped deck from snapshots, in an order of its own."""
    lesson = Lesson.new(reader, deck)
    shown = [*DECK, None]
    for number in np.random.default_rng(7).permutation(len(shown)):
        card = shown[number]
        lesson.show(f"{card}", snapshot(load_deck(deck), card, int(number)))
    learnt = lesson.learnt()
    right = sum(name == str(card) for name, card in zip(learnt.profile.pictures, DECK, strict=True))
    lacking = " ".join(map(str, learnt.profile.lacking)) or "none"
    print(f"{deck}: {right} cards learnt rightly, lacking {lacking}; {learnt.contradictions}")
    return learnt.profile


def stills(
    deck: str, seed: int, count: int, width_px: int
) -> Iterator[tuple[NDArray[np.uint8], Dealt, Felt, int]]:
    """Stills of a table dealt with a deck, evenly over a session."""
    look = varied_look(seed, decks=(deck,))
    look = replace(look, width_px=width_px, height_px=width_px * 9 // 16)
    dealt = prepare(Settings(seed=seed, rounds=2, look=look))
    performance = dealt.staged.performance
    felt = locate_felt(reference_points(dealt.layout, dealt.look), where="overhead")
    for at_ns in np.linspace(0.15, 0.95, count) * performance.duration_ns:
        yield still(performance, int(at_ns), dealt.layout, dealt.look), dealt, felt, int(at_ns)


def told_of(seen: Sightings, felt: Felt, lying: Sequence[Shown]) -> dict[int, Shown]:
    """Which sighting matches which card, by place alone."""
    found: dict[int, Shown] = {}
    for at, corners in enumerate(seen.corners_px):
        pose, _ = felt.pose(corners.astype(np.float64))
        near = [
            card
            for card in lying
            if card.face_up == bool(seen.face_up[at])
            and card.pose.distance_mm(pose) < _NEAR_MM
            and card.pose.turn_deg(pose) < _NEAR_DEG
        ]
        if near:
            found[at] = min(near, key=lambda card: card.pose.distance_mm(pose))
    return found


def main() -> None:
    """Print the table."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--first", type=int, default=1)
    ask.add_argument("--seeds", type=int, default=2, help="tables a deck")
    ask.add_argument("--stills", type=int, default=8, help="stills a table")
    ask.add_argument("--widths", type=int, nargs="+", default=[1920, 1280, 960])
    asked = ask.parse_args()
    reader = Reader.load()
    profiles = {deck: learn(reader, deck) for deck in deck_ids()}
    profiles = {deck: profile for deck, profile in profiles.items() if not profile.lacking}
    for width_px in asked.widths:
        tallies = measure(reader, profiles, width_px, asked)
        print(f"\n{width_px} px wide", *_lines(tallies), sep="\n", flush=True)


def measure(
    reader: Reader, profiles: dict[str, DeckProfile], width_px: int, asked: argparse.Namespace
) -> dict[str, Tally]:
    """Read stills with no deck known, with the right one and with every other one."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for deck in profiles:
        for seed in range(asked.first, asked.first + asked.seeds):
            for image, dealt, felt, at_ns in stills(deck, seed, asked.stills, width_px):
                seen = reader.read(image, card_width_px=felt.card_width_px(0, 500))
                truth = told_of(seen, felt, on_felt(dealt.staged.performance, at_ns))
                tallies["no deck known"].add(seen, truth, reader.confident_p)
                for name, profile in profiles.items():
                    again = DeckReader(Told(seen, reader.confident_p), [profile])
                    known = again.read(image, card_width_px=None)
                    key = "its deck known" if name == deck else "another deck in use"
                    tallies[key].add(known, truth, reader.confident_p)
    return tallies


def _lines(tallies: dict[str, Tally]) -> Iterator[str]:
    for name, tally in tallies.items():
        yield (
            f"  {name:<20} faces {tally.faces}: in doubt {tally.doubted}, wrong {tally.wrong}, "
            f"foreign {tally.strange_faces}; backs {tally.backs}: foreign {tally.strange_backs}"
        )


if __name__ == "__main__":
    main()
