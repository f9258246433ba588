"""What a round that is over leaves open by its own record: hands and cards that lack something."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from models.cards import RANKS, Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    PaymentMade,
    PlayerActed,
    Spot,
    WagerKind,
    WagerPlaced,
    WagerRemoved,
)
from models.judgements import Review
from models.places import whose
from settlement.reckoning.accounts import Rival
from settlement.reckoning.asked import Asked, Otherwise
from settlement.reckoning.differing import card_at, face, gone_unseen
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.story import Closed
from settlement.reconcile.questions import read_apart
from settlement.reconcile.sightings import same
from settlement.reconcile.timing import TAKING_NS

_OF_A_HAND: Final = (
    CardDealt,
    CardExposed,
    PaymentMade,
    PlayerActed,
    WagerPlaced,
    WagerRemoved,
)


def of_hands(over: Closed, otherwise: Otherwise, *, shoe: bool) -> Iterator[Asked]:
    """Yield what is asked of hands that were not seen taken up, or that lack a card."""
    record = otherwise.record
    evidence = record[-1].evidence
    for hand in over.hands:
        who = whose(hand.spot, hand.number)
        if not hand.taken_at and hand.paid < 0 and hand.cards and not over.entered:
            what = f"How was {who} settled? Its cards were not seen taken up."
            seqs = tuple(sorted({seq for card in hand.cards for seq in card.seqs} | {*evidence}))
            yield _open(what, seqs, _unpaid(otherwise, hand))
        if hand.owed and not hand.entered_double:
            what = f"Did {who} double or raise? Chips were added, and no card followed."
            yield _open(what, _seqs_of(record, _added(hand, record)), _as(otherwise, hand, "main"))
        if not hand.doubled and _raised(hand, record) and any(card.across for card in hand.cards):
            what = f"Did {who} double or raise? A card lies across the hand, as a double's does."
            seqs = _seqs_of(record, _added(hand, record))
            yield _open(what, seqs, _as(otherwise, hand, "double"))
        if hand.waits_for_second and not shoe:
            what = f"Did {who} get a second card? None was seen."
            yield _open(what, evidence, _second(otherwise, hand))
        paid = record[hand.paid - over.opened] if hand.paid >= over.opened else None
        for card in _went_early(hand, paid) if shoe else ():
            what = f"Was {face(card.card)} of {who} taken up before its hand?"
            yield _open(what, card.seqs, ())


def of_silent_plates(otherwise: Otherwise) -> Iterator[Asked]:
    """Yield whether the bet plates fell silent: the last wagers to be settled all stayed there.

    No dealer leaves several of them lying that are due or lost, and a plate that is cut off
    reports the chips on it no more.
    """
    record = otherwise.record
    paid = [
        (at, fact)
        for at, fact in enumerate(record)
        if isinstance(fact, PaymentMade) and fact.kind == "main"
    ]
    moved = max((at for at, fact in paid if fact.amount), default=-1)
    due = {key: due for key, (_, _, due) in otherwise.stated.hands.items() if due}
    still = {at: fact for at, fact in paid if at > moved and (fact.spot, fact.hand) in due}
    if len(still) < 2:
        return
    settled: list[AnyFact] = list(record)
    for at, fact in still.items():
        settled[at] = replace(fact, amount=due[fact.spot, fact.hand])
    spots = {fact.spot for fact in still.values()}
    what = "Did the bet plates fall silent?"
    about = [one for one in otherwise.mistakes if one[1] in spots]
    seqs = tuple(sorted({seq for fact in still.values() for seq in fact.evidence}))
    rival = otherwise(settled)
    rival.tells = "the bet plates fell silent, and what was due was paid and taken"
    yield Asked(Review(what, (), seqs), rivals=[rival], about=about)


def _unpaid(otherwise: Otherwise, hand: Hand) -> list[Rival]:
    """Return that a hand was left alone, or paid what was due, and nobody saw it."""
    _, _, due = otherwise.stated.hands.get((hand.spot, hand.number), (0, "", None))
    record = otherwise.record
    at = len(record) - 1
    amounts = dict.fromkeys([0, *([] if due is None else [due])])
    return [
        otherwise.with_more(
            at, PaymentMade(at=record[at].at, spot=hand.spot, hand=hand.number, amount=amount)
        )
        for amount in amounts
    ]


def _added(hand: Hand, record: Sequence[AnyFact]) -> list[int]:
    """Return where chips were added to a hand's wager after its first card."""
    return [
        at
        for at, fact in enumerate(record if hand.cards else ())
        if isinstance(fact, WagerPlaced)
        and fact.kind in ("main", "double")
        and (fact.spot, fact.hand or 0) == (hand.spot, hand.number)
        and (fact.at or 0) > hand.cards[0].at
    ]


def _as(otherwise: Otherwise, hand: Hand, kind: WagerKind) -> list[Rival]:
    """Return that chips which were added to a hand were of another kind."""
    found = []
    for at in _added(hand, otherwise.record):
        fact = otherwise.record[at]
        assert isinstance(fact, WagerPlaced)
        if fact.kind != kind:
            found.append(otherwise.with_fact(at, replace(fact, kind=kind)))
    return found[-1:]


def _second(otherwise: Otherwise, hand: Hand) -> list[Rival]:
    """Return that a hand got a card which nobody saw."""
    record = otherwise.record
    own = [
        at
        for at, fact in enumerate(record)
        if isinstance(fact, CardDealt | PlayerActed)
        and (fact.to if isinstance(fact, CardDealt) else fact.spot) == hand.spot
    ]
    if not own:
        return []
    card = CardDealt(at=record[own[-1]].at, to=hand.spot, hand=hand.number, card=None, face="up")
    return [otherwise.with_more(own[-1] + 1, card)]


