"""A table at which much happens around the round: guests, tokes, side bets, rulings, chips.

Everything is by the rules, but for a card that is dealt to a hand that stood, and that the floor
then moves: that mistake is known.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

import msgspec

from models import events as ev
from models.money import Odds
from models.rulebook import Rulebook
from tests.settlement.plain.game import Played, Style
from tests.settlement.plain.reckoning import Hand, Settled, best, natural, owed, pays
from tests.settlement.plain.side_bets import SideGame

GUESTS: Final = ("guest in black", "lady in red")


@dataclass(slots=True)
class Guest:
    """Another bettor on a spot: his chips by hand, those of doubles, and his insurance."""

    name: str
    stakes: dict[int, int]
    added: dict[int, int] = field(default_factory=dict)
    insured: int = 0


class Busy(SideGame):
    """A game with all that happens around a round."""

    def __init__(self, rules: Rulebook, seed: int | str, *, style: Style | None = None) -> None:
        super().__init__(rules, seed, style=style)
        self.style = replace(self.style, marked=True)
        self.often = Random(f"{seed}:around")

    def happens(self, often: float) -> bool:
        """Tell, this often, yes; without changing what is dealt."""
        return self.often.random() < often

    # --- the round --------------------------------------------------------------------------

    def play(self) -> Played:
        """Play one round."""
        self.guests: dict[int, list[Guest]] = {}
        self.tokes: dict[int, int] = {}
        self.coupons: dict[int, int] = {}
        self.sides: dict[int, int] = {}
        self.off: set[tuple[int, int]] = set()
        self.round_off = False
        return super().play()

    def before_play(self) -> None:
        """Call the round off now and then, once its cards are dealt."""
        self.round_off = self.happens(0.04)
        if not self.round_off:
            super().before_play()
            return
        for (hand,) in self.hands.values():
            self.turn_up(hand)
        self.tell(ev.RoundCalledOff(reason="misdeal", by="floor"))
        if self.happens(0.5):
            self.tell(ev.RoundCalledOff(reason="misdeal", by="floor"))
        for (hand,) in self.hands.values():
            self.tell(ev.WagerRemoved(spot=hand.spot, kind="main", amount=hand.stake))
            hand.done = hand.settled = True
            self.off.add((hand.spot, 0))

    def play_players(self) -> None:
        """Nobody plays on in a round that was called off."""
        if not self.round_off:
            super().play_players()

    def awaits_hole_card(self) -> bool:
        """Guests' insurance waits, too."""
        insured = any(one.insured for guests in self.guests.values() for one in guests)
        return super().awaits_hole_card() or insured

    def play_dealer(self) -> None:
        """Nor does the dealer."""
        if not self.round_off:
            super().play_dealer()

    def settle(self) -> None:
        """Settle nothing that was called off; the toke, coupon and side bet beside the rest."""
        if self.round_off:
            return
        super().settle()
        if self.style.payments == "none":
            return
        for spot in self.settling_order():
            if self.toke_due(spot):
                self.tell(ev.PaymentMade(spot=spot, kind="toke", amount=self.toke_due(spot)))
                self.tray -= self.toke_due(spot)
            if self.coupon_due(spot):
                self.tell(ev.PaymentMade(spot=spot, kind="coupon", amount=self.coupon_due(spot)))
                self.tray -= self.coupon_due(spot)
            if spot in self.sides:
                self.pay_undeclared(spot)

    def pay_undeclared(self, spot: int) -> None:
        """Pay or take the side bet that the sheet does not describe."""
        won = self.sides[spot] * self.often.choice((-1, -1, 0, 5, 11))
        self.tell(ev.PaymentMade(spot=spot, kind="side", amount=won, bet="pairs"))
        self.tray -= won

    def close_round(self) -> None:
        """Take the cards up; between rounds chips come and go."""
        super().close_round()
        if self.style.marked and self.happens(0.2):
            amount = 100 * self.often.randint(-50, 50)
            self.tell(ev.TrayChanged(amount=amount, reason=self.often.choice(("fill", "buy_in"))))
            self.tray += amount
            if self.style.tray and self.happens(0.3):
                self.count_tray()

    # --- chips ------------------------------------------------------------------------------

    def lay_wager(self, spot: int, amount: int) -> None:
        """Lay one main wager, and what others lay beside it."""
        for part in self.in_parts(amount):
            self.tell(ev.WagerPlaced(spot=spot, kind="main", amount=part))
        self.hands[spot] = [Hand(spot, 0, amount)]
        self.felt[spot] = [0]
        for name in GUESTS:
            if self.happens(0.15):
                stake = self.often.randint(1, 3000)
                wager = ev.WagerPlaced(spot=spot, kind="main", amount=stake, bettor=name)
                self.judge_limits(spot, stake, self.tell(wager))
                self.guests.setdefault(spot, []).append(Guest(name, {0: stake}))
        if self.happens(0.15):
            self.tokes[spot] = self.often.randint(1, 900)
            self.tell(ev.WagerPlaced(spot=spot, kind="toke", amount=self.tokes[spot]))
        if self.rules.coupon != "none" and self.happens(0.15):
            self.coupons[spot] = self.often.randint(1, 2000)
            self.tell(ev.WagerPlaced(spot=spot, kind="coupon", amount=self.coupons[spot]))
        if self.rules.side_wagers and self.happens(0.1):
            self.sides[spot] = 100
            self.tell(ev.WagerPlaced(spot=spot, kind="side", amount=100, bet="pairs"))
        self.lay_sides(spot)

    def judge_limits(self, spot: int, stake: int, seq: int) -> None:
        """Note a guest's wager that is below the table's minimum or above its maximum."""
        most = self.rules.table_max
        if stake < self.rules.table_min:
            self.found.append(("below_table_min", seq, spot, None))
        elif most is not None and stake > most:
            self.found.append(("above_table_max", seq, spot, None))

    def offer_insurance(self) -> None:
        """Guests insure, or not, as they like."""
        super().offer_insurance()
        if self.rules.insurance == "none":
            return
        for spot, guests in self.guests.items():
            for guest in guests:
                if guest.stakes[0] > 1 and self.happens(0.4):
                    guest.insured = self.insurance_laid(guest.stakes[0])
                    self.tell(
                        ev.WagerPlaced(
                            spot=spot, kind="insurance", amount=guest.insured, bettor=guest.name
                        )
                    )

    def lay_double(self, hand: Hand, amount: int) -> None:
        """Guests double with the player, or let it go by."""
        super().lay_double(hand, amount)
        for guest in self.riding(hand):
            if self.happens(0.5):
                stake = guest.stakes[hand.number]
                less = self.rules.double_for_less and self.happens(0.3)
                laid = self.often.randint(1, stake) if less else stake
                self.tell(
                    ev.WagerPlaced(
                        spot=hand.spot,
                        hand=hand.number,
                        kind="double",
                        amount=laid,
                        bettor=guest.name,
                    )
                )
                guest.added[hand.number] = laid

    def split(self, hand: Hand) -> Hand:
        """Guests split with the player, or let it go by."""
        riding = self.riding(hand)
        new = super().split(hand)
        for guest in riding:
            if self.happens(0.5) and len(new.cards) < 2:
                stake = guest.stakes[0]
                self.tell(
                    ev.WagerPlaced(
                        spot=hand.spot,
                        hand=new.number,
                        kind="split",
                        amount=stake,
                        bettor=guest.name,
                    )
                )
                guest.stakes[new.number] = stake
        return new

    def riding(self, hand: Hand) -> list[Guest]:
        """Return the guests with chips on a hand."""
        return [one for one in self.guests.get(hand.spot, []) if hand.number in one.stakes]

    # --- rulings ----------------------------------------------------------------------------

    def play_hand(self, hand: Hand) -> None:
        """Play one hand, unless the floor calls it off."""
        if len(hand.cards) >= 2 and self.happens(0.03):
            self.call_off(hand)
            return
        super().play_hand(hand)

    def call_off(self, hand: Hand) -> None:
        """Rule a hand dead; its chips are given back."""
        self.turn_up(hand)
        self.tell(ev.HandCalledOff(spot=hand.spot, hand=hand.number, reason="fouled", by="floor"))
        if self.happens(0.5):
            kind: ev.WagerKind = "split" if hand.number else "main"
            self.tell(
                ev.WagerRemoved(spot=hand.spot, hand=hand.number, kind=kind, amount=hand.stake)
            )
        if hand.settled:
            self.give_back(hand)
        hand.done = hand.settled = True
        self.off.add((hand.spot, hand.number))
        if self.is_off(hand.spot):
            self.give_sides_back(hand.spot)

    def give_sides_back(self, spot: int) -> None:
        """Have the payments of a spot's side bets go back."""
        for (at, bet), amount in self.side_paid.items():
            if at == spot:
                self.tell(ev.PaymentMade(spot=spot, kind="side", amount=-amount, bet=bet))
                self.tray += amount

    def give_back(self, hand: Hand) -> None:
        """Have the payments of a hand go back that were made before it was called off."""
        amounts: dict[str | None, int] = {None: self.own_owed(hand)[1] or 0}
        amounts |= {one.name: self.guest_owed(one, hand)[1] or 0 for one in self.riding(hand)}
        for bettor, amount in amounts.items():
            back = ev.PaymentMade(spot=hand.spot, hand=hand.number, amount=-amount, bettor=bettor)
            self.tell(back)
            self.tray += amount

    def stand(self, hand: Hand) -> None:
        """Take no more cards; one that is dealt all the same is moved by the floor."""
        if not self.happens(0.05) or len(self.cards) < 17 or best(hand.cards) == 21:
            super().stand(hand)
            return
        self.say(hand, "stand")
        hand.done = True
        self.to_hand(hand)
        card = hand.cards.pop()
        self.found.append(("card_after_stand", self.dealt_at, hand.spot, hand.number))
        there = ev.HandPlace(to=hand.spot, hand=hand.number)
        self.tell(ev.CardMoved(card=card, origin=there, to="rack", by="floor"))
        later = [
            own[0]
            for spot, own in self.hands.items()
            if spot > hand.spot and not own[0].done and not own[0].down and best(own[0].cards) < 12
        ]
        if later and self.happens(0.6):
            taken = ev.HandPlace(to=later[0].spot)
            self.tell(ev.CardMoved(card=card, origin="rack", to=taken, by="floor"))
            later[0].cards.append(card)

    def all_hands(self) -> list[Hand]:
        """Return every hand that was not called off."""
        return [one for one in super().all_hands() if (one.spot, one.number) not in self.off]

    # --- what all of it comes to --------------------------------------------------------------

    def is_off(self, spot: int) -> bool:
        """Tell whether every hand of a spot was called off."""
        return all((spot, one.number) in self.off for one in self.hands[spot])

    def insurance_due(self, spot: int) -> int:
        """Return what the player's own insurance gains."""
        return 0 if self.is_off(spot) else super().insurance_due(spot)

    def guest_insured(self, guest: Guest) -> int:
        """Return what counts of a guest's insurance."""
        capped = self.rules.policy.insurance_over_half == "cap"
        return min(guest.insured, guest.stakes[0] // 2) if capped else guest.insured

    def guest_insurance_due(self, spot: int, guest: Guest) -> int:
        """Return what a guest's insurance gains."""
        stake = self.guest_insured(guest)
        if self.is_off(spot):
            return 0
        won = natural(self.dealer)
        return pays(stake, self.rules.insurance_payout, self.rules) if won else -stake

    def guest_owed(self, guest: Guest, hand: Hand) -> Settled:
        """Settle a guest's chips on a hand, as if they were the only ones."""
        if (hand.spot, hand.number) in self.off:
            return "void", 0
        insured = self.guest_insured(guest) > 0
        own = replace(
            hand,
            stake=guest.stakes[hand.number],
            added=guest.added.get(hand.number, 0),
            void=0,
            even_money=hand.even_money and not insured,
        )
        return owed(own, self.dealer, self.rules, insured=insured)

    def own_owed(self, hand: Hand) -> Settled:
        """Settle the player's own chips on a hand."""
        if (hand.spot, hand.number) in self.off:
            return "void", 0
        insured = self.counts(hand.spot) > 0
        return owed(hand, self.dealer, self.rules, insured=insured)

    def beside(self, spot: int, chips: int) -> Settled:
        """Settle chips that lie beside the first hand."""
        hand = self.hands[spot][0]
        if (spot, 0) in self.off:
            return "void", 0
        lines = tuple(msgspec.structs.replace(line, bonus=()) for line in self.rules.pays)
        rules = msgspec.structs.replace(self.rules, pays=lines)
        return owed(replace(hand, stake=chips, added=0, void=0), self.dealer, rules, insured=False)

    def toke_due(self, spot: int) -> int:
        """Return what the toke of a spot gains."""
        return (self.beside(spot, self.tokes[spot])[1] or 0) if spot in self.tokes else 0

    def coupon_due(self, spot: int) -> int:
        """Return what the coupon of a spot gains: nothing is lost with it."""
        if spot not in self.coupons:
            return 0
        outcome, _ = self.beside(spot, self.coupons[spot])
        if outcome == "blackjack" and self.rules.coupon == "as_wager":
            return pays(self.coupons[spot], self.rules.blackjack_payout, self.rules)
        wins = outcome in ("win", "blackjack")
        return pays(self.coupons[spot], Odds(1, 1), self.rules) if wins else 0

    def pay_hand(self, hand: Hand) -> None:
        """Pay or take one hand, each bettor by himself."""
        super().pay_hand(hand)
        for guest in self.riding(hand):
            amount = self.guest_owed(guest, hand)[1] or 0
            self.tell(
                ev.PaymentMade(spot=hand.spot, hand=hand.number, amount=amount, bettor=guest.name)
            )
            self.tray -= amount

    def settle_insurance(self, spot: int) -> None:
        """Settle the insurance of a spot, each bettor's by itself."""
        super().settle_insurance(spot)
        for guest in self.guests.get(spot, []):
            amount = self.guest_insurance_due(spot, guest)
            if amount:
                paid = ev.PaymentMade(spot=spot, kind="insurance", amount=amount, bettor=guest.name)
                self.tell(paid)
                self.tray -= amount

    def summed_up(self) -> Played:
        """Reckon what the round must settle to, every bettor's chips together and apart."""
        plain = super().summed_up()
        hands, stakes = {}, {}
        for own in self.hands.values():
            for hand in own:
                key = hand.spot, hand.number
                outcome, net = self.own_owed(hand)
                stakes[key] = hand.riding
                for guest in self.riding(hand):
                    theirs = self.guest_owed(guest, hand)[1]
                    net = None if net is None or theirs is None else net + theirs
                    stakes[key] += guest.stakes[hand.number] + guest.added.get(hand.number, 0)
                hands[key] = outcome, net
        return replace(
            plain,
            hands=hands,
            stakes=stakes,
            insurance=self.all_insurance(),
            bettors=self.all_bettors(),
            tokes={spot: (chips, self.toke_due(spot)) for spot, chips in self.tokes.items()},
            coupons={spot: self.coupon_due(spot) for spot in self.coupons},
            sides=self.all_sides(),
        )

    def all_sides(self) -> dict[tuple[int, str], tuple[int, int]]:
        """Return the declared side bets, and any that goes back with the round."""
        void = {(spot, "pairs"): (chips, 0) for spot, chips in self.sides.items()}
        return super().all_sides() | (void if self.round_off else {})

    def all_insurance(self) -> dict[int, tuple[int, int]]:
        """Return the insurance of each spot, of all its bettors."""
        found = {spot: (self.counts(spot), self.insurance_due(spot)) for spot in self.insured}
        for spot, guests in self.guests.items():
            for guest in guests:
                if guest.insured:
                    stake, net = found.get(spot, (0, 0))
                    more = self.guest_insurance_due(spot, guest)
                    found[spot] = stake + self.guest_insured(guest), net + more
        return found

    def all_bettors(self) -> dict[int, dict[str | None, int | None]]:
        """Return what each bettor of a spot with several gains."""
        found: dict[int, dict[str | None, int | None]] = {}
        for spot, guests in self.guests.items():
            own = [self.own_owed(hand)[1] for hand in self.hands[spot]]
            more = self.coupon_due(spot) + (self.insurance_due(spot) if spot in self.insured else 0)
            more += sum(net for (at, _), (_, net) in self.all_sides().items() if at == spot)
            found[spot] = {None: _all(own, more)}
            for guest in guests:
                theirs = [
                    self.guest_owed(guest, hand)[1]
                    for hand in self.hands[spot]
                    if hand.number in guest.stakes
                ]
                insured = self.guest_insurance_due(spot, guest) if guest.insured else 0
                found[spot][guest.name] = _all(theirs, insured)
        return found


def _all(nets: Iterable[int | None], more: int) -> int | None:
    total = more
    for net in nets:
        if net is None:
            return None
        total += net
    return total
