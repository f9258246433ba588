"""Chips on the felt: the stacks of every betting circle, who moves them, and the plates."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from models.events import PaidKind, WagerKind
from models.layout import Point, TableLayout
from models.money import Cents
from simulation.chips import pieces
from simulation.places import insurance_place, spot_places
from vision.scenes.performance import By, ChipMove

MOVE_NS: Final = 420_000_000


@dataclass(frozen=True, slots=True)
class PlateChange:
    """The amount on one circle from a moment on."""

    at_ns: int
    spot: int
    circle: str
    chips: Mapping[int, int]

    @property
    def amount(self) -> Cents:
        """The total lying there."""
        return sum(value * count for value, count in self.chips.items())


@dataclass(frozen=True, slots=True)
class _Stack:
    stack_id: int
    amount: Cents
    at: Point
    place: int


class Bets:
    """The stacks on every circle, with the record of their movements and plate readings."""

    def __init__(self, layout: TableLayout, chance: Random) -> None:
        self._layout, self._chance = layout, chance
        self._stacks: dict[tuple[int, str], list[_Stack]] = {}
        self._next_id = 1
        self.moves: list[ChipMove] = []
        self.changes: list[PlateChange] = []

    def total(self, spot: int, circle: str) -> Cents:
        """Return the amount on a circle."""
        return sum(stack.amount for stack in self._stacks.get((spot, circle), ()))

    def add(self, spot: int, circle: str, amount: Cents, at_ns: int, by: By) -> int:
        """Put chips on a circle; return when they are at rest."""
        if amount <= 0:
            return at_ns
        until = at_ns + self._duration()
        self._put((spot, circle), amount, (at_ns, until), by)
        self._weigh(spot, circle, until)
        return until

    def remove(self, spot: int, circle: str, amount: Cents, at_ns: int, by: By) -> int:
        """Take chips off a circle, with change where no stack fits; return when it is done."""
        own = self._stacks.get((spot, circle), [])
        until = at_ns + self._duration()
        left = min(amount, self.total(spot, circle))
        exact = next((stack for stack in reversed(own) if stack.amount == left), None)
        while left > 0:
            stack = exact or own[-1]
            own.remove(stack)
            self._go(stack, at_ns, until, by)
            left -= stack.amount
        if left < 0:
            until += self._duration() // 2
            self._put((spot, circle), -left, (at_ns + MOVE_NS // 2, until), by)
        self._weigh(spot, circle, until)
        return until

    def draw_back(self, at_ns: int) -> int:
        """Make the players take their chips; return when it is done."""
        until = at_ns
        for (spot, circle), own in self._stacks.items():
            if own:
                start = at_ns + self._chance.randrange(150_000_000)
                everything = self.total(spot, circle)
                until = max(until, self.remove(spot, circle, everything, start, f"player:{spot}"))
        return until

    def _put(self, on: tuple[int, str], amount: Cents, while_ns: tuple[int, int], by: By) -> None:
        own = self._stacks.setdefault(on, [])
        taken = {stack.place for stack in own}
        place = next(n for n in range(len(own) + 1) if n not in taken)
        at = self._jittered(self.place(*on, place))
        stack = _Stack(self._next_id, amount, at, place)
        own.append(stack)
        self._come(stack, *while_ns, by)
        self._next_id += 1

    def _go(self, stack: _Stack, from_ns: int, until_ns: int, by: By) -> None:
        self.moves.append(
            ChipMove(from_ns, until_ns, stack.stack_id, pieces(stack.amount), stack.at, None, by)
        )

    def _come(self, stack: _Stack, from_ns: int, until_ns: int, by: By) -> None:
        self.moves.append(
            ChipMove(from_ns, until_ns, stack.stack_id, pieces(stack.amount), None, stack.at, by)
        )

    def _weigh(self, spot: int, circle: str, at_ns: int) -> None:
        chips: dict[int, int] = {}
        for stack in self._stacks.get((spot, circle), ()):
            for value, count in pieces(stack.amount).items():
                chips[value] = chips.get(value, 0) + count
        self.changes.append(PlateChange(at_ns, spot, circle, chips))

    def place(self, spot: int, circle: str, number: int = 0) -> Point:
        """Return the place of stack ``number`` of a circle."""
        places = spot_places(self._layout, spot)
        if circle == "I":
            x, y = insurance_place(self._layout, spot)
            return (x + 14.0 * number, y)
        if circle == "S":
            return places.side(number)
        return places.stack(int(circle), number)

    def _jittered(self, at: Point) -> Point:
        return (at[0] + self._chance.uniform(-3, 3), at[1] + self._chance.uniform(-3, 3))

    def _duration(self) -> int:
        return int(MOVE_NS * self._chance.uniform(0.85, 1.2))


def circle_of(kind: WagerKind | PaidKind, hand: int) -> str:
    """Return the circle of a wager."""
    return {"insurance": "I", "side": "S"}.get(kind, str(hand))
