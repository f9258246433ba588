"""One story of how the table came to be as it is: what lies where, and the facts so far.

A story is changed in place by what happens in it. Where an observation may mean several things,
the story is copied first, so that no two stories share anything that changes.
"""

from collections.abc import Iterable
from math import log
from typing import Final

from msgspec.structs import replace

from models.events import (
    AnyFact,
    CardMoved,
    Dealt,
    HandCalledOff,
    PaymentMade,
    PlayerActed,
    RoundCalledOff,
    RoundClosed,
    RoundOpened,
    Spot,
    WagerKind,
    WagerPlaced,
    WagerRemoved,
)
from models.judgements import Review, Sense
from models.money import Cents
from models.places import whose, zone_name
from settlement.reckoning.card_facts import CardFacts
from settlement.reckoning.holds import (
    CLOSE_HOLD_NS,
    ENTRY_HOLD_NS,
    LATE_ENTRY_NS,
    PAID_HOLD_NS,
    SETTLED_HOLD_NS,
    UNSEEN_HOLD_NS,
)
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.moves import Moves
from settlement.reckoning.odds import (
    DOUBLES,
    GOES_UNSEEN,
    MISSED,
    MISSED_FACE,
    MISTAKE,
    NO_CARD_READ,
    UNUSUAL,
    doubles,
)
from settlement.reckoning.record import gist
from settlement.reconcile.cameras import Cameras
from settlement.reconcile.felt import APART_MM
from settlement.reconcile.timing import SWEPT_NS

LEFT: Final = -1
"""The card of a track whose round is over."""

NO_BACK_THERE: Final = -2
"""The card of a track that showed a back where no card lies."""


class Closed:
    """A round that a story has closed and that is not published to its end yet."""

    def __init__(self, story: "Story", end: int, *, entered: bool = False) -> None:
        self.entered = entered
        """Whether a person declared it over, whatever lay on the felt."""
        self.round, self.opened, self.end = story.round, story.opened, end
        self.hands = [hand for own in story.hands.values() for hand in own]
        self.cards = story.cards()
        self.asks = story.asks
        self.turned_unseen, self.seen_turned_ns = story.turned_unseen, story.seen_turned_ns
        self.evidence, self.wrong = story.evidence, story.wrong
        self.by_sense = story.by_sense.copy()
        self.amended: dict[tuple[object, ...], AnyFact] = {}
        """Facts that the round's course had stated otherwise, by what they were before."""


