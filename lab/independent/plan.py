"""Where everything on the table is at a time: the plan of a session made into places and hands.

Times are nanoseconds since the session's start, places millimetres in the felt's frame, z up.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

import numpy as np

from lab.independent.bodies import CARD_MM, CARD_THICK_MM, Bend, Points, bent
from models.cards import Card
from models.layout import DEALER_POINT, Point, TableLayout, middle
from vision.scenes.performance import By, CardMove, ChipMove, Gesture, Performance, Place

Posture: TypeAlias = Literal["hold", "flat", "point"]

MS: Final = 1_000_000
LIFT_MM: Final = 38.0  # how high a card is carried, half way
REACH_NS: Final = 320 * MS  # from beyond the picture to a thing, and back
LINGER_NS: Final = 800 * MS
"""A hand that is needed again sooner goes straight on."""
GRIP_MM: Final = 16.0  # the fingertips rest this far from a card's middle, towards the arm
RENDERED_AT: Final = 0.5
"""The share of its way at which a carried card is rendered; elsewhere that picture is moved."""
_GAP_MM: Final = 0.1  # air between two cards

Bends: TypeAlias = Callable[[int], Bend]
"""How each card is bent, by its number."""


@dataclass(frozen=True, slots=True)
class CardAt:
    """A card at a time; ``roll_deg`` is 180 where it lies face down."""

    card_id: int
    card: Card
    place: Place
    z_mm: float
    roll_deg: float
    pitch_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class StackAt:
    """A stack of chips at a time: value in cents and count, the largest at the bottom."""

    stack_id: int
    chips: tuple[tuple[int, int], ...]
    at: Point
    z_mm: float = 0.0


@dataclass(frozen=True, slots=True)
class HandAt:
    """A hand at a time: where its fingertips are, and where its arm comes from."""

    by: str
    tip: Point
    shoulder: Point
    posture: Posture

    @property
    def angle_deg(self) -> float:
        """The direction from the shoulder to the fingertips, clockwise from -y."""
        x, y = self.tip[0] - self.shoulder[0], self.tip[1] - self.shoulder[1]
        return math.degrees(math.atan2(x, -y))


Thing: TypeAlias = CardAt | StackAt


@dataclass(frozen=True, slots=True)
class Carried:
    """Cards carried together, as half way, and how they are now.

    Attributes:
        middle: of the cards, half way.
        now: where that is now.
        turned_deg: how far a single card is turned from there, clockwise.
    """

    cards: tuple[CardAt, ...]
    middle: Point
    now: Point
    turned_deg: float


@dataclass(frozen=True, slots=True)
class Still:
    """What lies on the table from a time on, and which of it came or went just then."""

    from_ns: int
    lying: tuple[Thing, ...]
    changed: tuple[Thing, ...]
    racked: int
    """Cards in the discard rack."""


def stills(performance: Performance, bends: Bends) -> Iterator[Still]:
    """Yield each arrangement of resting things, beginning with the empty table."""
    cards: dict[int, tuple[CardMove, CardAt]] = {}
    stacks: dict[int, StackAt] = {}
    racked = 0
    yield Still(-1, (), (), 0)
    for at_ns, cues in _cues(performance):
        changed: list[Thing] = []
        for starts, move in cues:
            if isinstance(move, ChipMove):
                changed += _chip_cue(stacks, move, starts=starts)
                continue
            gone = cards.pop(move.card_id, None)
            changed += [gone[1]] if gone else []
            racked += not starts and move.end is None and move.by in (None, "dealer")
            if not starts and move.end is not None:
                before = {number: one for number, (_, one) in cards.items()}
                cards[move.card_id] = (move, _rest(move, move.end))
                if move.under in before:
                    cards = _slid_under(cards, move.card_id, move.under)
                changed.append(cards[move.card_id][1])
        settled = _settled([one for _, one in cards.values()], bends)
        changed = [
            next((s for s in settled if s == replace(one, z_mm=s.z_mm)), one)
            if isinstance(one, CardAt)
            else one
            for one in changed
        ]
        yield Still(at_ns, (*settled, *stacks.values()), tuple(changed), racked)


def _cues(
    performance: Performance,
) -> Iterator[tuple[int, list[tuple[bool, CardMove | ChipMove]]]]:
    """Yield when things leave their places and come to rest, the leaving first."""
    cues: dict[int, list[tuple[bool, CardMove | ChipMove]]] = defaultdict(list)
    moves: list[CardMove | ChipMove] = [*performance.cards, *performance.chips]
    for move in moves:
        cues[move.from_ns].append((True, move))
        cues[move.until_ns].append((False, move))
    for at_ns in sorted(cues):
        yield at_ns, sorted(cues[at_ns], key=lambda cue: cue[0])


def _chip_cue(stacks: dict[int, StackAt], move: ChipMove, *, starts: bool) -> list[Thing]:
    gone = stacks.pop(move.stack_id, None)
    changed: list[Thing] = [gone] if gone else []
    if not starts and move.end is not None:
        stacks[move.stack_id] = _stack(move, move.end, 0.0)
        changed.append(stacks[move.stack_id])
    return changed


def _stack(move: ChipMove, at: Point, z_mm: float) -> StackAt:
    chips = tuple(sorted(move.chips.items(), reverse=True))
    return StackAt(move.stack_id, chips, at, z_mm)


def _rest(move: CardMove, end: Place) -> CardAt:
    return CardAt(move.card_id, move.card, end, 0.0, 0.0 if move.face_after == "up" else 180.0)


def _slid_under(
    cards: dict[int, tuple[CardMove, CardAt]], card_id: int, upper: int
) -> dict[int, tuple[CardMove, CardAt]]:
    order = [number for number in cards if number != card_id]
    order.insert(order.index(upper), card_id)
    return {number: cards[number] for number in order}


def _settled(cards: Sequence[CardAt], bends: Bends) -> list[CardAt]:
    """Lay each card on those that it covers: it touches the highest of them where it is lowest."""
    laid: list[CardAt] = []
    for one in cards:
        under = [other.z_mm + _gap(one, other, bends) for other in laid if _near(one, other)]
        laid.append(replace(one, z_mm=round(max([0.0, *under]), 2)))
    return laid


def _near(one: CardAt, other: CardAt) -> bool:
    far = math.hypot(one.place.x_mm - other.place.x_mm, one.place.y_mm - other.place.y_mm)
    return far < math.hypot(*CARD_MM)


def _gap(upper: CardAt, lower: CardAt, bends: Bends) -> float:
    """Return how far a card lies above another that it covers, 0 or less where it covers none."""
    share = np.linspace(-1, 1, 17)
    grid = np.stack(np.meshgrid(share, share), axis=-1).reshape(-1, 2)
    # by the points of both: either may touch the other with its corner
    own = np.concatenate([grid, _seen_from(upper.place, lower.place, grid)])
    there = np.concatenate([_seen_from(lower.place, upper.place, grid), grid])
    both = (np.abs(own) <= 1).all(axis=1) & (np.abs(there) <= 1).all(axis=1)
    if not both.any():
        return -math.inf
    top = _height(lower, there[both], bends) + CARD_THICK_MM + _GAP_MM
    return float((top - _height(upper, own[both], bends)).max())


def _seen_from(place: Place, other: Place, shares: Points) -> Points:
    """Return where points of another card are on a card, in shares of its half sides."""
    half = np.array(CARD_MM) / 2
    at = (shares * half) @ _spin(other) + (other.x_mm, other.y_mm)
    return np.asarray((at - (place.x_mm, place.y_mm)) @ _spin(place).T / half, np.float64)


def _height(one: CardAt, shares: Points, bends: Bends) -> Points:
    """Return how high a card's under side is above its lowest point, by place on it."""
    height = bent(bends(one.card_id), shares[:, 0], -shares[:, 1])
    if one.roll_deg < 90:
        return height
    # turned over about its long side
    turned = bent(bends(one.card_id), -shares[:, 0], -shares[:, 1])
    return np.asarray(_tall(bends(one.card_id)) - turned, np.float64)


