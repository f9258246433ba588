"""How the cards of a dealt table are read at one look: ``python -m lab.bench.tables``.

Deals tables, each with a deck that no network learnt from and a felt, camera pose, light, noise
and blur of its own, and reads one picture a round, compressed, at the moment when most cards lie.
Counted is every card face up of which an index is open to view. ``--session`` reads what
lies round a card whenever one has come to rest, as a table is watched, and counts each card once,
by what all looks at it say together. Needs the ``train`` extra for decks in unseen typefaces;
``--anew`` draws their courts, suits and lettering anew and prints them in other ways, six decks in
ten with court figures as real decks have them; ``--shipped`` uses the shipped decks instead, and
``--learnt`` those, each shown to the reader beforehand as ``pitwatch decks learn`` does.
``--version`` deals other versions of them: their negatives, other languages' letters, four
colours; ``--told`` names the language to the reader, as a table's configuration does.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.bench.decks import learn
from lab.bench.noise import most_likely
from lab.bench.versions import VERSIONS
from models.cards import DECK, Card
from simulation.session import Settings, prepare
from tests.vision.truth_reader import Shown, TruthReader, on_felt
from vision.change import Rect
from vision.decks.reading import DeckReader
from vision.evidence import Evidence
from vision.felt import Felt, Pose, locate_felt
from vision.ground import in_play
from vision.languages import LANGUAGES
from vision.reader import Reader
from vision.scenes.decks import Deck, deck_ids
from vision.scenes.film import reference_points, stills
from vision.scenes.look import varied_look
from vision.scenes.performance import Performance
from vision.sightings import CardReader, Sightings, for_session
from vision.training.decks import open_deck, redrawn
from vision.training.scores import Read, calibration_error

STEP_NS: Final = 250_000_000
JPEG_QUALITY: Final = 75
NEAR_MM: Final = 15.0
MIDDLE_MM: Final = 500
"""How far from the dealer's edge cards are measured."""
RESTED_NS: Final = 400_000_000
"""How long after a card came to rest a session's picture is taken."""
ROUND_IT_MM: Final = 60.0
"""How much of the felt round that card is read, as where a table is watched."""
LIMITS: Final = (0.97, 0.985, 0.99, 0.995, 0.998)


@dataclass(frozen=True, slots=True)
class Dealt:
    """One picture of a table: the cards in it of which an index shows, and a card's width.

    ``lying``: every card on the felt, covered ones too; ``part``: what of the picture is read.
    """

    picture: NDArray[np.uint8]
    cards: tuple[Shown, ...]
    lying: tuple[Shown, ...]
    felt: Felt
    card_px: float
    part: Rect | None


@dataclass(frozen=True, slots=True)
class Called:
    """A card that shows, and what was made of it; ``told`` is ``None`` where nothing was."""

    deck: str
    card: Card
    told: Card | None
    p: float
    card_px: float

    @property
    def right(self) -> bool:
        """Whether the card was called rightly."""
        return self.told is self.card


@dataclass(frozen=True, slots=True, order=True)
class Glance:
    """When a table is looked at, nanoseconds since its start; and round which place, or whole."""

    at_ns: int
    x_mm: float | None = None
    y_mm: float | None = None

    def part(self, felt: Felt, width_px: int, height_px: int) -> Rect | None:
        """The part of the picture that is read."""
        if self.x_mm is None or self.y_mm is None:
            return None
        outline = felt.to_px(Pose(self.x_mm, self.y_mm, 0.0).outline_mm(ROUND_IT_MM))
        low = np.clip(outline.min(0), 0, None).astype(int)
        high = np.clip(outline.max(0), 0, (width_px, height_px)).astype(int)
        return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


Glances = Callable[[Performance], list[Glance]]
"""Chooses when, and where, a table is looked at."""


