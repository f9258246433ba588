"""What a hand is due, by the same engine that will judge what was paid."""

from collections.abc import Iterable

import msgspec

from models.events import AnyFact, CardMoved, Dealt, RoundClosed
from models.judgements import RoundResult
from models.money import Cents
from models.rulebook import Rulebook
from settlement.engine import Engine


def due(facts: Iterable[AnyFact], rules: Rulebook, spot: int, hand: int) -> Cents:
    """Return what a hand wins if the round ended now.

    A dealer who stopped too early settles on what lies there, as dealers do who do not see
    their mistake; a hand that cannot be settled even so is due nothing.

    Other spots decide nothing of it and are left out: the engine would try every card for each
    of theirs that lies face down.
    """
    nets = {
        (one.spot, held.hand): held.net
        for result in _results(facts, rules, spot)
        for one in result.spots
        for held in one.hands
    }
    return nets.get((spot, hand)) or 0


def side_due(facts: Iterable[AnyFact], rules: Rulebook, spot: int) -> Cents:
    """Return what the side bet of a spot wins if the round ended now; 0 where that is open."""
    spots = (one for result in _results(facts, rules, spot) for one in result.spots)
    return sum(side.net or 0 for one in spots if one.spot == spot for side in one.side or ())


def _results(facts: Iterable[AnyFact], rules: Rulebook, spot: int) -> list[RoundResult]:
    """Settle a round for one spot alone."""
    policy = msgspec.structs.replace(rules.policy, dealer_underdraw="as_lies")
    engine = Engine(msgspec.structs.replace(rules, policy=policy))
    own = (fact for fact in facts if {spot, "dealer"} & _places(fact))
    results = [result for fact in (*own, RoundClosed()) for result in engine.feed(fact)]
    return [*results, *engine.finish()]


def _places(fact: AnyFact) -> set[Dealt]:
    """Return the spots that a fact is about, or ``"dealer"``, as for what is about the table."""
    if isinstance(fact, CardMoved):
        return {place.to for place in (fact.origin, fact.to) if place != "rack"}
    place: Dealt = getattr(fact, "spot", getattr(fact, "to", "dealer"))
    return {place}


def half_taken(stake: Cents) -> Cents:
    """Return the cost of a surrender, as a payment: half, including the odd cent."""
    return -(stake - stake // 2)
