"""Stage a script: turn every fact into movements, chips and sensor events.

Times are nanoseconds since the session's start. The dealer has one pair of hands: the dealer's
movements run one after another along a cursor; players' hands may overlap them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

import msgspec

from models.cards import Card
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    CardMoved,
    CardsTouched,
    CutCardReached,
    Face,
    HandPlace,
    HoleCardChecked,
    PaymentMade,
    PlayerActed,
    RoundCalledOff,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    TrayCounted,
    WagerPlaced,
    WagerRemoved,
)
from models.layout import Point, TableLayout, middle
from simulation.betting import Bets, PlateChange, circle_of
from simulation.cardplay import CardPlay
from simulation.places import hole_card
from simulation.steps import HandKey, Step
from vision.scenes.performance import Gesture, Performance

MS: Final = 1_000_000
_LEAD_MS: Final = 1_200
_PLATE_MS: Final = 430
"""Milliseconds: longer than a bet plate waits for an amount to rest, and then takes to report
it."""
_GLANCE_MS: Final = 750
"""Milliseconds that a card lies uncovered before a hand comes over it again."""
_LOOK_MS: Final = 800
"""Milliseconds that cards dealt face down lie before their player picks them up."""
_RULING_MS: Final = (3_500, 5_000)
"""Milliseconds that the floor takes to look at the felt and to enter a ruling; not measured."""
_SIGNS: Final[dict[str, Literal["wave", "beckon", "tap", "touch", "point"]]] = {
    "hit": "beckon",
    "stand": "wave",
    "double": "point",
    "split": "point",
    "surrender": "wave",
    "even_money": "tap",
}


@dataclass(frozen=True, slots=True)
class ShoeMoment:
    """An event at the shoe's mouth: a card, the cut card, or a fresh load of cards."""

    at_ns: int
    what: Card | Literal["cut", "fresh"]


@dataclass(frozen=True, slots=True)
class Staged:
    """A staged session: the performance, the sensors' events, and the truth.

    ``at`` of the facts, and of the facts that the floor enters at the console, counts from the
    session's start.
    """

    performance: Performance
    shoe: tuple[ShoeMoment, ...]
    plates: tuple[PlateChange, ...]
    facts: tuple[AnyFact, ...]
    console: tuple[AnyFact, ...]


def stage(steps: Iterable[Step], layout: TableLayout, seed: int, *, shoe: bool) -> Staged:
    """Play a script on a felt. ``shoe`` is false where cards are dealt from the hand."""
    felt = Stage(layout, seed, shoe=shoe)
    for step in steps:
        felt.play(step)
    return felt.finished()


