"""What a change of the chips on a circle means: a wager, chips taken back, or a payment."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from models.events import WagerKind
from models.money import Cents
from settlement.reconcile.felt import Felt
from settlement.reconcile.happenings import Arrived, ChipsChanged, Happening, Taken, Turned
from settlement.reconcile.table import PlayedHand, Table
from settlement.reconcile.timing import SIGNAL_NS, TAKING_NS

Means = Literal["wager", "payment", "next_round", "doubt", "wait"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """A change of chips, explained."""

    means: Means
    kind: WagerKind = "main"


def explain(
    change: ChipsChanged, delta: Cents, table: Table, later: Iterable[Happening], now_ns: int
) -> Meaning:
    """Say what a change of ``delta`` cents means, by what came before and what follows it.

    ``wait`` where nothing that follows has told yet.
    """
    if change.circle == "S":
        return Meaning("next_round" if table.revealed else "wager", "side")
    if change.circle == "I":
        return _insurance(change, delta, table, tuple(later))
    number = int(change.circle)
    hand = table.hand(change.spot, number)
    if hand is None:
        return _no_hand(number, table, change)
    return _main(change, delta, hand, table, tuple(later), now_ns)


def _insurance(
    change: ChipsChanged, delta: Cents, table: Table, later: tuple[Happening, ...]
) -> Meaning:
    lay_there = change.total != delta
    known = table.revealed or (table.peeked and delta < 0) or _reveals(change, table, later)
    return Meaning("payment" if lay_there and known else "wager", "insurance")


def _reveals(change: ChipsChanged, table: Table, later: Iterable[Happening]) -> bool:
    tracks = {held.track for held in table.dealer}
    return any(
        isinstance(next_, Turned) and next_.track in tracks and next_.at - change.at < TAKING_NS
        for next_ in later
    )


def _no_hand(number: int, table: Table, change: ChipsChanged) -> Meaning:
    if number and change.spot in table.hands:
        return Meaning("wager", "split")
    return Meaning("next_round" if table.revealed else "wager")


def _main(
    change: ChipsChanged,
    delta: Cents,
    hand: PlayedHand,
    table: Table,
    later: tuple[Happening, ...],
    now_ns: int,
) -> Meaning:
    if hand.taken_at is not None:
        return _after_taking(change, hand)
    if hand.over and hand.paid and delta < 0:
        return Meaning("next_round")
    first = _first_of(hand, change, table, later)
    if isinstance(first, Arrived):
        return Meaning("wager", _double_or_more(first, delta, hand, table.felt))
    if first is not None:
        return Meaning("payment")
    dealt_on = any(isinstance(found, Arrived) for found in later)
    if hand.settles_early or table.revealed:
        return Meaning("payment" if dealt_on or now_ns - change.at > TAKING_NS else "wait")
    return Meaning("wager" if dealt_on or now_ns - change.at > SIGNAL_NS else "wait")


def _first_of(
    hand: PlayedHand, change: ChipsChanged, table: Table, later: tuple[Happening, ...]
) -> Arrived | Taken | None:
    """Return what happens to the hand next: another card, or its cards are taken up."""
    tracks = {held.track for held in hand.cards}
    for found in later:
        if isinstance(found, Arrived) and _goes_to(found, hand, table):
            return found
        soon = found.at - change.at < TAKING_NS
        if isinstance(found, Taken) and found.track in tracks and soon:
            return found
    return None


def _after_taking(change: ChipsChanged, hand: PlayedHand) -> Meaning:
    at_once = hand.taken_at is not None and change.at - hand.taken_at < TAKING_NS // 2
    if not hand.paid and at_once:
        return Meaning("payment")
    return Meaning("next_round")


def _goes_to(card: Arrived, hand: PlayedHand, table: Table) -> bool:
    if card.lying is None:
        return False
    to = table.destination(card.lying)
    return (to.to, to.hand) == (hand.spot, hand.number)


def _double_or_more(card: Arrived, delta: Cents, hand: PlayedHand, felt: Felt) -> WagerKind:
    across = card.lying is not None and felt.sideways(card.lying.place, hand.spot)
    return "double" if delta > 0 and across else "main"
