"""A session's film: rendered parts laid over each other, seen through the lens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.independent.cloth import srgb
from lab.independent.jobs import Job, Part, Props
from lab.independent.plan import HandAt, Motion, Still, stills
from lab.independent.renderer import Renderer
from lab.independent.room import CANVAS_PX, Room
from vision.scenes.performance import Performance

FPS: Final = 15
EXPOSED_NS: Final = 9_000_000  # of a picture: it blurs what moves
_FEATHER_PX: Final = 10
_NS: Final = 1_000_000_000

Linear = NDArray[np.float32]
Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Layer:
    """Something over the table in one frame: its picture, where, and its motion in pixels."""

    job: Job
    shift: tuple[int, int]
    moving: tuple[float, float]
    turned_deg: float = 0.0


@dataclass(frozen=True)
class Film:
    """The plan of a film: which job shows in which frame."""

    props: Props
    performance: Performance

    @property
    def frames(self) -> int:
        """How many frames the film has."""
        return int(self.performance.duration_ns * FPS // _NS) + 1

    def jobs(self) -> Iterator[Job]:
        """Yield every picture that the film needs."""
        yield self.props.empty()
        for _, parts in self._arrangements():
            yield from parts
        for at_ns in self._times():
            for layer in self._layers(at_ns):
                yield layer.job

    def pictures(self, renderer: Renderer) -> Iterator[Picture]:
        """Yield the frames, ``(1080, 1920, 3)`` uint8 BGR, without the sensor's noise."""
        table = _Canvas(self.props.room, _rgb(renderer, self.props.empty()))
        arrangements = self._arrangements()
        upcoming = next(arrangements, None)
        for at_ns in self._times():
            while upcoming is not None and upcoming[0].from_ns <= at_ns:
                for job in upcoming[1]:
                    table.put(job.part, _rgb(renderer, job))
                upcoming = next(arrangements, None)
            layers = [
                (
                    one.job.part,
                    one.shift,
                    _blurred(_turned(_cover(renderer, one.job), one.turned_deg), one.moving),
                )
                for one in self._layers(at_ns)
            ]
            yield table.seen(layers)

    def _times(self) -> Iterator[int]:
        return (number * _NS // FPS for number in range(self.frames))

    def _arrangements(self) -> Iterator[tuple[Still, list[Job]]]:
        racked = 0
        for still in stills(self.performance, self.props.bend):
            yield still, list(self.props.changes(still, racked))
            racked = still.racked

    @cached_property
    def _motion(self) -> Motion:
        return Motion.of(self.performance, self.props.layout)

    def _layers(self, at_ns: int) -> Iterator[_Layer]:
        motion = self._motion
        for carried in motion.groups(at_ns):
            cards, moved = self.props.carried(carried)
            turned = carried.turned_deg
            yield from (_Layer(job, moved, (0.0, 0.0), turned) for job in cards)
        for hand in motion.hands(at_ns):
            job, shift = self.props.hand(hand)
            if job is not None:
                yield _Layer(job, shift, self._speed(motion, hand, at_ns))

    def _speed(self, motion: Motion, hand: HandAt, at_ns: int) -> tuple[float, float]:
        later = next((h for h in motion.hands(at_ns + EXPOSED_NS) if h.by == hand.by), hand)
        ends = np.array([(*hand.tip, 12.0), (*later.tip, 12.0)])
        there, here = self.props.room.canvas_px(ends)
        return float(here[0] - there[0]), float(here[1] - there[1])


class _Canvas:
    """The table as it lies, in linear light, and the same as a picture."""

    def __init__(self, room: Room, empty: Linear) -> None:
        self._room = room
        self._lit = empty.copy()
        self._shown = self._developed(self._lit)

    def put(self, part: Part, pixels: Linear) -> None:
        """Replace a part, softly at its edges."""
        left, top, right, bottom = part
        old = self._lit[top:bottom, left:right]
        share = _feather(bottom - top, right - left)
        self._lit[top:bottom, left:right] = old + (pixels - old) * share
        self._shown[top:bottom, left:right] = self._developed(self._lit[top:bottom, left:right])

    def seen(self, layers: list[tuple[Part, tuple[int, int], Linear]]) -> Picture:
        """Return the picture through the lens, with layers over the table."""
        shown = self._shown
        if layers:
            lit, shown = self._lit.copy(), self._shown.copy()
            for part, shift, pixels in layers:
                box = _lay(lit, part, shift, pixels)
                if box is not None:
                    left, top, right, bottom = box
                    shown[top:bottom, left:right] = self._developed(lit[top:bottom, left:right])
        x, y = self._room.lens
        return np.asarray(cv2.remap(shown, x, y, cv2.INTER_LINEAR), np.uint8)

    def _developed(self, lit: Linear) -> Picture:
        """Expose linear light, with the soft shoulder of a camera."""
        light = lit * self._room.gain
        soft = np.where(light > 0.8, 0.8 + 0.2 * np.tanh((light - 0.8) / 0.2 * 0.6), light)
        return np.asarray(srgb(soft)[..., ::-1] * 255 + 0.5, np.uint8)


def _lay(lit: Linear, part: Part, shift: tuple[int, int], pixels: Linear) -> Part | None:
    """Lay a layer over the table; return where it lies on the canvas."""
    left, top = part[0] + shift[0], part[1] + shift[1]
    right, bottom = left + pixels.shape[1], top + pixels.shape[0]
    x0, y0, x1, y1 = max(0, left), max(0, top), min(CANVAS_PX[0], right), min(CANVAS_PX[1], bottom)
    if x0 >= x1 or y0 >= y1:
        return None
    over = pixels[y0 - top : y1 - top, x0 - left : x1 - left]
    under = lit[y0:y1, x0:x1]
    lit[y0:y1, x0:x1] = under * (1 - over[..., 3:]) + over[..., :3]
    return x0, y0, x1, y1


def _rgb(renderer: Renderer, job: Job) -> Linear:
    return renderer.pixels(job)[..., :3].astype(np.float32)


def _cover(renderer: Renderer, job: Job) -> Linear:
    pixels = renderer.pixels(job).astype(np.float32)
    left, top, right, bottom = job.part
    if job.shrink > 1:
        size = (right - left, bottom - top)
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_CUBIC), np.float32)
    inner = (left > 0, top > 0, right < CANVAS_PX[0], bottom < CANVAS_PX[1])
    return pixels.clip(0) * _feather(bottom - top, right - left, inner)


