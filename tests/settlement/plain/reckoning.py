"""What a hand comes to, counted and paid by the sheet's own words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from models.cards import Card
from models.judgements import HandOutcome
from models.money import Odds
from models.rulebook import Rulebook

Settled: TypeAlias = tuple[HandOutcome, int | None]
"""How a hand ended, and its player's gain in cents; ``None`` while a card is due."""


@dataclass(slots=True, eq=False)
class Hand:
    """One hand as its player and the dealer see it; amounts in cents."""

    spot: int
    number: int
    stake: int
    cards: list[Card] = field(default_factory=list)
    down: list[int] = field(default_factory=list)
    """Which of its cards nobody has turned up yet."""
    added: int = 0
    split: bool = False
    of_aces: bool = False
    blackjack_counts: bool = True
    """Whether an ace and a ten make it a blackjack."""
    surrendered: bool = False
    even_money: bool = False
    card_due: bool = False
    done: bool = False
    settled: bool = False
    void: int = 0
    """Chips that the house's policy does not let count."""

    @property
    def riding(self) -> int:
        """All the chips that count on it."""
        return self.stake + self.added - self.void


def hard(cards: Sequence[Card]) -> int:
    """Count every ace as 1."""
    points = 0
    for card in cards:
        points += card.points
    return points


def best(cards: Sequence[Card]) -> int:
    """Count one ace as 11 where that does not pass 21."""
    points = hard(cards)
    if points <= 11:
        for card in cards:
            if card.points == 1:
                return points + 10
    return points


def soft(cards: Sequence[Card]) -> bool:
    """Tell whether an ace counts 11."""
    return best(cards) != hard(cards)


def natural(cards: Sequence[Card]) -> bool:
    """Tell whether these are an ace and a ten alone."""
    return len(cards) == 2 and best(cards) == 21


def blackjack(hand: Hand) -> bool:
    """Tell whether the hand is a blackjack in this house."""
    return hand.blackjack_counts and natural(hand.cards)


def dealer_draws(cards: Sequence[Card], rules: Rulebook) -> bool:
    """Tell whether the house has its dealer take another card."""
    points = best(cards)
    return points < 17 or (points == 17 and rules.dealer_soft17 == "hit" and soft(cards))


def pays(stake: int, odds: Odds, rules: Rulebook) -> int:
    """Return what the chips of this house can pay for ``stake`` at ``odds``."""
    chips, odd = divmod(stake * odds.pays, odds.per * rules.payout_unit)
    if odd and rules.payout_rounding == "up":
        chips += 1
    return chips * rules.payout_unit


def live(hand: Hand) -> bool:
    """Tell whether the dealer's total decides the hand."""
    over = hand.surrendered or hand.even_money or hard(hand.cards) > 21
    return not over and not blackjack(hand)


def owed(hand: Hand, dealer: Sequence[Card], rules: Rulebook, *, insured: bool) -> Settled:
    """Settle one hand against the dealer's cards, all of them known."""
    if hand.surrendered and not _refused(dealer, rules):
        return "surrender", pays(hand.riding, Odds(1, 2), rules) - hand.riding
    if hand.even_money:
        return "win", pays(hand.riding, Odds(1, 1), rules)
    if hard(hand.cards) > 21:
        return "bust", -hand.riding
    if not hand.cards:
        return "pending", None
    if natural(dealer):
        return _against_blackjack(hand, rules, insured=insured)
    if hand.card_due:
        return "pending", None
    if blackjack(hand):
        return "blackjack", pays(hand.riding, rules.blackjack_payout, rules)
    return _against_total(hand, dealer, rules)


def _refused(dealer: Sequence[Card], rules: Rulebook) -> bool:
    """Tell whether the house takes no surrender after all.

    The home sheet: "You cannot surrender if the dealer has Blackjack." The casino sheet lets a
    player give up half "when it is your turn to act on your hand", which is after the dealer has
    looked. Only a house that lets him do so earlier returns half against a blackjack.
    """
    return rules.surrender == "late" and natural(dealer)


def _against_blackjack(hand: Hand, rules: Rulebook, *, insured: bool) -> Settled:
    if blackjack(hand):
        if insured and rules.insured_blackjack_vs_dealer_blackjack == "lose":
            return "lose", -hand.riding
        return "push", 0
    if rules.dealer_blackjack_collects == "all_wagers":
        return "lose", -hand.riding
    return ("push", 0) if hand.number else ("lose", -hand.stake)


def _against_total(hand: Hand, dealer: Sequence[Card], rules: Rulebook) -> Settled:
    house, own = best(dealer), best(hand.cards)
    if house <= 21 and dealer_draws(dealer, rules) and rules.policy.dealer_underdraw == "pending":
        return "pending", None
    if house > 21 or own > house:
        return "win", pays(hand.riding, rules.win_payout, rules)
    return ("push", 0) if own == house else ("lose", -hand.riding)
