"""Mistakes in settling: amounts, order, moment, and the tray."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from models import events as ev
from models.rulebook import Rulebook
from tests.settlement.plain.game import Style
from tests.settlement.plain.reckoning import Hand, blackjack, natural
from tests.settlement.plain.slips.clumsy import Clumsy, commits


class Pays(Clumsy):
    """A table whose payments are observed."""

    def styled(self, style: Style) -> Style:
        style = super().styled(style)
        return replace(style, payments="end") if style.payments == "none" else style


@commits("wrong_payout")
class PaysWrongly(Pays):
    """A hand is paid another amount than it is due, or one that does not exist is paid."""

    def pay(self, spot: int, hand: int, kind: Literal["main", "insurance"], amount: int) -> None:
        if not self.pending or self.chance(0.6):
            super().pay(spot, hand, kind, amount)
            return
        wrong = (1 + self.below(2000)) * (1 if self.chance(0.5) else -1)
        if self.chance(0.2):
            super().pay(spot, hand, kind, amount)
            kind, hand = "main", len(self.hands[spot])
        else:
            wrong += amount
        self.tell(ev.PaymentMade(spot=spot, hand=hand, kind=kind, amount=wrong))
        self.tray -= wrong
        self.commit(self.now, spot, hand)


@commits("payment_missing")
class ForgetsToPay(Pays):
    forgot: tuple[int, int] | None = None

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), tray=False)

    def pay(self, spot: int, hand: int, kind: Literal["main", "insurance"], amount: int) -> None:
        seen = bool(self.since(self.told, ev.PaymentMade))
        if self.pending and amount and seen and self.chance(0.4):
            self.forgot, self.pending = (spot, hand), False
        else:
            super().pay(spot, hand, kind, amount)

    def close_round(self) -> None:
        super().close_round()
        if self.forgot:
            self.commit(self.now, *self.forgot)
            self.forgot = None


@commits("tray_mismatch")
class MiscountsTheTray(Pays):
    counted = False

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), tray=True)

    def count_tray(self) -> None:
        if self.pending and self.counted and self.since(self.told, ev.PaymentMade):
            self.tray += 500 if self.chance(0.5) else -1
            super().count_tray()
            self.commit(self.now)
        else:
            self.counted = True
            super().count_tray()


@commits("settle_order")
class SettlesFromTheLeft(Pays):
    """Two neighbours are settled the wrong way round."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.settle_order == "right_to_left"

    def settle_hands(self, spots: Iterable[int]) -> None:
        order = list(spots)
        sure = all(any(self.moves(hand) for hand in self.hands[spot]) for spot in order)
        if not self.pending or len(order) < 2 or not sure:
            super().settle_hands(order)
            return
        at = self.below(len(order) - 1)
        order[at], order[at + 1] = order[at + 1], order[at]
        late, mark = order[at + 1], self.now
        super().settle_hands(order)
        for seq in self.since(mark, ev.PaymentMade):
            fact = self.facts[seq - self.told - 1]
            if isinstance(fact, ev.PaymentMade) and fact.spot == late:
                self.commit(seq, late, fact.hand)
                return

    def moves(self, hand: Hand) -> bool:
        """Tell whether settling the hand is sure to be seen."""
        return not hand.settled and self.due(hand) != 0


@commits("blackjack_paid_early")
class PaysABlackjackTooSoon(Pays):
    """With an ace or a ten up, before anyone knows the hole card."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return not any(line.wins for line in rules.pays)

    def deal_in(self, spot: int) -> None:
        if self.pending and spot == min(self.hands):
            begun = bool(self.hands[spot][0].cards)
            self.wish(lambda card: card.points == (10 if begun else 1))
        super().deal_in(spot)

    def before_play(self) -> None:
        for (hand,) in self.hands.values():
            fears = self.up.points in (1, 10) and not natural(self.dealer)
            if self.pending and fears and blackjack(hand) and self.due(hand):
                mark = self.now
                self.pay_hand(hand)
                self.commit(self.since(mark, ev.PaymentMade)[0], hand.spot, 0)
                hand.done = True
        super().before_play()

    def play_dealer(self) -> None:
        """The hole card is still to be feared for."""
        self.turn_hole()
        super().play_dealer()
