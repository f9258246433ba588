"""A reader that knows a filmed performance, for testing what stands behind the reader.

It says what a flawless reader of single pictures could: every card of which an index corner
(of a back: a corner) is open to view in the pixels, moving cards too, jittered by the errors a
trained reader makes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.change import Rect
from vision.felt import Felt, Points, Pose
from vision.scenes.performance import CardMove, Performance, Place
from vision.sightings import Sightings

_INDEX_MM = -9.0
_PAPER = 105


@dataclass(frozen=True, slots=True)
class Shown:
    """One card as it is on the felt at one moment."""

    pose: Pose
    card: Card
    face_up: bool


@dataclass
class TruthReader:
    """Reads a performance at ``now_ns`` (nanoseconds since its start).

    Attributes:
        jitter_mm, jitter_deg: standard errors of a sighting's place.
        misread: share of faces read confidently as another.
        missed: share of cards not found in a look.
        doubted: share of faces read with doubt.
    """

    performance: Performance
    felt: Felt
    confident_p: float = 0.98
    jitter_mm: float = 1.5
    jitter_deg: float = 1.5
    misread: float = 0.0
    missed: float = 0.0
    doubted: float = 0.0
    now_ns: int = 0
    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        """Read what shows in ``region``."""
        shown = on_felt(self.performance, self.now_ns)
        over = [one.pose for one in shown]
        seen = [
            one
            for i, one in enumerate(shown)
            if self._within(one, region)
            and self._shows(image, one, over[i + 1 :])
            and self.chance.random() >= self.missed
        ]
        return Sightings(
            corners_px=np.array([self._corners(one) for one in seen], np.float32).reshape(-1, 4, 2),
            face_up=np.array([one.face_up for one in seen], np.bool_),
            found_p=np.full(len(seen), 0.97, np.float32),
            card_p=np.array([self._row(one) for one in seen], np.float32).reshape(-1, 52),
        )

    def _within(self, one: Shown, region: Rect | None) -> bool:
        if region is None:
            return True
        x, y = self.felt.to_px(one.pose.corners_mm).mean(axis=0)
        left, top, width, height = region
        return bool(left <= x < left + width and top <= y < top + height)

    def _shows(self, image: NDArray[np.uint8], one: Shown, over: Sequence[Pose]) -> bool:
        spots = one.pose.outline_mm(_INDEX_MM)
        spots = spots[[0, 2]] if one.face_up else spots
        bare = [spot for spot in spots if all(not _covers(pose, spot) for pose in over)]
        return any(not one.face_up or self._paper(image, spot) for spot in bare)

    def _paper(self, image: NDArray[np.uint8], spot: Points) -> bool:
        """Whether a card's white, and no arm, is at a place."""
        x, y = self.felt.to_px(spot.reshape(1, 2))[0].round().astype(int)
        patch = image[max(0, y - 6) : y + 7, max(0, x - 6) : x + 7].reshape(-1, 3)
        return bool(len(patch)) and float(np.percentile(patch.min(axis=1), 70)) > _PAPER

    def _corners(self, one: Shown) -> Points:
        dx, dy = self.chance.normal(0, self.jitter_mm, 2)
        turn = self.chance.normal(0, self.jitter_deg)
        pose = Pose(one.pose.x_mm + dx, one.pose.y_mm + dy, one.pose.angle_deg + turn)
        return self.felt.to_px(pose.corners_mm)

    def _row(self, one: Shown) -> NDArray[np.float32]:
        row = np.zeros(52, np.float32)
        if one.face_up:
            wrong = self.chance.random() < self.misread
            at = self.chance.integers(52) if wrong else DECK.index(one.card)
            row[at] = 0.995
            if self.chance.random() < self.doubted:
                row[at], row[(at + 13) % 52] = 0.7, 0.29
        return row


def on_felt(performance: Performance, now_ns: int) -> list[Shown]:
    """Every card at a moment, lying or in motion, in the order in which they cover."""
    order: dict[int, CardMove] = {}
    for move in performance.cards:
        if move.from_ns > now_ns:
            break
        order.pop(move.card_id, None)
        _lay(order, move)
    return [shown for move in order.values() if (shown := _shown(move, now_ns))]


def _lay(order: dict[int, CardMove], move: CardMove) -> None:
    ids = list(order)
    above = ids[ids.index(move.under) :] if move.under in ids else []
    order[move.card_id] = move
    for other in above:
        order[other] = order.pop(other)


def _shown(move: CardMove, now_ns: int) -> Shown | None:
    done = now_ns >= move.until_ns
    end = move.end if done else _between(move, now_ns)
    face = move.face_after if done else move.face_before
    if end is None:
        return None
    return Shown(Pose(end.x_mm, end.y_mm, end.angle_deg), move.card, face == "up")


def _between(move: CardMove, now_ns: int) -> Place | None:
    if move.start is None or move.end is None:
        return None
    share = (now_ns - move.from_ns) / (move.until_ns - move.from_ns)
    share = (1 - np.cos(np.pi * share)) / 2
    return Place(
        float(move.start.x_mm + share * (move.end.x_mm - move.start.x_mm)),
        float(move.start.y_mm + share * (move.end.y_mm - move.start.y_mm)),
        float(move.start.angle_deg + share * (move.end.angle_deg - move.start.angle_deg)),
    )


def _covers(pose: Pose, spot: Points) -> bool:
    polygon = pose.corners_mm.astype(np.float32).reshape(-1, 1, 2)
    return bool(cv2.pointPolygonTest(polygon, (float(spot[0]), float(spot[1])), False) >= 0)


@dataclass(frozen=True)
class Told:
    """A reader that returns again what was read."""

    seen: Sightings
    confident_p: float

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        """Say it."""
        return self.seen
