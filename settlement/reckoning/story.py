"""One story of how the table came to be as it is: what lies where, and the facts so far.

A story is changed in place by what happens in it. Where an observation may mean several things,
the story is copied first, so that no two stories share anything that changes.
"""

from collections.abc import Iterator
from math import log
from typing import Final

from msgspec.structs import replace

from models.cards import Card
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    Dealt,
    Face,
    HoleCardChecked,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    Spot,
    WagerKind,
    WagerPlaced,
    WagerRemoved,
)
from models.judgements import Review, Sense
from models.money import Cents
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.odds import GOES_UNSEEN, MISSED, MISTAKE, NO_CARD_READ
from settlement.reckoning.supply import Supply
from settlement.reconcile.draws import Draw
from settlement.reconcile.identity import probability, upheld
from settlement.reconcile.looks import Reading
from settlement.reconcile.sightings import Place, Track
from settlement.reconcile.timing import PATIENCE_NS, PLATE_DWELL_NS, SECOND, SWEPT_NS

LEFT: Final = -1
"""The card of a track whose round is over."""

NO_BACK_THERE: Final = -2
"""The card of a track that showed a back where no card lies."""

UNSEEN_HOLD_NS: Final = 6 * SECOND
"""A card that a story needs and nobody saw may come into view within this time."""

READ_HOLD_NS: Final = 5 * SECOND
"""A face that was not read is looked at again within this time."""

SHOWN_HOLD_NS: Final = 2 * SECOND
"""Cards of a hand that come up together are seen within this time."""

CHIPS_HOLD_NS: Final = PLATE_DWELL_NS + SECOND // 5
"""Chips that changed before something that a camera saw are reported within this time after it."""

PAID_HOLD_NS: Final = 3 * SECOND // 2
"""A hand that was taken up and is not paid within this time was left alone."""

ENTRY_HOLD_NS: Final = 3 * SECOND // 2
"""Chips that lay there before a person's entry are reported within this time after it."""

STEP_NS: Final = 2 * SECOND
"""In a deal the next card comes within this time."""

UNTIL_CLOSED: Final = 2**62
"""A fact that the course of the whole round may yet change is held until its end."""

LATE_ENTRY_NS: Final = 4 * SECOND
"""A split that the cards show is entered within this time after it."""

CLOSE_HOLD_NS: Final = 2 * SECOND
"""After the dealer's cards went, what is still to be seen of the round is seen in this time."""

SETTLED_HOLD_NS: Final = SECOND // 5
"""The same where every hand was paid and no card lies there: reports of one moment come within
0.2 s (`docs/lab/2026-11-24-one-form-of-sighting.md`)."""

_MANY: Final = 1000

_AGREED_BY_TWO_P: Final = 0.9995
"""Of a card that one sensor alone read less is certain than this."""


class Closed:
    """A round that a story has closed and that is not published to its end yet."""

    def __init__(self, story: "Story", end: int, *, entered: bool = False) -> None:
        self.entered = entered
        """Whether a person declared it over, whatever lay on the felt."""
        self.round, self.opened, self.end = story.round, story.opened, end
        self.hands = [hand for own in story.hands.values() for hand in own]
        self.cards = list(story.cards())
        self.asks = story.asks
        self.turned_unseen = story.turned_unseen
        self.evidence, self.wrong = story.evidence, story.wrong
        self.spoken = story.spoken.copy()
        self.amended: dict[tuple[object, ...], AnyFact] = {}
        """Facts that the round's course had stated otherwise, by what they were before."""


