"""What a card that no camera saw would explain: a mistake, or a hand settled too soon."""

from collections.abc import Iterator, Sequence
from math import exp, log
from typing import Final

from msgspec.structs import replace

from models.cards import RANKS, Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CutCardReached,
    Dealt,
    PaymentMade,
    PlayerActed,
    Spot,
    WagerRemoved,
)
from models.judgements import Sense
from settlement.hands import natural
from settlement.reckoning.accounts import Rival
from settlement.reckoning.odds import HIT, MISSED_FACE, MISTAKE, SHOE_MISSED, hidden_for, hits
from settlement.reconcile.weighing import Outcome, Weighing

_UNHURRIED: Final = 1.2
"""Two acts at the table that lie no further apart than so many steps of a deal have no card between
them. Chosen: a simulated dealer who draws takes 2.0 to 2.4 steps, one who stands 0.8."""

_UNHURRIED_PAID: Final = 1.7
"""The same to a payment. Chosen: of a simulated dealer who stands it comes after 1.3 to 1.5."""


def with_a_card_more(
    weighing: Weighing,
    record: Sequence[AnyFact],
    stated: Outcome,
    pace_ns: int,
    cameras: int,
    *,
    by_shoe: bool,
) -> Iterator[tuple[Dealt, list[Rival]]]:
    """Yield of the dealer and of each hand that a mistake is about what else would have happened.

    Beside a shoe a card that was due and did not come is not weighed: a dealer forgets one more
    often than both sensors miss it. A player who draws has a choice.

    Args:
        weighing: settles the accounts.
        record: the round as it is stated.
        stated: what that settles to.
        pace_ns: from one card of a deal to the next, 0 where it is not known.
        cameras: how many saw the table; each of them missed the card.
        by_shoe: whether a shoe read the round's cards, and missed this one, too.
    """
    if not stated.mistakes:
        return
    unseen = MISSED_FACE**cameras * (SHOE_MISSED if by_shoe else 1.0)
    holds = {fact.to for fact in record if isinstance(fact, CardDealt)}
    whose: list[tuple[Dealt, int]] = [("dealer", 0)]
    whose += sorted(
        {
            (spot, hand or 0)
            for code, spot, hand in stated.mistakes
            if spot in holds and not (by_shoe and code == "missing_card")
        }
    )
    for to, hand in whose:
        taken = _taken_back(record, to, hand)
        if taken is not None:
            # As likely the dealer took it: the card that nobody saw broke the hand.
            at, paid = taken
            facts = [*record[:at], paid, *record[at + 1 :]]
            yield to, _with(weighing, facts, stated, (to, hand, at - 1), unseen)
            continue
        last = _last(record, to, hand) if to == "dealer" else _turn_ends(record, to)
        if last is not None and _has_time(record, last, pace_ns):
            yield to, _with(weighing, record, stated, (to, hand, last), unseen)


def broken_unseen(
    weighing: Weighing, record: Sequence[AnyFact], stated: Outcome, seen_ns: int, cameras: int
) -> tuple[Spot, list[Rival]] | None:
    """Return whose hand a card that nobody saw broke, by each rank that breaks it.

    A wager that goes before the dealer's card is seen turned up is stated as lost to his hand: an
    arm hid that card. An arm seldom does so for long.

    Args:
        weighing: settles the accounts.
        record: the round as it is stated.
        stated: what that settles to.
        seen_ns: how long after the dealer settled his turned card was seen.
        cameras: how many saw the table; each of them missed the card that broke the hand.
    """
    shown = (at for at, f in enumerate(record) if isinstance(f, CardExposed) and f.to == "dealer")
    turned = next(shown, None)
    if turned is None:
        return None
    seen_at = (record[turned].at or 0) + seen_ns
    early = [at for at, fact in enumerate(record) if at > turned and _takes(fact, before=seen_at)]
    if len(early) != 1:
        return None
    paid = record[early[0]]
    assert isinstance(paid, PaymentMade)
    after = [fact for at, fact in enumerate(record) if at > turned and at != early[0]]
    odds = MISSED_FACE**cameras * HIT / len(RANKS) / exp(hidden_for(seen_ns))
    rivals = []
    for rank in RANKS:
        came = CardDealt(
            at=record[turned].at, to=paid.spot, hand=paid.hand, card=Card(rank + "?"), face="up"
        )
        seen = replace(record[turned], at=seen_at)
        facts = [*record[:turned], came, paid, seen, *after]
        outcome = weighing.outcome(facts, record)
        _, ended, _ = outcome.hands.get((paid.spot, paid.hand or 0), (0, "", None))
        if ended == "bust" and outcome.mistakes <= stated.mistakes:
            rival = Rival(odds, facts, outcome, {"camera": log(odds)})
            rival.came = came
            rivals.append(rival)
    return paid.spot, rivals