def dealt(
    deck: Deck, seed: int, rounds: int, width_px: int, glances: Glances, *, white: Deck
) -> Iterator[Dealt]:
    """Deal a table and show it at some moments.

    Which index an arm hides is seen by the paper of ``white``, which lies in the deck's place.
    """
    look = varied_look(seed, decks=deck_ids())
    look = replace(look, width_px=width_px, height_px=width_px * 9 // 16)
    scene = prepare(Settings(seed=seed, rounds=rounds, look=look))
    layout, look = scene.layout, scene.look
    performance = scene.staged.performance
    felt = locate_felt(reference_points(layout, look), where="overhead")
    chosen = glances(performance)
    moments = [glance.at_ns for glance in chosen]
    pictures, whites = tee(map(compressed, stills(performance, moments, layout, look, deck)))
    if white is not deck:
        whites = iter(map(compressed, stills(performance, moments, layout, look, white)))
    for glance, image, bright in zip(chosen, pictures, whites, strict=True):
        at_ns = glance.at_ns
        truth = TruthReader(performance, felt, jitter_mm=0.0, jitter_deg=0.0, now_ns=at_ns)
        lying = on_felt(performance, at_ns)
        shown = _near(felt, truth.read(bright, card_width_px=None), lying)
        cards = [one for one in shown if in_play((one.pose.x_mm, one.pose.y_mm), layout)]
        width = felt.card_width_px(0, MIDDLE_MM)
        part = glance.part(felt, look.width_px, look.height_px)
        yield Dealt(image, tuple(cards), tuple(lying), felt, width, part)


def compressed(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture as its compression leaves it."""
    _, packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)


def fullest(performance: Performance) -> list[Glance]:
    """The moment of each round at which most cards lie, the last such."""
    moments: list[int] = []
    most = 0
    for at_ns in range(0, performance.duration_ns, STEP_NS):
        count = len(on_felt(performance, at_ns))
        if not count:
            most = 0
        elif count >= most:
            moments = [*(moments[:-1] if most else moments), at_ns]
            most = count
    return [Glance(at_ns) for at_ns in moments]


def arrivals(performance: Performance) -> list[Glance]:
    """Whenever a card has come to rest face up, what lies round it."""
    return sorted(
        Glance(move.until_ns + RESTED_NS, move.end.x_mm, move.end.y_mm)
        for move in performance.cards
        if move.end is not None and move.face_after == "up"
    )


def _near(felt: Felt, seen: Sightings, lying: Sequence[Shown]) -> list[Shown]:
    """The cards whose index the truth reader says is open to view."""
    middles = [felt.pose(quad.astype(np.float64))[0] for quad in seen.corners_px[seen.face_up]]
    return [
        one
        for one in lying
        if one.face_up and any(one.pose.distance_mm(middle) < 1.0 for middle in middles)
    ]


def called(reader: CardReader, deck: str, shown: Dealt) -> Iterator[Called]:
    """Read a table's picture and say what was made of each card that shows."""
    for one, row in looked(reader, shown):
        told = None if row is None else DECK[int(row.argmax())]
        p = 0.0 if row is None else float(row.max())
        yield Called(deck, one.card, told, p, shown.card_px)


def looked(reader: CardReader, shown: Dealt) -> Iterator[tuple[Shown, NDArray[np.float32] | None]]:
    """Read a table's picture: each card that shows, and the chances of the 52, if it was found."""
    seen = reader.read(shown.picture, card_width_px=shown.card_px, region=shown.part)
    faces = np.flatnonzero(seen.face_up)
    rows = seen.card_p[faces]
    poses = [shown.felt.pose(seen.corners_px[at].astype(np.float64))[0] for at in faces]
    pairs = _paired(shown.cards, poses, rows)
    for number, one in enumerate(shown.cards):
        yield one, rows[pairs[number]] if number in pairs else None


def told_at_last(reader: CardReader, deck: str, session: Iterator[Dealt]) -> Iterator[Called]:
    """Read every picture of a session: what all looks at each card say together."""
    reader = for_session(reader)
    looks: dict[Shown, Evidence] = {}
    card_px = 0.0
    for shown in session:
        card_px = shown.card_px
        for card in [card for card in looks if card not in shown.lying]:
            yield _called_at_last(deck, card, looks.pop(card), card_px)
        for one, row in looked(reader, shown):
            evidence = looks.setdefault(one, Evidence())
            if row is not None:
                evidence.add(row.astype(np.float64))
    for card, evidence in looks.items():
        yield _called_at_last(deck, card, evidence, card_px)


def _called_at_last(deck: str, one: Shown, evidence: Evidence, card_px: float) -> Called:
    told, p = evidence.best()
    return Called(deck, one.card, told, p, card_px)


def _paired(
    cards: Sequence[Shown], poses: Sequence[Pose], rows: NDArray[np.float32]
) -> dict[int, int]:
    """Pair cards with sightings by place, the nearest first; one that names the card is nearer."""
    ranked = sorted(
        (far + (0.0 if DECK[int(rows[at].argmax())] is one.card else NEAR_MM), number, at)
        for number, one in enumerate(cards)
        for at, pose in enumerate(poses)
        if (far := pose.distance_mm(one.pose)) <= NEAR_MM
    )
    pairs: dict[int, int] = {}
    for _, number, at in ranked:
        if number not in pairs and at not in pairs.values():
            pairs[number] = at
    return pairs


def report(found: Sequence[Called], confident_p: float) -> None:
    """Print how many were found, right, in doubt and wrong, deck by deck and in all."""
    print("deck             cards   found   right  doubt  wrong  calibration error")
    for deck in (*sorted({one.deck for one in found}), "all"):
        some = [one for one in found if deck in {one.deck, "all"}]
        told = [one for one in some if one.told is not None]
        sure = [one for one in told if one.p >= confident_p]
        error = calibration_error([Read(one.p, one.right) for one in told])
        right = sum(one.right for one in sure)
        print(
            f"{deck:16}{len(some):6}{len(told) / len(some):8.1%}{right / len(some):8.1%}"
            f"{len(told) - len(sure):7}{len(sure) - right:7}{error:12.1%}"
        )
    for p in sorted({confident_p, *LIMITS}):
        sure = [one for one in found if one.p >= p]
        wrong, by_p = sum(not one.right for one in sure), sum(1 - one.p for one in sure)
        most = most_likely(wrong) / max(1, len(sure))
        print(
            f"called from p {p}: {len(sure) / len(found):.1%}, wrong {wrong}, by their own "
            f"probabilities {by_p:.1f}; at 95% fewer than {most:.1e} of those called"
        )


def main() -> None:
    """Deal, read, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--tables", type=int, default=60)
    ask.add_argument("--rounds", type=int, default=4, help="pictures of each table")
    ask.add_argument("--first", type=int, default=20_001, help="seed of the first table")
    ask.add_argument("--width", type=int, default=1920, help="of the picture, in pixels")
    ask.add_argument("--session", action="store_true", help="look whenever a card has come to rest")
    ask.add_argument("--version", choices=VERSIONS, help="deal another version of the decks")
    ask.add_argument("--told", action="store_true", help="name the language of that version")
    decks = ask.add_mutually_exclusive_group()
    decks.add_argument("--shipped", action="store_true", help="deal the shipped decks in turn")
    decks.add_argument("--learnt", action="store_true", help="deal them, and know them")
    decks.add_argument("--anew", action="store_true", help="draw the unseen decks anew")
    asked = ask.parse_args()
    by_itself, found = Reader.load(), list[Called]()
    if asked.told and asked.version not in LANGUAGES:
        ask.error("--told needs --version with a language")
    if asked.told:
        by_itself = by_itself.in_languages([asked.version])
    readers = dict[str, CardReader]()
    for number in range(asked.tables):
        shipped = deck_ids()[number % len(deck_ids())]
        ours = asked.shipped or asked.learnt
        name = shipped if ours else f"unseen:{asked.first + number}"
        group = name if ours else "unseen typefaces"
        if asked.learnt and name not in readers:
            readers[name] = DeckReader(by_itself, [learn(by_itself, name)])
        reader = readers.get(name, by_itself)
        deck = white = open_deck(name)
        if asked.anew:
            group, deck = "drawn anew", redrawn(deck.id, asked.first + number)
            white = deck
        if asked.version:
            deck = VERSIONS[asked.version](deck)
        glances = arrivals if asked.session else fullest
        seed = asked.first + number
        looks = dealt(deck, seed, asked.rounds, asked.width, glances, white=white)
        if asked.session:
            found += told_at_last(reader, group, looks)
        else:
            found += [each for shown in looks for each in called(reader, group, shown)]
    report(found, by_itself.confident_p)


if __name__ == "__main__":
    main()