class Story:
    """What lies on the table and what happened, by one account of it."""

    def __init__(self, *, shoe: bool = False) -> None:
        self.shoe = shoe
        """Whether cards come from a shoe that reads them."""
        self.supply = Supply()
        self.evidence = 0.0
        self.spoken: dict[Sense, float] = {}
        """What of it each sense has said."""
        """Logarithm of how likely the observations are by this story."""
        self.mistakes = 0.0
        """Logarithm of how likely the mistakes are that it holds so far."""
        self.retracts = False
        """Whether it holds otherwise than what was published."""
        self.asked_to_retract = False
        """Whether a person is asked about that."""
        self.base = self.published = 0
        self.record: list[AnyFact] = []
        """Facts from place ``base`` on."""
        self.holds: dict[int, int] = {}
        """Until when facts may yet be stated otherwise, by their place."""
        self.asks: list[Review] = []
        self.hands: dict[Spot, list[Hand]] = {}
        self.dealer: list[InPlay] = []
        self.tracks: dict[Track, int] = {}
        """The card of each track; 0 where it is none, and showed a face."""
        self.plates: dict[tuple[Spot, str], Cents] = {}
        self.since: dict[tuple[Spot, str], tuple[int, tuple[int, ...]]] = {}
        self.passed: tuple[Dealt, ...] = ()
        """Who was passed over in the initial deal."""
        self.staked: tuple[Spot, ...] = ()
        """The spots that held a wager as the first card came."""
        self.round, self.in_play = 0, False
        self.amended = 0
        """The last round whose facts were amended by its course."""
        self.opened = 0
        """Place of the round's opening in the record."""
        self.revealed = self.peeked = self.hole_blackjack = False
        self.stood_short = False
        """Whether the dealer settled a hand while he was to draw."""
        self.revealed_at = 0
        """When the dealer turned up his hole card."""
        self.turned_unseen = False
        """Whether nobody saw when the dealer's card was turned up."""
        self.next_ident, self.dealt_at, self.pace_ns = 1, 0, 0
        """When a card was dealt last; from one card of a deal to the next, lately, or 0."""
        self.splits: dict[tuple[Spot, int], int] = {}
        """Hands whose cards showed a split before it was entered."""
        self.over_at = 0
        """When the dealer's cards were taken up; 0 while they lie there."""
        self.over_seqs: tuple[int, ...] = ()
        self.closed: list[Closed] = []
        """Rounds that are over and not published to their end."""

    @property
    def wrong(self) -> int:
        """How many mistakes it holds so far."""
        return round(self.mistakes / log(MISTAKE))

    @property
    def weight(self) -> float:
        """How likely it is, as a logarithm."""
        return self.evidence + self.mistakes

    def weigh(self, sense: Sense, evidence: float) -> None:
        """Take in how likely what a sense said is by this story, as a logarithm."""
        if evidence:
            self.evidence += evidence
            self.spoken[sense] = self.spoken.get(sense, 0.0) + evidence

    def copy(self) -> "Story":
        """Return a copy that shares nothing that changes."""
        other = Story(shoe=self.shoe)
        other.spoken = self.spoken.copy()
        other.supply = self.supply.copy()
        other.evidence, other.mistakes, other.retracts = self.evidence, self.mistakes, self.retracts
        other.base, other.record, other.holds = self.base, self.record[:], self.holds.copy()
        other.published = self.published
        other.asked_to_retract = self.asked_to_retract
        other.asks = self.asks[:]
        other.hands = {spot: [hand.copy() for hand in own] for spot, own in self.hands.items()}
        other.dealer = [card.copy() for card in self.dealer]
        other.tracks, other.plates = self.tracks.copy(), self.plates.copy()
        other.passed = self.passed
        other.since, other.staked = self.since.copy(), self.staked
        other.round, other.in_play, other.opened = self.round, self.in_play, self.opened
        other.revealed, other.peeked = self.revealed, self.peeked
        other.stood_short = self.stood_short
        other.revealed_at = self.revealed_at
        other.hole_blackjack, other.turned_unseen = self.hole_blackjack, self.turned_unseen
        other.amended = self.amended
        other.dealt_at, other.next_ident = self.dealt_at, self.next_ident
        other.pace_ns = self.pace_ns
        other.splits = self.splits.copy()
        other.over_at, other.over_seqs = self.over_at, self.over_seqs
        other.closed = self.closed[:]
        return other

    # --- the record -----------------------------------------------------------------------

    @property
    def end(self) -> int:
        """The place of the next fact."""
        return self.base + len(self.record)

    def fact(self, at: int) -> AnyFact:
        """Return the fact at a place."""
        return self.record[at - self.base]

    def state(self, fact: AnyFact, hold_ns: int = 0) -> int:
        """State a fact; until ``hold_ns`` it may be stated otherwise. Returns its place."""
        at = self.end
        self.record.append(fact)
        if hold_ns:
            self.holds[at] = hold_ns
        return at

    def state_in_time(self, fact: AnyFact, hold_ns: int = 0) -> int:
        """State a fact before what was entered of later and is not published; returns its place."""
        at = self.end
        while at > max(self.published, self.base):
            before = self.fact(at - 1)
            entered = isinstance(before, HoleCardChecked | PlayerActed)
            if not entered or (before.at or 0) <= (fact.at or 0):
                break
            at -= 1
        return self.state(fact, hold_ns) if at == self.end else self.state_before(at, fact, hold_ns)

    def state_in_turn(self, fact: AnyFact, hold_ns: int = 0) -> int:
        """State a fact before what is known of later times; returns its place.

        A card of the dealer's stays behind the turning of his own, one of a split hand behind the
        split, however late either was seen. So does a card behind one whose turn it was before and
        that no shoe timed: it came sooner than it was seen.
        """
        at, when = self.end, fact.at or 0
        while at > max(self.published, self.base):
            before = self.fact(at - 1)
            if (before.at or 0) <= when or _leads_to(before, fact):
                break
            if isinstance(fact, CardDealt) and self._came_sooner(at - 1, fact):
                break
            at -= 1
        return self.state(fact, hold_ns) if at == self.end else self.state_before(at, fact, hold_ns)

    def _came_sooner(self, at: int, fact: CardDealt) -> bool:
        """Date the card dealt at a place before ``fact`` if its turn was before and none timed it.

        Returns whether it was.
        """
        card = next((card for card in self.cards() if card.dealt == at), None)
        before = self.fact(at)
        if card is None or card.announced or not self.shoe or not isinstance(before, CardDealt):
            return False
        place = self.own(card.to).index(card)
        if self._turn(card.to, card.number, place) >= self._turn(
            fact.to, fact.hand, len(self.own(fact.to))
        ):
            return False
        card.at = (fact.at or 0) - 1
        self.record[at - self.base] = replace(before, at=card.at)
        return True

    def _turn(self, to: Dealt, number: int, place: int) -> tuple[int, int, int]:
        """Return whose turn a card is: in the deal one each, then hand by hand."""
        seat = _MANY if to == "dealer" else to
        in_deal = place < 2 and (to == "dealer" or len(self.hands.get(to, [])) < 2)
        return (place, seat, 0) if in_deal else (2, seat, number)

    def state_before(self, at: int, fact: AnyFact, hold_ns: int = 0) -> int:
        """State a fact before the one at a place; returns its place."""
        self.record.insert(at - self.base, fact)
        self.holds = {
            (place + 1 if place >= at else place): until for place, until in self.holds.items()
        }
        if hold_ns:
            self.holds[at] = hold_ns
        for card in self.cards():
            card.dealt += card.dealt >= at
            card.shown += card.shown >= at
        for hand in self.all_hands():
            hand.paid += hand.paid >= at
        return at

    def amend(self, at: int, fact: AnyFact, hold_ns: int = 0) -> None:
        """State the fact at a place otherwise."""
        self.record[at - self.base] = fact
        if hold_ns:
            self.holds[at] = hold_ns
        else:
            self.holds.pop(at, None)

    def out(self, face: Card) -> int:
        """Return how many of a face left the decks by facts that were not published."""
        count = 0
        for fact in self.record[self.published - self.base :]:
            if isinstance(fact, ShoeStarted):
                count = -_MANY
            elif isinstance(fact, CardDealt | CardBurned | CardBoxed) or (
                isinstance(fact, CardExposed) and not self.shoe
            ):
                count += fact.card is face
        return count

    def retract(self) -> None:
        """Ask a person about a round of which something else was published than it holds."""
        if not self.asked_to_retract:
            self.asked_to_retract = True
            what = "the round did not go on as its first facts were stated"
            asks = self.closed[0].asks if self.closed else self.asks
            asks.append(Review(what, (), ()))

    def trim(self, at: int) -> None:
        """Forget the facts before a place."""
        self.record = self.record[at - self.base :]
        self.base = at
        self.holds = {place: until for place, until in self.holds.items() if place >= at}

    def awaits_card_before(self, fact: AnyFact) -> bool:
        """Return whether a card that left the shoe before a fact has no place yet."""
        when = fact.at or 0
        return any(draw.certain and draw.earliest <= when for draw in self.supply.drawn)

    # --- asking ---------------------------------------------------------------------------

    def all_hands(self) -> Iterator[Hand]:
        """Every hand of every spot, in the order of play."""
        for spot in sorted(self.hands):
            yield from self.hands[spot]

    def cards(self) -> Iterator[InPlay]:
        """Every card in play."""
        yield from self.dealer
        for own in self.hands.values():
            for hand in own:
                yield from hand.cards

    def card(self, ident: int) -> InPlay | None:
        """Return a card in play."""
        for card in self.cards():
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

    # --- acts -----------------------------------------------------------------------------

    def open_round(self, at: int) -> None:
        """Open a round with the wagers that lie there."""
        self.round += 1
        self.in_play = True
        self.hands, self.dealer = {}, []
        self.revealed = self.peeked = self.hole_blackjack = self.turned_unseen = False
        self.splits = {}
        self.passed = ()
        self.stood_short = False
        self.staked = tuple(self.lying_wagers())
        lying = [(key, chips) for key, chips in sorted(self.plates.items()) if chips]
        since = [self.since[key][0] for key, _ in lying if key in self.since]
        self.opened = self.state(RoundOpened(at=min([at, *since]), round=self.round))
        for (spot, circle), chips in lying:
            put_at, seqs = self.since.get((spot, circle), (at, ()))
            kinds: dict[str, WagerKind] = {"S": "side", "I": "insurance"}
            self.state(
                WagerPlaced(
                    at=put_at,
                    spot=spot,
                    hand=int(circle) if circle.isdigit() else 0,
                    kind=kinds.get(circle, "main"),
                    amount=chips,
                    evidence=seqs,
                )
            )
        self.state_cut_card()

    def state_cut_card(self) -> None:
        """State a cut card that came before the first card: it belongs to the round it opens."""
        if self.supply.cut_card is not None:
            fact, self.supply.cut_card = self.supply.cut_card, None
            self.state(fact)

    def distrust(self, card: InPlay) -> None:
        """The decks hold no more of the face that the shoe read."""
        card.said = None
        if card.dealt >= max(self.published, self.base):
            fact = self.fact(card.dealt)
            assert isinstance(fact, CardDealt)
            self.amend(card.dealt, replace(fact, card=None, probability=None))

    def pass_over(self, card: InPlay) -> None:
        """Hands that another card is owed to did not get this one."""
        for hand in self.all_hands():
            if hand.owed and card not in hand.cards:
                hand.passed_over = True

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
            card.said, card.announced, card.seqs = draw.card, True, draw.seqs
            card.clocked = draw.timed
        fact = CardDealt(
            at=at,
            to=to,
            hand=number,
            card=card.said,
            face=face,
            probability=_sure(card) if face == "up" else None,
            evidence=card.seqs,
        )
        if not self.shoe:
            card.dealt = self.state_in_turn(fact, at + UNSEEN_HOLD_NS)
        else:
            hold_ns = at + UNSEEN_HOLD_NS if self.supply.deaf else 0
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
            hand.owed = False
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
            if self.supply.deaf:
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

        One that was dealt before it may come up with it; chips that lay before the dealer turned
        his are reported once they have rested. A face on a new track may be another card.
        """
        if card.to == "dealer":
            return at + (CHIPS_HOLD_NS if card.turned_in_place else SHOWN_HOLD_NS)
        waits = any(
            other.ident < card.ident and other.number == card.number and other.face == "down"
            for other in self.own(card.to)
        )
        return at + SHOWN_HOLD_NS if waits else 0

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

    def wager(
        self,
        change: tuple[Spot, str],
        amount: Cents,
        kind: WagerKind,
        at: int,
        seqs: tuple[int, ...],
    ) -> None:
        """Put chips on a circle in play, or take them back."""
        spot, circle = change
        number = int(circle) if circle.isdigit() else 0
        before = self.since.get(change, (0, ()))[1]
        put = WagerPlaced if amount > 0 else WagerRemoved
        self.state_in_time(
            put(
                at=at,
                spot=spot,
                hand=number,
                kind=kind,
                amount=abs(amount),
                evidence=(*before, *seqs),
            )
        )

    def pay(self, hand: Hand, amount: Cents, at: int, seqs: tuple[int, ...], hold: int = 0) -> None:
        """Pay a hand, take its wager, or leave it alone: that its cards show, and late."""
        fact = PaymentMade(at=at, spot=hand.spot, hand=hand.number, amount=amount, evidence=seqs)
        hand.paid = self.state(fact, hold) if amount else self.state_in_turn(fact, hold)

    def withdraw_unpaid(self) -> None:
        """Hands that were swept up with the dealer's cards were not settled, be it as a push."""
        for hand in self.all_hands():
            swept = hand.taken_at and abs(hand.taken_at - self.over_at) < SWEPT_NS
            if not swept or hand.paid < max(self.published, self.base):
                continue
            paid = self.fact(hand.paid)
            if isinstance(paid, PaymentMade) and not paid.amount:
                self._withdraw(hand.paid)
                hand.paid = -1

    def _take_up_with_others(self) -> None:
        """A card of a hand that was turned up went with the others, though nobody saw it go."""
        for hand in self.all_hands():
            went = [card for card in hand.cards if card.where == "off" and card.face == "up"]
            if hand.taken_at or not went or not (hand.paid >= 0 or self.revealed):
                continue
            last = max(went, key=lambda card: card.gone_at)
            for card in hand.cards:
                card.where = "off" if card.where == "felt" else card.where
            self.take_up(last, last.gone_at, ())

    def _withdraw(self, at: int) -> None:
        """State a fact no longer."""
        del self.record[at - self.base]
        self.holds = {
            (place - 1 if place > at else place): until
            for place, until in self.holds.items()
            if place != at
        }
        for card in self.cards():
            card.dealt -= card.dealt > at
            card.shown -= card.shown > at
        for hand in self.all_hands():
            hand.paid -= hand.paid > at

    def split(self, fact: PlayerActed) -> bool:
        """Split a hand of two cards; ``False`` where it has not got them."""
        hand = self.hand(fact.spot, fact.hand)
        if hand is not None and len(hand.cards) == 1 and self.supply.drawn:
            self.deal(fact.spot, fact.hand, "up", self.supply.drawn[0].at, self.supply.drawn[0])
        if hand is None or len(hand.cards) < 2:
            return False
        own = self.hands[fact.spot]
        new = Hand(fact.spot, len(own))
        new.split_from = hand.number
        unseen = any(card.face == "down" for card in hand.cards)
        moved = hand.cards.pop()
        moved.number = new.number
        new.cards.append(moved)
        new.of_split = hand.of_split = True
        own.append(new)
        hold_ns = LATE_ENTRY_NS if fact.manner is None else ENTRY_HOLD_NS
        self.state(fact, (fact.at or 0) + (UNSEEN_HOLD_NS if unseen else hold_ns))
        return True

    def enter_split(self, fact: PlayerActed) -> None:
        """A person enters a split that the cards showed before."""
        for at in range(max(self.published, self.base), self.end):
            shown = self.fact(at)
            if (
                isinstance(shown, PlayerActed)
                and shown.manner is None
                and (shown.action, shown.spot, shown.hand) == ("split", fact.spot, fact.hand)
            ):
                evidence = (*shown.evidence, *fact.evidence)
                self.amend(at, replace(fact, at=shown.at, evidence=evidence))
                return

    def settled_from(self) -> int:
        """Return when the first hand was settled that had to wait for the dealer's."""
        for fact in self.record[max(0, self.published - self.base) :]:
            if isinstance(fact, PaymentMade) and fact.kind == "main":
                hand = self.hand(fact.spot, fact.hand)
                if hand is not None and not hand.settles_early and fact.at is not None:
                    return fact.at
        return 2**62

    def insurance_paid(self, spot: Spot) -> bool:
        """Return whether a spot's insurance was settled in the round in play."""
        return any(
            isinstance(fact, PaymentMade) and fact.kind == "insurance" and fact.spot == spot
            for fact in self.record[self.opened - self.base :]
        )

    def revealed_by(self, at: int | None) -> bool:
        """Return whether the dealer had turned up his hole card by a time, ``None`` for now."""
        return self.revealed and (at is None or self.revealed_at <= at)

    def outline(self) -> tuple[object, ...]:
        """Return what tells it from stories that go on alike."""
        facts = self.record[max(0, self.published - self.base) :]
        cards = tuple((card.ident, card.where, len(card.tracks)) for card in self.cards())
        return (self.end, self.over_at, tuple(map(gist, facts)), tuple(self.supply.drawn), cards)

    def settled_at(self, hand: Hand) -> int:
        """Return when a hand was paid or taken up; 0 where it was not, or long ago."""
        paid = self.fact(hand.paid).at if hand.paid >= self.base else None
        return paid or hand.taken_at

    def laid_at(self, hand: Hand) -> int:
        """Return when chips last changed on a hand's circle."""
        return self.since.get((hand.spot, str(hand.number)), (0, ()))[0]

    def take_up(self, card: InPlay, at: int, seqs: tuple[int, ...]) -> None:
        """See that a card is off the felt."""
        card.where, card.gone_at = "off", at
        hand = self.hand_of(card)
        if hand is None or hand.taken_at:
            return
        if any(other.where == "felt" for other in hand.cards):
            return
        settled = hand.paid >= 0 or self.revealed or hand.settles_early
        if not settled or all(other.where == "unseen" for other in hand.cards):
            return
        if card.face == "down" and hand.paid < 0:
            return
        hand.taken_at = at
        if hand.paid < 0 and self.plates.get((hand.spot, str(hand.number))):
            self.pay(hand, 0, at, seqs, at + PAID_HOLD_NS)

    def close_if_over(self, now_ns: int) -> None:
        """Close the round once all cards are off the felt, or would have been seen to go by now."""
        if not self.over_at or any(draw.at < self.over_at for draw in self.supply.drawn):
            return
        lying = any(card.where == "felt" for card in self.cards())
        if not lying or now_ns - self.over_at > CLOSE_HOLD_NS:
            self.close_round(self.over_at, self.over_seqs)

    def end_session(self) -> None:
        """Weigh that the session ends in the middle of a round."""
        if self.in_play:
            self.weigh("camera", log(GOES_UNSEEN))
            if self.revealed:
                self.weigh("camera", self.never_seen())

    def _all_settled(self) -> bool:
        """Return whether nothing of the round is still to be seen: paid, and off the felt."""
        paid = all(hand.paid >= 0 for hand in self.all_hands())
        return paid and all(card.where == "off" for card in self.cards())

    def never_seen(self) -> float:
        """Return how likely nobody saw cards of hands on the sides they showed, as a logarithm."""
        missed = 0.0
        for hand in self.all_hands():
            for card in hand.cards:
                if card.where == "unseen" and not card.announced:
                    missed += log(MISSED) * (1 if card.face == "up" and not self.shoe else 2)
                elif card.where != "unseen" and card.face == "down":
                    missed += log(MISSED)
        return missed

    def close_round(self, at: int, seqs: tuple[int, ...], *, entered: bool = False) -> None:
        """Close the round, as seen or as a person ``entered`` it."""
        for card in () if entered else self.cards():
            self.weigh("camera", log(GOES_UNSEEN) if card.where == "felt" else 0.0)
        self.weigh("camera", self.never_seen())
        if not entered:
            self._take_up_with_others()
        for draw in self.supply.drawn:
            self.weigh("shoe", log(NO_CARD_READ) if draw.certain and draw.at < at else 0.0)
        self.withdraw_unpaid()
        hold_ns = SETTLED_HOLD_NS if self._all_settled() else CLOSE_HOLD_NS
        end = self.state(RoundClosed(at=at, evidence=seqs), at + hold_ns)
        self.closed.append(Closed(self, end, entered=entered))
        self.in_play, self.over_at = False, 0
        self.hands, self.dealer, self.asks = {}, [], []
        self.tracks = dict.fromkeys(self.tracks, LEFT)