def _seqs_of(record: Sequence[AnyFact], places: Iterable[int]) -> tuple[int, ...]:
    seqs = {seq for at in places for seq in record[at].evidence}
    return tuple(sorted(seqs)) or record[-1].evidence


def _raised(hand: Hand, record: Sequence[AnyFact]) -> bool:
    """Return whether chips were added to a hand's wager after its first card."""
    added = (record[at] for at in _added(hand, record))
    return any(isinstance(fact, WagerPlaced) and fact.kind == "main" for fact in added)


def _open(what: str, evidence: tuple[int, ...], rivals: Sequence[Rival]) -> Asked:
    return Asked(Review(what, (), evidence), rivals=rivals)


def _went_early(hand: Hand, paid: AnyFact | None) -> Iterator[InPlay]:
    """Yield the cards that were taken up well before their hand was, and before it was ``paid``.

    Half of a pair goes from its place as it is laid apart. What is seen to lie on after a payment
    is a card that the camera saw go late, or none.
    """
    settled = hand.taken_at
    if paid is not None and paid.at is not None:
        settled = min(settled, paid.at)
    for number, card in enumerate(hand.cards):
        second = hand.cards[1].at if len(hand.cards) > 1 else settled
        laid_apart = hand.of_split and number == 0 and card.gone_at <= second
        if 0 < card.gone_at < settled - TAKING_NS and not laid_apart:
            yield card


def of_another_face(over: Closed, otherwise: Otherwise, asked: Sequence[Review]) -> Iterator[Asked]:
    """Yield whose card was stated by the shoe, and then turned up as another one.

    However sure the cameras are: the shoe misreads cards more often than a dealer exchanges one.
    """
    record = otherwise.record
    exchanged = [one for one in otherwise.mistakes if one[0] == "foreign_card"]
    for card in over.cards:
        if min(card.dealt, card.shown) < over.opened:
            continue
        at = card.dealt - over.opened
        dealt, shown = record[at], record[card.shown - over.opened]
        if not isinstance(dealt, CardDealt) or not isinstance(shown, CardExposed):
            continue
        if dealt.card is None or shown.card is None or same(dealt.card, shown.card):
            continue
        if not any(one.evidence == card.seqs for one in asked):
            what = read_apart(card_at(record, at), str(dealt.card), str(shown.card))
            review = Review(what, (str(dealt.card), str(shown.card)), card.seqs)
            yield Asked(review, about=exchanged)


def halves(over: Closed, otherwise: Otherwise) -> Iterator[Asked]:
    """Yield which face the shoe read once and the camera saw once, each of another card.

    Two errors and like faces are rarer than one card that was seen late, after it was placed.
    """
    for read in over.cards:
        if not read.announced or read.where != "unseen" or read.card is None:
            continue
        for seen in over.cards:
            if not seen.announced and seen.where != "unseen" and seen.card == read.card:
                what = f"Did {read.card} come once or twice? It left the shoe once."
                review = Review(what, (), (*read.seqs, *seen.seqs))
                once = [
                    otherwise.without(card.dealt - over.opened)
                    for card in (read, seen)
                    if card.dealt >= over.opened
                ]
                yield Asked(review, rivals=once)


def lacking(card: InPlay, name: str) -> str | None:
    """Ask what a card of the shoe lacks, that one sensor or neither reported."""
    if card.face == "up" and (card.card is None or not card.card.suited):
        return f"Which card is {name}? Neither the shoe nor the camera read it."
    if card.announced and card.where == "unseen":
        return gone_unseen(card.card)
    if not card.announced and card.face == "up":
        return f"Did {card.card} leave the shoe? It lies on the felt, and the shoe did not read it."
    return None


def drawn_unseen(otherwise: Otherwise) -> list[Rival]:
    """Return by each rank that the dealer drew a card after his last one."""
    record = otherwise.record
    own = [
        at
        for at, fact in enumerate(record)
        if isinstance(fact, CardDealt | CardExposed) and fact.to == "dealer"
    ]
    if not own:
        return []
    found = []
    for rank in RANKS:
        card = CardDealt(at=record[own[-1]].at, to="dealer", card=Card(rank + "?"), face="up")
        rival = otherwise.with_more(own[-1] + 1, card)
        rival.came = card
        found.append(rival)
    return found


def not_acted(otherwise: Otherwise, review: Review) -> list[Rival]:
    """Return that a player did not do what the question is about."""
    record = otherwise.record
    for at, fact in enumerate(record):
        if isinstance(fact, PlayerActed) and fact.evidence and fact.evidence == review.evidence:
            return [otherwise(_unsplit(record, at, fact))]
    return []


def _unsplit(record: Sequence[AnyFact], at: int, act: PlayerActed) -> list[AnyFact]:
    """Return a round without an act; after a split, with the cards in the one hand again."""
    left = [*record[:at], *record[at + 1 :]]
    if act.action != "split":
        return left
    later = [fact for fact in record[:at] if _is_split(fact, act.spot)]
    new = len(later) + 1
    return [*left[:at], *(_of_one_hand(fact, act, new) for fact in left[at:])]


def _is_split(fact: AnyFact, spot: Spot) -> bool:
    return isinstance(fact, PlayerActed) and fact.action == "split" and fact.spot == spot


def _of_one_hand(fact: AnyFact, act: PlayerActed, new: int) -> AnyFact:
    """Return a fact as it is where the ``new`` hand of a split is part of the hand it came from."""
    spot = fact.to if isinstance(fact, CardDealt | CardExposed) else getattr(fact, "spot", None)
    if spot != act.spot or not isinstance(fact, _OF_A_HAND) or (fact.hand or 0) < new:
        return fact
    return replace(fact, hand=act.hand if fact.hand == new else (fact.hand or 0) - 1)
