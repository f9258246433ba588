"""What the facts tell of single cards: dealt, seen, read, turned up."""

from typing import Final

from msgspec.structs import replace

from models.events import (
    CardDealt,
    CardExposed,
    Dealt,
    Face,
    PlayerActed,
)
from settlement.reckoning.holds import (
    CHIPS_HOLD_NS,
    READ_HOLD_NS,
    SHOWN_HOLD_NS,
    UNSEEN_HOLD_NS,
    UNTIL_CLOSED,
)
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.moves import Moves
from settlement.reckoning.record import Record
from settlement.reckoning.supply import Supply
from settlement.reconcile.draws import Draw
from settlement.reconcile.identity import probability, upheld
from settlement.reconcile.looks import Reading
from settlement.reconcile.sightings import Place, Track
from settlement.reconcile.timing import PATIENCE_NS, SECOND

STEP_NS: Final = 2 * SECOND
"""In a deal the next card comes within this time."""

_AGREED_BY_TWO_P: Final = 0.9995
"""Of a card that one sensor alone read less is certain than this."""


class CardFacts(Record):
    """The cards of one account, and the facts about them."""

    def __init__(self, moves: Moves, *, shoe: bool = False) -> None:
        super().__init__(moves, shoe=shoe)
        self.supply = Supply()
        self.turned_unseen = False
        """Whether nobody saw when the dealer's card was turned up …"""
        self.seen_turned_ns = 0
        """… and how long after he settled by it it was seen."""
        self.next_ident, self.dealt_at, self.pace_ns = 1, 0, 0
        """When a card was dealt last; from one card of a deal to the next, lately, or 0."""

    def distrust(self, card: InPlay) -> None:
        """The decks hold no more of the face that the shoe read."""
        card.shoe_card = None
        if card.dealt >= max(self.published, self.base):
            fact = self.fact(card.dealt)
            assert isinstance(fact, CardDealt)
            self.amend(card.dealt, replace(fact, card=None, probability=None))

    def start_shoe(self) -> None:
        """State that a shoe was loaded, before the first card of it."""
        if self.supply.fresh_shoe is not None:
            fact, self.supply.fresh_shoe = self.supply.fresh_shoe, None
            self.state_in_turn(fact)

    def deal(self, to: Dealt, number: int, face: Face, at: int, draw: Draw | None = None) -> InPlay:
        """Deal a card that nobody saw yet, ``draw`` where the shoe read it."""
        card = InPlay(self.next_ident, to, number, face, at)
        self.next_ident += 1
        if draw is not None:
            (self.supply.drawn if draw in self.supply.drawn else self.supply.boxed).remove(draw)
            card.shoe_card, card.announced, card.seqs = draw.card, True, draw.seqs
            card.clocked = draw.timed
        fact = CardDealt(
            at=at,
            to=to,
            hand=number,
            card=card.shoe_card,
            face=face,
            probability=_sure(card) if face == "up" else None,
            evidence=card.seqs,
        )
        if not self.shoe:
            card.dealt = self.state_in_turn(fact, at + UNSEEN_HOLD_NS)
        else:
            hold_ns = at + UNSEEN_HOLD_NS if self.supply.disconnected else 0
            if draw is None and not hold_ns:
                hold_ns = at + PATIENCE_NS
            card.dealt = self.state_in_turn(fact, hold_ns)
        if to == "dealer":
            later = (n for n, own in enumerate(self.dealer) if n > 1 and own.at > at)
            self.dealer.insert(next(later, len(self.dealer)), card)
            if face == "up" and len(self.dealer) > 1 and not self.revealed:
                self.revealed = all(own.face == "up" for own in self.dealer)
                self.revealed_at = at
        else:
            own = self.hands.setdefault(to, [])
            while len(own) <= number:
                own.append(Hand(to, len(own)))
            hand = own[number]
            hand.cards.append(card)
            hand.cards.sort(key=_in_turn)
            hand.owed = hand.owed and not self.came_after_chips(hand, at)
            if hand.taken_at <= at:
                hand.taken_at = 0
        return card

    def keep_time(self, at: int, *, next_in_deal: bool) -> None:
        """Learn the dealer's pace from a card that was seen as it was dealt."""
        step = at - self.dealt_at
        if next_in_deal and 0 < step < STEP_NS:
            self.pace_ns = (3 * self.pace_ns + step) // 4 if self.pace_ns else step
        self.dealt_at = at

    def lie(self, card: InPlay, track: Track, place: Place, at: int, seqs: tuple[int, ...]) -> None:
        """See a card lying somewhere."""
        if card.place is None:
            card.dealt_place, card.seen_at = place, at
        card.where, card.place, card.rested_at = "felt", place, at
        card.seqs += seqs
        if track not in card.tracks:
            card.tracks += (track,)
        self.tracks[track] = card.ident

    def read(self, card: InPlay, look: Reading | None, *, afresh: bool) -> None:
        """Look at a card's face."""
        if look is None:
            return
        if card.reading is None:
            card.reading = look
        else:
            card.reading = card.reading.and_look(look, afresh=afresh)

    def restate(self, card: InPlay, now_ns: int, published: int) -> None:
        """State a card's face as it is known by now, where that was not published yet.

        A face that became known after its fact was published is stated as an exposure.
        """
        at = card.shown if card.shown >= 0 else card.dealt
        up = card.face == "up"
        if at < 0 or not up:
            return
        known = card.card
        fact = self.fact(at) if at >= self.base else None
        if fact is not None and at >= published and isinstance(fact, CardDealt | CardExposed):
            hold_ns = card.rested_at + READ_HOLD_NS if card.card is None else 0
            if self.shoe and not card.announced:
                # The shoe may be late to tell of it.
                hold_ns = max(hold_ns, card.at + PATIENCE_NS)
            if self.supply.disconnected:
                # One that an arm hides may yet come before it.
                hold_ns = max(hold_ns, card.at + UNSEEN_HOLD_NS)
            if _open(card) or (self.shoe and known is None and card.to == "dealer"):
                # Read after it was published, it would be told as the hole card turned up.
                hold_ns = UNTIL_CLOSED
            if card.shown >= 0 and known is not None:
                hold_ns = self._shown_hold(card, fact.at or 0)
            seqs = card.seqs
            if known is fact.card and len(fact.evidence) > card.announced:
                # A further look that says the same is no further evidence: what was published
                # does not depend on when.
                seqs = fact.evidence
            if isinstance(fact, CardDealt):
                fact = replace(fact, card=known, face="up", probability=_sure(card), evidence=seqs)
            else:
                fact = replace(fact, card=known, evidence=seqs)
            self.amend(at, fact, hold_ns)
        elif known is not None and isinstance(fact, CardDealt | CardExposed) and fact.card is None:
            self.state(
                CardExposed(at=now_ns, to=card.to, hand=card.number, card=known, evidence=card.seqs)
            )
            card.dealt = card.shown = -1

    def expose(self, card: InPlay, at: int, seqs: tuple[int, ...], published: int) -> None:
        """Turn a card up; cards of a hand that come up together, in the order of their deal."""
        card.face = "up"
        fact = CardExposed(at=at, to=card.to, hand=card.number, card=card.card, evidence=seqs)
        before = min(
            (
                other.shown
                for other in self.own(card.to)
                if other.ident > card.ident
                and other.number == card.number
                and other.shown >= published
            ),
            default=-1,
        )
        hold_ns = at + READ_HOLD_NS if card.card is None else self._shown_hold(card, at)
        split_at = self._split_at(card, published)
        if split_at >= 0:
            split = self.fact(split_at)
            assert isinstance(split, PlayerActed)
            fact = replace(fact, at=min(at, (split.at or 0) - 1), hand=split.hand)
            card.shown = self.state_before(split_at, fact, hold_ns)
        elif before >= 0:
            card.shown = self.state_before(before, fact, hold_ns)
        elif card.to == "dealer":
            card.shown = self.state_in_turn(fact, hold_ns)
        else:
            card.shown = self.state(fact, hold_ns)
        if card.to == "dealer":
            self.revealed, self.revealed_at = True, at

    def _shown_hold(self, card: InPlay, at: int) -> int:
        """Return until when what came before a card was turned up may still be reported.

        One that was dealt before it may come up with it, a face on a new track may be another
        card, and a camera alone may read it otherwise at its next look. Where a shoe read the
        card that the dealer turned in place, only chips that lay before may still be reported.
        """
        sure = self.shoe and card.to == "dealer" and card.turned_in_place
        return at + (CHIPS_HOLD_NS if sure else SHOWN_HOLD_NS)

    def _split_at(self, card: InPlay, published: int) -> int:
        """Return the place of the split that a card's pair was turned up for, -1 for none."""
        hand = self.hand_of(card)
        if hand is None or not hand.of_split:
            return -1
        for at in range(self.end - 1, max(published, self.base) - 1, -1):
            fact = self.fact(at)
            if isinstance(fact, PlayerActed) and (fact.action, fact.spot) == ("split", hand.spot):
                return at if fact.hand in (hand.number, hand.split_from) else -1
        return -1

    def turn_unseen(self, at: int) -> None:
        """The dealer turned up his hole card, and nobody saw it yet."""
        for card in self.dealer:
            if card.face == "down":
                self.turned_unseen = True
                self.expose(card, at, (), max(self.published, self.base))

    def swap(self, one: InPlay, other: InPlay) -> None:
        """Two cards that were not told apart lie the other way round."""
        one.ident, other.ident = other.ident, one.ident
        one.at, other.at = other.at, one.at
        one.dealt, other.dealt = other.dealt, one.dealt
        one.dealt_place, other.dealt_place = other.dealt_place, one.dealt_place
        for card in (one, other):
            self.tracks.update(dict.fromkeys(card.tracks, card.ident))
        hand = self.hand_of(one)
        if hand is not None:
            hand.cards.sort(key=_in_turn)


def _open(card: InPlay) -> bool:
    """Return whether the round's course must tell which of two sensors misread a card."""
    if card.shoe_card is None or card.reading is None or not card.disputed:
        return False
    return not upheld(card.shoe_card, card.reading)


def _sure(card: InPlay) -> float | None:
    """Return the probability of a stated face, where it leaves a doubt.

    It is worked out once for each pair of readings: a look that says the same changes nothing.
    """
    stated, shoe_card, reading = card.card, card.shoe_card, card.reading
    if stated is None or (shoe_card is None and reading is None):
        return None
    looks = None if reading is None else reading.listed
    of = card.sure_of
    if of is None or of[0] is not stated or of[1] is not shoe_card or of[2] is not looks:
        sure = probability(stated, shoe_card, reading)
        card.sure = None if sure >= _AGREED_BY_TWO_P else round(sure, 6)
        card.sure_of = (stated, shoe_card, looks)
    return card.sure


def _in_turn(card: InPlay) -> tuple[int, int]:
    """A card that nobody saw for long was dealt before others that are known longer."""
    return card.at, card.ident
