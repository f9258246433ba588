"""The single acts of a round; each adds one step to the table's script.

An act never checks whether it is allowed: a dealt card lies on the felt. :mod:`simulation.round`
holds the phases that follow the rules; a scene or a mistake calls acts between phases.
"""

from collections.abc import Sequence
from typing import Final

from models.cards import DECK, Card
from models.events import (
    Action,
    AnyFact,
    CardDealt,
    CardExposed,
    CardMoved,
    Dealt,
    Face,
    HandPlace,
    Manner,
    PaidKind,
    PaymentMade,
    PlayerActed,
    WagerKind,
    WagerPlaced,
    WagerRemoved,
)
from models.money import Cents
from models.rulebook import Rulebook
from settlement import play, state
from simulation.dues import due
from simulation.steps import Hand, Rig
from simulation.strategy import Options
from simulation.table import Table

_ELEVEN: Final = {11 - card.points: card for card in DECK}
"""A card that makes 11 with one of so many points."""


class Acts:
    """The state of one round, with all its possible acts."""

    def __init__(self, table: Table, rig: Rig | None = None, *, peek: bool = True) -> None:
        self.table = table
        self.rules: Rulebook = table.rules
        self.house = table.house
        self.rig = rig or Rig()
        self.peek = peek
        self.first_step = len(table.steps)
        self.hands: dict[int, list[Hand]] = {}
        self.dealer: list[Card] = []
        self.up: Card | None = None
        self.hole: Card | None = None
        self.hole_shown = False
        self.insurance: dict[int, Cents] = {}
        self.sides: dict[int, Cents] = {}
        """The side bets that lie, by their spots."""
        self._wishes = {key: wish.split() for key, wish in self.rig.cards.items()}
        self._wishes["dealer", 0] = self._dealer_wishes()
        self._decisions = {key: list(chosen) for key, chosen in self.rig.decisions.items()}

    # --- acts -----------------------------------------------------------------------------

    def bet(self, spot: int, amount: Cents, kind: WagerKind = "main", hand: int = 0) -> None:
        """Place a player's chips."""
        self.table.write(WagerPlaced(spot=spot, hand=hand, kind=kind, amount=amount))

    def deal(self, to: Dealt, hand: int = 0, *, face: Face = "up", wish: str = "") -> Card:
        """Deal one card from the shoe to a hand; an unread card of a pitch game stays unknown."""
        card = self.table.draw(wish or self._wish(to, hand))
        seen = card if face == "up" or self.table.has_shoe else None
        self.table.write(CardDealt(to=to, hand=hand, card=seen, face=face), card)
        if to == "dealer":
            self.dealer.append(card)
        else:
            self.hold(to, card, face, hand)
        return card

    def hold(self, spot: int, card: Card, face: Face, number: int = 0) -> None:
        """Add a card to a hand; an unopened card counts nothing."""
        hand = self._hand(spot, number)
        hand.cards.append(card)
        if face == "down":
            hand.down.append(card)

    def expose(self, to: Dealt, card: Card, hand: int = 0) -> None:
        """Turn up a card that lay face down."""
        self.table.write(CardExposed(to=to, hand=hand, card=card), card)

    def act(
        self, hand: Hand, action: Action, manner: Manner | None = None, *, console: bool = False
    ) -> None:
        """Announce a player's action, in the first manner that the house accepts."""
        entered = console or action in ("split", "surrender", "even_money")
        chosen = manner or self.manner(action)
        fact = PlayerActed(spot=hand.spot, hand=hand.number, action=action, manner=chosen)
        self.table.write(fact, console=entered)

    def pay(self, spot: int, amount: Cents, hand: int = 0, kind: PaidKind = "main") -> None:
        """Pay or take chips for a wager."""
        self.table.write(PaymentMade(spot=spot, hand=hand, kind=kind, amount=amount))

    def manner(self, action: Action) -> Manner | None:
        """Return the manner of announcement that this house accepts."""
        accepted = {
            "hit": self.rules.signals.hit,
            "stand": self.rules.signals.stand,
            "double": self.rules.signals.double,
            "split": self.rules.signals.split,
            "surrender": self.rules.signals.surrender,
        }.get(action)
        return accepted[0] if accepted else None

    def insure(self, spot: int, amount: Cents) -> None:
        """Take insurance for a spot."""
        self.bet(spot, amount, "insurance")
        self.insurance[spot] = self.insurance.get(spot, 0) + amount

    def move_last_card(self, origin: Hand, to: Hand, reason: str) -> None:
        """Have the floor move the last card of a hand to another."""
        card = origin.cards.pop()
        places = (HandPlace(to=hand.spot, hand=hand.number) for hand in (origin, to))
        moved = CardMoved(card=card, origin=next(places), to=next(places), reason=reason)
        self.table.write(moved, card, console=True)
        to.cards.append(card)

    def lay_side(self, spot: int, amount: Cents) -> None:
        """Lay a side bet; nothing where ``amount`` is 0."""
        if amount:
            self.bet(spot, amount, "side")
            self.sides[spot] = amount

    def give_back(self, spot: int, amount: Cents, kind: WagerKind = "main", hand: int = 0) -> None:
        """Give a wager that was called off back."""
        self.table.write(WagerRemoved(spot=spot, hand=hand, kind=kind, amount=amount))

    def turn_up(self, hand: Hand) -> None:
        """Turn up the face-down cards of a hand."""
        for card in hand.down:
            self.expose(hand.spot, card, hand.number)
        hand.down = []

    # --- acts against the rules -----------------------------------------------------------

    def extra_draw(self) -> None:
        """Give the dealer an undue card; it counts only where the house lets it."""
        self.deal("dealer")
        if self.rules.policy.dealer_overdraw == "burn":
            self.dealer.pop()

    def extra_card(self, hand: Hand) -> None:
        """Give a hand an undue card."""
        self.deal(hand.spot, hand.number)
        if self.rules.policy.extra_player_card == "burn":
            hand.cards.pop()

    def rig_all(self, action: Action) -> None:
        """Make every spot's first decision this one."""
        for spot in self.table.spots:
            self._decisions[spot, 0] = [action]

    def stand_all(self, spot: int) -> None:
        """Give every hand of a spot its second card only."""
        for hand in self.hands[spot]:
            if len(hand.cards) < 2:
                self.deal(spot, hand.number)
            hand.finished = True

    def deal_own(self, turn: int) -> None:
        """Deal the dealer's first (``turn`` 0) or second card, where that comes with the deal."""
        if turn and self.rules.dealer_second_card == "after_players":
            return
        up = (turn == 0) == (self.rules.dealer_first_card == "up")
        card = self.deal("dealer", face="up" if up else "down")
        if up:
            self.up = card
        else:
            self.hole = card

    # --- a hand under the rules -----------------------------------------------------------

    def blackjack(self, hand: Hand) -> bool:
        """Return whether a hand is a blackjack."""
        return play.blackjack(self.lying(hand), self.house)

    def lying(self, hand: Hand) -> state.Hand:
        """Return a hand as the house's rules judge it."""
        return play.hand_with(hand.cards, split=hand.of_split, stake=hand.bet, added=hand.added)

    def due(self, hand: Hand) -> Cents:
        """Return the winnings of the hand's player."""
        if self.blackjack(hand) and not self.hole_shown:
            return self.house.blackjack.won(hand.stake)
        return due(self.facts(), self.rules, hand.spot, hand.number)

    def facts(self) -> list[AnyFact]:
        """Return what has happened in the round."""
        return [step.fact for step in self.table.steps[self.first_step :]]

    def options(self, hand: Hand) -> Options:
        """Return the house's options for this hand now."""
        lying, hands = self.lying(hand), len(self.hands[hand.spot])
        parted = play.hand_with((hand.cards[0], _ELEVEN[hand.cards[0].points]), split=True)
        return Options(
            double=play.double_fault(lying, self.house) is None,
            split=play.split_fault(lying, self.house, hands) is None,
            surrender=play.surrender_fault(lying, self.house) is None and self._may_surrender(),
            double_after_split=play.double_fault(parted, self.house) is None,
        )

    # --- internal -------------------------------------------------------------------------

    def _may_surrender(self) -> bool:
        """Return whether the hand may surrender: late surrender waits for the hole card check."""
        if self.rules.surrender != "late":
            return self.rules.surrender == "early"
        looks = self.peek and self.hole is not None
        return looks or (self.up is not None and 2 <= self.up.points <= 9)

    def _hand(self, spot: int, number: int) -> Hand:
        own = self.hands.setdefault(spot, [])
        while len(own) <= number:
            own.append(Hand(spot, len(own), 0, finished=True, settled=True))
        return own[number]

    def _wish(self, to: Dealt, hand: int) -> str:
        wishes = self._wishes.get((to, hand))
        if wishes is None and to != "dealer" and hand == 0 and self.rig.others:
            wishes = self._wishes[to, hand] = self.rig.others[to % len(self.rig.others)].split()
        return wishes.pop(0) if wishes else "*"

    def _dealer_wishes(self) -> list[str]:
        wishes: Sequence[str] = self._wishes.get(("dealer", 0), [])
        if len(wishes) >= 2 and self.rules.dealer_first_card == "down":
            return [wishes[1], wishes[0], *wishes[2:]]
        return list(wishes)
