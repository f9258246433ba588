"""The cards and hands of the round in play, by one story of it."""

from typing import Final, Literal, TypeAlias

from models.cards import Card
from models.events import Dealt, Face, Spot
from settlement.reconcile.cameras import Witnesses
from settlement.reconcile.identity import READ_AS_P, SHOE_MISREAD_P
from settlement.reconcile.looks import Reading, meant_by
from settlement.reconcile.sightings import Place, Track
from settlement.reconcile.timing import SECOND, TAKING_NS

Where: TypeAlias = Literal["felt", "off", "unseen"]

KNOWN_P: Final = 0.98
"""From this on a face is stated."""


class InPlay:
    """One card of the round in play."""

    def __init__(self, ident: int, to: Dealt, number: int, face: Face, at: int) -> None:
        self.ident, self.to, self.number, self.face, self.at = ident, to, number, face, at
        self.shoe_card: Card | None = None
        """What the shoe read it as."""
        self.announced = False
        """Whether the shoe's reader counted it."""
        self.clocked = False
        """Whether the shoe's reader reported when it left the shoe."""
        self.carried = False
        """Whether it was laid to somebody else."""
        self.where: Where = "unseen"
        self.tracks: tuple[Track, ...] = ()
        self.attested: tuple[Witnesses, ...] = ()
        """Which cameras saw it since it came to lie there, by each of its tracks that ended."""
        self.place: Place | None = None
        self.dealt_place: Place | None = None
        self.across = False
        """Whether it was dealt across its hand, as a double's card is."""
        self.rested_at = at
        self.seen_at = 0
        """When it was first seen; 0 where it was not."""
        self.gone_at = 0
        self.reading: Reading | None = None
        self.tucked = False
        self.dealt = -1
        """Place of its ``card_dealt`` in the record."""
        self.shown = -1
        """Place of its ``card_exposed`` in the record."""
        self.turned_in_place = False
        """Whether a camera saw the card itself turned up, and not a face beside where it lay."""
        self.as_face = False
        """Whether its back was read as some face, and not surely."""
        self.seqs: tuple[int, ...] = ()
        self.by_course: Card | None = None
        """Its face by the round's course, where the shoe and the camera read different ones."""
        self._of: tuple[Card | None, Reading | None] | None = None
        """What ``_card`` was worked out from."""
        self._card: Card | None = None
        self.sure: float | None = None
        """The probability of its stated face, where that leaves a doubt …"""
        self.sure_of: tuple[Card | None, Card | None, object] | None = None
        """… by that face, the shoe's and the camera's looks."""

    def copy(self) -> "InPlay":
        """Return a copy for another story."""
        other = InPlay(self.ident, self.to, self.number, self.face, self.at)
        other.carried, other.across = self.carried, self.across
        other.shoe_card, other.announced = self.shoe_card, self.announced
        other.clocked, other.turned_in_place = self.clocked, self.turned_in_place
        other.where, other.tracks, other.place = self.where, self.tracks, self.place
        other.dealt_place, other.rested_at = self.dealt_place, self.rested_at
        other.seen_at, other.attested = self.seen_at, self.attested
        other.as_face = self.as_face
        other.gone_at, other.reading, other.tucked = self.gone_at, self.reading, self.tucked
        other.dealt, other.shown, other.seqs = self.dealt, self.shown, self.seqs
        other._of, other._card, other.by_course = self._of, self._card, self.by_course
        other.sure, other.sure_of = self.sure, self.sure_of
        return other

    @property
    def card(self) -> Card | None:
        """The face, where it is known; where shoe and camera differ, the likelier one."""
        if self.by_course is not None:
            return self.by_course
        if self._of is None or self._of[0] is not self.shoe_card or self._of[1] is not self.reading:
            self._of = (self.shoe_card, self.reading)
            self._card = self._likeliest_face()
        return self._card

    def _likeliest_face(self) -> Card | None:
        if self.reading is None:
            return self.shoe_card
        face, p = self.reading.listed[0]
        if self.shoe_card is None:
            return face if p >= KNOWN_P else _rank_of(self.reading)
        by_shoe = (1.0 - SHOE_MISREAD_P) * self.reading.p(self.shoe_card)
        return self.shoe_card if by_shoe >= READ_AS_P * p else face

    @property
    def timed(self) -> bool:
        """Whether a sensor reported when it was dealt: its shoe, or a camera at once."""
        if self.clocked and not self.disputed:
            return True
        return 0 <= self.seen_at - self.at <= SECOND

    def otherwise(self) -> tuple[Card, float] | None:
        """Return what the less believed sensor reads a disputed card as, and its odds."""
        if not self.disputed or self.shoe_card is None or self.reading is None:
            return None
        face, p = self.reading.listed[0]
        odds = READ_AS_P * p / ((1.0 - SHOE_MISREAD_P) * self.reading.p(self.shoe_card))
        return (face, odds) if self.card is self.shoe_card else (self.shoe_card, 1.0 / odds)

    @property
    def disputed(self) -> bool:
        """Whether the shoe and the camera read different faces."""
        if self.shoe_card is None or self.reading is None:
            return False
        return self.reading.likeliest not in meant_by(self.shoe_card)


