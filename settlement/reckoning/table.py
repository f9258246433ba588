"""What lies on the table by one account of it: cards, hands, chips."""

from typing import Final

from models.events import (
    Dealt,
    Spot,
)
from models.money import Cents
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.moves import Allowed, Moves
from settlement.reconcile.sightings import Track
from settlement.reconcile.timing import SECOND

_CHIPS_LATE_NS: Final = SECOND
"""A card that left the shoe so soon before chips are reported may have come after them. Chosen."""


class Table:
    """Cards, hands and chips.

    Args:
        moves: what the house's rules allow.
        shoe: whether a shoe reads the cards.
    """

    def __init__(self, moves: Moves, *, shoe: bool = False) -> None:
        self.moves, self.shoe = moves, shoe
        self.hands: dict[Spot, list[Hand]] = {}
        self.dealer: list[InPlay] = []
        self.tracks: dict[Track, int] = {}
        """The card of each track; 0 where it is none, and showed a face."""
        self.plates: dict[tuple[Spot, str], Cents] = {}
        self.since: dict[tuple[Spot, str], tuple[int, tuple[int, ...]]] = {}
        self.revealed = self.peeked = self.hole_blackjack = False
        self.revealed_at = 0
        """When the dealer turned up his hole card."""

    def all_hands(self) -> list[Hand]:
        """Every hand of every spot, in the order of play."""
        found: list[Hand] = []
        for spot in sorted(self.hands):
            found += self.hands[spot]
        return found

    def cards(self) -> list[InPlay]:
        """Every card in play."""
        found = self.dealer[:]
        for own in self.hands.values():
            for hand in own:
                found += hand.cards
        return found

    def card(self, ident: int) -> InPlay | None:
        """Return a card in play."""
        for card in self.dealer:
            if card.ident == ident:
                return card
        for own in self.hands.values():
            for hand in own:
                for card in hand.cards:
                    if card.ident == ident:
                        return card
        return None

    def hand(self, spot: Spot, number: int) -> Hand | None:
        """Return a hand, where the spot has it."""
        own = self.hands.get(spot, [])
        return own[number] if number < len(own) else None

    def hand_of(self, card: InPlay) -> Hand | None:
        """Return the hand that a card belongs to; ``None`` for the dealer's."""
        return None if card.to == "dealer" else self.hand(card.to, card.number)

    def allowed(self, hand: Hand) -> Allowed:
        """Return what the house's rules allow with a hand as it lies."""
        return self.moves.of(
            hand.faces, split=hand.of_split, doubled=hand.doubled and not hand.owed
        )

    def settles_early(self, hand: Hand) -> bool:
        """Return whether a hand may be settled before the dealer's hand is known."""
        return hand.over or hand.off or self.allowed(hand).settles

    def up_points(self) -> int:
        """Return the points of the dealer's up card, an ace 1; 0 where nobody knows it."""
        up = next((card.card for card in self.dealer[:2] if card.face == "up"), None)
        return 0 if up is None else up.points

    def own(self, to: Dealt) -> list[InPlay]:
        """Return the cards of a spot, or of the dealer."""
        if to == "dealer":
            return self.dealer
        return [card for hand in self.hands.get(to, []) for card in hand.cards]

    def lying_wagers(self) -> list[Spot]:
        """Return the spots with a main wager, from the dealer's left."""
        return sorted(
            spot for (spot, circle), chips in self.plates.items() if circle == "0" and chips
        )

    def laid_at(self, hand: Hand) -> int:
        """Return when chips last changed on a hand's circle."""
        return self.since.get((hand.spot, str(hand.number)), (0, ()))[0]

    def came_after_chips(self, hand: Hand, at: int | None) -> bool:
        """Return whether a card of a time, ``None`` for now, came after a hand's last chips.

        A plate reports chips a little after they were laid.
        """
        return at is None or at > self.laid_at(hand) - _CHIPS_LATE_NS

    def revealed_by(self, at: int | None) -> bool:
        """Return whether the dealer had turned up his hole card by a time, ``None`` for now."""
        return self.revealed and (at is None or self.revealed_at <= at)
