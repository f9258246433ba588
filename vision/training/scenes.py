"""Training scenes: cards in hands, fans, heaps and rows, each with its truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.corners import ANCHOR_MM, CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.training.arrangements import Pose, hand_poses, rotation
from vision.training.backdrops import Picture, backdrop, chips, jottings, limb, stack, wager
from vision.training.cameras import photograph
from vision.training.decks import four_indices, lettered, open_deck, ranks_of, redrawn

CLOSE_UP_MM: Final = 54.0
"""Millimetres of the felt in a close-up."""


@dataclass(frozen=True)
class Lain:
    """A card as it lies in a scene.

    Attributes:
        map: from the card's frame to the picture, ``(2, 3)``.
        face: the card, or ``None`` for a back.
        shown: visible share of each index: top left, bottom right, and with four indices top right,
            bottom left; for a back, the share of the whole back.
        four: whether it carries four indices.
    """

    map: NDArray[np.float64]
    face: Card | None
    shown: tuple[float, ...]
    four: bool
    middle: NDArray[np.float64]
    """Of a back, a point of its visible part, the nearest to that part's middle, in pixels."""


@dataclass(frozen=True)
class Scene:
    """A picture ``(S, S, 3)`` uint8 BGR and the cards in it, lowest first."""

    picture: NDArray[np.uint8]
    cards: tuple[Lain, ...]
    card_px: float
    owner: NDArray[np.int16]
    """``(S, S)``, the card that each pixel shows, 0 for the first; -1 for none."""


@dataclass(frozen=True)
class Art:
    """A deck's pictures at two sizes, so that further reduction never skips pixels."""

    faces: dict[Card, tuple[NDArray[np.uint8], ...]]
    back: tuple[NDArray[np.uint8], ...]
    playable: tuple[Card, ...]
    four: bool


@lru_cache(maxsize=400)
def art(name: str) -> Art:
    """Load a deck's pictures for rendering.

    ``drawn:5+7`` is ``drawn:5`` redrawn, ``drawn:5+7@french`` the same with French letters.
    """
    letters = lettered(name)
    name, _, anew = name.partition("+")
    seed = anew.partition("@")[0]
    deck = redrawn(name, int(seed), letters) if seed else open_deck(name)
    faces = {card: _sizes(face) for card, face in deck.faces.items()}
    playable = tuple(card for card in DECK if card.rank in ranks_of(name))
    return Art(faces, _sizes(deck.back), playable, four_indices(name))


def _sizes(face: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], ...]:
    half = cv2.resize(face, (127, 178), interpolation=cv2.INTER_AREA)
    return np.asarray(half), np.asarray(cv2.resize(half, (64, 89), interpolation=cv2.INTER_AREA))


