"""One round as it is dealt and played: phases that follow the rules, made of single acts.

The acts (:meth:`Round.deal`, :meth:`Round.bet`, :meth:`Round.pay` …) put one step each into
the table's script and never ask whether it is allowed; the phases are what a dealer and
players without fault make of them. A scene or a mistake calls acts between phases.
"""

from collections.abc import Sequence

from models.cards import Card
from models.events import (
    Action,
    CardDealt,
    CardExposed,
    Dealt,
    Face,
    HoleCardChecked,
    Manner,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    RoundOpened,
    WagerKind,
    WagerPlaced,
)
from models.money import Cents
from models.rulebook import Rulebook
from settlement.hands import natural, total
from simulation.steps import Hand, Rig
from simulation.strategy import Options, choose, may_double_on, pair
from simulation.table import Table


class Round:
    """The state of one round, and everything that can be done in it."""

    def __init__(self, table: Table, rig: Rig | None = None, *, peek: bool = True) -> None:
        self.table = table
        self.rules: Rulebook = table.rules
        self.rig = rig or Rig()
        self.peek = peek
        self.first_step = len(table.steps)
        self.hands: dict[int, list[Hand]] = {}
        self.dealer: list[Card] = []
        self.up: Card | None = None
        self.hole: Card | None = None
        self.hole_shown = False
        self.insurance: dict[int, Cents] = {}
        self._wishes = {key: wish.split() for key, wish in self.rig.cards.items()}
        self._wishes["dealer", 0] = self._dealer_wishes()
        self._decisions = {key: list(said) for key, said in self.rig.decisions.items()}

    # --- acts -----------------------------------------------------------------------------

    def bet(self, spot: int, amount: Cents, kind: WagerKind = "main", hand: int = 0) -> None:
        """A player lays chips down."""
        self.table.write(WagerPlaced(spot=spot, hand=hand, kind=kind, amount=amount))

    def deal(self, to: Dealt, hand: int = 0, *, face: Face = "up", wish: str = "") -> Card:
        """One card leaves the shoe for a hand; an unread card of a pitch game stays unknown."""
        card = self.table.draw(wish or self._wish(to, hand))
        seen = card if face == "up" or self.table.has_shoe else None
        self.table.write(CardDealt(to=to, hand=hand, card=seen, face=face), card)
        if to == "dealer":
            self.dealer.append(card)
        else:
            self._join(to, hand, card, face)
        return card

    def expose(self, to: Dealt, card: Card, hand: int = 0) -> None:
        """A card that lay face down is turned up."""
        self.table.write(CardExposed(to=to, hand=hand, card=card), card)

    def act(
        self, hand: Hand, action: Action, manner: Manner | None = None, *, console: bool = False
    ) -> None:
        """A player says what he does, in the first manner that the house accepts."""
        entered = console or action in ("split", "surrender", "even_money")
        said = manner or self.manner(action)
        fact = PlayerActed(spot=hand.spot, hand=hand.number, action=action, manner=said)
        self.table.write(fact, console=entered)

    def pay(self, spot: int, amount: Cents, hand: int = 0) -> None:
        """Chips change hands over a main wager."""
        self.table.write(PaymentMade(spot=spot, hand=hand, amount=amount))

    def pay_insurance(self, spot: int, amount: Cents) -> None:
        """Chips change hands over an insurance wager."""
        self.table.write(PaymentMade(spot=spot, kind="insurance", amount=amount))

    def manner(self, action: Action) -> Manner | None:
        """Return how this house has the action said."""
        accepted = {
            "hit": self.rules.signals.hit,
            "stand": self.rules.signals.stand,
            "double": self.rules.signals.double,
            "split": self.rules.signals.split,
            "surrender": self.rules.signals.surrender,
        }.get(action)
        return accepted[0] if accepted else None

    # --- the whole round ------------------------------------------------------------------

    def play(self) -> None:
        """Play it through without fault."""
        self.open()
        self.deal_initial()
        self.offer_insurance()
        self.check_hole()
        self.play_players()
        self.play_dealer()
        self.settle()
        self.close()

    def open(self) -> None:
        """Open the round and take the main wagers."""
        self.table.round += 1
        self.table.write(RoundOpened(round=self.table.round))
        for spot in self.table.spots:
            if spot not in self.rig.sits_out:
                self.join(spot, self.rig.wagers.get(spot) or self.table.wager(spot))

    def join(self, spot: int, wager: Cents) -> Hand:
        """A spot takes part with this wager."""
        self.bet(spot, wager)
        hand = Hand(spot=spot, number=0, bet=wager)
        self.hands[spot] = [hand]
        return hand

    # --- dealing --------------------------------------------------------------------------

    def deal_initial(self) -> None:
        """Two cards each, one at a time from spot 1, the dealer last."""
        for turn in (0, 1):
            for spot in self.hands:
                self.deal(spot, face=self.rules.player_cards)
            self.deal_own(turn)

    def deal_own(self, turn: int) -> None:
        """The dealer's own first (``turn`` 0) or second card."""
        up = (turn == 0) == (self.rules.dealer_first_card == "up")
        card = self.deal("dealer", face="up" if up else "down")
        if up:
            self.up = card
        else:
            self.hole = card

    @property
    def shown(self) -> Card:
        """The dealer's up card."""
        assert self.up is not None, "the dealer has no up card yet"
        return self.up

    # --- before the players act -----------------------------------------------------------

    def offer_insurance(self) -> None:
        """Offer insurance against an ace."""
        if self.shown.points != 1 or self.rules.insurance == "none":
            return
        for spot, hands in self.hands.items():
            if self._insures(spot):
                self.insure(spot, hands[0].bet // 2)

    def insure(self, spot: int, amount: Cents) -> None:
        """A spot takes insurance for this amount."""
        self.bet(spot, amount, "insurance")
        self.insurance[spot] = self.insurance.get(spot, 0) + amount

    def check_hole(self) -> None:
        """Peek under an ace or a ten; a blackjack ends the players' part."""
        if self.rules.surrender == "early":
            self._surrender_first()
        if not (self.peek and self.shown.points in (1, 10)):
            return
        blackjack = natural(self.dealer)
        self.table.write(HoleCardChecked(blackjack=blackjack), console=True)
        if blackjack:
            self._finish_all()
            self.turn_hole()
        self.settle_insurance()

    # --- the players ----------------------------------------------------------------------

    def play_players(self) -> None:
        """Every spot in turn, from the dealer's left."""
        for spot in list(self.hands):
            self.play_spot(spot)

    def play_spot(self, spot: int) -> None:
        """Play a spot's hands in the order of their creation."""
        at = 0
        while at < len(self.hands[spot]):
            self.play_hand(self.hands[spot][at])
            at += 1

    def play_hand(self, hand: Hand) -> None:
        """Give a hand its due cards until it is finished."""
        if self._early_blackjack(hand):
            return
        while not hand.finished:
            if len(hand.cards) < 2:
                self.deal(hand.spot, hand.number)
            else:
                self.decide(hand)

    def decide(self, hand: Hand) -> None:
        """The player makes one decision, and it is carried out."""
        if total(hand.cards)[0] >= 21 or self.one_card_only(hand):
            self._finish(hand)
            return
        action = self._decision(hand)
        if action == "stand":
            self.stand(hand)
        elif action == "hit":
            self.hit(hand)
        elif action == "double":
            self.double(hand, self._double_amount(hand))
        elif action == "split":
            self.split(hand)
        else:
            self.surrender(hand)

    def stand(self, hand: Hand) -> None:
        """The player wants no more cards."""
        self.act(hand, "stand")
        hand.finished = True

    def hit(self, hand: Hand) -> None:
        """The player takes one card."""
        self.act(hand, "hit")
        self.deal(hand.spot, hand.number)
        self.after_card(hand)

    def double(self, hand: Hand, amount: Cents) -> None:
        """The player adds chips and takes his last card."""
        self.turn_up(hand)
        self.bet(hand.spot, amount, "double", hand.number)
        self.act(hand, "double")
        hand.added += amount
        hand.doubled = hand.finished = True
        self.deal(hand.spot, hand.number)
        self.after_card(hand)

    def split(self, hand: Hand, amount: Cents | None = None) -> Hand:
        """The player splits two cards; the second starts a new last hand."""
        self.turn_up(hand)
        own = self.hands[hand.spot]
        new = Hand(hand.spot, len(own), amount or hand.bet, of_split=True)
        self.bet(hand.spot, new.bet, "split", new.number)
        self.act(hand, "split")
        new.cards.append(hand.cards.pop())
        hand.of_split = True
        own.append(new)
        if new.cards[0].points == 1:
            self._split_aces(hand, new)
        return new

    def surrender(self, hand: Hand) -> None:
        """The player gives up half his wager and his cards."""
        self.act(hand, "surrender")
        hand.surrendered = hand.finished = hand.settled = True
        self.pay(hand.spot, self._half(hand.bet), hand.number)

    def after_card(self, hand: Hand) -> None:
        """Take a broken hand's wager and cards at once."""
        if total(hand.cards)[0] > 21:
            hand.finished = hand.settled = True
            self.turn_up(hand)
            self.pay(hand.spot, -hand.stake, hand.number)

    def turn_up(self, hand: Hand) -> None:
        """Lay open the cards of a hand that still lie face down."""
        if hand.down:
            for card in hand.cards[: hand.down]:
                self.expose(hand.spot, card, hand.number)
            hand.down = 0

    # --- the dealer -----------------------------------------------------------------------

    def play_dealer(self) -> None:
        """Turn the hole card, and draw while a live hand asks for it."""
        self.turn_hole()
        while self.live() and self.must_draw():
            self.deal("dealer")

    def turn_hole(self) -> None:
        """Turn the hole card up, once."""
        if self.hole is not None and not self.hole_shown:
            self.expose("dealer", self.hole)
            self.hole_shown = True

    def must_draw(self) -> bool:
        """Tell whether the house has the dealer take another card."""
        points, soft = total(self.dealer)
        return points < 17 or (points == 17 and soft and self.rules.dealer_soft17 == "hit")

    def live(self) -> list[Hand]:
        """Return the hands whose result depends on the dealer's cards."""
        return [
            hand
            for hands in self.hands.values()
            for hand in hands
            if not hand.settled and not self.blackjack(hand)
        ]

    # --- settling -------------------------------------------------------------------------

    def settle(self) -> None:
        """Pay and take: insurance first, then from the dealer's right to his left."""
        self.settle_insurance()
        for hand in self.unsettled():
            self.settle_hand(hand)

    def unsettled(self) -> list[Hand]:
        """Return the hands still to be settled, in the order in which that is done."""
        return [
            hand
            for spot in sorted(self.hands, reverse=True)
            for hand in self.hands[spot]
            if not hand.settled
        ]

    def settle_insurance(self) -> None:
        """Pay or take the insurance wagers, now that the hole card is known."""
        wins = natural(self.dealer)
        for spot in sorted(self.insurance, reverse=True):
            stake = self.insurance.pop(spot)
            self.pay_insurance(spot, self._priced(stake) if wins else -stake)

    def settle_hand(self, hand: Hand, error: Cents = 0) -> None:
        """Pay a hand what it is due, ``error`` off."""
        self.turn_up(hand)
        hand.settled = True
        self.pay(hand.spot, self.due(hand) + error, hand.number)

    def close(self) -> None:
        """The dealer's cards are taken up."""
        self.table.write(RoundClosed())

    # --- judging what is due --------------------------------------------------------------

    def blackjack(self, hand: Hand) -> bool:
        """Tell whether a hand is a blackjack."""
        return natural(hand.cards) and not hand.of_split

    def one_card_only(self, hand: Hand) -> bool:
        """Tell whether a hand is a split ace that got its card."""
        return (
            hand.of_split
            and len(hand.cards) >= 2
            and hand.cards[0].points == 1
            and self.rules.split_aces_cards == 1
        )

    def due(self, hand: Hand) -> Cents:
        """Return what the hand's player wins."""
        if total(hand.cards)[0] > 21:
            return -hand.stake
        if natural(self.dealer):
            return 0 if self.blackjack(hand) else -self._collected(hand)
        if self.blackjack(hand):
            return self._blackjack_win(hand)
        own, dealer = total(hand.cards)[0], total(self.dealer)[0]
        if dealer > 21 or own > dealer:
            return hand.stake
        return -hand.stake if own < dealer else 0

    def _collected(self, hand: Hand) -> Cents:
        if self.rules.dealer_blackjack_collects == "all_wagers":
            return hand.stake
        return hand.bet if hand.number == 0 else 0

    def _blackjack_win(self, hand: Hand) -> Cents:
        odds, unit = self.rules.blackjack_payout, self.rules.payout_unit
        exact = hand.stake * odds.pays
        whole, rest = divmod(exact, odds.per * unit)
        return (whole + (1 if rest and self.rules.payout_rounding == "up" else 0)) * unit

    def _priced(self, stake: Cents) -> Cents:
        odds = self.rules.insurance_payout
        return stake * odds.pays // odds.per

    def _half(self, stake: Cents) -> Cents:
        return -(stake - stake // 2)

    # --- inside ---------------------------------------------------------------------------

    def _early_blackjack(self, hand: Hand) -> bool:
        if not self.blackjack(hand):
            return False
        hand.finished = True
        self.turn_up(hand)
        if 2 <= self.shown.points <= 9:
            self.settle_hand(hand)
        return True

    def _finish(self, hand: Hand) -> None:
        """A hand of 21 needs no word, but cards in a player's hand must be tucked."""
        if hand.down:
            self.act(hand, "stand")
        hand.finished = True

    def _split_aces(self, hand: Hand, new: Hand) -> None:
        if self.rules.split_aces_cards != 1:
            return
        for one in (hand, new):
            if not one.finished and len(one.cards) == 1:
                self.deal(one.spot, one.number)
            if not self._resplits_aces(one):
                one.finished = True

    def _resplits_aces(self, hand: Hand) -> bool:
        return pair(hand.cards, self.rules) and self.options(hand).split

    def options(self, hand: Hand) -> Options:
        """Say what the house lets this hand do now."""
        first = len(hand.cards) == 2
        aces = hand.of_split and bool(hand.cards) and hand.cards[0].points == 1
        return Options(
            double=first
            and may_double_on(hand.cards, self.rules)
            and (not hand.of_split or self.rules.double_after_split)
            and not (aces and not self.rules.double_split_aces),
            split=first
            and pair(hand.cards, self.rules)
            and len(self.hands[hand.spot]) < self.rules.max_hands
            and (not aces or self.rules.resplit_aces),
            surrender=first
            and self.rules.surrender != "none"
            and (not hand.of_split or self.rules.surrender_after_split),
        )

    def _decision(self, hand: Hand) -> Action:
        said = self._decisions.get((hand.spot, hand.number))
        if said:
            return said.pop(0)
        return choose(hand.cards, self.shown, self.options(hand), self.rules)

    def _double_amount(self, hand: Hand) -> Cents:
        if self.rules.double_for_less and self.table.chance.random() < 0.15:
            return hand.bet // 200 * 100 or hand.bet
        return hand.bet

    def _insures(self, spot: int) -> bool:
        if self.rig.insured is not None:
            return spot in self.rig.insured
        return self.table.chance.random() < 0.25

    def _surrender_first(self) -> None:
        for hands in self.hands.values():
            if self._decision_is_surrender(hands[0]):
                self.surrender(hands[0])

    def _decision_is_surrender(self, hand: Hand) -> bool:
        return choose(hand.cards, self.shown, self.options(hand), self.rules) == "surrender"

    def _finish_all(self) -> None:
        for hands in self.hands.values():
            for hand in hands:
                hand.finished = True

    def _join(self, spot: int, number: int, card: Card, face: Face) -> None:
        hand = self._hand(spot, number)
        hand.cards.append(card)
        if face == "down":
            hand.down += 1

    def _hand(self, spot: int, number: int) -> Hand:
        own = self.hands.setdefault(spot, [])
        while len(own) <= number:
            own.append(Hand(spot, len(own), 0, finished=True, settled=True))
        return own[number]

    def _wish(self, to: Dealt, hand: int) -> str:
        wishes = self._wishes.get((to, hand))
        if wishes is None and to != "dealer" and hand == 0 and self.rig.others:
            wishes = self._wishes[to, hand] = self.rig.others.split()
        return wishes.pop(0) if wishes else "*"

    def _dealer_wishes(self) -> list[str]:
        wishes: Sequence[str] = self._wishes.get(("dealer", 0), [])
        if len(wishes) >= 2 and self.rules.dealer_first_card == "down":
            return [wishes[1], wishes[0], *wishes[2:]]
        return list(wishes)