class Story(CardFacts):
    """What lies on the table and what happened, by one account of it.

    Args:
        cameras: what each camera sees; every story of a table has the same.
        moves: what the house's rules allow.
        shoe: whether a shoe reads the cards.
    """

    def __init__(self, cameras: Cameras, moves: Moves, *, shoe: bool = False) -> None:
        super().__init__(moves, shoe=shoe)
        self.cameras = cameras
        self.evidence = 0.0
        """Logarithm of how likely the observations are by this story."""
        self.by_sense: dict[Sense, float] = {}
        """What of it rests on each sense."""
        self.mistakes = 0.0
        """Logarithm of how likely the mistakes are that it holds so far."""
        self.retracts = False
        """Whether it holds otherwise than what was published, or does not hold all of it yet."""
        self.behind: int | None = None
        """Place of the first published fact that it does not hold yet and may hold alike."""
        self.asked_to_retract = False
        """Whether a person is asked about that."""
        self.asks: list[Review] = []
        self.passed: tuple[Dealt, ...] = ()
        """Who was passed over in the initial deal."""
        self.staked: tuple[Spot, ...] = ()
        """The spots that held a wager as the first card came."""
        self.round, self.in_play = 0, False
        self.ruled_off: dict[tuple[Spot, str], Cents] = {}
        """Chips that the floor took off by an entry, and that no plate reported yet."""
        self.called_off = False
        """Whether the floor called the round in play off."""
        self.amended = 0
        """The last round whose facts were amended by its course."""
        self.stood_short = False
        """Whether the dealer settled a hand while he was to draw."""
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
        """Take in how likely a sense's report is by this story, as a logarithm."""
        if evidence:
            self.evidence += evidence
            self.by_sense[sense] = self.by_sense.get(sense, 0.0) + evidence

    def copy(self) -> "Story":
        """Return a copy that shares nothing that changes."""
        other = Story(self.cameras, self.moves, shoe=self.shoe)
        other.by_sense = self.by_sense.copy()
        other.supply = self.supply.copy()
        other.evidence, other.mistakes, other.retracts = self.evidence, self.mistakes, self.retracts
        other.base, other.record, other.holds = self.base, self.record[:], self.holds.copy()
        other.published, other.behind = self.published, self.behind
        other.asked_to_retract = self.asked_to_retract
        other.asks = self.asks[:]
        other.hands = {spot: [hand.copy() for hand in own] for spot, own in self.hands.items()}
        other.dealer = [card.copy() for card in self.dealer]
        other.tracks, other.plates = self.tracks.copy(), self.plates.copy()
        other.passed = self.passed
        other.since, other.staked = self.since.copy(), self.staked
        other.called_off, other.ruled_off = self.called_off, self.ruled_off.copy()
        other.round, other.in_play, other.opened = self.round, self.in_play, self.opened
        other.revealed, other.peeked = self.revealed, self.peeked
        other.stood_short = self.stood_short
        other.revealed_at = self.revealed_at
        other.hole_blackjack, other.turned_unseen = self.hole_blackjack, self.turned_unseen
        other.seen_turned_ns = self.seen_turned_ns
        other.amended = self.amended
        other.dealt_at, other.next_ident = self.dealt_at, self.next_ident
        other.pace_ns = self.pace_ns
        other.splits = self.splits.copy()
        other.over_at, other.over_seqs = self.over_at, self.over_seqs
        other.closed = self.closed[:]
        return other

    def retract(self) -> None:
        """Ask a person about a round of which something else was published than it holds."""
        if not self.asked_to_retract:
            self.asked_to_retract = True
            what = "Did the round go as recorded? It did not go on as its first facts were stated."
            self.first_asks().append(Review(what, (), ()))

    def first_asks(self) -> list[Review]:
        """Return what is asked of the first round whose end is not published."""
        return self.closed[0].asks if self.closed else self.asks

    def awaits_card_before(self, fact: AnyFact) -> bool:
        """Return whether a card that left the shoe before a fact has no place yet."""
        when = fact.at or 0
        return any(draw.certain and draw.earliest <= when for draw in self.supply.drawn)

    def awaits_settling_before(self, fact: AnyFact) -> bool:
        """Return whether a hand went before a payment to another, but for a card that lingers.

        A push is known by its cards alone: stated after that payment, it would seem settled late.
        """
        if not isinstance(fact, PaymentMade):
            return False
        at = fact.at or 0
        for hand in self.all_hands():
            went = any(card.where == "off" and card.gone_at < at for card in hand.cards)
            if went and hand.paid < 0 and hand.lies and not hand.off:
                return True
        return False

    def open_round(self, at: int) -> None:
        """Open a round with the wagers that lie there."""
        self.round += 1
        self.in_play, self.called_off, self.ruled_off = True, False, {}
        self.hands, self.dealer = {}, []
        self.revealed = self.peeked = self.hole_blackjack = self.turned_unseen = False
        self.seen_turned_ns = 0
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

    def pass_over(self, card: InPlay) -> None:
        """Hands that another card is owed to did not get this one."""
        for hand in self.all_hands():
            if hand.owed and card not in hand.cards:
                hand.passed_over = True

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
        if amount:
            hand.paid = self.state(fact, hold)
            return
        hand.paid = self.state_in_turn(fact, hold)
        before = self.record[max(0, self.opened - self.base) : hand.paid - self.base]
        if any(isinstance(paid, PaymentMade) and (paid.at or 0) > at for paid in before):
            who = whose(hand.spot, hand.number)
            what = f"Was {who} settled in its turn? When that was, was not seen in time."
            self.asks.append(Review(what, (), seqs))

    def withdraw_unpaid(self) -> None:
        """Hands that were swept up with the dealer's cards were not settled, be it as a push."""
        for hand in self.all_hands():
            if not self._swept(hand) or hand.paid < max(self.published, self.base):
                continue
            paid = self.fact(hand.paid)
            if isinstance(paid, PaymentMade) and not paid.amount:
                self._withdraw(hand.paid)
                hand.paid = -1

    def _swept(self, hand: Hand) -> bool:
        """Return whether a hand was taken up with a card of the dealer's own."""
        return hand.taken_at > 0 and any(
            card.where == "off" and abs(hand.taken_at - card.gone_at) < SWEPT_NS
            for card in self.dealer
        )

    def _take_up_with_others(self) -> None:
        """A card of a hand that was turned up went with the others, though nobody saw it go."""
        for hand in self.all_hands():
            seen = [card for card in hand.cards if card.where == "off" and card.gone_at]
            went = [card for card in seen if card.face == "up"]
            if hand.taken_at or not went or not (hand.paid >= 0 or hand.off or self.revealed):
                continue
            last = max(went, key=lambda card: card.gone_at)
            for card in hand.cards:
                card.where = "off" if card.where == "felt" else card.where
            self.take_up(last, last.gone_at, ())

    def call_off(self, at: int) -> None:
        """The floor calls the round in play off: it is over once no card lies there.

        What was asked of it is answered by that.
        """
        self.called_off, self.asks = True, []
        for hand in self.all_hands():
            hand.off = True
        cards = self.cards()
        if any(card.where == "off" for card in cards) and not self.lies(cards):
            self.over_at = at

    def move_card(self, fact: CardMoved) -> None:
        """The floor moves a card of the round in play: from now on it is its new hand's.

        Whose it is, is no question any more.
        """
        if fact.origin == "rack":
            return
        card = next(
            (
                one
                for one in reversed(self.own(fact.origin.to))
                if one.card is fact.card and one.number == fact.origin.hand
            ),
            None,
        )
        if card is None:
            self.weigh("console", log(UNUSUAL))
            return
        self.asks = [one for one in self.asks if one.candidates[:1] != (zone_name(card.to),)]
        card.carried = True
        self._lift(card)
        if fact.to == "rack":
            card.where = "off"
            self.tracks.update(dict.fromkeys(card.tracks, LEFT))
            return
        card.to, card.number = fact.to.to, fact.to.hand
        if fact.to.to == "dealer":
            self.dealer.append(card)
        elif (hand := self.hand(fact.to.to, fact.to.hand)) is not None:
            hand.cards.append(card)

    def _lift(self, card: InPlay) -> None:
        """Take a card from those of its hand, or of the dealer."""
        hand = self.hand_of(card)
        (self.dealer if hand is None else hand.cards).remove(card)

    def take_off(self, fact: WagerRemoved, hold_ns: int) -> None:
        """The floor takes chips off, which a plate reports as well, before or after the entry."""
        for at in range(self.end - 1, max(self.opened, self.base) - 1, -1):
            seen = self.fact(at)
            if not isinstance(seen, WagerRemoved) or seen.by == "floor":
                continue
            if (seen.spot, seen.hand, seen.kind, seen.amount) != (
                fact.spot,
                fact.hand,
                fact.kind,
                fact.amount,
            ):
                continue
            if at >= self.published:
                ruled = replace(fact, at=seen.at, evidence=(*seen.evidence, *fact.evidence))
                self.amend(at, ruled)
            else:
                who = whose(fact.spot, fact.hand)
                what = f"Did the floor take the chips off {who}? They went before it was entered."
                self.asks.append(Review(what, (), seen.evidence))
            return
        circle = {"side": "S", "insurance": "I"}.get(fact.kind, str(fact.hand))
        key = (fact.spot, circle)
        self.ruled_off[key] = self.ruled_off.get(key, 0) + fact.amount
        self.state(fact, hold_ns)

    def rule_late(self, fact: RoundCalledOff | HandCalledOff) -> bool:
        """Take a ruling into the last round, which is over and not published to its end.

        Returns whether there is such a round.
        """
        if self.in_play or not self.closed or self.closed[-1].end < self.published:
            return False
        over = self.closed[-1]
        for hand in over.hands:
            is_ruled = isinstance(fact, RoundCalledOff) or (
                hand.spot == fact.spot and fact.hand in (None, hand.number)
            )
            hand.off = hand.off or is_ruled
        if isinstance(fact, RoundCalledOff):
            over.asks = []
        over.end = self.state_before(over.end, fact) + 1
        return True

    def is_off(self, spot: Spot) -> bool:
        """Return whether a spot is called off, with the round or by all its hands."""
        own = self.hands.get(spot, ())
        return self.called_off or (len(own) > 0 and all(hand.off for hand in own))

    @staticmethod
    def lies(cards: Iterable[InPlay]) -> bool:
        """Return whether some of the cards lie on the felt."""
        return any(card.where == "felt" for card in cards)

    def split(self, fact: PlayerActed) -> bool:
        """Split a hand of two cards; ``False`` where it has not got them."""
        hand = self.hand(fact.spot, fact.hand)
        if hand is not None and len(hand.cards) == 1 and self.supply.drawn:
            self.deal(fact.spot, fact.hand, "up", self.supply.drawn[0].at, self.supply.drawn[0])
        if hand is None or len(hand.cards) < 2:
            return False
        own = self.hands[fact.spot]
        if not self.moves.splits(hand.faces, len(own), split=hand.of_split):
            self.mistakes += log(MISTAKE)
        new = Hand(fact.spot, len(own))
        new.split_from = hand.number
        unseen = any(card.face == "down" for card in hand.cards)
        moved = hand.cards.pop()
        moved.number = new.number
        new.cards.append(moved)
        new.of_split = hand.of_split = True
        new.split_at = hand.split_at = fact.at or 0
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

    def sketch(self) -> tuple[object, ...]:
        """Return some of what tells it from stories that go on alike, at little cost."""
        cards = [(card.ident, card.where, len(card.tracks)) for card in self.cards()]
        return (self.end, self.over_at, self.retracts, tuple(cards))

    def outline(self) -> tuple[object, ...]:
        """Return what tells it, beside its sketch, from stories that go on alike."""
        facts = self.record[max(0, self.published - self.base) :]
        # Which of two like cards went to which side decides which hand the next one comes to.
        apart = [
            (card.ident, card.place.x_mm // APART_MM, card.place.y_mm // APART_MM)
            for hand in self.all_hands()
            for card in hand.cards[:1]
            if hand.of_split and hand.paid < 0 and card.place is not None
        ]
        # So does which of a pair is which, before it is split.
        pairs = [
            (card.ident, card.card)
            for hand in self.all_hands()
            if hand.paid < 0 and hand.is_pair
            for card in hand.cards
        ]
        drawn = tuple(self.supply.drawn)
        return (tuple(map(gist, facts)), drawn, tuple(apart), tuple(pairs))

    def take_up(self, card: InPlay, at: int, seqs: tuple[int, ...]) -> None:
        """See that a card is off the felt."""
        card.where, card.gone_at = "off", at
        hand = self.hand_of(card)
        if hand is None or hand.taken_at:
            return
        if hand.lies:
            return
        settled = hand.paid >= 0 or self.revealed or self.settles_early(hand)
        if not settled or all(other.where == "unseen" for other in hand.cards):
            return
        if card.face == "down" and hand.paid < 0:
            return
        hand.taken_at = at = self._taken_at(hand)
        if not hand.seen_through:
            self.weigh("camera", self._never_seen_of(hand))
            hand.seen_through = True
        lie_there = hand.left_alone or self.plates.get((hand.spot, str(hand.number)))
        if hand.paid < 0 and lie_there and not (hand.off or self._swept(hand)):
            self.pay(hand, 0, at, seqs, at + PAID_HOLD_NS)

    def _taken_at(self, hand: Hand) -> int:
        """Return when most of a hand's cards were taken up, since it could be settled.

        They go together: of one that goes later, a second track lasted, or it is no card.
        """
        went = sorted(card.gone_at for card in hand.cards if card.gone_at)
        late = [at for at in went if at >= self.revealed_at] or went[-1:]
        return late[(len(late) - 1) // 2]

    def close_if_over(self, now_ns: int) -> bool:
        """Close the round once all cards are off the felt, or would have been seen to go by now.

        Returns whether it did: then the story weighs less by the cards that lie there.
        """
        if not self.over_at or any(draw.at < self.over_at for draw in self.supply.drawn):
            return False
        lying = any(card.where == "felt" for card in self.cards())
        if lying and now_ns - self.over_at <= CLOSE_HOLD_NS:
            return False
        self.close_round(self.over_at, self.over_seqs)
        return True

    def end_session(self) -> None:
        """Weigh that the session ends in the middle of a round."""
        if self.in_play:
            self.weigh("camera", log(GOES_UNSEEN))
            if self.revealed:
                self.weigh("camera", self.never_seen())

    def all_paid(self) -> bool:
        """Return whether every hand is paid, taken, or was left alone."""
        return all(hand.paid >= 0 or hand.off for hand in self.all_hands())

    def _all_settled(self) -> bool:
        """Return whether nothing of the round is still to be seen: paid, and off the felt."""
        return self.all_paid() and all(card.where == "off" for card in self.cards())

    def never_seen(self) -> float:
        """Return how likely nobody saw cards of hands on the sides they showed, as a logarithm.

        Of a hand that was taken up that is weighed already.
        """
        lying = (hand for hand in self.all_hands() if not hand.seen_through)
        return sum((self._never_seen_of(hand) for hand in lying), 0.0)

    def _never_seen_of(self, hand: Hand) -> float:
        missed = faces = 0
        for card in hand.cards:
            if card.where == "unseen" and not card.announced:
                if card.face == "up" and not self.shoe:
                    faces += 1
                else:
                    missed += 2
            elif card.where != "unseen" and card.face == "down" and not hand.off:
                missed += 1
        if not (missed or faces):
            return 0.0
        further = self._further_cameras(hand)
        by_all = missed * (1 + further) * log(MISSED)
        return by_all + faces * (1 + further) * log(MISSED_FACE)

    def _further_cameras(self, hand: Hand) -> int:
        """Return how many cameras but one would have seen the cards of a hand."""
        places = [card.dealt_place for card in hand.cards if card.dealt_place is not None]
        if not places:
            return 0
        since = min(card.at for card in hand.cards)
        return max(0, self.cameras.watching(places[0], since) - 1)

    def evidence_at_end(self) -> float:
        """Return how likely all is if the round in play ended here, as a logarithm."""
        return self.evidence + self.never_seen() + self._doubled_by_points()

    def _doubled_by_points(self) -> float:
        """Return how likely the doubles are by faces that were not known then, as a logarithm."""
        unread = [hand for hand in self.all_hands() if hand.doubled_unread]
        return sum((log(doubles(hand.faces[:2]) / DOUBLES) for hand in unread), 0.0)

    def close_round(self, at: int, seqs: tuple[int, ...], *, entered: bool = False) -> None:
        """Close the round, as seen or as a person ``entered`` it."""
        for card in () if entered else self.cards():
            self.weigh("camera", log(GOES_UNSEEN) if card.where == "felt" else 0.0)
        self.weigh("camera", self.never_seen())
        self.weigh("play", self._doubled_by_points())
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
