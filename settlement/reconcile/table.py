"""The table as far as it has been reconciled: hands, the dealer's cards, chips on circles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from models.cards import Card
from models.events import Dealt, Face, Spot
from models.judgements import Review
from models.money import Cents
from models.places import spot_hand
from settlement.hands import busted, natural, total
from settlement.reconcile.felt import APART_MM, CHAIN_MM, Felt, apart_mm, nearest_mm
from settlement.reconcile.looks import Reading
from settlement.reconcile.sightings import Lying, Place, Track

_FIT_MM = 32.0
"""A card further than this from where a hand's next card is due was not meant for it."""

_CLEARER_MM = 12.0
"""By how much a card must lie nearer to one hand than to the next one."""

_SPOT_MM = 75.0
"""The cards of a spot that was not split lie within this of one another."""


@dataclass(slots=True)
class Held:
    """One card of a hand."""

    track: Track | None
    card: Card | None
    face: Face
    dealt_to: Place | None = None
    gone: bool = False
    gone_at: int | None = None
    presumed: Review | None = None
    """Nobody saw it, but it can lie nowhere else; what a person is asked if it never shows."""
    unseen: Review | None = None
    """Nobody saw it: what a person is asked if the round's course does not tell whose it was."""
    elsewhere: tuple[tuple[Dealt, int], ...] = ()
    """Of an unseen card: the other hands that it may have gone to."""
    welcomed: Review | None = None
    """Only the camera told of it, and it was due there: what a person is asked if the round's
    course has it that no card was dealt."""
    said: Card | None = None
    """The shoe's word."""
    reading: Reading | None = None
    """What the camera read of its face before it lost sight of it."""
    late: bool = False
    """It was first seen some time after it must have come to rest: its turn is less sure."""
    seqs: tuple[int, ...] = ()
    told: list[int] = field(default_factory=list)
    """The places of the facts that tell of it, in the round's record."""


@dataclass(slots=True)
class PlayedHand:
    """One hand of a spot."""

    spot: Spot
    number: int
    cards: list[Held] = field(default_factory=list)
    of_split: bool = False
    over: bool = False
    """Surrendered or paid even money: nothing but its settling follows."""
    paid: bool = False
    taken_at: int | None = None

    @property
    def faces(self) -> tuple[Card | None, ...]:
        """The cards, unknown ones included."""
        return tuple(held.card for held in self.cards)

    @property
    def settles_early(self) -> bool:
        """Whether it may be settled before the dealer's hand is known."""
        return self.over or busted(self.faces) or (natural(self.faces) and not self.of_split)

    @property
    def may_draw(self) -> bool:
        """Whether its total lets it take another card."""
        return not self.over and total(self.faces)[0] < 21

    @property
    def being_taken(self) -> bool:
        """Whether any card of it was taken up already."""
        return any(held.gone for held in self.cards)

    @property
    def cleared(self) -> bool:
        """Whether nothing of it lies on the felt any more."""
        return bool(self.cards) and all(held.gone or held.track is None for held in self.cards)


@dataclass(frozen=True, slots=True)
class Destination:
    """Whose card it is. ``to`` is ``None`` where that cannot be told at all."""

    to: Dealt | None
    hand: int = 0
    doubt: tuple[str, ...] = ()
    """The stories that cannot be told apart."""


