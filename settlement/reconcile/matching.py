"""Which card on the felt is which card that left the shoe.

Draws and new tracks are joined by order, time and identity together: the best assignment of
all that is pending is found, and a draw's own part of it is believed once no other assignment
comes near.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final

from settlement.reconcile.draws import Draw
from settlement.reconcile.sightings import AGREED_P, Lying
from settlement.reconcile.timing import CARRY_NS, DEADLINE_NS, SECOND, SHORTEST_CARRY_NS

MARGIN: Final = 1.5
"""By how much (log-likelihood) an assignment must beat every other to be believed."""

PLAIN: Final = 9.0
"""The margin of a draw that one track alone agrees with, and that with no other."""

_DUE: Final = 4.0
"""How much more likely a card goes where the initial deal has it go than elsewhere."""

_OUT_OF_TURN: Final = 4.0
"""How much less likely, once hands are played, a card goes to one before that of the last card."""

_LEAST_P: Final = 1e-3
_NO_OPINION: Final = log(0.2)
_UNSEEN: Final = -7.5
_UNEXPLAINED: Final = -7.5
_HIDDEN: Final = 4.0
"""By how much less likely a card is one that something hid, for however long, than one on time."""

_HIDDEN_WITHIN_S: Final = 1.0
_NOT_YET_PER_SECOND: Final = 1.5
"""A draw was not seen yet: less and less likely the longer it is gone, until it is held unseen."""

ANY_TURN: Final = -1.0
"""Of a card that may go to any hand just then, or to none that is known."""

_MOST: Final = 8
"""Draws and tracks weighed at a time; more are never pending at one table."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the first pending draw is held to be, and how far ahead of the next best story."""

    lying: Lying | None
    margin: float


def judge(
    draws: Sequence[Draw],
    tracks: Sequence[Lying],
    now_ns: int,
    due: Callable[[int, Lying], bool] = lambda _number, _lying: False,
    turn: Callable[[int, Lying], float] = lambda _number, _lying: ANY_TURN,
) -> Verdict:
    """Weigh every way of joining ``draws`` to ``tracks``; tell of the first draw.

    Args:
        draws: cards that left the shoe, in order.
        tracks: cards on the felt that no draw explains yet.
        now_ns: how far the sensors have been heard.
        due: tells whether a card lies where the draw of that number was due in the initial deal.
        turn: tells when the hand plays beside which a card lies that may be the draw of that
            number; ``ANY_TURN`` in the initial deal.
    """
    plain = _plain(draws, tracks)
    if 0 in plain:
        return Verdict(plain[0], PLAIN)
    taken = {track.track: number for number, track in plain.items()}
    draws = draws[:_MOST]
    pool = [track for track in tracks if any(fits(draw, track) for draw in draws)][:_MOST]
    joined = [
        [
            _pair(draw, track) + (_DUE if due(number, track) else 0.0)
            if fits(draw, track) and taken.get(track.track) == (number if number in plain else None)
            else None
            for track in pool
        ]
        for number, draw in enumerate(draws)
    ]
    turns = [[turn(number, track) for track in pool] for number in range(len(draws))]
    joins = _Joins([_missed(draw, now_ns) for draw in draws], joined, turns)
    free = (1 << len(pool)) - 1
    unseen: tuple[float, int, Lying | None] = (
        joins.missed[0] + joins.best(1, free, ANY_TURN),
        0,
        None,
    )
    stories = [unseen]
    for at, track in enumerate(pool):
        alike = joined[0][at]
        if alike is not None:
            left = joins.best(1, free & ~(1 << at), turns[0][at])
            stories.append((alike + left, at + 1, track))
    stories.sort(key=lambda story: (-story[0], story[1]))
    ahead = stories[0][0] - stories[1][0] if len(stories) > 1 else float("inf")
    return Verdict(stories[0][2], ahead)


def _plain(draws: Sequence[Draw], tracks: Sequence[Lying]) -> dict[int, Lying]:
    """Return the tracks of draws, by their number, that came on time and as no other did."""
    agreeing = [
        [track for track in tracks if draw.card and fits(draw, track) and _agree(draw, track)]
        for draw in draws
    ]
    claims = Counter(track.track for found in agreeing for track in found)
    return {
        number: found[0]
        for number, found in enumerate(agreeing)
        if len(found) == 1 and claims[found[0].track] == 1 and on_time(draws[number], found[0])
    }


def _agree(draw: Draw, track: Lying) -> bool:
    return draw.card is not None and (track.p(draw.card) or 0.0) >= AGREED_P


def on_time(draw: Draw, track: Lying) -> bool:
    """Tell whether a card came to rest when one that left the shoe then should have."""
    return draw.timed and abs(track.at - draw.at - CARRY_NS) < SECOND


class _Joins:
    """Likelihoods of the ways to join draws to tracks, each track to one draw at most.

    Args:
        missed: how likely each draw was not seen at all.
        joined: how likely each draw is each track; ``None`` where it cannot be.
        turns: when the hand plays that each draw would then have gone to.
    """

    def __init__(
        self,
        missed: list[float],
        joined: list[list[float | None]],
        turns: list[list[float]],
    ) -> None:
        self.missed, self._joined, self._turns = missed, joined, turns
        self._known: dict[tuple[int, int, float], float] = {}

    def best(self, number: int, free: int, last: float) -> float:
        """Return the likelihood of the best way to join the draws from ``number`` on.

        Args:
            number: the first draw to join.
            free: a bit for each track that is not joined yet.
            last: when the hand plays that the last joined draw went to.
        """
        if number == len(self.missed):
            return _UNEXPLAINED * free.bit_count()
        known = self._known.get((number, free, last))
        if known is not None:
            return known
        best = self.missed[number] + self.best(number + 1, free, last)
        for at, alike in enumerate(self._joined[number]):
            if alike is not None and free >> at & 1:
                turn = self._turns[number][at]
                off = _OUT_OF_TURN if ANY_TURN < turn < last else 0.0
                best = max(best, alike - off + self.best(number + 1, free & ~(1 << at), turn))
        self._known[number, free, last] = best
        return best


def fits(draw: Draw, track: Lying) -> bool:
    """Tell whether a card that rests since then can be one that left the shoe then."""
    return draw.earliest + SHORTEST_CARRY_NS <= track.at <= draw.at + DEADLINE_NS


def _missed(draw: Draw, now_ns: int) -> float:
    if not draw.certain:
        return 0.0
    return max(_UNSEEN, -1.0 - _NOT_YET_PER_SECOND * max(0, now_ns - draw.at) / SECOND)


def _pair(draw: Draw, track: Lying) -> float:
    late_s = abs(track.at - draw.at - CARRY_NS) / SECOND if draw.timed else 0.5
    off = _HIDDEN * (1.0 - exp(-late_s / _HIDDEN_WITHIN_S))
    p = None if draw.card is None else track.p(draw.card)
    return (_NO_OPINION if p is None else log(max(p, _LEAST_P))) - off
