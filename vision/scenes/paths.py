"""Plan where and when each hand reaches: its path through a performance."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from models.layout import DEALER_POINT, Point, TableLayout, middle
from vision.scenes.performance import CardMove, ChipMove, Gesture, Performance, Place

_MS: Final = 1_000_000  # nanoseconds in a millisecond
_LINGER_NS: Final = 900 * _MS
"""Nanoseconds. A hand that is needed again sooner does not go home in between."""
_BACK_NS: Final = 250 * _MS  # the hand goes back to the shoe: docs/conduct.md
_HOME_NS: Final = 380 * _MS  # time between the felt and where a hand rests
_AT_MOUTH_DEG: Final = -24.0  # turn of a card in the shoe's mouth
_HALF_PI: Final = 90.0  # degrees of a quarter turn


@dataclass(frozen=True, slots=True)
class Key:
    """A hand's place at a time; between two keys it moves smoothly."""

    at_ns: int
    x_mm: float
    y_mm: float
    sway_mm: tuple[float, float] = (0.0, 0.0)
    """Millimetres of swing about the path to the next key: a wave, a tap."""
    pointing: bool = False


@dataclass(frozen=True, slots=True)
class HandPath:
    """One person's hand over a whole performance."""

    by: str
    home: Point
    keys: tuple[Key, ...]

    def at(self, at_ns: int) -> tuple[Point, bool]:
        """Return the fingertips' place, and whether they point."""
        after = bisect_right(self.keys, at_ns, key=lambda key: key.at_ns)
        if after == 0 or after == len(self.keys):
            return self.home, False
        one, other = self.keys[after - 1], self.keys[after]
        share = (at_ns - one.at_ns) / max(1, other.at_ns - one.at_ns)
        part = eased(share)
        swing = float(np.sin(share * 6 * np.pi))
        return (
            one.x_mm + (other.x_mm - one.x_mm) * part + one.sway_mm[0] * swing,
            one.y_mm + (other.y_mm - one.y_mm) * part + one.sway_mm[1] * swing,
        ), one.pointing


@dataclass(frozen=True, slots=True)
class _Task:
    """A hand's task: at ``start`` at ``from_ns``, at ``end`` at ``until_ns``."""

    from_ns: int
    until_ns: int
    start: Point
    end: Point
    sway_mm: Point = (0.0, 0.0)
    pointing: bool = False


class Surroundings:
    """Places off the felt where things come from and go to."""

    def __init__(self, layout: TableLayout) -> None:
        self._layout = layout
        self.mouth = Place(*layout.shoe_mouth, _AT_MOUTH_DEG)
        self.rack = Place(*middle(layout.discard_rack), _HALF_PI)
        self.tray = middle(layout.tray)

    def home(self, by: str) -> Point:
        """Return a resting hand's place: the dealer's over the tray, a player's off the picture."""
        if by == "dealer":
            return self.tray[0] - 60.0, self.tray[1] + 10.0
        return self._beyond(by, 300.0)

    def shoulder(self, by: str, tip: Point) -> Point:
        """Return the shoulder of a hand at ``tip``."""
        if by == "dealer":
            return 0.5 * tip[0] - 60.0, -520.0
        return self._beyond(by, 760.0)

    def at_rail(self, by: str, aside_mm: float, turned_mm: float) -> tuple[Point, Point]:
        """Return the place of a player's idle hand beside the wager, and its shoulder."""
        (x, y), (far_x, far_y) = self._beyond(by, 106.0), self._beyond(by, 760.0)
        length = float(np.hypot(far_x - x, far_y - y))
        along = (y - far_y) / length, (far_x - x) / length
        return (
            (x + along[0] * aside_mm, y + along[1] * aside_mm),
            (far_x + along[0] * turned_mm, far_y + along[1] * turned_mm),
        )

    def come(self, move: CardMove) -> Place:
        """Return the start of a card's move."""
        return move.start or self._off(move, self.mouth)

    def go(self, move: CardMove) -> Place:
        """Return the end of a card's move."""
        return move.end or self._off(move, self.rack)

    def chips_from(self, move: ChipMove) -> Point:
        """Return the start of a stack's move."""
        return move.start or self._purse(move)

    def chips_to(self, move: ChipMove) -> Point:
        """Return the end of a stack's move."""
        return move.end or self._purse(move)

    def _off(self, move: CardMove, dealers: Place) -> Place:
        if move.by is None or move.by == "dealer":
            return dealers
        x, y = self._beyond(move.by, 260.0)
        return Place(x, y, (move.start or move.end or dealers).angle_deg)

    def _purse(self, move: ChipMove) -> Point:
        at = move.end or move.start or self.tray
        if move.by is None:
            return at
        return self.tray if move.by == "dealer" else self._beyond(move.by, 240.0)

    def _beyond(self, by: str, by_mm: float) -> Point:
        """Return a place beyond a player's betting circle, away from the dealer."""
        number = by.rpartition(":")[2]
        spots = {str(spot.spot): spot.circle for spot in self._layout.spots}
        circle = spots.get(number) or self._layout.spots[-1].circle
        x, y = circle.x_mm - DEALER_POINT[0], circle.y_mm - DEALER_POINT[1]
        far = 1 + by_mm / float(np.hypot(x, y))
        return DEALER_POINT[0] + x * far, DEALER_POINT[1] + y * far


