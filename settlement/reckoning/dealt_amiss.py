"""Mistakes of dealing that may be none: cards not timed, not placed, or stated late."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cmp_to_key, partial
from typing import Final

from msgspec.structs import replace

from models.events import AnyFact, CardBurned, CardDealt, CardExposed, Face, PaymentMade, Spot
from models.judgements import Review
from settlement.reckoning.accounts import Rival
from settlement.reckoning.asked import Asked, Mistaken, Otherwise
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.story import Closed
from settlement.reconcile.felt import Felt
from settlement.reconcile.sightings import Place

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

_OF_SIDES: Final = frozenset({"deal_face", "hole_card_exposed"})
"""Those of them that are about the side a card showed."""

_MOVABLE: Final = (CardDealt, CardExposed, PaymentMade)
"""Facts that a camera may have seen at another time than they happened."""

_FAR: Final = 8
_MOST_MOVES: Final = 40
"""A card is looked for so many facts away, in so many ways: each settles the round once more."""


def untimed(otherwise: Otherwise, over: Closed) -> Iterator[Asked]:
    """Ask about a mistake of dealing that rests on a card which no sensor timed, or placed.

    Where a shoe tells when the cards left it, that is one of which it did not tell. A card that
    nobody saw on the felt may have gone to anybody.
    """
    record = otherwise.record
    by_shoe = any(card.clocked for card in over.cards)
    not_timed = [card for card in over.cards if not card.timed or (by_shoe and not card.clocked)]
    unplaced = [card for card in over.cards if card.where == "unseen"]
    # A back that no camera saw turned up may be a sighting of nothing, beside a card nobody saw.
    backs = [card for card in over.cards if card.face == "down" or _turned_elsewhere(card)]
    # So may a sighting at the rack be, by which a card was burned as the round went on.
    burned = _burned_in_play(record)
    for code, spot in otherwise.mistakes:
        if code not in _OF_DEALING:
            continue
        beside = {"dealer"} if spot is None else {spot - 1, spot, spot + 1}
        doubted = unplaced + [card for card in not_timed if card.to in beside]
        doubted += backs if code == "deal_face" else []
        seqs = burned | {seq for card in doubted for seq in card.seqs}
        if seqs:
            what = "Did a sensor miss or misread a card, or see it late?"
            review = Review(what, (), tuple(sorted(seqs.union(record[-1].evidence))))
            places = {card.dealt - over.opened for card in doubted if card.dealt >= over.opened}
            rival = in_order(otherwise, (code, spot), sorted(places))
            yield Asked(review, rivals=rival, about=[(code, spot)])


def dealt_sooner(otherwise: Otherwise, laid: list[AnyFact], *, none_held: bool) -> Iterator[Asked]:
    """Ask about a mistake that is none where each card is taken in when it may have been dealt.

    A card that was hidden for long is stated after others that were dealt later. And where an arm
    hid several, one is timed as it comes into view; of another, seen after it, the camera tells how
    long it lay there.

    Args:
        otherwise: settles the round.
        laid: the round by where the cards lie, as :func:`as_laid` returns it.
        none_held: whether the likeliest story holds no mistake: then one of whose turn it was is
            asked about too, as of a card that came in its turn and was hidden.
    """
    told = list(otherwise.record)
    ways = [facts for facts in (in_time(told), _as_seen(told), laid) if facts != told]
    others = [otherwise.mistakes_of(facts) for facts in ways]
    for one in otherwise.mistakes if others or none_held else ():
        in_turn = [facts for facts, held in zip(ways, others, strict=True) if one not in held]
        if in_turn or (none_held and one[0] in _OF_DEALING):
            review = Review("Was a card dealt sooner than it was seen?", (), told[-1].evidence)
            places = _dealt(told) if not in_turn else []
            rivals = [otherwise(facts) for facts in in_turn] or in_order(otherwise, one, places)
            yield Asked(review, rivals=rivals, about=[one])


def in_order(otherwise: Otherwise, mistake: Mistaken, places: Iterable[int]) -> list[Rival]:
    """Return the round with one of some facts at another time, or a card on its other side.

    The nearest by which the mistake is none, and all else settles as it does. A payment may be none
    of this round.
    """
    told = list(otherwise.record)
    own = [at for at in places if isinstance(told[at], _MOVABLE)]
    moves = sorted(
        (abs(to - at), at, to)
        for at in own
        for to, fact in enumerate(told)
        if isinstance(fact, CardDealt | type(told[at])) and 0 < abs(to - at) <= _FAR
    )
    dealt = [at for at in own if isinstance(told[at], CardDealt)]
    ways = [_turned_over(told, at) for at in dealt if mistake[0] in _OF_SIDES]
    ways += [_moved(told, at, to) for _, at, to in moves[:_MOST_MOVES]]
    ways += [[*told[:at], *told[at + 1 :]] for at in own if isinstance(told[at], PaymentMade)]
    for facts in ways:
        rival = otherwise(facts)
        same = rival.outcome.money == otherwise.stated.money
        more = rival.outcome.mistakes - otherwise.stated.mistakes
        if same and not more and mistake not in otherwise.mistakes_of(facts):
            return [rival]
    return []


def _dealt(told: Sequence[AnyFact]) -> list[int]:
    return [at for at, fact in enumerate(told) if isinstance(fact, CardDealt)]


def _moved(told: Sequence[AnyFact], at: int, to: int) -> list[AnyFact]:
    """Return facts with the one at a place dealt where another one was."""
    left = [*told[:at], *told[at + 1 :]]
    return [*left[:to], replace(told[at], at=told[to].at), *left[to:]]


def _turned_over(told: Sequence[AnyFact], at: int) -> list[AnyFact]:
    """Return facts with a card dealt on its other side."""
    fact = told[at]
    assert isinstance(fact, CardDealt)
    side: Face = "down" if fact.face == "up" else "up"
    return [*told[:at], replace(fact, face=side), *told[at + 1 :]]


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
