"""The double entry of a round: the tray gives what a spot gains; each posting sums to zero."""

from collections.abc import Iterator

from models.judgements import LedgerPosted, RoundResult
from models.money import Cents
from models.places import hand_name


def post(result: RoundResult) -> tuple[LedgerPosted, ...]:
    """Return two lines for each settled hand and insurance that moved money."""
    return tuple(_lines(result))


def _lines(result: RoundResult) -> Iterator[LedgerPosted]:
    for spot in result.spots:
        account = f"spot:{spot.spot}"
        for hand in spot.hands:
            memo = f"{hand_name(hand.hand)}: {hand.outcome}"
            yield from _posting(result.round, account, hand.net, memo)
        if spot.insurance is not None:
            net = spot.insurance.net
            yield from _posting(result.round, f"{account}/insurance", net, "insurance")


def _posting(number: int, account: str, net: Cents | None, memo: str) -> Iterator[LedgerPosted]:
    if net:
        yield LedgerPosted(round=number, account=account, amount=net, memo=memo)
        yield LedgerPosted(round=number, account="tray", amount=-net, memo=f"{account} {memo}")
