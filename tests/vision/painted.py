"""A small painted table: cards laid on a plain felt, and a reader that knows what lies there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from models.layout import TableLayout
from models.session import ReferencePoint
from vision.change import Rect
from vision.felt import Felt, Points, Pose, locate_felt
from vision.scenes.decks import load_deck
from vision.sightings import Sightings

SIZE = (960, 540)
SCALE = 0.475
LAYOUT = TableLayout(
    name="painted",
    width_mm=2000,
    depth_mm=1120,
    spots=(),
    insurance_line=((-400, 500), (400, 500)),
    dealer_cards=((-330, 170), (330, 170), (330, 400), (-330, 400)),
    shoe_mouth=(400, 110),
    discard_rack=((-620, 30), (-450, 30), (-450, 150), (-620, 150)),
    tray=((-320, 20), (320, 20), (320, 140), (-320, 140)),
)
POINTS = tuple(
    ReferencePoint(x_px=480 + x * SCALE, y_px=4 + y * SCALE, x_mm=x, y_mm=y)
    for x, y in ((-885, 397), (-534, 831), (0, 995), (534, 831), (885, 397), (0, 530))
)
GREEN = (62, 98, 34)
SKIN = (120, 150, 205)
_GRAIN = np.random.default_rng(0).normal(0, 2.0, (SIZE[1], SIZE[0], 1)).round().astype(np.int16)


@dataclass(frozen=True, slots=True)
class Lying:
    """One card on the painted felt; later ones lie on top."""

    card: Card
    pose: Pose
    face_up: bool = True


@dataclass(frozen=True, slots=True)
class Moment:
    """What is on the felt: cards, and arms as polygons in millimetres, over everything."""

    cards: tuple[Lying, ...] = ()
    arms: tuple[tuple[tuple[float, float], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Painted:
    """A frame."""

    index: int
    at_ns: int
    image: NDArray[np.uint8]

    @property
    def gray(self) -> NDArray[np.uint8]:
        planes = cv2.cvtColor(self.image, cv2.COLOR_BGR2YUV_I420)
        return np.asarray(planes[: self.image.shape[0]], np.uint8)


@cache
def felt() -> Felt:
    return locate_felt(POINTS, where="painted")


def paint(moment: Moment, noise: int = 0) -> NDArray[np.uint8]:
    """Paint a moment; ``noise`` seeds the grain."""
    grain = np.roll(_GRAIN, (97 * noise, 31 * noise), axis=(0, 1))
    return np.asarray(np.clip(_clean(moment) + grain, 0, 255), np.uint8)


@cache
def _clean(moment: Moment) -> NDArray[np.int16]:
    picture = np.full((SIZE[1], SIZE[0], 3), GREEN, np.uint8)
    for lying in moment.cards:
        _lay(picture, lying)
    for arm in moment.arms:
        cv2.fillPoly(picture, [felt().to_px(np.array(arm)).round().astype(np.int32)], SKIN)
    return picture.astype(np.int16)


def _lay(picture: NDArray[np.uint8], lying: Lying) -> None:
    deck = load_deck("casino-jumbo")
    sprite = deck.faces[lying.card] if lying.face_up else deck.back
    half = cv2.resize(sprite, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    height, width = half.shape[:2]
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32) - 0.5
    place = felt().to_px(lying.pose.corners_mm).astype(np.float32)
    warp = cv2.getPerspectiveTransform(corners, place)
    laid = cv2.warpPerspective(half, warp, SIZE)
    cover = laid[..., 3:].astype(np.float32) / 255
    picture[:] = (picture * (1 - cover) + laid[..., :3] * cover).astype(np.uint8)


@dataclass
class TruthReader:
    """Reads what lies open to view in ``moment``: a card of which an index shows."""

    confident_p: float = 0.99
    moment: Moment = field(default_factory=Moment)
    misread: Mapping[Card, Mapping[Card, float]] = field(default_factory=dict)
    regions: list[Rect | None] = field(default_factory=list)

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        self.regions.append(region)
        lying = [one for one in self._open() if region is None or _inside(one, region)]
        return Sightings(
            corners_px=np.array([_corners(one) for one in lying], np.float32).reshape(-1, 4, 2),
            face_up=np.array([one.face_up for one in lying], np.bool_),
            found_p=np.full(len(lying), 0.98, np.float32),
            card_p=np.array([self._row(one) for one in lying], np.float32).reshape(-1, 52),
        )

    def _open(self) -> list[Lying]:
        cards, arms = self.moment.cards, self.moment.arms
        return [
            one
            for i, one in enumerate(cards)
            if _shows(
                one, [c.pose.corners_mm for c in cards[i + 1 :]] + [np.array(a) for a in arms]
            )
        ]

    def _row(self, one: Lying) -> NDArray[np.float32]:
        row = np.zeros(52, np.float32)
        if one.face_up:
            for card, p in self.misread.get(one.card, {one.card: 0.998}).items():
                row[DECK.index(card)] = p
        return row


def _shows(one: Lying, over: Sequence[Points]) -> bool:
    """A face shows by one of its index corners, a back by an edge of it."""
    spots = one.pose.outline_mm(-9.0)
    wanted = spots[[0, 2]] if one.face_up else spots
    return any(all(not _covers(shape, spot) for shape in over) for spot in wanted)


def _covers(shape: Points, spot: Points) -> bool:
    polygon = shape.astype(np.float32).reshape(-1, 1, 2)
    return bool(cv2.pointPolygonTest(polygon, (float(spot[0]), float(spot[1])), False) >= 0)


def _corners(one: Lying) -> Points:
    return felt().to_px(one.pose.corners_mm)


def _inside(one: Lying, region: Rect) -> bool:
    x, y = _corners(one).mean(axis=0)
    return bool(region[0] <= x < region[0] + region[2] and region[1] <= y < region[1] + region[3])


def film(
    moments: Sequence[tuple[float, Moment]], fps: float, until_s: float
) -> Iterator[tuple[Painted, Moment]]:
    """Show each moment from its second on."""
    for index in range(int(until_s * fps)):
        at_s = index / fps
        moment = [moment for from_s, moment in moments if from_s <= at_s][-1]
        yield Painted(index, round(at_s * 1e9), paint(moment, index)), moment