def _turned(pixels: Linear, turned_deg: float) -> Linear:
    """Turn a layer clockwise about its middle."""
    if abs(turned_deg) < 0.5:
        return pixels
    height, width = pixels.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), -turned_deg, 1.0)
    return np.asarray(cv2.warpAffine(pixels, turn, (width, height)), np.float32)


def _blurred(pixels: Linear, moving: tuple[float, float]) -> Linear:
    """Smear a layer along its motion during the exposure."""
    far = max(abs(moving[0]), abs(moving[1]))
    if far < 1:
        return pixels
    size = int(far) // 2 * 2 + 3
    kernel = np.zeros((size, size), np.float32)
    for share in np.linspace(-0.5, 0.5, 2 * size):
        x, y = (round(size // 2 + part * share) for part in moving)
        kernel[y, x] += 1
    return np.asarray(cv2.filter2D(pixels, -1, kernel / kernel.sum()), np.float32)


def _feather(height: int, width: int, inner: Sequence[bool] = (True,) * 4) -> Linear:
    """Return how much of a part shows: all but a soft edge, ``(H, W, 1)``.

    ``inner`` says of its left, upper, right and lower edge which are soft.
    """
    sides = []
    for length, (low, high) in ((height, inner[1::2]), (width, inner[::2])):
        at = np.arange(length, dtype=np.float32) + 0.5
        far = np.full(length, _FEATHER_PX, np.float32)
        far = np.minimum(far, at) if low else far
        far = np.minimum(far, length - at) if high else far
        sides.append(np.clip(far / _FEATHER_PX, 0, 1))
    return (sides[0][:, None] * sides[1][None, :])[..., None]