class Stage:
    """The felt during a script."""

    def __init__(self, layout: TableLayout, seed: int, *, shoe: bool) -> None:
        self._layout = layout
        self._has_shoe = shoe
        self._chance = Random(f"{seed}:hands")
        self._now = _LEAD_MS * MS
        self._bets_rest = self._dealt = self._turned = 0
        self._shuffled = False
        self._doubled: set[HandKey] = set()
        self._cards = CardPlay(layout, self._chance)
        self._bets = Bets(layout, self._chance)
        self._turns: dict[type[AnyFact], Callable[[], int]] = {
            ShoeStarted: self._shuffle,
            CutCardReached: self._cut,
            RoundOpened: self._open,
            RoundClosed: self._close,
        }
        self._gestures: list[Gesture] = []
        self._shoe: list[ShoeMoment] = []
        self._facts: list[AnyFact] = []
        self._console: list[AnyFact] = []

    def play(self, step: Step) -> None:
        """Stage one step and add it to the truth."""
        at = self._stage(step.fact, step)
        last = self._facts[-1].at if self._facts else None
        fact = msgspec.structs.replace(step.fact, at=max(at, last or 0))
        self._facts.append(fact)
        if step.console:
            self._console.append(fact)

    def finished(self) -> Staged:
        """Return the whole session."""
        rest = max([self._now, *(move.until_ns for move in self._bets.moves)])
        return Staged(
            Performance(
                duration_ns=rest + 1_000 * MS,
                cards=tuple(sorted(self._cards.moves, key=lambda move: move.from_ns)),
                chips=tuple(sorted(self._bets.moves, key=lambda move: move.from_ns)),
                gestures=tuple(sorted(self._gestures, key=lambda sign: sign.from_ns)),
            ),
            tuple(self._shoe),
            tuple(sorted(self._bets.changes, key=lambda change: change.at_ns)),
            tuple(self._facts),
            tuple(self._console),
        )

    # --- stage one fact, return when it happened ------------------------------------------

    def _stage(self, fact: AnyFact, step: Step) -> int:
        match fact:
            case CardDealt() | CardBurned() | CardBoxed() | CardExposed():
                self._wait_for_plates()
                return self._move_card(fact, step)
            case WagerPlaced() | WagerRemoved() | PaymentMade():
                return self._move_chips(fact)
            case PlayerActed():
                self._wait_for_plates()
                return self._act(fact)
            case RoundCalledOff() | CardMoved():
                return self._rule(fact)
            case _:
                turn = self._turns.get(type(fact))
                return turn() if turn else self._point_out(fact)

    def _move_card(self, fact: CardDealt | CardBurned | CardBoxed | CardExposed, step: Step) -> int:
        card = step.card
        assert card is not None, "a card has a face, seen or not"
        if isinstance(fact, CardDealt):
            return self._deal(fact, card, at_hand=step.at_hand)
        if isinstance(fact, CardExposed):
            return self._expose(fact, card)
        self._leave_shoe(card)
        if step.at_hand:
            self._now += 900 * MS
            return self._now
        face: Face = "up" if isinstance(fact, CardBoxed) else "down"
        self._now = self._cards.discard(card, face, self._now) + 200 * MS
        return self._now

    def _deal(self, fact: CardDealt, card: Card, *, at_hand: bool) -> int:
        key: HandKey = (fact.to, fact.hand)
        sideways = key in self._doubled
        self._doubled.discard(key)
        if not at_hand:
            self._leave_shoe(card)
        rests = self._cards.deal(key, card, fact.face, self._now, sideways=sideways)
        self._dealt, self._now = rests, rests + self._chance.randint(300, 380) * MS
        if fact.to != "dealer" and self._picks_up(fact):
            self._cards.pick_up(fact.to, rests + _LOOK_MS * MS)
        return rests

    def _expose(self, fact: CardExposed, card: Card) -> int:
        self._glance()
        if fact.to == "dealer":
            rests = self._cards.turn_hole(card, self._now)
        else:
            by = f"player:{fact.to}" if self._cards.holds(fact.to) else "dealer"
            rests = self._cards.turn((fact.to, fact.hand), card, self._now, by)
        self._turned, self._now = rests, rests + self._chance.randint(160, 260) * MS
        return rests

    def _move_chips(self, fact: WagerPlaced | WagerRemoved | PaymentMade) -> int:
        if isinstance(fact, PaymentMade):
            return self._settle(fact)
        circle, player = circle_of(fact.kind, fact.hand), f"player:{fact.spot}"
        if isinstance(fact, WagerRemoved):
            return self._rest(self._bets.remove(fact.spot, circle, fact.amount, self._now, player))
        self._pause(140, 260)
        return self._rest(self._bets.add(fact.spot, circle, fact.amount, self._now, player))

    def _settle(self, fact: PaymentMade) -> int:
        self._glance(turned=True)
        until = self._change_hands(fact, circle_of(fact.kind, fact.hand))
        if fact.kind == "main":
            self._now = until + _PLATE_MS * MS
            self._now = self._cards.collect((fact.spot, fact.hand), self._now) + 120 * MS
        else:
            self._now = until + 150 * MS
        return until

    def _act(self, fact: PlayerActed) -> int:
        key: HandKey = (fact.spot, fact.hand)
        if fact.action == "stand" and self._cards.holds(fact.spot):
            at = self._dealt = self._cards.tuck(fact.spot, self._now + 150 * MS)
            self._now = at + 250 * MS
            return at
        at = self._sign(_SIGNS[fact.action], self._cards.middle_of(key), f"player:{fact.spot}", 420)
        if fact.action == "double":
            self._doubled.add(key)
        if fact.action == "split":
            self._now = self._cards.split(fact.spot, fact.hand, self._now) + 300 * MS
        return at

    def _rule(self, ruling: RoundCalledOff | CardMoved) -> int:
        """Stage a ruling: the floor looks and enters it, then the dealer carries it out."""
        self._wait_for_plates()
        self._glance(turned=True)
        self._pause(*_RULING_MS)
        at = self._now
        match ruling:
            case CardMoved(origin=HandPlace() as origin, to=HandPlace() as to):
                rests = self._cards.move((origin.to, origin.hand), (to.to, to.hand), at)
                self._now = self._dealt = rests
        return at

    def _shuffle(self) -> int:
        if self._shuffled:
            self._pause(4_000, 5_000)
        self._shuffled = True
        self._leave_shoe("fresh")
        self._now += 300 * MS
        return self._now

    def _cut(self) -> int:
        self._wait_for_plates()
        at = self._now
        self._leave_shoe("cut")
        self._pause(500, 700)
        return at

    def _open(self) -> int:
        self._pause(250, 400)
        at = self._now
        self._now = self._bets.draw_back(self._now + 150 * MS)
        return at

    def _close(self) -> int:
        self._wait_for_plates()
        self._glance(turned=True)
        start = self._now
        for key in sorted(self._cards.hands, key=lambda key: key[0] == "dealer"):
            self._now = max(self._now, self._cards.collect(key, start))
        self._doubled.clear()
        at = self._now
        self._pause(200, 300)
        return at

    def _point_out(self, fact: AnyFact) -> int:
        """Stage a fact without any movement: a look, a touch, an entry at the console."""
        match fact:
            case HoleCardChecked():
                self._glance()
                place = hole_card()
                return self._sign("touch", (place.x_mm, place.y_mm), "dealer", 700)
            case CardsTouched():
                at = self._cards.middle_of((fact.spot, 0))
                return self._sign("touch", at, f"player:{fact.spot}", 800)
            case TrayCounted():
                return self._sign("point", middle(self._layout.tray), "dealer", 900)
            case _:
                self._now += 40 * MS
                return self._now

    # --- internal -------------------------------------------------------------------------

    def _change_hands(self, fact: PaymentMade, circle: str) -> int:
        if fact.amount > 0:
            until = self._bets.add(fact.spot, circle, fact.amount, self._now, "dealer")
        elif fact.amount < 0:
            until = self._bets.remove(fact.spot, circle, -fact.amount, self._now, "dealer")
        else:
            return self._sign("tap", self._bets.place(fact.spot, circle), "dealer", 350)
        return self._rest(until)

    def _rest(self, until_ns: int) -> int:
        self._bets_rest = max(self._bets_rest, until_ns)
        return until_ns

    def _wait_for_plates(self) -> None:
        """Wait until the plates have weighed the chips."""
        self._now = max(self._now, self._bets_rest + _PLATE_MS * MS)

    def _glance(self, *, turned: bool = False) -> None:
        """Leave the last card dealt, or turned up, visible before a hand comes over it."""
        seen = max(self._dealt, self._turned) if turned else self._dealt
        self._now = max(self._now, seen + _GLANCE_MS * MS)

    def _leave_shoe(self, what: Card | Literal["cut", "fresh"]) -> None:
        if self._has_shoe:
            self._shoe.append(ShoeMoment(self._now, what))

    def _picks_up(self, fact: CardDealt) -> bool:
        if self._has_shoe:
            return False
        return fact.hand == 0 and len(self._cards.hands[fact.to, 0]) == 2

    def _sign(
        self,
        kind: Literal["wave", "beckon", "tap", "touch", "point"],
        at: Point,
        by: str,
        duration_ms: int,
    ) -> int:
        until = self._now + int(duration_ms * self._chance.uniform(0.85, 1.15)) * MS
        self._gestures.append(Gesture(self._now, until, at[0], at[1], by, kind))
        self._now = until + 80 * MS
        return until

    def _pause(self, least_ms: int, most_ms: int) -> None:
        self._now += self._chance.randint(least_ms, most_ms) * MS
