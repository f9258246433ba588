"""Cards on the felt: their places, and every movement from the shoe to the discard rack."""

from dataclasses import dataclass, replace
from random import Random
from typing import Final

from models.cards import Card
from models.events import Face
from models.layout import Point, TableLayout, middle
from simulation.places import (
    SpotPlaces,
    dealer_card,
    hole_card,
    shifted,
    spot_places,
    up_card,
)
from simulation.steps import HandKey
from vision.scenes.performance import By, CardMove, Place

_CARRY_MS: Final = (450, 600)
_MS: Final = 1_000_000
_SETTLE_MS: Final = 150
"""Milliseconds that a card lies before a hand takes it up again."""


@dataclass(frozen=True, slots=True)
class Laid:
    """A card on the felt, or in its player's hand (then its place lies off the felt)."""

    card_id: int
    card: Card
    place: Place
    face: Face
    rests_ns: int
    held: bool = False


class CardPlay:
    """The cards of every hand, and the record of their movements."""

    def __init__(self, layout: TableLayout, chance: Random) -> None:
        self._layout, self._chance = layout, chance
        self._next_id = 1
        self._newest: dict[int, int] = {}
        self.hands: dict[HandKey, list[Laid]] = {}
        self.moves: list[CardMove] = []

    # --- onto the felt --------------------------------------------------------------------

    def deal(
        self, key: HandKey, card: Card, face: Face, at_ns: int, *, sideways: bool = False
    ) -> int:
        """Carry a card from the shoe to its hand; return when it rests."""
        own = self.hands.setdefault(key, [])
        place, under = self._due_place(key, face, sideways=sideways)
        until = at_ns + self._chance.randint(*_CARRY_MS) * _MS
        laid = Laid(self._take_id(), card, self._near(place), face, until)
        own.append(laid)
        # face_before is the visible side on the way: the dealer carries it as it will lie
        self.moves.append(
            CardMove(
                at_ns, until, laid.card_id, card, None, laid.place, face, face, "dealer", under
            )
        )
        return until

    def discard(self, card: Card, face: Face, at_ns: int) -> int:
        """Carry an unplayed card from the shoe to the discard rack; return when it is there."""
        until = at_ns + self._chance.randint(*_CARRY_MS) * _MS
        rack = Place(*middle(self._layout.discard_rack), 90.0)
        number = self._take_id()
        self.moves.append(CardMove(at_ns, until, number, card, None, rack, face, face, "dealer"))
        self.moves.append(
            CardMove(until, until + 200 * _MS, number, card, rack, None, face, "down", "dealer")
        )
        return until + 200 * _MS

    # --- on the felt ----------------------------------------------------------------------

    def turn_hole(self, card: Card, at_ns: int) -> int:
        """Turn the dealer's face-down card beside his up card; return when it rests."""
        key: HandKey = ("dealer", 0)
        at = self._face_down(key)
        if at is None:
            return at_ns
        place = self._near(dealer_card(1))
        after = replace(self.hands[key][at], card=card, place=place, face="up")
        return self._shift(key, at, after, at_ns, "dealer")

    def turn(self, key: HandKey, card: Card, at_ns: int, by: By) -> int:
        """Turn up the first face-down card of a hand; return when it rests.

        Where none lies face down, the player has replaced the last card by another.
        """
        at = self._face_down(key)
        if at is None:
            return self._switch(key, card, at_ns)
        own = self.hands[key]
        above = next((laid.card_id for laid in own[at + 1 :] if laid.face == "up"), None)
        after = replace(own[at], card=card, place=self._due(key, at), face="up", held=False)
        return self._shift(key, at, after, at_ns, by, under=above)

    def split(self, spot: int, hand: int, at_ns: int) -> int:
        """Separate the two cards of a hand; return when they rest."""
        own = self.hands[spot, hand]
        new = self._newest[spot] = self._newest.get(spot, 0) + 1
        self.hands[spot, new] = [own.pop()]
        until = self._square_up((spot, new), at_ns)
        return max(until, self._square_up((spot, 0), at_ns)) if new == 1 else until

    def _square_up(self, key: HandKey, at_ns: int) -> int:
        after = replace(self.hands[key][0], place=self._due(key, 0))
        return self._shift(key, 0, after, at_ns, "dealer")

    def move(self, origin: HandKey, to: HandKey, at_ns: int) -> int:
        """Carry the last card of a hand to another one; return when it rests."""
        own = self.hands[to]
        own.append(self.hands[origin].pop())
        after = replace(own[-1], place=self._due(to, len(own) - 1))
        return self._shift(to, len(own) - 1, after, at_ns, "dealer")

    def pick_up(self, spot: int, at_ns: int) -> None:
        """Make the player take face-down cards into the hand."""
        key: HandKey = (spot, 0)
        place = Place(*self._places(key).player, 0.0)
        for at, laid in enumerate(self.hands[key]):
            if laid.face == "down" and not laid.held:
                after = replace(laid, place=place, held=True)
                self._shift(key, at, after, at_ns, f"player:{spot}")

    def tuck(self, spot: int, at_ns: int) -> int:
        """Tuck the player's cards face down under the wager; return when they rest."""
        key: HandKey = (spot, 0)
        until = at_ns
        for at, laid in enumerate(self.hands.get(key, ())):
            if laid.held:
                after = replace(laid, place=self._near(self._places(key).tucked(at)), held=False)
                until = self._shift(key, at, after, at_ns, f"player:{spot}")
        return until

    def _switch(self, key: HandKey, card: Card, at_ns: int) -> int:
        own, by = self.hands[key], f"player:{key[0]}"
        old = own.pop()
        away = Place(*self._places(key).player, 0.0)
        at_ns = max(at_ns, old.rests_ns + _SETTLE_MS * _MS)
        gone = at_ns + 400 * _MS
        self.moves.append(
            CardMove(at_ns, gone, old.card_id, old.card, old.place, None, old.face, old.face, by)
        )
        own.append(Laid(self._take_id(), card, away, old.face, gone))
        after = replace(own[-1], place=self._near(old.place))
        return self._shift(key, len(own) - 1, after, gone, by)

    def _face_down(self, key: HandKey) -> int | None:
        laid = enumerate(self.hands.get(key, ()))
        return next((at for at, card in laid if card.face == "down"), None)

    def holds(self, spot: int) -> bool:
        """Return whether the player has cards in his hand."""
        return any(laid.held for laid in self.hands.get((spot, 0), ()))

    # --- off the felt ---------------------------------------------------------------------

    def collect(self, key: HandKey, at_ns: int) -> int:
        """Take a hand's cards up; return when they are gone."""
        taken = self.hands.pop(key, [])
        at_ns = max([at_ns, *(laid.rests_ns + _SETTLE_MS * _MS for laid in taken)])
        until = at_ns + self._chance.randint(380, 520) * _MS
        for laid in taken:
            self.moves.append(
                CardMove(
                    at_ns,
                    until,
                    laid.card_id,
                    laid.card,
                    laid.place,
                    None,
                    laid.face,
                    laid.face,
                    "dealer",
                )
            )
        if key[0] != "dealer" and not any(other[0] == key[0] for other in self.hands):
            self._newest.pop(key[0], None)
        return until

    def middle_of(self, key: HandKey) -> Point:
        """Return the place of a hand's last card, or its spot's zone."""
        own = self.hands.get(key)
        if own:
            return (own[-1].place.x_mm, own[-1].place.y_mm)
        if key[0] == "dealer":
            return (up_card().x_mm, up_card().y_mm)
        return spot_places(self._layout, key[0]).cards

    # --- internal -------------------------------------------------------------------------

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _shift(
        self, key: HandKey, at: int, after: Laid, at_ns: int, by: By, *, under: int | None = None
    ) -> int:
        before = self.hands[key][at]
        at_ns = max(at_ns, before.rests_ns + _SETTLE_MS * _MS)
        until = at_ns + self._chance.randint(400, 520) * _MS
        self.hands[key][at] = replace(after, rests_ns=until)
        self.moves.append(
            CardMove(
                at_ns,
                until,
                after.card_id,
                after.card,
                before.place,
                after.place,
                before.face,
                after.face,
                by,
                under,
            )
        )
        return until

    def _due_place(self, key: HandKey, face: Face, *, sideways: bool) -> tuple[Place, int | None]:
        own = self.hands[key]
        if key[0] == "dealer":
            return self._dealer_place(own, face)
        if sideways and own:
            return self._places(key).sideways(own[-1].place), None
        return self._pose(key, len(own)), None

    def _dealer_place(self, own: list[Laid], face: Face) -> tuple[Place, int | None]:
        if face == "down" and own:
            return hole_card(), own[0].card_id
        if face == "down":
            return hole_card(), None
        up = [laid for laid in own if laid.face == "up"]
        hidden = len(own) - len(up)
        return (up_card() if not up else dealer_card(len(up) + hidden)), None

    def _pose(self, key: HandKey, number: int) -> Place:
        spot, hand = key
        slot = hand if spot in self._newest else None
        return self._places(key).card(slot, number)

    def _due(self, key: HandKey, number: int) -> Place:
        return self._near(self._pose(key, number))

    def _places(self, key: HandKey) -> SpotPlaces:
        assert key[0] != "dealer", "the dealer's cards have their own places"
        return spot_places(self._layout, key[0])

    def _near(self, place: Place) -> Place:
        spread = self._chance.gauss
        return shifted(
            place,
            max(-4.0, min(4.0, spread(0, 1.6))),
            max(-4.0, min(4.0, spread(0, 1.6))),
            max(-5.0, min(5.0, spread(0, 2.0))),
        )
