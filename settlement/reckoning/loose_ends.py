"""What a round that is over leaves open by its own record: hands and cards that lack something."""

from collections.abc import Iterator, Sequence
from typing import Final

from models.events import AnyFact, CardDealt, CardExposed, WagerPlaced
from models.judgements import Account, Review
from models.places import spot_hand
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.story import Closed
from settlement.reconcile.faces import card_name
from settlement.reconcile.sightings import same
from settlement.reconcile.timing import TAKING_NS

_SECOND: Final = ("dealt unseen", "not dealt")
_ADDED: Final = ("doubled, and no card was dealt", "raised after the deal")
"""What chips added to two cards may mean where no card follows."""


class Asked:
    """What a person is asked of a round, and whether the round settles alike all the same."""

    def __init__(
        self, review: Review, *, settles_alike: bool, accounts: tuple[Account, ...] = ()
    ) -> None:
        self.review, self.settles_alike = review, settles_alike
        self.accounts = accounts
        """The accounts between which the question is."""


def of_hands(over: Closed, record: Sequence[AnyFact], *, shoe: bool) -> Iterator[Asked]:
    """Yield what is asked of hands that were not seen taken up, or that lack a card."""
    evidence = record[-1].evidence
    for hand in over.hands:
        if not hand.taken_at and hand.paid < 0 and hand.cards and not over.entered:
            what = f"the cards of {spot_hand(hand.spot, hand.number)} were not seen taken up"
            yield _open(what, ("left alone", "paid unseen"), evidence)
        if hand.owed and not hand.entered_double:
            what = f"chips were added to spot {hand.spot}, and no card followed"
            yield _open(what, _ADDED, evidence)
        if not hand.doubled and _raised(hand, record) and any(card.across for card in hand.cards):
            whose = spot_hand(hand.spot, hand.number)
            what = f"chips were added to {whose}, and a card lies across it, as a double's does"
            yield _open(what, ("a double", "a raise"), evidence)
        if hand.waits_for_second and not shoe:
            what = f"no second card of {spot_hand(hand.spot, hand.number)} was seen"
            yield _open(what, _SECOND, evidence)
        paid = record[hand.paid - over.opened] if hand.paid >= over.opened else None
        for card in _went_early(hand, paid) if shoe else ():
            what = f"{card_name(card.card)} of spot {hand.spot} was taken up before its hand"
            yield _open(what, ("put back", "hidden"), card.seqs)


def _raised(hand: Hand, record: Sequence[AnyFact]) -> bool:
    """Return whether chips were added to a hand's wager after its first card."""
    return any(
        isinstance(fact, WagerPlaced)
        and fact.kind == "main"
        and (fact.spot, fact.hand or 0) == (hand.spot, hand.number)
        and (fact.at or 0) > hand.cards[0].at
        for fact in (record if hand.cards else ())
    )


def _open(what: str, candidates: tuple[str, ...], evidence: tuple[int, ...]) -> Asked:
    return Asked(Review(what, candidates, evidence), settles_alike=False)


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


def of_another_face(
    over: Closed, record: Sequence[AnyFact], asked: Sequence[str]
) -> Iterator[Asked]:
    """Yield whose card was stated by the shoe, and then turned up as another one.

    However sure the cameras are: the shoe misreads cards more often than a dealer exchanges one.
    """
    for card in over.cards:
        if min(card.dealt, card.shown) < over.opened:
            continue
        dealt, shown = record[card.dealt - over.opened], record[card.shown - over.opened]
        if not isinstance(dealt, CardDealt) or not isinstance(shown, CardExposed):
            continue
        if dealt.card is None or shown.card is None or same(dealt.card, shown.card):
            continue
        what = f"the shoe said {dealt.card}, the camera reads {shown.card}"
        if what not in asked:
            names = (str(dealt.card), str(shown.card))
            yield Asked(Review(what, names, card.seqs), settles_alike=False)


def halves(over: Closed) -> Iterator[Asked]:
    """Yield which face the shoe read once and the camera saw once, each of another card.

    Two errors and like faces are rarer than one card that was seen late, after it was placed.
    """
    for read in over.cards:
        if not read.announced or read.where != "unseen" or read.card is None:
            continue
        for seen in over.cards:
            if not seen.announced and seen.where != "unseen" and seen.card == read.card:
                what = f"{card_name(read.card)} left the shoe once and is counted twice"
                review = Review(what, (), (*read.seqs, *seen.seqs))
                yield Asked(review, settles_alike=False)


def lacking(card: InPlay) -> str | None:
    """Return what a card of the shoe lacks, that one sensor or neither reported."""
    if card.face == "up" and (card.card is None or not card.card.suited):
        return "neither the shoe nor the camera read a card"
    if card.announced and card.where == "unseen":
        return f"{card_name(card.card)} left the shoe and was not seen on the felt"
    if not card.announced and card.face == "up":
        return f"{card_name(card.card)} lies on the felt and never left the shoe"
    return None