def _tall(bend: Bend) -> float:
    share = np.linspace(-1, 1, 9)
    u, v = np.meshgrid(share, share)
    return float(bent(bend, u, v).max())


def outline(place: Place) -> Points:
    """Return the corners of a card in its place, ``(4, 2)`` millimetres."""
    half = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * np.array(CARD_MM) / 2
    return np.asarray(half @ _spin(place) + (place.x_mm, place.y_mm), np.float64)


def _spin(place: Place) -> Points:
    """Return the matrix that turns a row of a card's own coordinates into the felt's."""
    turn = math.radians(place.angle_deg)
    return np.array([(math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))])


@dataclass(frozen=True)
class Motion:
    """What moves at a time."""

    performance: Performance
    layout: TableLayout
    paths: Mapping[str, "Path"] = field(default_factory=dict)

    @classmethod
    def of(cls, performance: Performance, layout: TableLayout) -> "Motion":
        """Plan the hands of a performance."""
        plain = cls(performance, layout)
        return cls(performance, layout, plain._paths())

    def groups(self, at_ns: int) -> list[Carried]:
        """Return the cards that are carried at a time, those that move together in one group.

        Chips that are carried are in the hand: its back hides them from above.
        """
        moves: dict[tuple[int, int, By], list[CardMove]] = defaultdict(list)
        for move in self.performance.cards:
            if move.from_ns <= at_ns < move.until_ns:
                moves[move.from_ns, move.until_ns, move.by].append(move)
        return [self._group(some, at_ns) for some in moves.values()]

    def _group(self, moves: Sequence[CardMove], at_ns: int) -> Carried:
        move = moves[0]
        share = eased((at_ns - move.from_ns) / (move.until_ns - move.from_ns))
        now = [self._carried(move, share, at) for at, move in enumerate(moves)]
        then = [self._carried(move, RENDERED_AT, at) for at, move in enumerate(moves)]
        turned = now[0].place.angle_deg - then[0].place.angle_deg if len(moves) == 1 else 0.0
        return Carried(tuple(then), _middle_of(then), _middle_of(now), turned)

    def hands(self, at_ns: int) -> list[HandAt]:
        """Return the hands that may be in view at a time."""
        return [hand for by, path in self.paths.items() if (hand := path.at(by, at_ns))]

    def _carried(self, move: CardMove, share: float, below: int) -> CardAt:
        start, end = self._card_ends(move)
        turn = (end.angle_deg - start.angle_deg + 180) % 360 - 180
        x, y = _between((start.x_mm, start.y_mm), (end.x_mm, end.y_mm), share)
        before, after = (
            0.0 if face == "up" else 180.0 for face in (move.face_before, move.face_after)
        )
        lift = LIFT_MM * (1.6 if before != after else 1.0) * math.sin(math.pi * share)
        return CardAt(
            move.card_id,
            move.card,
            Place(x, y, start.angle_deg + turn * share),
            2.0 + 0.5 * below + lift,
            before + (after - before) * share,
            pitch_deg=7.0 * math.sin(math.pi * share),
        )

    def _card_ends(self, move: CardMove) -> tuple[Place, Place]:
        rack = Place(*middle(self.layout.discard_rack), 90.0)
        mouth = Place(*self.layout.shoe_mouth, -30.0)
        if move.by not in (None, "dealer"):
            rack = mouth = Place(*self._beyond(str(move.by), 240.0), 0.0)
        return move.start or mouth, move.end or rack

    def _chip_ends(self, move: ChipMove) -> tuple[Point, Point]:
        tray = middle(self.layout.tray)
        purse = tray if move.by in (None, "dealer") else self._beyond(str(move.by), 240.0)
        return move.start or purse, move.end or purse

    def _beyond(self, by: str, far_mm: float) -> Point:
        circle = self.layout.spot(int(by.rpartition(":")[2])).circle
        x, y = circle.x_mm - DEALER_POINT[0], circle.y_mm - DEALER_POINT[1]
        share = 1 + far_mm / math.hypot(x, y)
        return DEALER_POINT[0] + x * share, DEALER_POINT[1] + y * share

    # --- hands ----------------------------------------------------------------------------

    def _paths(self) -> dict[str, "Path"]:
        tasks: dict[str, list[_Task]] = defaultdict(list)
        for move in self.performance.cards:
            if move.by:
                start, end = self._card_ends(move)
                ends = (start.x_mm, start.y_mm), (end.x_mm, end.y_mm)
                tasks[move.by].append(_Task(move.from_ns, move.until_ns, *ends))
        for chips in self.performance.chips:
            if chips.by:
                tasks[chips.by].append(
                    _Task(chips.from_ns, chips.until_ns, *self._chip_ends(chips))
                )
        for gesture in self.performance.gestures:
            tasks[gesture.by].append(_signal(gesture))
        return {by: self._path(by, some) for by, some in sorted(tasks.items())}

    def _path(self, by: str, tasks: Sequence["_Task"]) -> "Path":
        home, shoulder = self._home(by), self._shoulder(by)
        keys: list[_Key] = []
        for task in sorted(tasks, key=lambda task: (task.from_ns, task.until_ns)):
            if keys and task.from_ns < keys[-1].at_ns:
                continue  # the hand carries both at once
            if keys and task.from_ns - keys[-1].at_ns > LINGER_NS:
                keys.append(_Key(keys[-1].at_ns + REACH_NS, home))
            if not keys or keys[-1].at == home:
                keys.append(_Key(task.from_ns - REACH_NS, home))
            keys.append(_Key(task.from_ns, task.start, task.posture, task.sway_mm))
            keys.append(_Key(task.until_ns, task.end, task.posture))
        keys.append(_Key(keys[-1].at_ns + REACH_NS, home))
        return Path(tuple(keys), home, shoulder)

    def _home(self, by: str) -> Point:
        if by == "dealer":
            x, y = middle(self.layout.tray)
            return x - 120.0, y - 260.0
        return self._beyond(by, 420.0)

    def _shoulder(self, by: str) -> Point:
        return (-40.0, -720.0) if by == "dealer" else self._beyond(by, 1000.0)


