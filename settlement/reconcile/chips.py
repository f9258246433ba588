"""What a change of the chips on a circle means: a wager, chips taken back, or a payment."""

from dataclasses import dataclass
from typing import Literal

from models.events import PlayerActed, WagerKind
from models.money import Cents
from settlement.reconcile.happenings import (
    Arrived,
    ChipsChanged,
    Entered,
    Happening,
    Taken,
    Turned,
)
from settlement.reconcile.table import PlayedHand, Table
from settlement.reconcile.timing import SIGNAL_NS, TAKING_NS

Means = Literal["wager", "payment", "next_round", "wait"]

ADDED = ("doubled, and no card was dealt", "raised after the deal")
"""What chips added to two cards may mean where no card follows."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A change of chips, explained; ``wait`` where nothing that follows has told yet."""

    means: Means
    kind: WagerKind = "main"
    doubt: tuple[str, ...] = ()
    """The stories that cannot be told apart."""


@dataclass(frozen=True, slots=True)
class ChangeInPlay:
    """A change of chips in play, explained by what came before it and what follows."""

    change: ChipsChanged
    delta: Cents
    table: Table
    later: tuple[Happening, ...]
    now_ns: int

    def meaning(self) -> Meaning:
        """Say what the change means."""
        if self.change.circle == "S":
            return Meaning("next_round" if self.table.revealed else "wager", "side")
        if self.change.circle == "I":
            return self._insurance()
        number = int(self.change.circle)
        hand = self.table.hand(self.change.spot, number)
        if number and self.change.total == self.delta and not self.table.revealed:
            return Meaning("wager", "split")
        if hand is not None:
            return self._main(hand)
        return Meaning("next_round" if self.table.revealed else "wager")

    @property
    def _age_ns(self) -> int:
        return self.now_ns - self.change.at

    def _insurance(self) -> Meaning:
        lay_there = self.change.total != self.delta
        peeked = self.table.peeked and self.delta < 0
        known = self.table.revealed or peeked or self._hole_is_turned_soon()
        return Meaning("payment" if lay_there and known else "wager", "insurance")

    def _hole_is_turned_soon(self) -> bool:
        own = {held.track for held in self.table.dealer}
        return any(
            isinstance(found, Turned) and found.track in own and self._soon(found)
            for found in self.later
        )

    def _main(self, hand: PlayedHand) -> Meaning:
        if hand.taken_at is not None or (hand.over and hand.paid and self.delta < 0):
            return self._after_taking(hand)
        first = self._next_of(hand)
        if isinstance(first, Arrived):
            return Meaning("wager", self._double_or_more(first, hand))
        if first is not None:
            return Meaning("payment")
        dealt_on = any(isinstance(found, Arrived) for found in self.later)
        if hand.settles_early or self.table.revealed:
            patience = TAKING_NS if self.table.revealed else SIGNAL_NS
            return Meaning("payment" if dealt_on or self._age_ns > patience else "wait")
        if not dealt_on and self._age_ns <= SIGNAL_NS:
            return Meaning("wait")
        return self._added(hand)

    def _after_taking(self, hand: PlayedHand) -> Meaning:
        """Say what a change means where the hand is settled: the player draws back or bets."""
        if hand.taken_at is None or hand.paid:
            return Meaning("next_round")
        at_once = self.change.at - hand.taken_at < TAKING_NS // 2
        return Meaning("payment" if at_once else "next_round")

    def _added(self, hand: PlayedHand) -> Meaning:
        """Say what a change means after which the hand got no card and was not taken."""
        if self._entered_double(hand):
            return Meaning("wager", "double")
        could_double = self.delta > 0 and len(hand.cards) == 2 and len(self.table.dealer) > 1
        return Meaning("wager", doubt=ADDED if could_double else ())

    def _entered_double(self, hand: PlayedHand) -> bool:
        return any(
            isinstance(found, Entered)
            and isinstance(found.fact, PlayerActed)
            and found.fact.action == "double"
            and (found.fact.spot, found.fact.hand) == (hand.spot, hand.number)
            and self._soon(found)
            for found in self.later
        )

    def _next_of(self, hand: PlayedHand) -> Arrived | Taken | None:
        """Return what happens to the hand next: another card, or its cards are taken up."""
        tracks = {held.track for held in hand.cards}
        for found in self.later:
            if isinstance(found, Arrived) and self._goes_to(found, hand):
                return found
            if isinstance(found, Taken) and found.track in tracks and self._soon(found):
                return found
        return None

    def _goes_to(self, card: Arrived, hand: PlayedHand) -> bool:
        if card.lying is None:
            return card is self._first_card() and self._soon_drawn(card)
        to = self.table.destination(card.lying)
        return (to.to, to.hand) == (hand.spot, hand.number)

    def _first_card(self) -> Arrived | None:
        return next((found for found in self.later if isinstance(found, Arrived)), None)

    def _soon_drawn(self, card: Arrived) -> bool:
        """Chips beside a wager ask for the very next card, also for one that nobody saw."""
        return 0 < card.at - self.change.at < SIGNAL_NS

    def _double_or_more(self, card: Arrived, hand: PlayedHand) -> WagerKind:
        across = card.lying is None or self.table.felt.sideways(card.lying.place, hand.spot)
        doubled = across or self._entered_double(hand)
        return "double" if self.delta > 0 and doubled else "main"

    def _soon(self, found: Happening) -> bool:
        return found.at - self.change.at < TAKING_NS
