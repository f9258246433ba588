"""The facts of one account, in order: stated, amended, withdrawn."""

from typing import Final

from msgspec.structs import astuple, replace

from models.cards import Card
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    Dealt,
    DiscardsReshuffled,
    Fact,
    HoleCardChecked,
    PaidKind,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    Spot,
)
from settlement.reckoning.in_play import Hand
from settlement.reckoning.moves import Moves
from settlement.reckoning.table import Table

_MANY: Final = 1000
_RESTS_ON: Final = len(Fact.__struct_fields__)
"""The first fields of every fact: when it was, and what it rests on."""


class Record(Table):
    """The facts by one account of a table, and until when they may be stated otherwise."""

    def __init__(self, moves: Moves, *, shoe: bool = False) -> None:
        super().__init__(moves, shoe=shoe)
        self.base = self.published = 0
        self.record: list[AnyFact] = []
        """Facts from place ``base`` on."""
        self.holds: dict[int, int] = {}
        """Until when facts may yet be stated otherwise, by their place."""
        self.opened = 0
        """Place of the round's opening in the record."""

    @property
    def end(self) -> int:
        """The place of the next fact."""
        return self.base + len(self.record)

    def fact(self, at: int) -> AnyFact:
        """Return the fact at a place."""
        return self.record[at - self.base]

    def states(self, at: int, fact: AnyFact) -> bool:
        """Return whether the fact at a place states the same, whatever it rests on."""
        if at >= self.end or at < self.base:
            return False
        own = self.fact(at)
        return own == fact or gist(own) == gist(fact)

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

    def out(self, face: Card) -> int:
        """Return how many of a face left the decks by facts that were not published."""
        count = 0
        for fact in self.record[self.published - self.base :]:
            if isinstance(fact, ShoeStarted | DiscardsReshuffled):
                count = -_MANY
            elif isinstance(fact, CardDealt | CardBurned | CardBoxed) or (
                isinstance(fact, CardExposed) and not self.shoe
            ):
                count += fact.card is face
        return count

    def trim(self, at: int) -> None:
        """Forget the facts before a place."""
        self.record = self.record[at - self.base :]
        self.base = at
        self.holds = {place: until for place, until in self.holds.items() if place >= at}

    def settled_at(self, hand: Hand) -> int:
        """Return when a hand was paid or taken up; 0 where it was not, or long ago."""
        paid = self.fact(hand.paid).at if hand.paid >= self.base else None
        return paid or hand.taken_at

    def settled_from(self) -> int:
        """Return when the first hand was settled that had to wait for the dealer's.

        One that was settled while others were played broke by a card that nobody saw.
        """
        found = 2**62
        for fact in self.record[max(0, self.published - self.base) :]:
            if isinstance(fact, PaymentMade) and fact.kind == "main":
                hand = self.hand(fact.spot, fact.hand)
                if hand is not None and not self.settles_early(hand) and fact.at is not None:
                    found = min(found, fact.at)
            elif isinstance(fact, CardDealt | PlayerActed) and _to_a_spot(fact):
                found = 2**62
        return found

    def done(self, hand: Hand) -> bool:
        """Return whether no card is to come to a hand."""
        if hand.ended:
            return True
        if hand.doubled and hand.owed:
            return False
        allowed = self.allowed(hand)
        return not (allowed.draws or (allowed.draws_asked and self.asks_for_card(hand)))

    def asks_for_card(self, hand: Hand) -> bool:
        """Return whether it was entered that a hand asks for a card, since its last one."""
        for fact in reversed(self.record[max(0, self.opened - self.base) :]):
            if isinstance(fact, PlayerActed) and fact.action == "hit":
                if (fact.spot, fact.hand) == (hand.spot, hand.number):
                    return True
            elif isinstance(fact, CardDealt) and (fact.to, fact.hand) == (hand.spot, hand.number):
                return False
        return False

    def is_paid(self, spot: Spot, kind: PaidKind) -> bool:
        """Return whether a wager of a spot was settled in the round in play."""
        return any(
            isinstance(fact, PaymentMade) and fact.kind == kind and fact.spot == spot
            for fact in self.record[self.opened - self.base :]
        )


def _to_a_spot(fact: CardDealt | PlayerActed) -> bool:
    return isinstance(fact, PlayerActed) or fact.to != "dealer"


def gist(fact: AnyFact) -> tuple[object, ...]:
    """Return what a fact states, without what it rests on or how likely it is."""
    told = astuple(fact)[_RESTS_ON:]
    return (type(fact).__name__, fact.at, *(told[:-1] if isinstance(fact, CardDealt) else told))


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
