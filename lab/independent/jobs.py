"""The pictures that a film needs from the renderer: parts of the canvas, and what is in them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from lab.independent import bodies, cloth
from lab.independent.plan import CardAt, Carried, HandAt, Still, Thing, outline
from lab.independent.room import CANVAS_PX, SKINS, SLEEVES, Points, Room
from models.cards import DECK
from models.layout import DEALER_POINT, Point, TableLayout, middle

Part: TypeAlias = tuple[int, int, int, int]
"""Left, top, right and bottom on the canvas, in pixels."""
Item: TypeAlias = dict[str, Any]

EMPTY_SAMPLES, STILL_SAMPLES, MOVING_SAMPLES, HAND_SAMPLES = 10, 32, 8, 8
SHADOW_PX: Final = 20  # beyond a thing that lies on the cloth
CELL_MM: Final = 160.0
"""A hand is rendered for places so far apart, and moved by less between them."""
_RACK_CARD_MM: Final = 0.36


@dataclass(frozen=True)
class Job:
    """One picture to render.

    Attributes:
        over: whether to render only the things, with their shadow on the cloth, and the cover.
        shrink: how many pixels of the canvas across one rendered pixel stands for.
    """

    part: Part
    items: tuple[Item, ...]
    over: bool
    samples: int
    shrink: int = 1

    def line(self) -> dict[str, Any]:
        """Return the job as the renderer reads it, without the place for its result."""
        return {
            "part_px": self.part,
            "items": self.items,
            "over": self.over,
            "samples": self.samples,
            "shrink": self.shrink,
        }


@dataclass(frozen=True)
class Props:
    """What a session's things look like to the renderer."""

    room: Room
    layout: TableLayout
    deck: Path

    # --- jobs -----------------------------------------------------------------------------

    def empty(self) -> Job:
        """The table with nothing on it."""
        return Job((0, 0, *CANVAS_PX), (), over=False, samples=EMPTY_SAMPLES)

    def changes(self, still: Still, racked_before: int) -> Iterator[Job]:
        """The parts of the picture that an arrangement changes; no items: the table is empty."""
        boxes = [self._part([one]) for one in still.changed]
        if still.racked != racked_before:
            boxes.append(self._box(self._rack_outline(), 30.0, SHADOW_PX))
        rack = self._rack(still.racked)
        for part in merged([box for box in boxes if box is not None]):
            near = [one for one in still.lying if touches(self._part([one]), part)]
            items = [self._item(one) for one in near]
            if touches(self._box(self._rack_outline(), 30.0, SHADOW_PX), part):
                items += rack
            yield Job(part, tuple(items), over=False, samples=STILL_SAMPLES)

    def carried(self, carried: Carried) -> tuple[list[Job], tuple[int, int]]:
        """Cards that are carried together, and how many pixels to move them right and down."""
        cards = carried.cards
        found = []
        for part in merged([box for one in cards if (box := self._thing_box(one, 2)) is not None]):
            items = [self._item(one) for one in cards if touches(self._thing_box(one, 2), part)]
            found.append(Job(part, tuple(items), over=True, samples=MOVING_SAMPLES, shrink=2))
        return found, self._moved(carried.middle, carried.now)

    def _moved(self, start: Point, end: Point) -> tuple[int, int]:
        here, there = self.room.canvas_px(np.array([(*start, 12.0), (*end, 12.0)]))
        x, y = (round(float(one)) for one in there - here)
        return x, y

    def hand(self, hand: HandAt) -> tuple[Job | None, tuple[int, int]]:
        """A hand near a place, and how many pixels to move it right and down."""
        cell = (round(hand.tip[0] / CELL_MM) * CELL_MM, round(hand.tip[1] / CELL_MM) * CELL_MM)
        still = HandAt(hand.by, cell, hand.shoulder, hand.posture)
        return self._hand_job(still), self._moved(cell, hand.tip)

    def _hand_job(self, hand: HandAt) -> Job | None:
        turn = math.radians(hand.angle_deg)
        back = -math.sin(turn), math.cos(turn)
        reach = [-30.0, 120.0, 260.0, 500.0, 800.0, 1200.0, 1600.0]
        axis = np.array([(hand.tip[0] + back[0] * r, hand.tip[1] + back[1] * r) for r in reach])
        wide = np.array([(x, y, z) for x, y in axis for z in (0.0, 180.0)])
        spread = np.concatenate(
            [wide + np.array((dx, dy, 0)) for dx in (-75, 75) for dy in (-75, 75)]
        )
        part = _clipped(self.room.canvas_px(spread), 30, shrink=2)
        if part is None:
            return None
        item = {
            "what": "hand",
            "posture": hand.posture,
            "at_mm": (*hand.tip, 1.0),
            "angle_deg": round(hand.angle_deg, 1),
            **self._person(hand.by),
        }
        return Job(part, (item,), over=True, samples=HAND_SAMPLES, shrink=2)

    def _person(self, by: str) -> Item:
        rng = np.random.default_rng([self.room.seed, 11, sum(by.encode())])
        bare = by != "dealer" and rng.random() < 0.4
        return {
            "skin": SKINS[int(rng.integers(len(SKINS)))],
            "sleeve": SLEEVES[int(rng.integers(len(SLEEVES)))],
            "bare_mm": 200.0 if bare else float(round(rng.uniform(0, 40))),
            "cuff": by == "dealer" or (not bare and bool(rng.random() < 0.5)),
            "left": bool(rng.random() < 0.3),
        }

    # --- things ---------------------------------------------------------------------------

    def _item(self, thing: Thing) -> Item:
        if isinstance(thing, CardAt):
            return self._card(thing)
        rng = np.random.default_rng([self.room.seed, 13, thing.stack_id])
        chips = [
            (value, round(float(rng.uniform(0, 6.28)), 2), *_two(rng.normal(0, 0.7, 2)))
            for value, count in thing.chips
            for _ in range(count)
        ]
        return {"what": "stack", "at_mm": _mm(*thing.at, thing.z_mm), "chips": chips}

    def _card(self, one: CardAt) -> Item:
        row, column = divmod(DECK.index(one.card), 13)
        bend = self.bend(one.card_id)
        tall = float(bodies.card(bend).points[:, 2].max())
        over = (1 - math.cos(math.radians(one.roll_deg))) / 2
        return {
            "what": "card",
            "deck": str(self.deck),
            "cell": (column, row),
            "back": (13, 0),
            "at_mm": _mm(one.place.x_mm, one.place.y_mm, one.z_mm + tall * over),
            "angle_deg": round(one.place.angle_deg, 2),
            "roll_deg": round(one.roll_deg, 1),
            "pitch_deg": round(one.pitch_deg, 1),
            "bend_mm": bend,
        }

    def bend(self, card_id: int) -> bodies.Bend:
        """How a used card is bent: most of a pack the same way, along its length."""
        rng = np.random.default_rng([self.room.seed, 17, card_id])
        most = self.room.curl_mm
        along, over, twist = rng.normal((0.3, 0.8, 0.0), (0.4, 0.5, 0.3)) * most
        return round(float(along), 2), round(float(over), 2), round(float(twist), 2)

    def _rack(self, count: int) -> list[Item]:
        if not count:
            return []
        at = middle(self.layout.discard_rack)
        tall = count * _RACK_CARD_MM
        size = (bodies.CARD_MM[0], bodies.CARD_MM[1], tall)
        paper = {"what": "box", "size_mm": size, "at_mm": _mm(*at, 4.0), "angle_deg": 90.0}
        top = {
            "what": "card",
            "deck": str(self.deck),
            "cell": (0, 0),
            "back": (13, 0),
            "at_mm": _mm(*at, 4.0 + tall + 1.5),
            "angle_deg": 90.0,
            "roll_deg": 180.0,
            "bend_mm": (0.2, 0.9, 0.0),
        }
        return [paper | {"colour": (0.75, 0.74, 0.7), "rough": 0.7}, top]

    # --- places in the picture --------------------------------------------------------------

    def _part(self, things: Sequence[Thing]) -> Part | None:
        boxes = [box for one in things if (box := self._thing_box(one)) is not None]
        if not boxes:
            return None
        left, top, right, bottom = (np.array(side) for side in zip(*boxes, strict=True))
        return int(left.min()), int(top.min()), int(right.max()), int(bottom.max())

    def _thing_box(self, thing: Thing, shrink: int = 1) -> Part | None:
        if isinstance(thing, CardAt):
            grow = SHADOW_PX + thing.z_mm * 0.7
            around = outline(thing.place)
            return self._box(around, thing.z_mm + 8, grow, shrink)
        tall = sum(count for _, count in thing.chips) * bodies.CHIP_THICK_MM
        half = bodies.CHIP_MM / 2 + 2
        square = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
        grow = SHADOW_PX + (tall + thing.z_mm) * 1.3
        return self._box(square + thing.at, thing.z_mm + tall, grow)

    def _box(self, around: Points, top_mm: float, grow_px: float, shrink: int = 1) -> Part | None:
        corners = np.array([(x, y, z) for x, y in around for z in (0.0, top_mm)])
        return _clipped(self.room.canvas_px(corners), grow_px, shrink)

    def _rack_outline(self) -> Points:
        x, y = middle(self.layout.discard_rack)
        return np.array([(x + a, y + b) for a in (-48, 48) for b in (-36, 36)], np.float64)

    # --- the room ---------------------------------------------------------------------------

    def setting(self, prints: Path, threads: int) -> dict[str, Any]:
        """Return the room as the renderer reads it; writes its prints to a folder."""
        prints.mkdir(parents=True, exist_ok=True)
        felt = prints / "felt.png"
        cloth.felt_print(self.layout, self.room.cloth, self.room.seed).save(felt)
        chips = {}
        for value, (body, spots) in cloth.CHIPS.items():
            face = prints / f"chip-{value}.png"
            cloth.chip_face(value).save(face)
            chips[str(value)] = {"face": str(face), "colour": body, "spots": spots}
        return {
            "lamps": [asdict(lamp) for lamp in self.room.lamps],
            "ambient": self.room.ambient,
            "eye_mm": self.room.eye_mm,
            "turn": self.room.turn.tolist(),
            "focal_px": self.room.focal_px,
            "stop": self.room.stop,
            "gloss": self.room.gloss,
            "canvas_px": CANVAS_PX,
            "felt_mm": (self.layout.width_mm, self.layout.depth_mm),
            "felt_print": str(felt),
            "chips": chips,
            "furniture": self._furniture,
            "threads": threads,
        }

    @cached_property
    def _furniture(self) -> list[Item]:
        floor = _block((5200.0, 4200.0, 2.0), (0.0, 560.0, -3.0), cloth.FLOOR, 0.9)
        return [
            floor,
            *self._tray(),
            *self._shoe(),
            *self._discard_rack(),
            *self._rail(),
            *self._clutter(),
        ]

    def _tray(self) -> Iterator[Item]:
        x, y = middle(self.layout.tray)
        wide = max(px for px, _ in self.layout.tray) - min(px for px, _ in self.layout.tray)
        deep = max(py for _, py in self.layout.tray) - min(py for _, py in self.layout.tray)
        yield _block((wide, deep, 9.0), (x, y, 0.0), (0.015, 0.015, 0.016), 0.35)
        rng = np.random.default_rng([self.room.seed, 19])
        values, rows = sorted(cloth.CHIPS), int(wide // 46)
        for row in range(rows):
            count = int(rng.integers(12, int((deep - 14) / 3.4)))
            chips = [
                (values[row * len(values) // rows], round(float(rng.uniform(0, 6.28)), 2), 0.0, 0.0)
                for _ in range(count)
            ]
            yield {
                "what": "stack",
                "chips": chips,
                "at_mm": _mm(x - wide / 2 + 46 * (row + 0.5), y - deep / 2 + 7, 12.0),
                "pitch_deg": 90.0,
            }

    def _shoe(self) -> Iterator[Item]:
        x, y = self.layout.shoe_mouth
        black = (0.012, 0.012, 0.013)
        yield _block((112.0, 270.0, 105.0), (x + 78, y - 118, 0.0), black, 0.25, angle_deg=33)
        yield _block(
            (96.0, 60.0, 42.0), (x + 8, y - 14, 0.0), (0.05, 0.05, 0.055), 0.3, angle_deg=33
        )

    def _discard_rack(self) -> Iterator[Item]:
        x, y = middle(self.layout.discard_rack)
        red = (0.25, 0.01, 0.015)
        yield _block((150.0, 100.0, 4.0), (x, y, 0.0), red, 0.15)
        yield _block((150.0, 4.0, 55.0), (x, y - 48, 0.0), red, 0.15)
        yield _block((4.0, 100.0, 55.0), (x - 73, y, 0.0), red, 0.15)

    def _rail(self) -> Iterator[Item]:
        leather = ((0.02, 0.012, 0.008), (0.012, 0.012, 0.012), (0.06, 0.02, 0.01))
        colour = leather[self.room.seed % len(leather)]
        angles = np.linspace(-1.35, 1.35, 40)
        places = [self._from_dealer(cloth.RAIL_MM, float(angle), 12.0) for angle in angles]
        for start, end in pairwise(places):
            yield {
                "what": "bar",
                "at_mm": (0.0, 0.0, 0.0),
                "start_mm": (start[0], -start[1], start[2]),
                "end_mm": (end[0], -end[1], end[2]),
                "radius_mm": (52.0, 52.0),
                "colour": colour,
                "rough": 0.38,
            }

    def _clutter(self) -> Iterator[Item]:
        """What people put down at a table: stacks of their own, a cup, a telephone."""
        rng = np.random.default_rng([self.room.seed, 23])
        between = [
            (
                self._angle(one.circle.x_mm, one.circle.y_mm)
                + self._angle(o.circle.x_mm, o.circle.y_mm)
            )
            / 2
            for one, o in pairwise(self.layout.spots)
        ]
        for angle in between:
            place = self._from_dealer(float(rng.uniform(985, 1020)), angle, 0.0)
            kind = rng.random()
            if kind < 0.3:
                yield _block(
                    (74.0, 150.0, 8.0),
                    place,
                    (0.01, 0.01, 0.012),
                    0.1,
                    angle_deg=float(rng.uniform(-80, 80)),
                )
            elif kind < 0.6:
                yield {
                    "what": "cup",
                    "at_mm": _mm(*place),
                    "size_mm": (float(rng.uniform(32, 41)), 92.0, float(rng.uniform(40, 80))),
                    "colour": (0.7, 0.68, 0.62) if rng.random() < 0.5 else (0.05, 0.05, 0.06),
                    "drink": (0.02, 0.008, 0.003) if rng.random() < 0.5 else (0.35, 0.16, 0.02),
                }
            else:
                for step in range(int(rng.integers(1, 4))):
                    value = int(rng.choice(sorted(cloth.CHIPS)))
                    at = self._from_dealer(1000.0, angle + (step - 1) * 0.045, 0.0)
                    chips = [
                        (value, round(float(rng.uniform(0, 6.28)), 2), *_two(rng.normal(0, 0.8, 2)))
                        for _ in range(int(rng.integers(3, 14)))
                    ]
                    yield {"what": "stack", "chips": chips, "at_mm": _mm(*at)}

    def _angle(self, x_mm: float, y_mm: float) -> float:
        return math.atan2(x_mm - DEALER_POINT[0], y_mm - DEALER_POINT[1])

    def _from_dealer(self, far_mm: float, angle: float, z_mm: float) -> tuple[float, float, float]:
        x = DEALER_POINT[0] + far_mm * math.sin(angle)
        return x, DEALER_POINT[1] + far_mm * math.cos(angle), z_mm


def merged(boxes: Sequence[Part]) -> list[Part]:
    """Join boxes that touch until none do."""
    left = list(boxes)
    found: list[Part] = []
    while left:
        box = left.pop()
        other = next((one for one in left if touches(one, box)), None)
        if other is None:
            found.append(box)
            continue
        left.remove(other)
        left.append(
            (
                min(box[0], other[0]),
                min(box[1], other[1]),
                max(box[2], other[2]),
                max(box[3], other[3]),
            )
        )
    return sorted(found)


def touches(one: Part | None, other: Part | None) -> bool:
    """Return whether two parts of the canvas share any of it."""
    if one is None or other is None:
        return False
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _clipped(points_px: Points, grow_px: float, shrink: int = 1) -> Part | None:
    """Return the part of the canvas around some points, its edges multiples of ``shrink``."""
    low = np.maximum(np.floor((points_px.min(0) - grow_px) / shrink) * shrink, 0)
    high = np.minimum(np.ceil((points_px.max(0) + grow_px) / shrink) * shrink, CANVAS_PX)
    if (high - low < 2 * shrink).any():
        return None
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _block(
    size_mm: tuple[float, float, float],
    at_mm: tuple[float, float, float],
    colour: tuple[float, float, float],
    rough: float,
    angle_deg: float = 0.0,
) -> Item:
    return {
        "what": "box",
        "size_mm": size_mm,
        "at_mm": at_mm,
        "colour": colour,
        "rough": rough,
        "angle_deg": angle_deg,
    }


def _mm(x: float, y: float, z: float) -> tuple[float, float, float]:
    return round(x, 2), round(y, 2), round(z, 2)


def _two(values: Points) -> tuple[float, float]:
    return round(float(values[0]), 2), round(float(values[1]), 2)