def _takes(fact: AnyFact, *, before: int) -> bool:
    """Return whether a wager was lost by a payment, before a time."""
    is_loss = isinstance(fact, PaymentMade) and fact.kind == "main" and fact.amount < 0
    return is_loss and (fact.at or 0) < before


def _with(
    weighing: Weighing,
    record: Sequence[AnyFact],
    stated: Outcome,
    place: tuple[Dealt, int, int],
    unseen: float,
) -> list[Rival]:
    """Return what would have happened by each rank of one more card, dealt at a place."""
    to, hand, at = place
    after = record[at].at or 0
    came = unseen / len(RANKS)
    if to != "dealer":
        drew = hits(_faces(record, to, hand))
        came *= drew / (1.0 - drew)
    rivals = []
    for rank in RANKS:
        card = CardDealt(at=after + 1, to=to, hand=hand, card=Card(rank + "?"), face="up")
        facts = [*record[: at + 1], card, *record[at + 1 :]]
        outcome = weighing.outcome(facts, record)
        rival = _rival(facts, outcome, stated, came)
        rival.came = card
        rivals.append(rival)
    return rivals


def _taken_back(record: Sequence[AnyFact], to: Dealt, hand: int) -> tuple[int, PaymentMade] | None:
    """Return where a player takes his wager back, and that as taken by the dealer."""
    for at, fact in enumerate(record):
        if not isinstance(fact, WagerRemoved) or fact.kind != "main":
            continue
        if (fact.spot, fact.hand) == (to, hand):
            taken = -(fact.amount or 0)
            return at, PaymentMade(at=fact.at, spot=fact.spot, hand=hand, kind="main", amount=taken)
    return None


def _faces(record: Sequence[AnyFact], to: Dealt, hand: int) -> tuple[Card | None, ...]:
    """Return the cards of a hand as they were dealt, or were turned up since."""
    own = [f for f in record if isinstance(f, CardDealt | CardExposed)]
    own = [f for f in own if (f.to, f.hand) == (to, hand)]
    shown = [f.card for f in own if isinstance(f, CardExposed)]
    dealt = [f.card for f in own if isinstance(f, CardDealt)]
    known = [card for card in dealt if card is not None]
    unread = dealt.count(None)
    return (*known, *shown[:unread], *(None,) * (unread - len(shown)))


def _rival(facts: list[AnyFact], outcome: Outcome, stated: Outcome, came: float) -> Rival:
    sense: Sense = "camera"
    odds = came * MISTAKE ** (_kinds(outcome) - _kinds(stated))
    return Rival(odds, facts, outcome, {sense: log(came)})


def _kinds(outcome: Outcome) -> int:
    return len({code for code, _, _ in outcome.mistakes})


def _last(record: Sequence[AnyFact], to: Dealt, hand: int) -> int | None:
    """Return the place of the last card dealt to somebody, or turned up of his."""
    own = [
        at
        for at, fact in enumerate(record)
        if isinstance(fact, CardDealt | CardExposed) and (fact.to, fact.hand) == (to, hand)
    ]
    return own[-1] if own else None


def _turn_ends(record: Sequence[AnyFact], spot: Spot) -> int | None:
    """Return the place of the last fact before the play of the spots after one, or the dealer's.

    The initial deal ends with the dealer's second card. A natural is turned up at once.
    """
    dealt = [at for at, f in enumerate(record) if isinstance(f, CardDealt) and f.to == "dealer"]
    if len(dealt) < 2:
        return None
    for at, fact in enumerate(record[dealt[1] + 1 :], dealt[1] + 1):
        if isinstance(fact, CardExposed) and natural(_shown(record, fact.to)):
            continue
        if isinstance(fact, CardDealt | CardExposed) and (fact.to == "dealer" or fact.to > spot):
            return at - 1
        # Even money is taken before every turn.
        if isinstance(fact, PlayerActed) and fact.spot > spot and fact.action != "even_money":
            return at - 1
    return None


def _shown(record: Sequence[AnyFact], to: Dealt) -> tuple[Card | None, ...]:
    """Return the first two cards that somebody turned up."""
    return tuple([f.card for f in record if isinstance(f, CardExposed) and f.to == to][:2])


def _has_time(record: Sequence[AnyFact], at: int, pace_ns: int) -> bool:
    """Return whether a card could come before the next thing that the dealer or a player did."""
    now = record[at].at or 0
    for fact in record[at + 1 :]:
        if isinstance(fact, CutCardReached) or fact.at is None or fact.at <= now:
            continue
        steps = _UNHURRIED_PAID if isinstance(fact, PaymentMade) else _UNHURRIED
        return not pace_ns or fact.at - now > steps * pace_ns
    return True
