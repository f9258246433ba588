"""Mistakes with cards to players: one too many, one too few."""

from dataclasses import replace

from models import events as ev
from models.rulebook import Rulebook
from tests.settlement.plain.game import Style
from tests.settlement.plain.reckoning import Hand, hard, natural
from tests.settlement.plain.slips.clumsy import Clumsy, commits


@commits("extra_card_after_double")
class ServesADoubledHand(Clumsy):
    """A doubled hand gets a second card."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.double_on != "none"

    def double(self, hand: Hand) -> None:
        super().double(hand)
        if self.pending:
            self.extra_card(hand)


@commits("extra_card_on_split_ace")
class ServesASplitAce(Clumsy):
    """A split ace gets a second card."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.split_aces_cards == 1 and rules.max_hands > 1

    def deal_in(self, spot: int) -> None:
        if self.pending and spot == min(self.hands):
            self.wish(lambda card: card.rank == "A")
        super().deal_in(spot)

    def play_ace(self, hand: Hand) -> None:
        super().play_ace(hand)
        if self.pending and hand.done:
            self.extra_card(hand)


@commits("card_after_stand", "card_to_blackjack")
class ServesAHandThatStood(Clumsy):
    """A hand that is complete gets a card."""

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), said=1.0)

    def stand(self, hand: Hand) -> None:
        super().stand(hand)
        blackjack = natural(hand.cards) and not hand.split
        code = "card_to_blackjack" if blackjack else "card_after_stand"
        if self.pending and code == self.code and not hand.settled:
            self.extra_card(hand)


@commits("card_after_breaking")
class ServesABrokenHand(Clumsy):
    """A hand that broke gets a card."""

    def after_card(self, hand: Hand) -> None:
        super().after_card(hand)
        if self.pending and hard(hand.cards) > 21 and not hand.added:
            self.extra_card(hand)


@commits("missing_card")
class ForgetsACard(Clumsy):
    """A card that was asked for does not come."""

    def hit(self, hand: Hand) -> None:
        if self.pending and not natural(self.dealer):
            self.say(hand, "hit")
            self.leave(hand, self.now)
        else:
            super().hit(hand)

    def double(self, hand: Hand) -> None:
        if self.pending and not natural(self.dealer) and self.chance(0.8):
            mark = self.now
            self.lay_double(hand, hand.stake)
            self.leave(hand, self.since(mark, ev.WagerPlaced, ev.PlayerActed)[0])
        else:
            super().double(hand)

    def leave(self, hand: Hand, seq: int) -> None:
        """Go on without the card."""
        hand.card_due = hand.done = True
        self.commit(seq, hand.spot, hand.number)
