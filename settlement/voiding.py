"""What a round or a hand comes to that the floor called off: its wagers go back."""

from msgspec import UNSET
from msgspec.structs import replace

from models.judgements import (
    BettorResult,
    HandResult,
    InsuranceResult,
    RoundResult,
    SideResult,
    SpotResult,
    WagerResult,
)
from models.money import net_sum


def round_void(result: RoundResult) -> RoundResult:
    """Return a round with every wager gone back. Its mistakes stand."""
    spots = tuple([_spot_void(spot) for spot in result.spots])
    return replace(result, status="final", spots=spots, net=0)


def hands_void(result: RoundResult, number: int, hands: set[int]) -> RoundResult:
    """Return a round with the wagers of some hands of a spot gone back."""
    spots = tuple(
        [_hands_void(spot, hands) if spot.spot == number else spot for spot in result.spots]
    )
    status = "final" if all(spot.net is not None for spot in spots) else "pending"
    net = net_sum([spot.net for spot in spots])
    return replace(result, status=status, spots=spots, net=None if net is None else -net)


def _spot_void(spot: SpotResult) -> SpotResult:
    void = _hands_void(spot, {hand.hand for hand in spot.hands})
    if void.side is UNSET:
        return void
    return replace(void, side=tuple([_side_void(one) for one in void.side]))


def _hands_void(spot: SpotResult, numbers: set[int]) -> SpotResult:
    hands = tuple([_hand_void(one) if one.hand in numbers else one for one in spot.hands])
    all_void = all(one.outcome == "void" for one in hands)
    insurance, bettors, toke, coupons = spot.insurance, spot.bettors, spot.toke, spot.coupons
    side = spot.side
    if all_void and side is not UNSET:
        side = tuple([one if one.outcome == "unjudged" else _side_void(one) for one in side])
    if insurance is not None and all_void:
        insurance = InsuranceResult(insurance.stake, 0)
    if bettors is not UNSET:
        bettors = tuple([_bettor_void(one, numbers, all_void=all_void) for one in bettors])
    if 0 in numbers and toke is not UNSET:
        toke = replace(toke, net=0)
    if 0 in numbers and coupons is not UNSET:
        coupons = tuple([replace(one, outcome="void", net=0, taken=False) for one in coupons])
    nets = [hand.net for hand in hands]
    nets += [] if insurance is None else [insurance.net]
    nets += [one.net for one in coupons] if coupons is not UNSET else []
    nets += [one.net for one in side or () if one.outcome != "unjudged"]
    return replace(
        spot,
        net=net_sum(nets),
        hands=hands,
        insurance=insurance,
        bettors=bettors,
        toke=toke,
        coupons=coupons,
        side=side,
    )


def _side_void(one: SideResult) -> SideResult:
    return replace(
        one, outcome="void", net=0, award=UNSET, clauses=UNSET, possible=UNSET, odd_cents=UNSET
    )


def _hand_void(hand: HandResult) -> HandResult:
    return replace(hand, outcome="void", net=0, clauses=(), possible=UNSET, odd_cents=UNSET)


def _bettor_void(one: BettorResult, numbers: set[int], *, all_void: bool) -> BettorResult:
    wagers = tuple(
        [
            _wager_void(wager)
            if (all_void if wager.kind in ("insurance", "side") else wager.hand in numbers)
            else wager
            for wager in one.wagers
        ]
    )
    return replace(one, net=net_sum([wager.net for wager in wagers]), wagers=wagers)


def _wager_void(wager: WagerResult) -> WagerResult:
    return replace(wager, net=0, odd_cents=UNSET)
