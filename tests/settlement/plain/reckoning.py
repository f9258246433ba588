"""What a hand comes to, counted and paid by the sheet's own words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from models.cards import Card
from models.judgements import HandOutcome
from models.money import Odds
from models.rulebook import Rulebook
from models.side_bet import Condition, HandAward

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
    rescued: bool = False
    """Whether it was given up after its double."""
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


def live(hand: Hand, rules: Rulebook) -> bool:
    """Tell whether the dealer's total decides the hand."""
    over = hand.surrendered or hand.even_money or hard(hand.cards) > 21
    line = awarded(hand, rules)
    return not (over or blackjack(hand) or (line is not None and line.wins))


def awarded(hand: Hand, rules: Rulebook) -> HandAward | None:
    """Find the first line of the pay table that describes the hand."""
    for line in rules.pays:
        if hand.cards and all(_is(hand, asked) for asked in line.when):
            return line
    return None


def bonus(hand: Hand, line: HandAward | None, dealer: Sequence[Card], rules: Rulebook) -> int:
    """Return the fixed amount that the line adds against the card that the dealer shows."""
    shown = dealer[0] if rules.dealer_first_card == "up" else dealer[1]
    most = 0
    doubled = hand.added > hand.void
    for one in line.bonus if line and not (hand.split or doubled) else ():
        if hand.stake >= one.wager and shown.rank in one.up:
            most = max(most, one.pays)
    return most


def _is(hand: Hand, asked: Condition) -> bool:
    cards = hand.cards
    doubled = hand.added > hand.void
    ranks, suits = sorted(card.rank for card in cards), {card.suit for card in cards}
    wanted: list[bool] = [
        asked.ranks is None or ranks == sorted(asked.ranks),
        asked.suit is None or suits == {asked.suit},
        "suit" not in asked.same or len(suits) == 1,
        asked.total is None or asked.total[0] <= best(cards) <= asked.total[1],
        asked.low_total is None or asked.low_total[0] <= hard(cards) <= asked.low_total[1],
        asked.count is None or asked.count[0] <= len(cards) <= asked.count[1],
        asked.blackjack in (None, blackjack(hand)),
        asked.doubled in (None, doubled),
        asked.split in (None, hand.split),
    ]
    return all(wanted)


def owed(hand: Hand, dealer: Sequence[Card], rules: Rulebook, *, insured: bool) -> Settled:
    """Settle one hand against the dealer's cards, all of them known."""
    if hand.rescued:
        return "surrender", -hand.stake
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
    line = awarded(hand, rules)
    if blackjack(hand):
        odds = line.odds if line else rules.blackjack_payout
        return "blackjack", pays(hand.riding, odds, rules)
    if line and line.wins:
        return "win", pays(hand.riding, line.odds, rules) + bonus(hand, line, dealer, rules)
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
        line = awarded(hand, rules)
        if line and line.wins:
            return "blackjack", pays(hand.riding, line.odds, rules)
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
    if house == 22 and rules.dealer_22 == "pushes":
        return "push", 0
    if house > 21 or own > house:
        line = awarded(hand, rules)
        odds = line.odds if line else rules.win_payout
        return "win", pays(hand.riding, odds, rules) + bonus(hand, line, dealer, rules)
    return ("push", 0) if own == house else ("lose", -hand.riding)
