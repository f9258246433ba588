"""The double entry of a round: the tray gives what a spot gains; each posting sums to zero.

Tokes are the dealers' money. They have accounts of their own, so that no spot's contains them.
"""

from collections.abc import Iterator

from models.judgements import LedgerPosted, RoundResult, SpotResult, TrayChange
from models.money import Cents
from models.places import hand_name


def post(result: RoundResult) -> tuple[LedgerPosted, ...]:
    """Return two lines for each settled wager that moved money, and each change of the tray."""
    return (*tuple(_lines(result)), *changes(result))


def changes(result: RoundResult) -> tuple[LedgerPosted, ...]:
    """Return the lines of what changed the tray other than by wagers."""
    return tuple(
        line
        for one in result.tray_changes or ()
        for line in _posting(result.round, one.reason, -one.amount, _memo(one))
    )


def _memo(change: TrayChange) -> str:
    slip = f"slip {change.slip}" if change.slip else None
    spot = f"spot {change.spot}" if change.spot else None
    words = (change.reason.replace("_", " "), spot, change.player, slip)
    return ", ".join(word for word in words if word)


def _lines(result: RoundResult) -> Iterator[LedgerPosted]:
    for spot in result.spots:
        account = f"spot:{spot.spot}"
        if spot.bettors:
            yield from _bettors(result.round, account, spot)
            continue
        for hand in spot.hands:
            memo = f"{hand_name(hand.hand)}: {hand.outcome}"
            yield from _posting(result.round, account, hand.net, memo)
        if spot.insurance is not None:
            net = spot.insurance.net
            yield from _posting(result.round, f"{account}/insurance", net, "insurance")
        for coupon in spot.coupons or ():
            yield from _posting(result.round, f"{account}/coupon", coupon.net, "coupon")
        for side in spot.side or ():
            memo = f"side bet {side.bet}: {side.award or side.outcome}"
            yield from _posting(result.round, f"{account}/side:{side.bet}", side.net, memo)
    for spot in result.spots:
        if spot.toke:
            yield from _posting(result.round, f"spot:{spot.spot}/toke", spot.toke.net, "toke")


def _bettors(number: int, account: str, spot: SpotResult) -> Iterator[LedgerPosted]:
    outcomes = {hand.hand: hand.outcome for hand in spot.hands}
    for one in spot.bettors or ():
        own = account if one.bettor is None else f"{account}/{one.bettor}"
        for wager in one.wagers:
            memo = f"{hand_name(wager.hand)}: {outcomes[wager.hand]}"
            if wager.kind == "main":
                yield from _posting(number, own, wager.net, memo)
            elif wager.kind == "side":
                bet = f"side bet {wager.bet}"
                yield from _posting(number, f"{own}/side:{wager.bet}", wager.net, bet)
            else:
                yield from _posting(number, f"{own}/{wager.kind}", wager.net, wager.kind)


def _posting(number: int, account: str, net: Cents | None, memo: str) -> Iterator[LedgerPosted]:
    if net:
        yield LedgerPosted(round=number, account=account, amount=net, memo=memo)
        yield LedgerPosted(round=number, account="tray", amount=-net, memo=f"{account} {memo}")
