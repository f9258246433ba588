"""What each hand is due, by the same engine that will judge what was paid."""

from collections.abc import Iterable

import msgspec

from models.events import AnyFact, RoundClosed
from models.money import Cents
from models.rulebook import Rulebook
from settlement.engine import Engine


def dues(facts: Iterable[AnyFact], rules: Rulebook) -> dict[tuple[int, int], Cents]:
    """Return what each ``(spot, hand)`` wins if the round ended now.

    A dealer who stopped too early settles on what lies there, as dealers do who do not see
    their mistake; a hand that cannot be settled even so is due nothing.
    """
    policy = msgspec.structs.replace(rules.policy, dealer_underdraw="as_lies")
    engine = Engine(msgspec.structs.replace(rules, policy=policy))
    results = [result for fact in (*facts, RoundClosed()) for result in engine.feed(fact)]
    results += engine.finish()
    return {
        (spot.spot, hand.hand): hand.net or 0
        for result in results
        for spot in result.spots
        for hand in spot.hands
    }


def blackjack_win(stake: Cents, rules: Rulebook) -> Cents:
    """Return what a blackjack wins, by the posted odds and the smallest chip."""
    odds, unit = rules.blackjack_payout, rules.payout_unit
    whole, rest = divmod(stake * odds.pays, odds.per * unit)
    return (whole + (1 if rest and rules.payout_rounding == "up" else 0)) * unit


def insurance_win(stake: Cents, rules: Rulebook) -> Cents:
    """Return what a won insurance pays."""
    return stake * rules.insurance_payout.pays // rules.insurance_payout.per


def half_taken(stake: Cents) -> Cents:
    """Return what a surrender costs, as a payment: half, and the odd cent with it."""
    return -(stake - stake // 2)
