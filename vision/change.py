"""Where the picture changed and came to rest, cheaply enough for every frame.

The grey picture is reduced until a card is about fifteen pixels wide and cut into blocks of about
half a card. A block *moves* when it differs from how it looked when it last moved, is *settled*
once it has not moved for a while of time (never of frames), and is *due* when it is settled and
differs from how it looked when it was last read. A passing hand that changes nothing makes no block
due.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.exposure import Gains, gains, lit

Gray: TypeAlias = NDArray[np.uint8]
"""``(H, W)`` uint8."""

Mask: TypeAlias = NDArray[np.bool_]
"""``(rows, columns)`` bool, one a block."""

Rect: TypeAlias = tuple[int, int, int, int]
"""Left, top, width, height in pixels of the picture."""

REST_NS: Final = 60_000_000
"""Nanoseconds without motion after which a place is at rest: two frames of a camera of 15 a
second."""

# Chosen, not measured, unless a line says otherwise.
_PATIENCE_NS: Final = 450_000_000  # a block beside motion waits at most this long to be read
_SPECK: Final = 2  # blocks: a smaller changed piece may show an index, never a card
_SPECK_NS: Final = 1_000_000_000  # such a piece keeps a block waiting this long
# Further looks at a block, this long after it was read in doubt.
_AGAIN_NS: Final = (350_000_000, 1_000_000_000)
_NEVER: Final = np.iinfo(np.int64).max
_BESIDE: Final = np.ones((3, 3), np.uint8)
"""One block each way, half a card: a hand withdrawing farther off delays nothing."""
_DRIFT_NS: Final = 300_000_000  # time between two steps towards the present light
_CARD_PX: Final = 15  # width of a card in the reduced picture
_BLOCK_PX: Final = 6  # side of a block in the reduced picture, half a card
_LEVELS: Final = 11  # levels of 255: a pixel that changed by more moved
_SIGMAS: Final = 5.0  # the same in standard deviations of the camera's noise, if that is more
_BRIGHT: Final = 40  # levels of 255: larger changes are motion and count only so much as noise
_SHARE: Final = 0.05  # share of a block's pixels that must move


@dataclass(frozen=True, slots=True)
class Grid:
    """The reduction of the picture and its division into blocks.

    Attributes:
        width_px, height_px: the picture.
        small: width and height of the reduced picture.
        columns, rows: blocks across and down.
    """

    width_px: int
    height_px: int
    small: tuple[int, int]
    columns: int
    rows: int

    @classmethod
    def of(cls, width_px: int, height_px: int, card_width_px: float) -> "Grid":
        """Choose the reduction so that a card is about fifteen pixels wide."""
        by = max(1, round(card_width_px / _CARD_PX))
        small = (max(1, width_px // by), max(1, height_px // by))
        columns, rows = (max(1, round(side / _BLOCK_PX)) for side in small)
        return cls(width_px, height_px, small, columns, rows)

    @property
    def block_px(self) -> tuple[float, float]:
        """Width and height of a block in pixels of the picture."""
        return self.width_px / self.columns, self.height_px / self.rows

    @property
    def scale(self) -> tuple[float, float]:
        """Reduced pixels for a pixel of the picture, across and down."""
        return self.small[0] / self.width_px, self.small[1] / self.height_px

    def reduce(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Average the picture down, by halves: a fifth of the cost of one step."""
        width, height = self.width_px, self.height_px
        while width >= 4 * self.small[0] or width == 2 * self.small[0]:
            width, height = width // 2, height // 2
            picture = _averaged(picture, (width, height))
        return _averaged(picture, self.small)

    def spread(self, blocks: Mask) -> NDArray[np.uint8]:
        """Expand a block mask to the reduced picture: 255 where set."""
        wide = cv2.resize(_bytes(blocks), self.small, interpolation=cv2.INTER_NEAREST)
        return np.asarray(wide, np.uint8)

    def share(self, mask: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the share of each block that a 0/255 mask of the reduced picture sets."""
        size = (self.columns, self.rows)
        part = cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        return np.asarray(part / 255, np.float32)

    def rect(self, left: int, top: int, columns: int, rows: int) -> Rect:
        """Return the pixels of the picture under a rectangle of blocks."""
        across, down = self.block_px
        x0, y0 = int(left * across), int(top * down)
        x1, y1 = int((left + columns) * across + 1), int((top + rows) * down + 1)
        return x0, y0, min(x1, self.width_px) - x0, min(y1, self.height_px) - y0


class ChangeDetector:
    """Follows one camera's picture and marks the blocks that are due to be read.

    Args:
        grid: how the picture is cut into blocks.
        watched: the blocks where cards may lie; others are never due.

    Attributes:
        since_ns: ``(rows, columns)`` int64, when each block last moved.
        settled: blocks at rest for :data:`REST_NS`.
        gains: what brought the lines of the last frame to the light of the stored ones.
        unlike: settled blocks that changed since they were last read, or whose doubtful reading is
            due for another look.
        due: those of them that are read now; others wait for what moves beside them.
    """

    def __init__(self, grid: Grid, watched: Mask | None = None) -> None:
        shape = (grid.rows, grid.columns)
        self.grid = grid
        self._watched = np.ones(shape, np.bool_) if watched is None else watched
        self.since_ns: NDArray[np.int64] = np.zeros(shape, np.int64)
        self.settled: Mask = np.zeros(shape, np.bool_)
        self.unlike: Mask = np.zeros(shape, np.bool_)
        self.due: Mask = np.zeros(shape, np.bool_)
        self.now: Gray = np.zeros(grid.small[::-1], np.uint8)
        self.gains: Gains | None = None
        self._held: Gray | None = None
        self._known: Gray = np.zeros_like(self.now)
        self._unread: Mask = np.ones(shape, np.bool_)
        self._again_ns: NDArray[np.int64] = np.full(shape, _NEVER, np.int64)
        self._looks: NDArray[np.uint8] = np.zeros(shape, np.uint8)
        self._noise: float | None = None
        self._drifted_ns = 0

    def evened(self, small: Gray) -> Gray:
        """Return a reduced frame in the light of the stored ones."""
        self.gains = None if self._held is None else gains(small, self._held)
        return lit(small, self.gains)

    def see(self, small: Gray, at_ns: int) -> None:
        """Process the next frame, reduced by the grid and evened."""
        self.now = small
        if self._held is None:
            self._held = small.copy()
            self.since_ns[:] = at_ns
        elif self._noise is None:
            self._noise = 1.25 * float(np.minimum(cv2.absdiff(small, self._held), _BRIGHT).mean())
        moved = self._differs(small, self._held)
        self._hold(small, moved, at_ns)
        self.settled = at_ns - self.since_ns >= REST_NS
        news = self._watched & (self._unread | self._differs(small, self._known))
        news |= self.settled & (self._again_ns <= at_ns)
        self.unlike = news & self.settled
        self.due = self._worth_reading(news, at_ns)
        if at_ns - self._drifted_ns >= _DRIFT_NS:
            self._drift(at_ns)

    def change(self, small: Gray) -> float:
        """Return the grey levels by which a frame differs from the last one; 0 without motion."""
        if self._held is None or not self._differs(small, self.now).any():
            return 0.0
        return float(cv2.absdiff(small, self.now).mean())

    def same(self, part: Rect, pixels: NDArray[np.bool_]) -> float:
        """Return the share of pixels that look as when they were read last.

        Args:
            part: of the reduced picture.
            pixels: ``(H, W)``, those of the part that count; at least one.
        """
        left, top, width, height = part
        rows, columns = slice(top, top + height), slice(left, left + width)
        apart = cv2.absdiff(self.now[rows, columns], self._known[rows, columns])
        return float((apart[pixels] <= max(float(_LEVELS), _SIGMAS * (self._noise or 0.0))).mean())

    def accept(self, blocks: Mask) -> None:
        """Mark the present picture of these blocks as read."""
        cv2.copyTo(self.now, self.grid.spread(blocks), self._known)
        self._unread &= ~blocks
        self.due = self.due & ~blocks
        self._again_ns[blocks] = _NEVER

    def doubt(self, blocks: Mask, at_ns: int) -> None:
        """Schedule another look at blocks just read, in fresh noise: at most two."""
        for look, after_ns in enumerate(_AGAIN_NS):
            self._again_ns[blocks & (self._looks == look)] = at_ns + after_ns
        self._looks[blocks] = np.minimum(self._looks[blocks] + 1, len(_AGAIN_NS))

    def _differs(self, small: Gray, other: Gray) -> Mask:
        apart = cv2.absdiff(small, other)
        level = max(float(_LEVELS), _SIGMAS * (self._noise or 0.0))
        _, over = cv2.threshold(apart, level, 255, cv2.THRESH_BINARY)
        if not over.any():
            return np.zeros((self.grid.rows, self.grid.columns), np.bool_)
        return np.asarray(self.grid.share(np.asarray(over, np.uint8)) > _SHARE, np.bool_)

    def _hold(self, small: Gray, moved: Mask, at_ns: int) -> None:
        if moved.any() and self._held is not None:
            self.since_ns[moved] = at_ns
            # What hides a doubtful card may leave it as it was: it is still to be looked at.
            self._unread |= moved & (self._again_ns < _NEVER)
            self._looks[moved] = 0
            self._again_ns[moved] = _NEVER
            cv2.copyTo(small, self.grid.spread(moved), self._held)

    def _worth_reading(self, news: Mask, at_ns: int) -> Mask:
        """Delay blocks beside motion for a while: one read instead of two.

        A single block waits longer: no card is so small, but a hidden index may be.
        """
        if not news.any():
            return news
        moving = cv2.dilate(_bytes(news & ~self.settled), _BESIDE) > 0
        _, pieces, stats, _ = cv2.connectedComponentsWithStats(_bytes(news), connectivity=8)
        specks = (stats[:, cv2.CC_STAT_AREA] < _SPECK)[pieces]
        rested_ns = at_ns - self.since_ns
        waits = (moving & (rested_ns < _PATIENCE_NS)) | (specks & (rested_ns < _SPECK_NS))
        return np.asarray(news & self.settled & ~waits, np.bool_)

    def _drift(self, at_ns: int) -> None:
        """Follow slow light: the stored pictures step towards the present one by one level."""
        if self._held is None:
            return
        still = self.grid.spread(self.settled & ~self.due) > 0
        if still.any():
            apart = float(cv2.absdiff(self.now, self._held)[still].mean())
            before = 1.25 * apart if self._noise is None else self._noise
            self._noise = before + 0.2 * (1.25 * apart - before)
        for kept in (self._held, self._known):
            step = np.sign(self.now.astype(np.int16) - kept).astype(np.int16)
            kept[still] = (kept + step).astype(np.uint8)[still]
        self._drifted_ns = at_ns


def portion(blocks: Mask, most: int) -> Mask:
    """Keep at most ``most`` blocks, the leftmost: the others wait for the next frame."""
    columns = np.zeros(blocks.T.shape, np.bool_)
    columns.flat[np.flatnonzero(blocks.T)[:most]] = True
    return columns.T


def regions(grid: Grid, blocks: Mask, pad_px: int) -> list[Rect]:
    """Gather blocks into padded rectangles of the picture; close ones share a rectangle."""
    if not blocks.any():
        return []
    joined = cv2.dilate(_bytes(blocks), np.ones((3, 3), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    found = [grid.rect(*map(int, stats[i][:4])) for i in range(1, count)]
    return _merged([_padded(grid, rect, pad_px) for rect in found])


def _padded(grid: Grid, rect: Rect, pad_px: int) -> Rect:
    left, top = max(0, rect[0] - pad_px), max(0, rect[1] - pad_px)
    right = min(grid.width_px, rect[0] + rect[2] + pad_px)
    bottom = min(grid.height_px, rect[1] + rect[3] + pad_px)
    return left, top, right - left, bottom - top


def _merged(found: list[Rect]) -> list[Rect]:
    """Join rectangles where one read of both costs no more than two."""
    waiting, done = list(found), list[Rect]()
    while waiting:
        rect = waiting.pop(0)
        near = next((other for other in done if _cheaper(rect, other)), None)
        if near is None:
            done.append(rect)
        else:
            done.remove(near)
            waiting.insert(0, _around(rect, near))
    return done


def _cheaper(one: Rect, other: Rect) -> bool:
    both = _around(one, other)
    return both[2] * both[3] <= one[2] * one[3] + other[2] * other[3]


def _around(one: Rect, other: Rect) -> Rect:
    left, top = min(one[0], other[0]), min(one[1], other[1])
    right = max(one[0] + one[2], other[0] + other[2])
    bottom = max(one[1] + one[3], other[1] + other[3])
    return left, top, right - left, bottom - top


def _averaged(picture: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    if picture.shape[1::-1] == size:
        return picture
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _bytes(mask: Mask) -> NDArray[np.uint8]:
    return mask.astype(np.uint8) * np.uint8(255)
