"""The facts of a round in other orders, that the senses speak for as much as for the stated one."""

from collections.abc import Sequence
from functools import cmp_to_key, partial

from msgspec.structs import replace

from models.events import AnyFact, CardDealt, Spot
from settlement.reckoning.story import Closed
from settlement.reconcile.felt import Felt
from settlement.reconcile.sightings import Place


def as_seen(record: Sequence[AnyFact]) -> list[AnyFact]:
    """Return the facts of a round with each card dealt before those that were seen after it."""
    found: list[AnyFact] = []
    for fact in record:
        place = len(found)
        if isinstance(fact, CardDealt) and fact.evidence:
            seen = fact.evidence[0]
            later = (
                at
                for at, other in enumerate(found)
                if isinstance(other, CardDealt) and other.evidence and other.evidence[0] > seen
            )
            place = next(later, place)
        found.insert(place, replace(fact, at=found[place].at) if place < len(found) else fact)
    return found


def as_laid(felt: Felt, over: Closed, record: Sequence[AnyFact]) -> list[AnyFact]:
    """Return the facts of a round with the cards of each hand dealt in the order in which they lie.

    Only cards that no shoe counted, and that were dealt face up: a player lays down those that he
    held in any order.
    """
    found = list(record)
    for hand in over.hands:
        lying = [
            (card.dealt - over.opened, card.dealt_place)
            for card in hand.cards
            if card.dealt >= over.opened and card.dealt_place is not None and not card.announced
        ]
        dealt_up = [(at, place) for at, place in lying if _face_up(record[at])]
        ordered = sorted(dealt_up, key=cmp_to_key(partial(_lies_after, felt, hand.spot)))
        for (at, _), (own, _) in zip(sorted(dealt_up), ordered, strict=True):
            found[at] = replace(record[own], at=record[at].at)
    return found


def _lies_after(felt: Felt, spot: Spot, one: tuple[int, Place], other: tuple[int, Place]) -> int:
    """Return 1 where the first of two cards of a hand lies behind the other, else -1."""
    behind_mm = felt.off_mm(one[1], [other[1]], spot)
    return 1 if behind_mm < felt.off_mm(other[1], [one[1]], spot) else -1


def _face_up(fact: AnyFact) -> bool:
    return isinstance(fact, CardDealt) and fact.face == "up"


def in_time(record: Sequence[AnyFact]) -> list[AnyFact]:
    """Return the facts of a round with each card dealt where it is in time."""
    found: list[AnyFact] = []
    for fact in record:
        place, dealt_at = len(found), fact.at or 0
        while isinstance(fact, CardDealt) and place and (found[place - 1].at or 0) > dealt_at:
            place -= 1
        found.insert(place, fact)
    return found