@dataclass(frozen=True, slots=True)
class _Task:
    from_ns: int
    until_ns: int
    start: Point
    end: Point
    posture: Posture = "hold"
    sway_mm: Point = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Key:
    at_ns: int
    at: Point
    posture: Posture = "hold"
    sway_mm: Point = (0.0, 0.0)
    """Swing on the way to the next key."""


@dataclass(frozen=True, slots=True)
class Path:
    """One person's hand through the whole session."""

    keys: tuple[_Key, ...]
    home: Point
    shoulder: Point

    def at(self, by: str, at_ns: int) -> HandAt | None:
        """Return the hand at a time, or nothing while it is at home, out of the picture."""
        after = next((n for n, key in enumerate(self.keys) if key.at_ns > at_ns), None)
        if after is None or after == 0:
            return None
        one, other = self.keys[after - 1], self.keys[after]
        if one.at == other.at == self.home:
            return None
        share = (at_ns - one.at_ns) / (other.at_ns - one.at_ns)
        x, y = _between(one.at, other.at, eased(share))
        swing = math.sin(share * 6 * math.pi)
        tip = (x + one.sway_mm[0] * swing, y + one.sway_mm[1] * swing)
        posture = one.posture if one.at != self.home else other.posture
        return HandAt(by, self._gripping(tip, posture), self.shoulder, posture)

    def _gripping(self, at: Point, posture: Posture) -> Point:
        x, y = at[0] - self.shoulder[0], at[1] - self.shoulder[1]
        back = GRIP_MM / math.hypot(x, y) if posture == "hold" else 0.0
        return at[0] - x * back, at[1] - y * back


def eased(share: float) -> float:
    """Return progress from 0 to 1 as a hand makes it: starting and ending gently."""
    share = min(1.0, max(0.0, share))
    return share * share * (3 - 2 * share)


def _middle_of(cards: Sequence[CardAt]) -> Point:
    xs, ys = [one.place.x_mm for one in cards], [one.place.y_mm for one in cards]
    return sum(xs) / len(xs), sum(ys) / len(ys)


def _between(start: Point, end: Point, share: float) -> Point:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _signal(gesture: Gesture) -> _Task:
    quarter = (gesture.until_ns - gesture.from_ns) // 4
    posture: Posture = "point" if gesture.kind in ("tap", "point", "beckon") else "flat"
    sway = {"wave": (36.0, 0.0), "beckon": (0.0, 24.0), "tap": (0.0, 8.0)}.get(gesture.kind)
    at = gesture.x_mm, gesture.y_mm
    begins, ends = gesture.from_ns + quarter, gesture.until_ns - quarter
    return _Task(begins, ends, at, at, posture, sway or (0.0, 0.0))
