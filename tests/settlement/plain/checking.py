"""The engine's account of a table against what its dealer and players know."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from models.judgements import RoundResult, SpotResult
from models.rulebook import Rulebook
from settlement.engine import Engine
from settlement.ledger import post
from tests.settlement.plain.game import Found, Played


def disagreements(rules: Rulebook, rounds: Iterable[Played]) -> Iterator[str]:
    """Settle one table's rounds as they are played, and say where the engine differs."""
    engine, waiting = Engine(rules, patient=True), deque[Played]()
    for played in rounds:
        waiting.append(played)
        for seq, fact in enumerate(played.facts, played.first):
            for result in engine.feed(fact, seq):
                yield from differences(waiting.popleft(), result)
    for result in engine.finish():
        yield from differences(waiting.popleft(), result)
    if waiting:
        yield f"{len(waiting)} rounds were not settled"


def differences(played: Played, result: RoundResult) -> Iterator[str]:
    """Say in what one settled round is not what it should be."""
    at = f"round {result.round}, facts from {played.first}: "
    found = sorted(_found(result), key=str)
    if found != sorted(played.found, key=str):
        yield f"{at}found {found}, committed {list(played.found)}"
    nets, spots = _nets(played), result.spots
    for what, due, settled in (
        ("nets of spots", nets, {spot.spot: spot.net for spot in result.spots}),
        ("net of the house", _minus(nets), result.net),
        ("status", "pending" if None in nets.values() else "final", result.status),
        ("hands", played.hands, _by_hand(result, "outcome", "net")),
        ("stakes", played.stakes, _by_hand(result, "stake")),
        ("cards", played.cards, _by_hand(result, "cards")),
        ("insurance", played.insurance, _insurance(result.spots)),
        ("dealer", _known(played, result), result.dealer.cards),
        ("bettors", played.bettors, _bettors(result)),
        ("tokes", played.tokes, {s.spot: (s.toke.stake, s.toke.net) for s in spots if s.toke}),
        ("coupons", played.coupons, {s.spot: c.net for s in spots for c in s.coupons or ()}),
        ("side bets", played.sides, sides(result)),
        ("ledger", 0, sum(line.amount for line in post(result))),
    ):
        if due != settled:
            yield f"{at}{what} due {due}, settled {settled}"


def _found(result: RoundResult) -> list[Found]:
    return [(found.code, found.seq, found.spot, found.hand) for found in result.violations]


def _nets(played: Played) -> dict[int, int | None]:
    nets: dict[int, int | None] = {}
    for (spot, _), (_, net) in played.hands.items():
        beside = played.insurance.get(spot, (0, 0))[1] + played.coupons.get(spot, 0)
        beside += sum(net for (at, _), (_, net) in played.sides.items() if at == spot)
        before = nets.get(spot, beside)
        nets[spot] = None if net is None or before is None else before + net
    return nets


def _minus(nets: dict[int, int | None]) -> int | None:
    known = [net for net in nets.values() if net is not None]
    return -sum(known) if len(known) == len(nets) else None


def _bettors(result: RoundResult) -> dict[int, dict[str | None, int | None]]:
    return {
        spot.spot: {one.bettor: one.net for one in spot.bettors}
        for spot in result.spots
        if spot.bettors
    }


def sides(result: RoundResult) -> dict[tuple[int, str | None], tuple[int, int | None]]:
    """Return the stake and the gain of each declared side bet."""
    return {
        (spot.spot, side.bet): (side.stake, side.net)
        for spot in result.spots
        for side in spot.side or ()
        if side.outcome != "unjudged"
    }


def _by_hand(result: RoundResult, *names: str) -> dict[tuple[int, int], Any]:
    return {
        (spot.spot, hand.hand): tuple(getattr(hand, name) for name in names)
        if len(names) > 1
        else getattr(hand, names[0])
        for spot in result.spots
        for hand in spot.hands
    }


def _insurance(spots: tuple[SpotResult, ...]) -> dict[int, tuple[int, int | None]]:
    return {
        spot.spot: (spot.insurance.stake, spot.insurance.net)
        for spot in spots
        if spot.insurance is not None
    }


def _known(played: Played, result: RoundResult) -> tuple[object, ...]:
    """Return the dealer's cards, but for a hole card that nobody was told of."""
    seen = result.dealer.cards
    return tuple(
        None if index < 2 and index < len(seen) and seen[index] is None else card
        for index, card in enumerate(played.dealer)
    )
