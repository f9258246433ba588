"""Where a card went that the shoe read and the camera never saw.

While the initial deal lasts, to whom it was due. After that to the hand that chips or a sign
asked a card for; else to one whose turn it was: not before the hand that got the card before
it, nor after the one that gets the next.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from models.events import AnyFact, CardDealt, Dealt, PlayerActed, WagerPlaced
from settlement.hands import busted, total
from settlement.reconcile.happenings import Agenda, Arrived, Taken
from settlement.reconcile.table import PlayedHand, Table
from settlement.reconcile.timing import TAKING_NS

Whose: TypeAlias = tuple[Dealt, int]
"""A hand of a spot, or the dealer's."""

_DEALER: Final[Whose] = ("dealer", 0)


class Unseen:
    """Tells whose an unseen card may be.

    Args:
        table: what lies on the felt as it left the shoe.
        agenda: what took place later.
    """

    def __init__(self, table: Table, agenda: Agenda) -> None:
        self._table, self._agenda = table, agenda

    def whose(
        self, card: Arrived, staked: Sequence[int], record: Sequence[AnyFact]
    ) -> tuple[Whose, ...]:
        """Return whose the card may be, the likeliest first; nobody's where all hands stand.

        Args:
            card: the card.
            staked: the spots that play.
            record: the facts of the round so far.
        """
        due = self._table.next_of_deal(staked)
        if due is not None:
            others: list[Dealt] = [*staked, "dealer"]
            return ((due, 0), *((to, 0) for to in others if to != due))
        if self._table.revealed:
            return (_DEALER,)
        turns = self._in_turn(card, record)
        first = self._broken(card) or _asked_for(record) or self._neediest(turns)
        if first is None:
            return ()
        return (first, *(whose for whose in turns if whose != first))

    def _in_turn(self, card: Arrived, record: Sequence[AnyFact]) -> list[Whose]:
        """Return the hands that may have drawn between the cards before and after."""
        hands: list[Whose] = [
            (hand.spot, hand.number)
            for _, own in sorted(self._table.hands.items())
            for hand in own
            if hand.taken_at is None and hand.may_draw
        ]
        before, after = _last_drawn(record), self._next(card)
        return [
            whose
            for whose in hands
            if (before is None or _turn(whose) >= _turn(before))
            and (after is None or _turn(whose) <= _turn(after))
        ]

    def _next(self, card: Arrived) -> Whose | None:
        for found in self._agenda:
            if found.at > card.at and isinstance(found, Arrived) and found.lying is not None:
                to = self._table.destination(found.lying)
                return None if to.to is None else (to.to, to.hand)
        return None

    def _neediest(self, turns: Sequence[Whose]) -> Whose | None:
        """Return the hand with the least points: who has few draws likelier than who has many."""
        return min(turns, key=self._points, default=None)

    def _points(self, whose: Whose) -> int:
        hand = self._hand(whose)
        return 0 if hand is None else total(hand.faces)[0]

    def _hand(self, whose: Whose) -> PlayedHand | None:
        to, number = whose
        return None if to == "dealer" else self._table.hand(to, number)

    def _broken(self, card: Arrived) -> Whose | None:
        """A hand whose cards were taken up at once was broken by it."""
        broken = [
            hand
            for hand in self._table.all_hands()
            if hand.taken_at is None
            and hand.may_draw
            and busted((*hand.faces, card.card))
            and self._taken_soon(hand, card.at)
        ]
        if card.card is None or len(broken) != 1:
            return None
        return broken[0].spot, broken[0].number

    def _taken_soon(self, hand: PlayedHand, after_ns: int) -> bool:
        """Tell whether the hand's cards go next, before any other card comes."""
        tracks = {held.track for held in hand.cards}
        for found in self._agenda:
            if found.at <= after_ns:
                continue
            if isinstance(found, Arrived) or found.at - after_ns > TAKING_NS:
                return False
            if isinstance(found, Taken) and found.track in tracks:
                return True
        return False


def _asked_for(record: Sequence[AnyFact]) -> Whose | None:
    """Return the hand that doubled, split or asked for a card since the last one was dealt."""
    for fact in reversed(record):
        match fact:
            case CardDealt():
                return None
            case WagerPlaced(kind="double" | "main"):
                return fact.spot, fact.hand
            case PlayerActed(action="split" | "hit" | "double"):
                return fact.spot, fact.hand
            case _:
                continue
    return None


def _last_drawn(record: Sequence[AnyFact]) -> Whose | None:
    """Return the hand that drew last, where anybody has since the initial deal."""
    last = next((fact for fact in reversed(record) if isinstance(fact, CardDealt)), None)
    if last is None or last.to == "dealer":
        return None
    return last.to, last.hand


def _turn(whose: Whose) -> tuple[float, int]:
    to, number = whose
    return (float("inf"), 0) if to == "dealer" else (to, number)
