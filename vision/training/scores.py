"""Measure the exported networks, as deployed, on rendered scenes of unseen decks."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, RANKS, SUITS, Card
from vision.faces import Faces
from vision.indices import Indices
from vision.patches import RANK_OF, SUIT_OF, log_softmax
from vision.reader import Reader
from vision.sightings import Sightings
from vision.training.samples import BACK_SEEN, SEEN
from vision.training.scenes import Scene, render

# Pixels of a scene's side. Chosen, not measured.
SCENE_PX = 384
SEVERITY = 0.5
"""Severity of the scenes' camera faults, relative to training."""
CLOSE_BY = 1.2
"""Card widths between the middles of a card and of the neighbour that lends it an index."""
MISPAIRED = 1e-4
"""Least probability of a true face: a few sightings are paired with a wrong card, and two of them
must not outweigh thousands."""
SAME_CARD = 0.3
"""Card widths between the middles of a sighting and of its card."""


@dataclass(frozen=True)
class Score:
    """Counts over a set of scenes; shares are of the cards with an index in plain view.

    ``misplaced``: read rightly, but at another card's place; not counted as right.
    ``calibration_noise``: the calibration error that chance alone gives for so few cards.
    """

    scenes: int
    cards: int
    found: float
    right: float
    wrong: int
    misplaced: int
    doubtful: int
    false_cards: int
    calibration_error: float
    calibration_noise: float
    backs: int
    backs_found: float

    def table(self) -> dict[str, float]:
        """The figures for a manifest."""
        return {name: round(value, 5) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Read:
    """One sighting of a card, and whether it is right."""

    p: float
    right: bool
    misplaced: bool = False
    """Whether it names a neighbouring card, whose index was taken for this one's."""


def scenes(decks: Sequence[str], count: int, seed: int) -> Iterator[Scene]:
    """Render scenes of the given decks, one after another."""
    for number in range(count):
        yield render(np.random.default_rng([seed, number]), decks, SCENE_PX, SEVERITY)


def measure(
    reader: Reader, decks: Sequence[str], count: int, seed: int
) -> tuple[Score, list[Read]]:
    """Read rendered scenes and compare with their truth."""
    reads: list[Read] = []
    cards = found = false_cards = backs = backs_found = 0
    for scene in scenes(decks, count, seed):
        seen = reader.read(scene.picture, card_width_px=scene.card_px)
        plain, hidden = _cards_in_view(scene)
        every = _match(seen, plain + hidden, scene.card_px)
        matched = {sighting: card for sighting, card in every.items() if card < len(plain)}
        known = (plain + hidden, scene.card_px)
        reads += [
            _read(seen, sighting, plain[card][0], *known) for sighting, card in matched.items()
        ]
        cards, found = cards + len(plain), found + len(matched)
        false_cards += _false(reader, seen, every, plain + hidden, scene.card_px)
        lying = [lain for lain in scene.cards if lain.face is None and lain.shown[0] > BACK_SEEN]
        backs += len(lying)
        backs_found += _backs_seen(seen, [_middle(lain.map) for lain in lying], scene.card_px)
    return _score(reader, reads, (count, cards, found, false_cards, backs, backs_found)), reads


def _score(reader: Reader, reads: list[Read], counts: tuple[int, ...]) -> Score:
    count, cards, found, false_cards, backs, backs_found = counts
    sure = [read for read in reads if read.p >= reader.confident_p]
    right, misplaced = sum(read.right for read in sure), sum(read.misplaced for read in sure)
    return Score(
        scenes=count,
        cards=cards,
        found=found / max(1, cards),
        right=right / max(1, cards),
        wrong=len(sure) - right - misplaced,
        misplaced=misplaced,
        doubtful=len(reads) - len(sure),
        false_cards=false_cards,
        calibration_error=calibration_error(reads),
        calibration_noise=calibration_noise(reads),
        backs=backs,
        backs_found=backs_found / max(1, backs),
    )


def calibration_error(reads: list[Read], bins: int = 15) -> float:
    """Expected calibration error over bins of equal count."""
    if not reads:
        return 0.0
    ordered = sorted(reads, key=lambda read: read.p)
    error = 0.0
    for part in np.array_split(np.arange(len(ordered)), bins):
        if len(part):
            predicted = np.mean([ordered[i].p for i in part])
            was = np.mean([ordered[i].right or ordered[i].misplaced for i in part])
            error += abs(float(predicted - was)) * len(part) / len(ordered)
    return error


def calibration_noise(reads: list[Read], draws: int = 40) -> float:
    """Return the calibration error that chance alone gives for exact probabilities."""
    rng = np.random.default_rng(1)
    chances = np.array([read.p for read in reads])
    drawn = [
        calibration_error([Read(read.p, bool(hit)) for read, hit in zip(reads, hits, strict=True)])
        for hits in rng.random((draws, len(reads))) < chances
    ]
    return float(np.mean(drawn))


def calibration_table(reads: list[Read]) -> dict[str, float]:
    """Return the calibration error of many readings, with the one that chance alone gives."""
    errors = {"calibration_error": calibration_error, "calibration_noise": calibration_noise}
    return {"reads": len(reads)} | {name: round(of(reads), 5) for name, of in errors.items()}


Known = list[tuple[Card, NDArray[np.float64]]]


def _cards_in_view(scene: Scene) -> tuple[Known, Known]:
    plain: Known = []
    hidden: Known = []
    for lain in scene.cards:
        if lain.face is not None:
            place = (lain.face, _middle(lain.map))
            (plain if max(lain.shown) >= SEEN else hidden).append(place)
    return plain, hidden


def _middle(onto: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(onto[:, :2] @ [31.75, 44.45] + onto[:, 2], np.float64)


def _match(seen: Sightings, plain: Known, card_px: float) -> dict[int, int]:
    """Pair sightings with cards in plain view: by place, among equals a right reading first."""
    options = []
    for sighting in np.flatnonzero(seen.face_up):
        middle = seen.corners_px[sighting].mean(0)
        called = DECK[int(seen.card_p[sighting].argmax())]
        for card, (face, place) in enumerate(plain):
            far = float(np.hypot(*(middle - place))) / card_px
            if far < SAME_CARD:
                options.append((far + (0.0 if called is face else 0.15), int(sighting), card))
    matched: dict[int, int] = {}
    for _, at, card in sorted(options):
        if at not in matched and card not in matched.values():
            matched[at] = card
    return matched


def _read(seen: Sightings, sighting: int, face: Card, known: Known, card_px: float) -> Read:
    row = seen.card_p[sighting]
    called, middle = DECK[int(row.argmax())], seen.corners_px[sighting].mean(0)
    by = any(f is called and np.hypot(*(middle - at)) < CLOSE_BY * card_px for f, at in known)
    return Read(float(row.max()), called is face, called is not face and by)


def _false(
    reader: Reader, seen: Sightings, matched: dict[int, int], known: Known, card_px: float
) -> int:
    """Count confident sightings of no card, not even a half hidden one."""
    false = 0
    for sighting in np.flatnonzero(seen.face_up):
        row = seen.card_p[sighting]
        if int(sighting) in matched or row.max() < reader.confident_p:
            continue
        middle, called = seen.corners_px[sighting].mean(0), DECK[int(row.argmax())]
        near = [np.hypot(*(middle - at)) < SAME_CARD * card_px for f, at in known if f is called]
        false += not any(near)
    return false


def _backs_seen(seen: Sightings, middles: list[NDArray[np.float64]], card_px: float) -> int:
    backs = seen.corners_px[~seen.face_up].mean(1)
    return sum(
        bool(len(backs)) and bool(np.hypot(*(backs - m).T).min() < 0.35 * card_px) for m in middles
    )


@dataclass(frozen=True)
class Votes:
    """The evidence of the indices and the face of N cards with ``k`` indices each, uncalibrated.

    Attributes:
        ranks: ``(N, k, 14)`` float64, logarithms of the probabilities of each rank and of no index.
        suits: ``(N, k, 4)`` float64, of each suit.
        shown: their N whole faces as read.
        cards: ``(N,)`` int64, the index of each card among the 52.
    """

    ranks: NDArray[np.float64]
    suits: NDArray[np.float64]
    shown: Faces
    cards: NDArray[np.int64]

    def likelihood(self, values: Mapping[str, float]) -> float:
        """Return the log likelihood of the true faces under a calibration."""
        rank = log_softmax(self.ranks / values["rank_temperature"])
        suit = log_softmax(self.suits / values["suit_temperature"])
        card = rank[..., RANK_OF] + suit[..., SUIT_OF]
        logs = np.concatenate([card, rank[..., 13:]], axis=2).sum(1)
        logs /= self.ranks.shape[1] ** values["corner_overlap"]
        face = self.shown.weighted(values["face_rank_weight"], values["face_suit_weight"])
        chances = log_softmax(logs * values["beside_face"] + face)
        of_true = chances[np.arange(len(self.cards)), self.cards]
        return float(np.logaddexp(of_true, np.log(MISPAIRED)).sum())


def votes(reader: Reader, decks: Sequence[str], count: int, seed: int) -> list[Votes]:
    """Collect the evidence of an uncalibrated reader's indices and faces in rendered scenes.

    A sighting that names a neighbouring card counts for that card, in the wrong place. No card is
    certain before the calibration, so every find is a sighting, in the order of the finds.
    """
    reader = replace(reader, confident_p=np.inf)
    votes_of: dict[int, list[tuple[NDArray[np.float64], ...]]] = defaultdict(list)
    for scene in scenes(decks, count, seed):
        found = reader.find(scene.picture, scene.card_px)
        looks = reader.read_found(scene.picture, found, scene.card_px)
        shown = reader.faces(scene.picture, looks)
        seen, (plain, hidden) = reader.weigh(looks, shown), _cards_in_view(scene)
        known = (plain + hidden, scene.card_px)
        for sighting, card in _match(seen, *known).items():
            if card < len(plain):
                face, members = plain[card][0], looks.cards[sighting]
                if _read(seen, sighting, face, *known).misplaced:
                    face = DECK[int(seen.card_p[sighting].argmax())]
                parts = _ranks_and_suits(looks.indices.only(np.array(members)))
                of_face = shown.ranks[sighting], shown.suits[sighting]
                votes_of[len(members)].append((*parts, *of_face, np.array(DECK.index(face))))
    return [_together(cards) for cards in votes_of.values()]


def _together(cards: list[tuple[NDArray[np.float64], ...]]) -> Votes:
    ranks, suits, face_ranks, face_suits, faces = (
        np.array(part) for part in zip(*cards, strict=True)
    )
    return Votes(ranks, suits, Faces(face_ranks, face_suits), faces.astype(np.int64))


def _ranks_and_suits(indices: Indices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Split the probabilities of cards into those of ranks, or of no index, and of suits."""
    by_suit = indices.card_log.reshape(-1, len(SUITS), len(RANKS))
    ranks = np.logaddexp.reduce(by_suit, axis=1)
    suits = np.logaddexp.reduce(by_suit, axis=2)
    return np.column_stack([ranks, indices.none_log]), log_softmax(suits)