@dataclass
class Felt:
    """A scene in progress: its picture, the owner of each pixel, and the cards so far."""

    rng: np.random.Generator
    picture: Picture
    owner: NDArray[np.int16]
    view: NDArray[np.float64]
    laid: list[tuple[NDArray[np.float64], Card | None, bool]]
    courts: float = 0.0
    """Share of added courts among the cards face up."""
    oftener: str = "JQK"
    """The ranks of those."""

    def lay(self, pack: Art, pose: Pose, face_up: bool) -> None:
        """Lay one card of a deck on top of everything."""
        playable = pack.playable
        if self.courts and self.rng.random() < self.courts:
            playable = tuple(card for card in playable if card.rank in self.oftener) or playable
        card = playable[self.rng.integers(len(playable))] if face_up else None
        onto = self.view[:, :2] @ np.column_stack([rotation(pose[2]), pose[:2]])
        onto[:, 2] += self.view[:, 2]
        onto[:, 2] -= onto[:, :2] @ [CARD_WIDTH_MM / 2, CARD_HEIGHT_MM / 2]
        if self._paint(pack.back if card is None else pack.faces[card], onto):
            self.laid.append((onto, card, pack.four and card is not None))

    def _paint(self, sizes: tuple[NDArray[np.uint8], ...], onto: NDArray[np.float64]) -> bool:
        """Paint a card and its shadow; return whether any of it lies in the picture."""
        scale = np.sqrt(abs(np.linalg.det(onto[:, :2])))
        source = sizes[1] if scale < 0.8 else sizes[0]
        low, high = self._window(onto)
        if (high - low).min() < 6:
            return False
        to_pixels = onto.copy()
        to_pixels[:, :2] /= source.shape[1] / CARD_WIDTH_MM
        to_pixels[:, 2] -= low
        card = cv2.warpAffine(source, to_pixels, (high - low).tolist(), flags=cv2.INTER_LINEAR)
        under = self.picture[low[1] : high[1], low[0] : high[0]]
        alpha = card[..., 3]
        share = alpha[..., None].astype(np.float32) / 255
        _cast_shadow(self.rng, under, np.asarray(alpha, np.uint8))
        shade = self.rng.uniform(0.9, 1.0)
        under += share * (card[..., :3].astype(np.float32) * shade - under)
        self.owner[low[1] : high[1], low[0] : high[0]][alpha > 127] = len(self.laid)
        return True

    def _window(self, onto: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        w, h = CARD_WIDTH_MM, CARD_HEIGHT_MM
        corners = np.array([[0, 0], [w, 0], [w, h], [0, h]]) @ onto[:, :2].T + onto[:, 2]
        low = np.maximum(np.floor(corners.min(0)).astype(int) - 4, 0)
        high = np.minimum(np.ceil(corners.max(0)).astype(int) + 5, len(self.picture))
        return low, high


def render(
    rng: np.random.Generator,
    decks: Sequence[str],
    size: int,
    severity: float = 1.0,
    *,
    courts: float = 0.0,
    down: float = 0.0,
) -> Scene:
    """Render one scene of ``size`` pixels square with cards of ``decks``.

    ``severity`` scales the camera's faults: 0 is a good camera in good light. ``courts`` is the
    share of added courts among the cards face up, ``down`` that of added hands face down, almost
    squared up; with it come as many wagers, and more arms.
    """
    card_px = _card_width(rng)
    picture = backdrop(rng, size)
    owner = np.full((size, size), -1, np.int16)
    felt = Felt(rng, picture, owner, _view(rng, card_px, size), [], courts)
    field = size / card_px * CARD_WIDTH_MM
    if rng.random() < 0.35:
        chips(rng, picture, owner, card_px)
    for _ in range(rng.integers(1, 4) if rng.random() < max(WAGERED, down) else 0):
        wager(rng, picture, owner, card_px, rng.uniform(0, size, 2))
    if rng.random() < WRITTEN:
        jottings(rng, picture, card_px)
    pack = art(decks[int(rng.integers(len(decks)))])
    for _ in range(_hands(rng, field)):
        if rng.random() < 0.3:
            pack = art(decks[int(rng.integers(len(decks)))])
        hand = hand_poses(rng, field, down)
        for pose, face_up in hand:
            felt.lay(pack, pose, face_up)
        if not all(face_up for _, face_up in hand) and rng.random() < TUCKED:
            _tuck(rng, felt, hand[-1][0], card_px)
    if rng.random() < 0.12:
        chips(rng, picture, owner, card_px)
    if rng.random() < max(0.18, down / 2):
        limb(rng, picture, owner, card_px)
    cards = tuple(_lain(at, *card, owner) for at, card in enumerate(felt.laid))
    return Scene(photograph(rng, picture, severity), cards, card_px, owner)


def _tuck(rng: np.random.Generator, felt: Felt, pose: Pose, card_px: float) -> None:
    """Put chips on or beside an end of a hand's last card, as a wager on cards tucked under it."""
    end = np.array([rng.uniform(-20, 20), rng.choice([-1, 1]) * rng.uniform(30, 70)])
    at = felt.view[:, :2] @ (rotation(pose[2]) @ end + pose[:2]) + felt.view[:, 2]
    stack(rng, felt.picture, felt.owner, card_px, at)


def close_up(rng: np.random.Generator, decks: Sequence[str], letters: float = 0.0) -> Scene:
    """Render one index and its surroundings, in the middle of a small picture.

    It gives far more typefaces, sizes and lights for the cost of one table scene. Cards are as wide
    as in a ceiling camera's or a telephone's picture. ``letters`` is the share of added aces and
    courts among the cards face up.
    """
    card_px = float(np.exp(rng.uniform(np.log(34), np.log(145))))
    size = max(32, round(CLOSE_UP_MM / CARD_WIDTH_MM * card_px))
    owner = np.full((size, size), -1, np.int16)
    felt = Felt(rng, backdrop(rng, size), owner, _view(rng, card_px, size), [], letters, "AJQK")
    pack = art(decks[int(rng.integers(len(decks)))])
    corner = np.array(ANCHOR_MM) - [CARD_WIDTH_MM / 2, CARD_HEIGHT_MM / 2]
    if pack.four and rng.random() < 0.5:
        corner[0] *= -1
    turn = rng.uniform(0, 2 * np.pi)
    for lies, face_up in _neighbours(rng, 0.5):
        felt.lay(pack, _beside(-corner, turn, lies), face_up)
    felt.lay(pack, _beside(-corner, turn, (0.0, 0.0, 0.0)), face_up=True)
    for lies, face_up in _neighbours(rng, 0.35):
        felt.lay(pack, _beside(-corner, turn, lies), face_up)
    if rng.random() < 0.08:
        limb(rng, felt.picture, owner, card_px)
    cards = tuple(_lain(at, *card, owner) for at, card in enumerate(felt.laid))
    severity = 1.0 if rng.random() < 0.25 else 0.4
    return Scene(photograph(rng, felt.picture, severity), cards, card_px, owner)


def _neighbours(rng: np.random.Generator, often: float) -> list[tuple[Pose, bool]]:
    """Choose cards beside one: their distance, rotation and side."""
    if rng.random() > often:
        return []
    step = np.array([rng.uniform(10, 40), rng.uniform(-45, 45)]) * rng.choice([-1, 1], 2)
    askew = rng.normal(0, 0.06) if rng.random() < 0.7 else rng.uniform(0, 2 * np.pi)
    near: Pose = (float(step[0]), float(step[1]), askew)
    cards = [(near, rng.random() < 0.8)]
    if rng.random() < 0.4:
        cards.append(((2 * near[0], 2 * near[1], 2 * askew), rng.random() < 0.9))
    return cards


def _beside(corner: NDArray[np.float64], turn: float, lies: Pose) -> Pose:
    """Return a card's pose, given another whose middle is at ``corner``."""
    x, y = rotation(turn) @ (corner + lies[:2])
    return float(x), float(y), turn + lies[2]


def _card_width(rng: np.random.Generator) -> float:
    if rng.random() < 0.6:
        return float(np.clip(64 * np.exp(rng.normal(0, 0.14)), 36, 130))
    return float(np.exp(rng.uniform(np.log(34), np.log(130))))


def _hands(rng: np.random.Generator, field_mm: float) -> int:
    most = max(1.0, (field_mm / 150) ** 2)
    return int(rng.integers(0 if rng.random() < 0.08 else 1, 2 + round(most)))


def _view(rng: np.random.Generator, card_px: float, size: int) -> NDArray[np.float64]:
    """Return the map from felt to picture, ``(2, 3)``: a random rotation and view angle."""
    level = rng.random() < 0.6
    squeeze = rng.uniform(0.93, 1) if level else rng.uniform(0.38, 1)
    first, second = rng.uniform(0, 2 * np.pi, 2)
    turned = rotation(first) @ np.diag([1, squeeze]) @ rotation(second)
    turned *= card_px / CARD_WIDTH_MM / np.sqrt(squeeze)
    return np.column_stack([turned, [size / 2, size / 2]])


TUCKED: Final = 0.4
"""Share of the hands with a card face down that lie under chips. Chosen, not measured."""
WAGERED: Final = 0.3
"""Share of the scenes with wagers that no card lies at. Chosen, not measured."""
WRITTEN: Final = 0.1
"""Share of the scenes on a written page or a keyboard. Chosen, not measured."""


def _cast_shadow(rng: np.random.Generator, under: Picture, alpha: NDArray[np.uint8]) -> None:
    if rng.random() < 0.3:
        return
    across, down = rng.uniform(-2.5, 2.5), rng.uniform(-2.5, 2.5)
    shift = np.array([[1, 0, across], [0, 1, down]], np.float32)
    shadow = cv2.warpAffine(alpha, shift, alpha.shape[::-1])
    shadow = cv2.blur(shadow, (3, 3)).astype(np.float32) / 255
    under *= (1 - rng.uniform(0.1, 0.55) * shadow)[..., None]


def _lain(
    number: int,
    onto: NDArray[np.float64],
    face: Card | None,
    four: bool,
    owner: NDArray[np.int16],
) -> Lain:
    if face is None:
        rows, columns = np.nonzero(owner == number)
        whole = abs(np.linalg.det(onto[:, :2])) * CARD_WIDTH_MM * CARD_HEIGHT_MM
        return Lain(onto, None, (len(rows) / whole,), False, _on_it(rows, columns))
    spots = _index_grid()[: 4 if four else 2]
    shown = tuple(_share_shown(spot, onto, owner, number) for spot in spots)
    return Lain(onto, face, shown, four, np.zeros(2))


def _on_it(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the visible pixel nearest to the middle of all visible ones.

    The middle itself may lie on another card: a corner of a card beneath one shows as two strips.
    """
    if not len(rows):
        return np.zeros(2)
    seen = np.stack([columns, rows], axis=1).astype(np.float64)
    return np.asarray(seen[((seen - seen.mean(0)) ** 2).sum(1).argmin()] + 0.5)


@cache
def _index_grid() -> NDArray[np.float64]:
    """Return points over each index's place on the card, ``(4, 18, 2)``."""
    x, y = np.meshgrid([2.5, 6.0, 9.0], [4.0, 7.0, 10.5, 14.0, 17.0, 20.0])
    first = np.stack([x.ravel(), y.ravel()], 1)
    size = np.array([CARD_WIDTH_MM, CARD_HEIGHT_MM])
    right = first * [-1, 1] + [CARD_WIDTH_MM, 0]
    return np.stack([first, size - first, right, size - right])


def _share_shown(
    spot: NDArray[np.float64], onto: NDArray[np.float64], owner: NDArray[np.int16], number: int
) -> float:
    at = np.floor(spot @ onto[:, :2].T + onto[:, 2]).astype(int)
    inside = ((at >= 0) & (at < len(owner))).all(1)
    at = np.clip(at, 0, len(owner) - 1)
    return float(((owner[at[:, 1], at[:, 0]] == number) & inside).mean())


def anchors(card: Lain) -> NDArray[np.float64]:
    """Maps of each index's own card frame to the picture, ``(2 or 4, 2, 3)``.

    The second is the card turned by half, so that its anchor is the bottom right index; the third
    and fourth, with four indices, are the first two again, for right-hand indices.
    """
    turned = card.map.copy()
    turned[:, :2] *= -1
    turned[:, 2] += card.map[:, :2] @ [CARD_WIDTH_MM, CARD_HEIGHT_MM]
    both = np.stack([card.map, turned])
    return np.concatenate([both, both]) if card.four else both


def anchor_at(onto: NDArray[np.float64], right_hand: bool) -> NDArray[np.float64]:
    """Return an anchor's place in the picture, in pixels."""
    x = CARD_WIDTH_MM - ANCHOR_MM[0] if right_hand else ANCHOR_MM[0]
    return np.asarray(onto[:, :2] @ [x, ANCHOR_MM[1]] + onto[:, 2])
