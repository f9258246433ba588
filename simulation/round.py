"""One round by a faultless dealer and faultless players: phases that follow the rules."""

from models.cards import Card
from models.events import Action, HoleCardChecked, RoundCalledOff, RoundClosed, RoundOpened
from models.money import Cents
from settlement.dealer import must_draw
from settlement.hands import counted, natural, total
from settlement.play import DEAD, finished, hand_with, live
from simulation.acts import Acts
from simulation.dues import half_taken, side_due
from simulation.steps import Hand
from simulation.strategy import choose


class Round(Acts):
    """One round, phase by phase."""

    # --- the whole round ------------------------------------------------------------------

    def play(self) -> None:
        """Play the round through without a fault."""
        self.until_players()
        self.end()

    def until_players(self) -> None:
        """Play the round up to the first player's turn."""
        self.open()
        self.deal_initial()
        self.offer_insurance()
        self.check_hole()

    def play_on(self) -> None:
        """Play the round from the end of the deal."""
        self.offer_insurance()
        self.check_hole()
        self.end()

    def end(self) -> None:
        """Play the round from the players' turn."""
        self.play_players()
        self.play_dealer()
        self.finish()

    def finish(self) -> None:
        """Settle and close."""
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
        """Add a spot with this wager."""
        self.bet(spot, wager)
        self.lay_side(spot, self.table.side_wager(wager))
        hand = Hand(spot=spot, number=0, bet=wager)
        self.hands[spot] = [hand]
        return hand

    # --- dealing --------------------------------------------------------------------------

    def deal_initial(self) -> None:
        """Deal two cards each, one at a time from spot 1, the dealer last."""
        self.deal_pass(0)
        self.deal_pass(1)

    def deal_pass(self, turn: int) -> None:
        """Deal one card to every spot in play, then the dealer's first or second."""
        for spot in self.hands:
            self.deal(spot, face=self.rules.player_cards)
        self.deal_own(turn)

    def leave_out(self, spot: int) -> None:
        """Remove a spot that was not dealt in."""
        for hand in self.hands[spot]:
            hand.finished = hand.settled = True

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

    def check_hole(self) -> None:
        """Check under an ace or a ten; a blackjack ends the players' part."""
        if self.rules.surrender == "early":
            self._surrender_first()
        if self.hole is None or not (self.peek and self.shown.points in (1, 10)):
            return
        blackjack = natural(self.dealer)
        self.table.write(HoleCardChecked(blackjack=blackjack), console=True)
        if blackjack:
            self._finish_all()
            self.turn_hole()
        self.settle_insurance()

    # --- the players ----------------------------------------------------------------------

    def play_players(self) -> None:
        """Pay blackjacks first, then play every spot in turn, from the dealer's left."""
        self.pay_blackjacks()
        for spot in list(self.hands):
            self.play_spot(spot)

    def pay_blackjacks(self) -> None:
        """Pay blackjacks before anyone acts, where the hole card cannot matter."""
        for hand in self.unsettled():
            if self.blackjack(hand) and not hand.finished:
                hand.finished = True
                self.turn_up(hand)
                if 2 <= self.shown.points <= 9:
                    self.settle_hand(hand)

    def play_spot(self, spot: int) -> None:
        """Play a spot's hands in the order of their creation."""
        at = 0
        while at < len(self.hands[spot]):
            self.play_hand(self.hands[spot][at])
            at += 1

    def play_hand(self, hand: Hand) -> None:
        """Give a hand its cards until it is finished."""
        while not hand.finished:
            if len(hand.cards) < 2:
                self.deal(hand.spot, hand.number)
            else:
                self.decide(hand)

    def decide(self, hand: Hand) -> None:
        """Make one decision for the player, and carry it out."""
        if finished(self.lying(hand), self.house):
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

    def stand(self, hand: Hand, *, console: bool = False) -> None:
        """Stand for the player."""
        self.act(hand, "stand", console=console)
        hand.finished = True

    def hit(self, hand: Hand) -> None:
        """Draw one card for the player."""
        self.act(hand, "hit")
        self.deal(hand.spot, hand.number)
        self.after_card(hand)

    def double(self, hand: Hand, amount: Cents) -> None:
        """Add chips and draw the last card for the player."""
        self.lay_double(hand, amount)
        self.deal(hand.spot, hand.number)
        self.after_card(hand)

    def lay_double(self, hand: Hand, amount: Cents, *, console: bool = False) -> None:
        """Lay the chips of a double."""
        self.turn_up(hand)
        self.bet(hand.spot, amount, "double", hand.number)
        self.act(hand, "double", console=console)
        hand.added += amount
        hand.finished = True

    def split(self, hand: Hand, amount: Cents | None = None) -> Hand:
        """Split two cards; the second starts a new last hand."""
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
        """Surrender half the wager, and turn up the cards."""
        self.act(hand, "surrender")
        self.turn_up(hand)
        hand.surrendered = hand.finished = hand.settled = True
        self.pay(hand.spot, half_taken(hand.bet), hand.number)

    def after_card(self, hand: Hand) -> None:
        """Take a busted hand's wager and cards at once."""
        if total(hand.cards)[0] > 21:
            hand.finished = hand.settled = True
            self.turn_up(hand)
            self.pay(hand.spot, -hand.stake, hand.number)

    # --- the dealer -----------------------------------------------------------------------

    def play_dealer(self) -> None:
        """Turn the hole card, and draw while a live hand requires it."""
        self.turn_hole()
        if self.hole is None and (self.unsettled() or self.insurance):
            self.deal("dealer")
        while (self.live() or self.plays_for_sides()) and self.must_draw():
            self.deal("dealer")

    def plays_for_sides(self) -> bool:
        """Return whether the dealer plays his hand out for a side bet."""
        bet = self.table.side_bet
        return bet is not None and bet.dealer_plays and bool(self.sides)

    def turn_hole(self) -> None:
        """Turn the hole card up, once."""
        if self.hole is not None and not self.hole_shown:
            self.expose("dealer", self.hole)
            self.hole_shown = True

    @property
    def dealer_shown(self) -> bool:
        """Whether the dealer has turned his hole card, or drawn where he has none."""
        return self.hole_shown if self.hole is not None else len(self.dealer) > 1

    def must_draw(self) -> bool:
        """Return whether the rules require another card of the dealer."""
        return must_draw(counted(self.dealer), self.house)

    def live(self) -> list[Hand]:
        """Return the hands whose result depends on the dealer's cards."""
        return [
            hand
            for hands in self.hands.values()
            for hand in hands
            if not hand.settled and live(self.lying(hand), self.house) != DEAD
        ]

    # --- settling -------------------------------------------------------------------------

    def settle(self) -> None:
        """Pay and take: insurance first, then from the dealer's right to the left."""
        self.settle_insurance()
        for hand in self.unsettled():
            self.settle_hand(hand)

    def unsettled(self) -> list[Hand]:
        """Return the hands to settle, in order of settlement."""
        return [
            hand
            for spot in sorted(self.hands, reverse=True)
            for hand in self.hands[spot]
            if not hand.settled
        ]

    def settle_insurance(self) -> None:
        """Settle the insurance wagers, once the hole card is known."""
        wins = natural(self.dealer)
        for spot in sorted(self.insurance, reverse=True):
            stake = self.insurance.pop(spot)
            amount = self.house.insured.won(stake) if wins else -stake
            self.pay(spot, amount, kind="insurance")

    def settle_side(self, spot: int, *, wrongly: bool = False) -> None:
        """Settle the side bet of a spot; ``wrongly`` pays 5 dollars more, or a bet that lost."""
        stake = self.sides.pop(spot, 0)
        amount = side_due(self.facts(), self.rules, spot)
        if wrongly:
            amount = amount + 500 if amount >= 0 else stake
        if amount:
            self.pay(spot, amount, kind="side")

    def settle_hand(self, hand: Hand, error: Cents = 0) -> None:
        """Pay a hand its due plus ``error``, and its spot's side bet once the dealer has shown."""
        self.turn_up(hand)
        if hand.spot in self.sides and self.dealer_shown:
            self.settle_side(hand.spot)
        hand.settled = True
        self.pay(hand.spot, self.due(hand) + error, hand.number)

    def close(self) -> None:
        """Take up the dealer's cards, after the side bets of hands that were settled early."""
        for spot in sorted(self.sides, reverse=True):
            self.settle_side(spot)
        self.table.write(RoundClosed())
        self.table.take_up()

    # --- rulings --------------------------------------------------------------------------

    def call_off(self, reason: str) -> None:
        """Have the floor call the round off: the wagers go back, and the cards are taken up."""
        self.table.write(RoundCalledOff(reason=reason), console=True)
        for hand in self.unsettled():
            self.give_back(hand.spot, hand.stake, hand=hand.number)
        for spot, stake in self.sides.items():
            self.give_back(spot, stake, "side")
        self.sides = {}
        self.close()

    # --- internal -------------------------------------------------------------------------

    def _finish(self, hand: Hand) -> None:
        """Finish a hand: 21 needs no signal, but cards in a player's hand must be tucked."""
        if hand.down:
            self.act(hand, "stand")
        hand.finished = True

    def _split_aces(self, hand: Hand, new: Hand) -> None:
        if not finished(hand_with((*new.cards, Card("2C")), split=True), self.house):
            return
        for one in (hand, new):
            if not one.finished and len(one.cards) == 1:
                self.deal(one.spot, one.number)
            one.finished = not self.options(one).split

    def _decision(self, hand: Hand) -> Action:
        decisions = self._decisions.get((hand.spot, hand.number))
        if decisions:
            return decisions.pop(0)
        return choose(hand.cards, self.shown, self.options(hand))

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
        return choose(hand.cards, self.shown, self.options(hand)) == "surrender"

    def _finish_all(self) -> None:
        for hands in self.hands.values():
            for hand in hands:
                hand.finished = True