class Table:
    """What lies on the felt in the round in play."""

    def __init__(self, felt: Felt) -> None:
        self.felt = felt
        self.hands: dict[Spot, list[PlayedHand]] = {}
        self.dealer: list[Held] = []
        self.plates: dict[tuple[Spot, str], Cents] = {}
        self.places: dict[Track, Place] = {}
        self.rests_since: dict[Track, int] = {}
        """Since when each track has lain where it lies."""
        self.peeked = False
        self.left: set[Track] = set()
        """Tracks of rounds that are over: whatever the camera still tells of them is past."""

    def clear(self) -> None:
        """The cards are taken up; chips stay where they lie."""
        for track in [held.track for held in self.all_cards() if held.track is not None]:
            self.left.add(track)
            self.places.pop(track, None)
            self.rests_since.pop(track, None)
        self.hands, self.dealer, self.peeked = {}, [], False

    @property
    def revealed(self) -> bool:
        """Whether the dealer's hole card is known to the players."""
        return sum(held.face == "up" for held in self.dealer) >= 2

    def taken(self, hand: PlayedHand) -> bool:
        """Tell whether a hand was taken up: all of it, or part where it was due to be."""
        due = self.revealed or hand.settles_early or hand.paid
        return hand.cleared or (hand.being_taken and due)

    def all_hands(self) -> Iterator[PlayedHand]:
        """Every hand of every spot."""
        for hands in self.hands.values():
            yield from hands

    def all_cards(self) -> list[Held]:
        """Every card in play."""
        return [*self.dealer, *(held for hand in self.all_hands() for held in hand.cards)]

    def hand(self, spot: Spot, number: int) -> PlayedHand | None:
        """Return a hand, where the spot has it."""
        hands = self.hands.get(spot, [])
        return hands[number] if number < len(hands) else None

    def owner(self, track: Track) -> tuple[PlayedHand | None, Held] | None:
        """Return the card of ``track``, and its hand; no hand for the dealer's."""
        for held in self.dealer:
            if held.track == track:
                return None, held
        for hand in self.all_hands():
            for held in hand.cards:
                if held.track == track:
                    return hand, held
        return None

    def known(self, track: Track) -> bool:
        """Tell whether ``track`` is a card of the round in play."""
        return self.owner(track) is not None

    def awaits_hole(self) -> bool:
        """Tell whether all of the initial deal lies there but the dealer's second card."""
        staked = [spot for (spot, circle), total in self.plates.items() if circle == "0" and total]
        dealt = [hand.faces for hand in self.all_hands()]
        full = all(len(faces) == 2 and None not in faces for faces in dealt)
        own = [(held.face, held.gone) for held in self.dealer]
        return full and own == [("up", False)] and set(staked) == set(self.hands)

    def next_of_deal(self, staked: Sequence[Spot], coming: Sequence[Dealt] = ()) -> Dealt | None:
        """Return who gets the next card of the initial deal; ``None`` once it is over.

        Args:
            staked: the spots that play.
            coming: who gets the cards that are known to come and were not played out yet.
        """
        order: tuple[Dealt, ...] = (*staked, "dealer")
        has = {to: self._dealt(to) + sum(other == to for other in coming) for to in order}
        for cards in (1, 2):
            for to in order:
                if has[to] < cards:
                    return to
        return None

    def _dealt(self, to: Dealt) -> int:
        if to == "dealer":
            return len(self.dealer)
        return sum(len(hand.cards) for hand in self.hands.get(to, []))

    def presumed_hole(self) -> Held | None:
        """Return the dealer's card that nobody has seen yet."""
        return next((held for held in self.dealer if held.presumed and not held.track), None)

    # --- whose card -----------------------------------------------------------------------

    def destination(self, lying: Lying) -> Destination:
        """Tell whose card one is that came to rest."""
        zone = self.felt.zone(lying.place)
        if zone.owner == "dealer":
            return Destination("dealer")
        if zone.owner is not None:
            return self._of_spot(zone.owner, lying.place)
        chained = [spot for spot in zone.owners if self._chained(spot, lying.place)]
        if len(chained) == 1:
            return (
                self._of_spot(chained[0], lying.place)
                if chained[0] != "dealer"
                else Destination("dealer")
            )
        return Destination(None, doubt=tuple(zone_name(owner) for owner in zone.owners))

    def _chained(self, to: Dealt, place: Place) -> bool:
        if to == "dealer":
            return nearest_mm(place, self._places(self.dealer)) <= 2 * CHAIN_MM
        return any(
            nearest_mm(place, self._places(hand.cards)) <= CHAIN_MM
            for hand in self.hands.get(to, [])
        )

    def _of_spot(self, spot: Spot, place: Place) -> Destination:
        hands = self.hands.get(spot, [])
        if not hands:
            return Destination(spot)
        live = [hand for hand in hands if hand.taken_at is None] or hands
        off = sorted((self._off_mm(place, hand), hand.number) for hand in live)
        best, number = off[0]
        if len(live) == 1:
            return self._of_only_hand(spot, live[0], place)
        if best <= _FIT_MM and off[1][0] - best >= _CLEARER_MM:
            return Destination(spot, number)
        return Destination(spot, number, tuple(spot_hand(spot, n) for _, n in off))

    def _of_only_hand(self, spot: Spot, hand: PlayedHand, place: Place) -> Destination:
        lies = self._places([held for held in hand.cards if not held.gone])
        if not lies or nearest_mm(place, lies) <= _SPOT_MM:
            return Destination(spot, hand.number)
        others = f"spot {spot}, a hand of its own"
        return Destination(spot, hand.number, (spot_hand(spot, hand.number), others))

    def _off_mm(self, place: Place, hand: PlayedHand) -> float:
        lies = self._places(hand.cards)
        return self.felt.off_mm(place, lies, hand.spot) if lies else float("inf")

    def _places(self, cards: list[Held]) -> list[Place]:
        return [
            self.places[held.track]
            for held in cards
            if held.track is not None and held.track in self.places
        ]

    # --- splits ---------------------------------------------------------------------------

    def split_apart(self, spot: Spot, by_ns: int) -> PlayedHand | None:
        """Return the hand of two cards that ``by_ns`` lay too far apart to be one hand."""
        for hand in self.hands.get(spot, []):
            lies = self._places(hand.cards)
            tracks = [held.track for held in hand.cards if held.track is not None]
            rests = [self.rests_since.get(track, 0) for track in tracks]
            if len(hand.cards) != 2 or len(lies) != 2 or max(rests) > by_ns:
                continue
            if any(held.face == "down" for held in hand.cards):
                continue
            if apart_mm(*lies) > APART_MM:
                return hand
        return None

    def split(self, hand: PlayedHand) -> PlayedHand:
        """The hand's second card starts a new last hand of the spot."""
        own = self.hands[hand.spot]
        new = PlayedHand(hand.spot, len(own), of_split=True)
        if len(hand.cards) > 1:
            new.cards.append(hand.cards.pop())
        hand.of_split = True
        own.append(new)
        return new


def zone_name(owner: Dealt) -> str:
    """Name a zone for people."""
    return "dealer" if owner == "dealer" else f"spot {owner}"