Tasks: TypeAlias = Mapping[str, list[_Task]]


def hand_paths(performance: Performance, around: Surroundings) -> tuple[HandPath, ...]:
    """Plan the path of every hand that takes part."""
    tasks = _tasks(performance, around)
    return tuple(
        HandPath(by, around.home(by), tuple(_keys(_one_at_a_time(tasks[by]), around.home(by))))
        for by in sorted({*tasks, "dealer"}, reverse=True)
    )


def eased(share: float) -> float:
    """Return smooth progress from 0 to 1: the curve of least jerk, as hands move."""
    share = min(1.0, max(0.0, share))
    return share * share * share * (10 + share * (6 * share - 15))


def _tasks(performance: Performance, around: Surroundings) -> dict[str, list[_Task]]:
    tasks: dict[str, list[_Task]] = defaultdict(list)
    for card in performance.cards:
        if card.by:
            start, end = around.come(card), around.go(card)
            ends = (start.x_mm, start.y_mm), (end.x_mm, end.y_mm)
            tasks[card.by].append(_Task(card.from_ns, card.until_ns, *ends))
    for chips in performance.chips:
        if chips.by:
            ends = around.chips_from(chips), around.chips_to(chips)
            tasks[chips.by].append(_Task(chips.from_ns, chips.until_ns, *ends))
    for gesture in performance.gestures:
        tasks[gesture.by].append(_gestured(gesture))
    return tasks


def _gestured(gesture: Gesture) -> _Task:
    third = (gesture.until_ns - gesture.from_ns) // 3
    place = gesture.x_mm, gesture.y_mm
    sway = {"wave": (34.0, 4.0), "beckon": (3.0, 22.0), "tap": (0.0, 10.0)}
    return _Task(
        gesture.from_ns + third,
        gesture.until_ns - third,
        place,
        place,
        sway.get(gesture.kind, (0.0, 0.0)),
        gesture.kind in ("tap", "point"),
    )


def _one_at_a_time(tasks: list[_Task]) -> list[_Task]:
    """Leave out tasks that start while the hand is busy: it carries both at once."""
    kept: list[_Task] = []
    for task in sorted(tasks, key=lambda task: (task.from_ns, task.until_ns)):
        if not kept or task.from_ns >= kept[-1].until_ns:
            kept.append(task)
    return kept


def _keys(tasks: list[_Task], home: Point) -> Iterable[Key]:
    free_ns = None
    for at, task in enumerate(tasks):
        if free_ns is None:
            yield Key(task.from_ns - _HOME_NS, *home)
        yield Key(task.from_ns, *task.start, task.sway_mm, task.pointing)
        yield Key(task.until_ns, *task.end)
        following = tasks[at + 1] if at + 1 < len(tasks) else None
        if following and following.from_ns - task.until_ns < _LINGER_NS:
            gap = following.from_ns - task.until_ns
            yield Key(task.until_ns + min(gap, _BACK_NS), *following.start)
            free_ns = following.from_ns
        else:
            yield Key(task.until_ns + _HOME_NS, *home)
            free_ns = None
