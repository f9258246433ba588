"""Mistakes of dealing that may be none: cards not timed, not placed, or stated late."""

from collections.abc import Iterator, Sequence
from functools import cmp_to_key, partial
from typing import Final

from msgspec.structs import replace

from models.events import AnyFact, CardBurned, CardDealt, Spot
from models.judgements import Review
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.story import Closed
from settlement.reconcile.felt import Felt
from settlement.reconcile.sightings import Place
from settlement.reconcile.weighing import Weighing

_OF_DEALING: Final = frozenset(
    {
        "deal_face",
        "deal_order",
        "hole_card_exposed",
        "player_turn_order",
        "split_hand_order",
        "spot_skipped",
    }
)
"""Mistakes of whose turn it was, and of which side a card showed: one that nobody timed, or saw,
looks like one."""


def untimed(weighing: Weighing, over: Closed, record: Sequence[AnyFact]) -> Iterator[Review]:
    """Ask about a mistake of dealing that rests on a card which no sensor timed, or placed.

    Where a shoe tells when the cards left it, that is one of which it did not tell. A card that
    nobody saw on the felt may have gone to anybody.
    """
    by_shoe = any(card.clocked for card in over.cards)
    not_timed = [card for card in over.cards if not card.timed or (by_shoe and not card.clocked)]
    unplaced = [card for card in over.cards if card.where == "unseen"]
    # A back that no camera saw turned up may be a sighting of nothing, beside a card nobody saw.
    backs = [card for card in over.cards if card.face == "down" or _turned_elsewhere(card)]
    # So may a sighting at the rack be, by which a card was burned as the round went on.
    burned = _burned_in_play(record)
    for code, spot in weighing.mistakes(record):
        if code not in _OF_DEALING:
            continue
        beside = {"dealer"} if spot is None else {spot - 1, spot, spot + 1}
        doubted = unplaced + [card for card in not_timed if card.to in beside]
        doubted += backs if code == "deal_face" else []
        seqs = burned | {seq for card in doubted for seq in card.seqs}
        if seqs:
            what = f"{_named(code, spot)} may be a card that a sensor missed, misread or saw late"
            yield Review(what, (), tuple(sorted(seqs.union(record[-1].evidence))))


def dealt_sooner(
    weighing: Weighing, record: Sequence[AnyFact], laid: list[AnyFact], *, none_held: bool
) -> Iterator[Review]:
    """Ask about a mistake that is none where each card is taken in when it may have been dealt.

    A card that was hidden for long is stated after others that were dealt later. And where an arm
    hid several, one is timed as it comes into view; of another, seen after it, the camera tells how
    long it lay there.

    Args:
        weighing: settles the round.
        record: the round as it is stated.
        laid: the same by where the cards lie, as :func:`as_laid` returns it.
        none_held: whether the likeliest story holds no mistake: then one of whose turn it was is
            asked about too, as of a card that came in its turn and was hidden.
    """
    told = list(record)
    ways = (in_time(told), _as_seen(told), laid)
    others = [weighing.mistakes(facts) for facts in ways if facts != told]
    for code, spot in weighing.mistakes(record) if others or none_held else ():
        in_turn = any((code, spot) not in mistakes for mistakes in others)
        if in_turn or (none_held and code in _OF_DEALING):
            what = f"{_named(code, spot)} may be a card that was dealt sooner than it was seen"
            yield Review(what, (), record[-1].evidence)


def _as_seen(record: Sequence[AnyFact]) -> list[AnyFact]:
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


def _turned_elsewhere(card: InPlay) -> bool:
    """Return whether a card showed its face elsewhere than its back was seen."""
    return card.shown >= 0 and not card.turned_in_place


def _burned_in_play(record: Sequence[AnyFact]) -> set[int]:
    """Return what tells that cards were burned after the first one was dealt."""
    found: set[int] = set()
    begun = False
    for fact in record:
        begun |= isinstance(fact, CardDealt)
        if begun and isinstance(fact, CardBurned):
            found.update(fact.evidence)
    return found


def _named(code: str, spot: int | None) -> str:
    return code if spot is None else f"{code} at spot {spot}"
