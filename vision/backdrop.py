"""The bare felt, as far as it has been visible: it shows which places are free."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.change import Grid, Mask, Rect
from vision.exposure import Gains, lit
from vision.felt import Felt, Pose

# Chosen, not measured, unless a line says otherwise.
_LEVELS: Final = 22  # levels of 255: nearer than this the picture shows the felt
_STRANGE_LEVELS: Final = 45  # levels of 255: farther than this it shows something else
_STRANGE: Final = 0.35  # share of a block's pixels that makes the block strange
_ALL: Final = 0.95  # share of a block's pixels that makes the block felt
_GAIN: Final = (0.6, 1.5)  # least and most brightness of a shadow or lamp, against the learned felt
_DARKEST: Final = 0.5
"""Least brightness of a single pixel of felt in shadow, against the learned felt. A black sleeve on
a grey felt has 0.37 of it (film rates 1022)."""
_CARD_SHARE: Final = 0.10  # share of a card's outline that must show felt to be free
_BARE_SHARE: Final = 0.5  # share of the uncovered part of it that must
_SHRINK_MM: Final = 5.0  # a card's own outline is drawn smaller by this: its place is not exact
_GROW_MM: Final = 4.0  # other cards' outlines are drawn larger by this, for the same reason
_RING_MM: Final = 25.0  # width of felt cut out around a card
_REACH_MM: Final = 130.0  # farther cards cannot cover this one: a card's diagonal is 109 mm
_PRINT_SHRINK_MM: Final = 1.0  # the same where a card's own print is kept
_STEP: Final = 2  # levels of 255 by which the learned felt follows slow light
STEADY_NS: Final = 1_000_000_000
"""How long a place must look the same before it is learned as felt: a plain sleeve that moves along
itself looks the same for a while."""
_FOLLOW_NS: Final = 2_000_000_000  # time between two such steps


@dataclass(frozen=True, slots=True)
class Print:
    """How a card looked at rest: a part of the reduced colour picture.

    Attributes:
        box: the part.
        colours: ``(H, W, 3)`` uint8 BGR.
        shown: ``(H, W)``, the pixels at rest that show the card, or what lies on it.
    """

    box: Rect
    colours: NDArray[np.uint8]
    shown: NDArray[np.bool_]


class Backdrop:
    """The reduced colour picture of the bare felt, learned where no card lies.

    A place is *free* when the felt shows inside the outline of the card that lay there: a card
    under an arm or under another card shows the arm or the other card, never the felt.
    """

    def __init__(self, grid: Grid, felt: Felt) -> None:
        shape = grid.small[::-1]
        self._grid, self._felt = grid, felt
        self._bare = np.zeros((*shape, 3), np.uint8)
        self._learned = np.zeros(shape, np.bool_)
        self._now = np.zeros((*shape, 3), np.uint8)
        self._still = np.zeros(shape, np.bool_)
        self._followed_ns = 0
        self._step = np.full((*shape, 3), _STEP, np.uint8)

    def show(self, image: NDArray[np.uint8], settled: Mask, gains: Gains | None = None) -> None:
        """Set the colour picture for the next questions, and the blocks at rest in it.

        ``gains`` bring its lines to the light of earlier pictures.
        """
        self._now = lit(self._grid.reduce(image), gains)
        self._still = self._grid.spread(settled) > 0

    def learn(self, cards: Sequence[Pose], at_ns: int, steady: Mask) -> bool:
        """Learn the felt where it is steady and none of ``cards`` lies; follow slow light.

        Args:
            cards: every card that lies there or was found now.
            at_ns: the moment.
            steady: the blocks that have not moved for :data:`STEADY_NS`.

        Returns:
            Whether more can be learned once it is steady.
        """
        unknown = self._still & ~self._learned
        follow = at_ns - self._followed_ns >= _FOLLOW_NS
        if not (follow or unknown.any()):
            return False
        bare = self._drawn(cards, _GROW_MM, (0, 0, *self._grid.small)) == 0
        unknown &= bare
        new = unknown & (self._grid.spread(steady) > 0)
        self._bare[new] = self._now[new]
        self._learned |= new
        if follow:
            self._follow(bare & self._still & self._learned)
            self._followed_ns = at_ns
        return bool((unknown & ~new).any())

    def free(self, pose: Pose, under: Sequence[Pose] = ()) -> bool:
        """Return whether bare felt is visible inside the outline of ``pose``.

        Args:
            pose: where a card lay.
            under: cards visible now; the area that they cover does not count.
        """
        box, outline, whole = self.beside(pose, under)
        felt = self._alike(outline, box)
        return felt >= max(_CARD_SHARE * whole, _BARE_SHARE * int(outline.sum()), 1)

    def beside(self, pose: Pose, under: Sequence[Pose]) -> tuple[Rect, NDArray[np.bool_], int]:
        """Return what is visible of a card beside others that lie on it.

        Returns:
            A part of the reduced picture; which of its pixels show the card, ``(H, W)``; and how
            many would if nothing lay on it.
        """
        box = self._box(pose)
        outline = self._drawn([pose], -_SHRINK_MM, box) > 0
        whole = int(outline.sum())
        near = [other for other in under if other.distance_mm(pose) < _REACH_MM]
        return box, outline & (self._drawn(near, _GROW_MM, box) == 0), whole

    def print_of(self, pose: Pose) -> Print:
        """Return how the card at ``pose`` looks."""
        box = self._box(pose)
        part = _slices(box)
        shown = (self._drawn([pose], -_PRINT_SHRINK_MM, box) > 0) & self._still[part]
        return Print(box, self._now[part].copy(), shown)

    def explained(self, pose: Pose, prints: Iterable[Print]) -> float:
        """Return the share of an outline's resting pixels that show felt, or cards as they looked.

        ``prints`` are of the cards that lie thereabouts.
        """
        box = self._box(pose)
        part = _slices(box)
        seen = (self._drawn([pose], -_SHRINK_MM, box) > 0) & self._still[part]
        known = np.zeros(self._learned.shape, np.bool_)
        known[part] = self._learned[part] & (self._apart()[part] < _LEVELS)
        for card in prints:
            area = _slices(card.box)
            apart = cv2.absdiff(self._now[area], card.colours).max(axis=2)
            known[area] |= card.shown & (apart < _LEVELS)
        return float((known[part] & seen).sum() / max(1, int(seen.sum())))

    def bare(self) -> Mask:
        """Mark the blocks that show only felt, as learned and in the same light."""
        alike = self._learned & (self._apart() < _LEVELS)
        return np.asarray(self._grid.share(_bytes(alike)) > _ALL, np.bool_)

    def strange(self, cards: Sequence[Pose]) -> Mask:
        """Mark the resting blocks that show neither bare felt nor any of ``cards``."""
        bare = self._drawn(cards, _GROW_MM, (0, 0, *self._grid.small)) == 0
        other = (self._apart() > _STRANGE_LEVELS) & bare & self._learned & self._still
        return np.asarray(self._grid.share(_bytes(other)) > _STRANGE, np.bool_)

    def _follow(self, where: NDArray[np.bool_]) -> None:
        """Step the learned felt towards the picture where it still looks like felt."""
        alike = np.asarray(where & (self._apart() < _LEVELS), np.uint8)
        low, high = cv2.subtract(self._bare, self._step), cv2.add(self._bare, self._step)
        cv2.copyTo(cv2.min(cv2.max(self._now, low), high), alike, self._bare)

    def _apart(self) -> NDArray[np.uint8]:
        """Return the difference from the bare felt, per pixel, in the channel that differs most."""
        blue, green, red = cv2.split(cv2.absdiff(self._now, self._bare))
        return np.asarray(cv2.max(cv2.max(blue, green), red), np.uint8)

    def _alike(self, outline: NDArray[np.bool_], box: Rect) -> int:
        """Return the number of pixels of ``outline`` that look like felt, in any light."""
        part = _slices(box)
        seen, learned = outline & self._still[part], self._learned[part]
        if not (seen.any() and learned.any()):
            return 0
        bare = self._bare[part].astype(np.float32)
        bare[~learned] = np.median(bare[learned], axis=0)
        now, felt = self._now[part][seen].astype(np.float32), bare[seen]
        light = (now.sum(axis=1) + 1) / (felt.sum(axis=1) + 1)
        gain = float(np.clip(np.median(light), *_GAIN))
        alike = (np.abs(now - gain * felt).max(axis=1) < _LEVELS) & (light >= _DARKEST)
        return int(alike.sum())

    def _box(self, pose: Pose) -> Rect:
        """Return the part of the reduced picture around a card, with a ring of its surroundings."""
        edge = self._grid.small
        px = self._felt.to_px(pose.outline_mm(_RING_MM)) * self._grid.scale
        left, top = np.clip(px.min(axis=0).astype(int), 0, edge)
        right, bottom = np.clip(px.max(axis=0).astype(int) + 1, 0, edge)
        return int(left), int(top), int(right - left), int(bottom - top)

    def _drawn(self, poses: Sequence[Pose], grow_mm: float, box: Rect) -> NDArray[np.uint8]:
        mask = np.zeros((box[3], box[2]), np.uint8)
        for pose in poses:
            px = self._felt.to_px(pose.outline_mm(grow_mm)) * self._grid.scale
            cv2.fillConvexPoly(mask, np.round(px - 0.5 - np.array(box[:2])).astype(np.int32), 255)
        return mask


def _slices(box: Rect) -> tuple[slice, slice]:
    return slice(box[1], box[1] + box[3]), slice(box[0], box[0] + box[2])


def _bytes(mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return mask.astype(np.uint8) * np.uint8(255)
