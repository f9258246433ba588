"""Rounds that were found, matched with those that there were by when they ended."""

from collections.abc import Sequence

from models.events import AnyFact, RoundClosed, RoundOpened
from models.judgements import ReviewRaised, RoundResult


def ends(events: Sequence[AnyFact | ReviewRaised], start_ns: int = 0) -> dict[int, int]:
    """Return when each round was over; one that nobody closed never was."""
    over: dict[int, int] = {}
    number = 0
    for one in events:
        if isinstance(one, RoundOpened):
            number = one.round
            over[number] = 2**63
        elif isinstance(one, RoundClosed) and number:
            over[number] = start_ns + (one.at or 0)
    return over


def matched(
    over: dict[int, int], told: dict[int, int], found: dict[int, RoundResult]
) -> dict[int, RoundResult]:
    """Return what was found of each round that there was: the one that ended nearest to its end.

    Of two rounds that were taken for one, that one is found of both. Of a round that was taken for
    two, the one that is left to a person is found, else the first; the others have numbers below
    nought.
    """
    by_number: dict[int, RoundResult] = {}
    missing: list[int] = []
    nearest = {one: min(over, key=lambda it: abs(over[it] - end)) for one, end in told.items()}
    for number in sorted(over):
        own = [found[one] for one in told if nearest[one] == number]
        own.sort(key=lambda one: one.status != "review")
        missing.append(number)
        if own:
            by_number |= dict.fromkeys(missing, own[0])
            missing = []
        by_number |= {-extra.round: extra for extra in own[1:]}
    return by_number
