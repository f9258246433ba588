"""Which card on the felt is which card that left the shoe.

Draws and new tracks are joined by order, time and identity together: the best assignment of
all that is pending is found, and a draw's own part of it is believed once no other assignment
comes near.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final, TypeAlias

from settlement.reconcile.draws import Draw
from settlement.reconcile.sightings import Lying
from settlement.reconcile.timing import CARRY_NS, DEADLINE_NS, SECOND, SHORTEST_CARRY_NS

MARGIN: Final = 1.5
"""By how much (log-likelihood) an assignment must beat every other to be believed."""

_LEAST_P: Final = 1e-3
_NO_OPINION: Final = log(0.2)
_UNSEEN: Final = -7.5
_UNEXPLAINED: Final = -7.5
_OUT_OF_ORDER: Final = -1.0
_SLOW_PER_SECOND: Final = 0.7
_MOST: Final = 5
"""Draws and tracks weighed at a time; more are never pending at one table."""

Joined: TypeAlias = tuple[Lying | None, ...]
"""For each draw the card on the felt that it is, or none that was seen."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the first pending draw is held to be, and how far ahead of the next best story."""

    lying: Lying | None
    margin: float


def judge(draws: Sequence[Draw], tracks: Sequence[Lying]) -> Verdict:
    """Weigh every way of joining ``draws`` to ``tracks``; tell of the first draw."""
    first = draws[:_MOST]
    near = [track for track in tracks if fits(first[0], track)][:_MOST]
    rest = [track for track in tracks if track not in near][: _MOST + 1 - min(len(near), _MOST)]
    pool = sorted((*near, *rest), key=lambda track: track.at)
    stories = [(_best(first, pool, lying), lying) for lying in (None, *near)]
    stories.sort(key=lambda story: -story[0])
    ahead = stories[0][0] - stories[1][0] if len(stories) > 1 else float("inf")
    return Verdict(stories[0][1], ahead)


def _best(draws: Sequence[Draw], tracks: Sequence[Lying], first: Lying | None) -> float:
    """Return the likelihood of the best story in which the first draw is ``first``."""
    left = [track for track in tracks if track is not first]
    return _pair(draws[0], first) + _rest(draws[1:], left, _rested(draws[0], first))


def _rest(draws: Sequence[Draw], tracks: Sequence[Lying], last_ns: int) -> float:
    if not draws:
        return sum((_UNEXPLAINED for _ in tracks), 0.0)
    best = _pair(draws[0], None) + _rest(draws[1:], tracks, last_ns)
    for track in tracks:
        if fits(draws[0], track):
            left = [other for other in tracks if other is not track]
            order = _OUT_OF_ORDER if track.at < last_ns else 0.0
            story = _pair(draws[0], track) + order
            best = max(best, story + _rest(draws[1:], left, max(last_ns, track.at)))
    return best


def _rested(draw: Draw, lying: Lying | None) -> int:
    return draw.at if lying is None else lying.at


def fits(draw: Draw, track: Lying) -> bool:
    """Tell whether a card that rests since then can be one that left the shoe then."""
    return draw.earliest + SHORTEST_CARRY_NS <= track.at <= draw.at + DEADLINE_NS


def _pair(draw: Draw, track: Lying | None) -> float:
    if track is None:
        return _UNSEEN if draw.certain else 0.0
    off = abs(track.at - draw.at - CARRY_NS) / SECOND * _SLOW_PER_SECOND
    p = None if draw.card is None else track.p(draw.card)
    return (_NO_OPINION if p is None else log(max(p, _LEAST_P))) - off
