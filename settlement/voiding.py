"""What a round or a hand comes to that the floor called off: its wagers go back."""

from msgspec import UNSET
from msgspec.structs import replace

from models.judgements import HandResult, InsuranceResult, RoundResult, SpotResult
from models.money import Cents


def round_void(result: RoundResult) -> RoundResult:
    """Return a round with every wager gone back. Its mistakes stand."""
    spots = tuple([_spot_void(spot) for spot in result.spots])
    return replace(result, status="final", spots=spots, net=0)


def hands_void(result: RoundResult, number: int, hands: set[int]) -> RoundResult:
    """Return a round with the wagers of some hands of a spot gone back."""
    spots = tuple(
        [_hands_void(spot, hands) if spot.spot == number else spot for spot in result.spots]
    )
    net: Cents | None = 0
    for spot in spots:
        net = None if net is None or spot.net is None else net - spot.net
    status = "pending" if net is None else "final"
    return replace(result, status=status, spots=spots, net=net)


def hand_void(hand: HandResult) -> HandResult:
    """Return a hand called off."""
    return replace(hand, outcome="void", net=0, clauses=(), possible=UNSET, odd_cents=UNSET)


def _spot_void(spot: SpotResult) -> SpotResult:
    return _hands_void(spot, {hand.hand for hand in spot.hands})


def _hands_void(spot: SpotResult, numbers: set[int]) -> SpotResult:
    hands = tuple([hand_void(one) if one.hand in numbers else one for one in spot.hands])
    insurance = spot.insurance
    if insurance is not None and all(one.outcome == "void" for one in hands):
        insurance = InsuranceResult(insurance.stake, 0)
    net: Cents | None = 0 if insurance is None else insurance.net
    for hand in hands:
        net = None if net is None or hand.net is None else net + hand.net
    return replace(spot, net=net, hands=hands, insurance=insurance)