def _rank_of(reading: Reading) -> Card | None:
    """Return the rank that looks agree on where they leave the suit open; money needs no suit."""
    rank = Card(f"{reading.likeliest.rank}?")
    return rank if reading.p(rank) >= KNOWN_P else None


class Hand:
    """One hand of a spot."""

    def __init__(self, spot: Spot, number: int) -> None:
        self.spot, self.number = spot, number
        self.cards: list[InPlay] = []
        self.of_split = False
        self.split_from = number
        """The hand of which it was split."""
        self.split_at = 0
        """When it was last split; 0 where it was not."""
        self.over = False
        """Surrendered or paid even money."""
        self.over_at = 0
        """When that was entered."""
        self.off = False
        """Whether the floor called it off, or its round: its wagers go back."""
        self.doubled = False
        self.doubled_unread = False
        """Whether its faces were not known as it doubled."""
        self.owed = False
        """Doubled, and its card has not come."""
        self.passed_over = False
        """Whether another hand got a card while one was owed to it."""
        self.entered_double = False
        """Whether a person entered that it doubles, and no chips were seen yet."""
        self.stood_at = 0
        """When its cards were first seen tucked; 0 where they were not."""
        self.paid = -1
        """Place of its payment in the record."""
        self.left_alone = False
        """Whether its chips went after the round, and its cards were not seen to go yet."""
        self.taken_at = 0
        self.seen_through = False
        """Whether it is weighed which of its cards nobody saw: none is to be seen any more."""

    def copy(self) -> "Hand":
        """Return a copy for another story."""
        other = Hand(self.spot, self.number)
        other.cards = [card.copy() for card in self.cards]
        other.of_split, other.over, other.doubled = self.of_split, self.over, self.doubled
        other.off = self.off
        other.split_from, other.split_at = self.split_from, self.split_at
        other.passed_over, other.over_at = self.passed_over, self.over_at
        other.entered_double, other.doubled_unread = self.entered_double, self.doubled_unread
        other.owed, other.stood_at = self.owed, self.stood_at
        other.paid, other.taken_at = self.paid, self.taken_at
        other.seen_through, other.left_alone = self.seen_through, self.left_alone
        return other

    @property
    def faces(self) -> tuple[Card | None, ...]:
        """The cards, unknown ones included."""
        return tuple(card.card for card in self.cards)

    @property
    def stood(self) -> bool:
        """Whether its player tucked his cards."""
        return self.stood_at > 0

    def went_early(self, paid_at: int | None) -> list[InPlay]:
        """Return the cards that were taken up well before it was, and before it was paid.

        Half of a pair goes from its place as it is laid apart. What is seen to lie on after a
        payment is a card that the camera saw go late, or none.
        """
        settled = self.taken_at if paid_at is None else min(self.taken_at, paid_at)
        second = self.cards[1].at if len(self.cards) > 1 else settled
        return [
            card
            for number, card in enumerate(self.cards)
            if 0 < card.gone_at < settled - TAKING_NS
            and not (self.of_split and number == 0 and card.gone_at <= second)
        ]

    @property
    def is_pair(self) -> bool:
        """Whether it is two cards of one rank, known to be."""
        if len(self.cards) != 2:
            return False
        one, other = self.faces
        return one is not None and other is not None and one.rank == other.rank

    @property
    def lies(self) -> bool:
        """Whether cards of it lie on the felt."""
        return any(card.where == "felt" for card in self.cards)

    @property
    def waits_for_second(self) -> bool:
        """Whether it is half of a pair that was split, and its second card has not come."""
        return self.of_split and len(self.cards) == 1

    @property
    def ended(self) -> bool:
        """Whether its player stood or gave it up, or it is settled."""
        return self.stood or self.over or self.off or self.paid >= 0 or self.taken_at > 0
