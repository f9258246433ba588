"""Mistakes in the dealer's own draw and turn."""

from models import events as ev
from models.rulebook import Rulebook
from tests.settlement.plain.reckoning import (
    Hand,
    best,
    dealer_draws,
    hard,
    live,
    natural,
    soft,
)
from tests.settlement.plain.slips.clumsy import Clumsy, commits


@commits(
    "dealer_hit_hard_17",
    "dealer_hit_18_plus",
    "dealer_hit_soft_17",
    "dealer_drew_no_live_hands",
    "dealer_drew_after_breaking",
    "dealer_drew_on_blackjack",
)
class Overdraws(Clumsy):
    """The dealer plays his hand out and takes one card more, or two."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return code != "dealer_hit_soft_17" or rules.dealer_soft17 == "stand"

    def deal_own(self, turn: int) -> None:
        rigged = {"dealer_hit_soft_17": (1, 6), "dealer_drew_on_blackjack": (1, 10)}
        points = rigged.get(self.code)
        if self.pending and points:
            self.wish(lambda card: card.points == points[turn])
        super().deal_own(turn)

    def play_dealer(self) -> None:
        super().play_dealer()
        if self.pending and self.code == self.draw_would_be():
            self.turn_hole()
            burned = self.rules.policy.dealer_overdraw == "burn" or natural(self.dealer)
            self.to_dealer()
            self.commit(self.dealt_at)
            extra = 1
            if self.chance(0.4):
                self.to_dealer()
                extra = 2
            if burned:
                del self.dealer[-extra:]
            elif any(live(hand, self.rules) for hand in self.all_hands()):
                while dealer_draws(self.dealer, self.rules):
                    self.to_dealer()

    def draw_would_be(self) -> str:
        """Return what a further card would be."""
        if natural(self.dealer):
            return "dealer_drew_on_blackjack"
        if hard(self.dealer) > 21:
            return "dealer_drew_after_breaking"
        if best(self.dealer) >= 18:
            return "dealer_hit_18_plus"
        if dealer_draws(self.dealer, self.rules):
            return "dealer_drew_no_live_hands"
        return "dealer_hit_soft_17" if soft(self.dealer) else "dealer_hit_hard_17"


@commits("dealer_stood_soft_17", "dealer_stood_below_17")
class Underdraws(Clumsy):
    """The dealer stops with a card still due."""

    stopped_after = 0

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return code != "dealer_stood_soft_17" or rules.dealer_soft17 == "hit"

    def deal_own(self, turn: int) -> None:
        if self.pending and self.code == "dealer_stood_soft_17":
            self.wish(lambda card: card.points == (6 if turn else 1))
        super().deal_own(turn)

    def play_dealer(self) -> None:
        self.turn_hole()
        if not any(live(hand, self.rules) for hand in self.all_hands()):
            return
        while dealer_draws(self.dealer, self.rules):
            kind = "soft_17" if best(self.dealer) == 17 else "below_17"
            if self.pending and self.code == f"dealer_stood_{kind}" and self.chance(0.5):
                self.stopped_after = self.now
                self.pending = False
                return
            self.to_dealer()

    def close_round(self) -> None:
        """He is seen to have stopped when the settling begins, or the cards are taken up."""
        super().close_round()
        if not self.pending and self.stopped_after:
            seen = self.since(self.stopped_after, ev.PaymentMade, ev.RoundClosed)
            self.commit(seen[0])
            self.stopped_after = 0


@commits("dealer_acted_before_players")
class DrawsTooSoon(Clumsy):
    """The dealer takes a card while a player has yet to take his."""

    drawn_at = 0

    def hit(self, hand: Hand) -> None:
        if self.pending and dealer_draws(self.dealer, self.rules):
            self.turn_hole()
            self.to_dealer()
            self.pending, self.drawn_at = False, self.dealt_at
        super().hit(hand)

    def play_dealer(self) -> None:
        """The draw is one mistake: too soon, or for nobody, where no hand has stayed live."""
        super().play_dealer()
        if self.drawn_at:
            stands = any(live(hand, self.rules) for hand in self.all_hands())
            code = self.code if stands else "dealer_drew_no_live_hands"
            self.found.append((code, self.drawn_at, None, None))
            if not stands and self.rules.policy.dealer_overdraw == "burn":
                self.dealer.pop()
            self.drawn_at = 0


@commits("hole_card_exposed")
class ShowsTheHoleCard(Clumsy):
    """The hole card is turned while a player has yet to draw."""

    def hit(self, hand: Hand) -> None:
        if self.pending:
            self.turn_hole()
            self.commit(self.now)
        super().hit(hand)