def _open(card: InPlay) -> bool:
    """Return whether the round's course must tell which of two sensors misread a card."""
    if card.said is None or card.reading is None or not card.disputed:
        return False
    return not upheld(card.said, card.reading)


def _sure(card: InPlay) -> float | None:
    """Return the probability of a stated face, where it leaves a doubt."""
    if card.card is None or (card.said is None and card.reading is None):
        return None
    sure = probability(card.card, card.said, card.reading)
    return None if sure >= _AGREED_BY_TWO_P else round(sure, 6)


def gist(fact: AnyFact) -> tuple[object, ...]:
    """Return what a fact states, without what it rests on."""
    match fact:
        case CardDealt():
            return ("dealt", fact.at, fact.to, fact.hand, fact.card, fact.face)
        case CardExposed():
            return ("exposed", fact.at, fact.to, fact.hand, fact.card)
        case PaymentMade():
            return ("paid", fact.at, fact.spot, fact.hand, fact.amount)
        case WagerPlaced() | WagerRemoved():
            name = type(fact).__name__
            return (name, fact.at, fact.spot, fact.hand, fact.kind, fact.amount)
        case PlayerActed():
            return ("acted", fact.at, fact.spot, fact.hand, fact.action)
        case _:
            return (type(fact).__name__, fact.at)


def _leads_to(before: AnyFact, fact: AnyFact) -> bool:
    """Return whether a fact must have come first, however late it was seen."""
    if isinstance(before, RoundOpened | RoundClosed):
        return True
    if isinstance(fact, PaymentMade):
        return isinstance(before, CardExposed | CardDealt) and before.to == "dealer"
    if not isinstance(fact, CardDealt):
        return False
    if fact.to == "dealer":
        return isinstance(before, CardExposed) and before.to == "dealer"
    return (
        isinstance(before, PlayerActed)
        and before.action == "split"
        and before.spot == fact.to
        and (fact.hand > 0 or before.hand == fact.hand)
    )


def _in_turn(card: InPlay) -> int:
    return card.ident
