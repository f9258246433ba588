"""What each hand comes to against the dealer's, to the cent, and the clauses that decide it."""

from collections.abc import Sequence
from typing import Final

import msgspec

from models.judgements import HandOutcome
from models.money import Cents, Odds
from models.rulebook import Rulebook
from settlement.dealer import Played
from settlement.hands import busted, total
from settlement.play import blackjack, owed_card
from settlement.state import Hand

_UNPLAYED: Final = ("short", "no_draw")
"""How a dealer's hand ends that has not met a live hand yet."""


class Due(msgspec.Struct, frozen=True):
    """What a hand comes to. ``net`` is the player's gain, ``None`` while it is not settled."""

    outcome: HandOutcome
    net: Cents | None
    clauses: tuple[str, ...]


def staked(hand: Hand) -> Cents:
    """Return all the chips that ride on a hand."""
    stake = 0 if hand.void_split else hand.stake
    return stake + (0 if hand.void_double else hand.added)


def pays(stake: Cents, odds: Odds, rules: Rulebook) -> tuple[Cents, bool]:
    """Return ``(amount, rounded)``: what ``stake`` wins at ``odds`` in payable chips."""
    exact, whole = stake * odds.pays, odds.per * rules.payout_unit
    units = exact // whole if rules.payout_rounding == "down" else -(-exact // whole)
    return units * rules.payout_unit, exact % whole != 0


def due(hand: Hand, number: int, dealer: Played, rules: Rulebook, *, insured: bool) -> Due:
    """Settle one hand whose cards, and the dealer's, are known."""
    over = _over_before(hand, rules)
    if over is not None:
        return over
    if dealer.outcome == "blackjack":
        return _against_blackjack(hand, number, rules, insured=insured)
    if owed_card(hand):
        return Due("pending", None, ("play.card_due",))
    if blackjack(hand, rules):
        return _paid(hand, rules.blackjack_payout, rules, "blackjack", "blackjack.pays")
    if dealer.outcome in _UNPLAYED and rules.policy.dealer_underdraw == "pending":
        return Due("pending", None, ("dealer.draw",))
    return _against_total(hand, dealer, rules)


def _over_before(hand: Hand, rules: Rulebook) -> Due | None:
    """Settle a hand that ended before the dealer's cards matter."""
    if hand.surrendered_seq:
        return _surrendered(hand, rules)
    if hand.even_money:
        return _paid(hand, rules.win_payout, rules, "win", "even_money.offered")
    if busted(hand.cards):
        return Due("bust", -staked(hand), ("player.breaks",))
    return None


def _surrendered(hand: Hand, rules: Rulebook) -> Due:
    stake = staked(hand)
    back, rounded = pays(stake, Odds(1, 2), rules)
    return Due("surrender", back - stake, _rounded("surrender.offered", rounded=rounded))


def _paid(hand: Hand, odds: Odds, rules: Rulebook, outcome: HandOutcome, clause: str) -> Due:
    won, rounded = pays(staked(hand), odds, rules)
    return Due(outcome, won, _rounded(clause, rounded=rounded))


def _rounded(clause: str, *, rounded: bool) -> tuple[str, ...]:
    return (clause, "payout.rounding") if rounded else (clause,)


def _against_blackjack(hand: Hand, number: int, rules: Rulebook, *, insured: bool) -> Due:
    if blackjack(hand, rules):
        if insured and rules.insured_blackjack_vs_dealer_blackjack == "lose":
            return Due("lose", -staked(hand), ("insurance.both_blackjacks",))
        return Due("push", 0, ("push.returns",))
    if rules.dealer_blackjack_collects == "all_wagers":
        return Due("lose", -staked(hand), ("dealer.blackjack",))
    if number:
        return Due("push", 0, ("dealer.blackjack",))
    return Due("lose", -hand.stake, ("dealer.blackjack",))


def _against_total(hand: Hand, dealer: Played, rules: Rulebook) -> Due:
    if dealer.outcome == "bust":
        won = _paid(hand, rules.win_payout, rules, "win", "win.pays")
        return Due("win", won.net, ("dealer.breaks", *won.clauses))
    player, house = total(hand.cards)[0], total(dealer.cards)[0]
    if player > house:
        return _paid(hand, rules.win_payout, rules, "win", "win.pays")
    if player == house:
        return Due("push", 0, ("push.returns",))
    return Due("lose", -staked(hand), ("lose.takes",))


def insurance_stake(placed: Cents, main: Cents, rules: Rulebook) -> Cents:
    """Return the insurance that counts: above the limit it is capped where the house says."""
    if rules.policy.insurance_over_half == "cap":
        return min(placed, main // 2)
    return placed


def insurance_net(stake: Cents, dealer: Played, rules: Rulebook) -> Cents | None:
    """Return what an insurance wager gains; ``None`` while the hole card is not known."""
    if dealer.outcome == "blackjack":
        return pays(stake, rules.insurance_payout, rules)[0]
    return -stake if _no_blackjack(dealer.cards) else None


def _no_blackjack(cards: Sequence[object]) -> bool:
    return len(cards) >= 2 and None not in cards[:2]
