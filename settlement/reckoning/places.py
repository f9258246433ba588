"""How likely a card lies just where it is seen, per square millimetre."""

from itertools import pairwise
from math import exp, hypot, log, pi
from typing import Final

from models.events import Dealt
from models.rulebook import Rulebook
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.meaning import Look
from settlement.reckoning.odds import (
    ASTRAY,
    IN_ROW,
    NEAR,
    NEAR_SPREAD_MM,
    NOT_ACROSS,
    OTHER_SIDE,
    PLACE_SPREAD_MM,
    ROW_STEP_MM,
    UNUSUAL,
    ZONE_MM2,
)
from settlement.reckoning.shoe import Claim
from settlement.reckoning.story import Story
from settlement.reconcile.felt import Felt, apart_mm
from settlement.reconcile.sightings import Place

MOST_LIKELY_PLACE: Final = -log(2 * pi * PLACE_SPREAD_MM**2)
"""The logarithm of the density where a card is due most likely, per square millimetre."""


class Places:
    """Where the cards of a felt are due.

    Args:
        felt: the layout that places are of.
        rules: the rulebook in force.
    """

    def __init__(self, felt: Felt, rules: Rulebook) -> None:
        self._felt = felt
        self._hole_first = rules.dealer_first_card == "down"

    def due(
        self,
        story: Story,
        owner: Dealt,
        number: int,
        look: Look,
        *,
        claim: Claim | None = None,
    ) -> float:
        """Return how likely the next card of a hand lies just there.

        A card of the shoe lies behind those that left it before, also where it is seen last; those
        that are on their way may come to lie between.
        """
        if owner == "dealer":
            return self._in_row(story, look, before=None if claim is None else claim.at)
        hand = story.hand(owner, number)
        lies = []
        further = 0 if claim is None else claim.skipped
        draw = None if claim is None else claim.draw
        if hand is not None:
            for card in hand.cards:
                if draw is not None and card.at > draw.at:
                    continue
                further += card.place is None
                place = card.dealt_place if card.tucked or card.where == "off" else card.place
                if place is not None:
                    lies.append(place)
        if not lies:
            return -log(ZONE_MM2)
        off = self._felt.off_mm(look.place, lies, owner, further)
        return _about(off)

    def unseen(self, story: Story, card: InPlay, look: Look) -> float:
        """Return how likely a card that nobody saw yet lies just there: in its turn in its hand."""
        if card.to == "dealer":
            return self._in_row(story, look, card)
        hand = story.hand_of(card)
        if hand is None:
            return -log(ZONE_MM2)
        own = hand.cards.index(card)
        offs = []
        for at, other in enumerate(hand.cards):
            lay = other.place if hand.of_split else other.dealt_place
            if at == own or lay is None:
                continue
            one, later = (look.place, lay) if at > own else (lay, look.place)
            offs.append(
                (abs(at - own), self._felt.off_mm(later, [one], card.to, abs(at - own) - 1))
            )
        return _about(min(offs)[1]) if offs else -log(ZONE_MM2)

    def again(self, story: Story, card: InPlay, look: Look) -> float:
        """Return how likely a card comes into view there: where it was, or in the dealer's row."""
        near = card.dealt_place if card.dealt_place is not None else card.place
        if near is None:
            return -log(ZONE_MM2)
        near_by = spread(apart_mm(near, look.place), PLACE_SPREAD_MM)
        other = self._in_row(story, look, card) if card.to == "dealer" else -log(ZONE_MM2)
        return log(0.5 * exp(near_by) + 0.5 * exp(other))

    def side(self, story: Story, hand: Hand | None, look: Look) -> float:
        """Return how likely a card of a split hand comes into view on that side of the other half.

        A hand that was split again may lie before or behind it.
        """
        if hand is None or not hand.of_split:
            return 0.0
        here = self._felt.rightward_mm(look.place, hand.spot)
        for other in story.hands[hand.spot]:
            halves = hand.number in (other.number, other.split_from)
            if other is hand or not other.cards or not (halves or hand.split_from == other.number):
                continue
            card = other.cards[0]
            lay = card.place if card.where == "felt" else card.dealt_place
            if lay is None:
                continue
            right_mm = here - self._felt.rightward_mm(lay, hand.spot)
            beside = abs(right_mm) > ROW_STEP_MM / 2
            if beside and (right_mm > 0.0) != (hand.number > other.number):
                return log(OTHER_SIDE)
        return 0.0

    def across(self, story: Story, owner: Dealt, number: int, look: Look) -> float:
        """Return how likely a card lies across its hand, or along it."""
        hand = None if owner == "dealer" else story.hand(owner, number)
        if hand is None or owner == "dealer":
            return 0.0
        across = self._felt.sideways(look.place, owner)
        if hand.owed:
            return 0.0 if across else log(NOT_ACROSS)
        return log(UNUSUAL) if across else 0.0

    def gap(self, dealer: list[InPlay]) -> float:
        """Return how much likelier the dealer's row holds a card more, as a logarithm.

        Of every two cards from the turned hole card on, the two that lie furthest apart count.
        """
        row = self._row(dealer)[1:]
        found = 0.0
        for one, other in pairwise(row):
            if one.place is None or other.place is None or "down" in (one.face, other.face):
                continue
            aside, off_row = other.place.x_mm - one.place.x_mm, other.place.y_mm - one.place.y_mm
            with_one, without = (
                _beside(hypot(aside - steps * ROW_STEP_MM, off_row)) for steps in (2, 1)
            )
            found = max(found, with_one - without)
        return found

    def _in_row(
        self, story: Story, look: Look, own: InPlay | None = None, *, before: int | None = None
    ) -> float:
        """Return how likely a card of the dealer's lies there: in its turn in his row, or anywhere.

        Args:
            story: the story it is weighed in.
            look: the sighting.
            own: the card, where it is in play already; else it comes last.
            before: when it left the shoe, where that is known: later ones do not count.
        """
        row = self._row(story.dealer)
        cards = [card for card in row if card is own or before is None or card.at <= before]
        turn = len(cards) if own is None else cards.index(own)
        lying = [
            (turn - at, card.place)
            for at, card in enumerate(cards)
            if card is not own and card.where == "felt" and card.place is not None
        ]
        if not lying:
            return -log(ZONE_MM2)
        steps, near = min(lying, key=_nearest)
        aside = look.place.x_mm - near.x_mm
        if look.face == "down" or (len(row) == 1 and row[0].face == "down"):
            # The hole card lies half under the card that is up, on either side.
            off = hypot(abs(aside) - ROW_STEP_MM / 2, look.place.y_mm - near.y_mm)
            return log(IN_ROW * exp(spread(off, NEAR_SPREAD_MM)) + (1.0 - IN_ROW) / ZONE_MM2)
        return _beside(hypot(aside - steps * ROW_STEP_MM, look.place.y_mm - near.y_mm))

    def _row(self, dealer: list[InPlay]) -> list[InPlay]:
        """Return the dealer's cards as they lie: the up card, the hole card, those he drew."""
        if not self._hole_first or len(dealer) < 2:
            return dealer
        hole, up, *drawn = dealer
        return [up, hole, *drawn]


def _about(off_mm: float) -> float:
    """Return how likely a card lies so far from where it was due, per square millimetre."""
    return log(
        (1.0 - NEAR - ASTRAY) * exp(spread(off_mm, PLACE_SPREAD_MM))
        + NEAR * exp(spread(off_mm, NEAR_SPREAD_MM))
        + ASTRAY / ZONE_MM2
    )


def _beside(off_mm: float) -> float:
    """Return how likely a card lies so far from its turn in the dealer's row, or anywhere."""
    return log(IN_ROW * exp(_about(off_mm)) + (1.0 - IN_ROW) / ZONE_MM2)


def _nearest(lying: tuple[int, Place]) -> tuple[int, int]:
    """Return the order in which a card of the row is measured from: the nearest, or before it."""
    steps, _ = lying
    return abs(steps), -steps


def beyond(place: Place, look: Look) -> bool:
    """Return whether a place is further along the dealer's row than a card that is seen."""
    return place.x_mm > look.place.x_mm + ROW_STEP_MM / 2


def spread(off_mm: float, spread_mm: float) -> float:
    """Return the logarithm of a density in the plane, per square millimetre."""
    return -0.5 * (off_mm / spread_mm) ** 2 - log(2 * pi * spread_mm * spread_mm)
