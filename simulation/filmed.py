"""The observations of perfect cameras, in the form in which the shipped observer reports films.

What a film adds to a perfect camera without any error of reading: pictures every 1/15 s; a place
off by a millimetre or two; a back that is found with less certainty than a face; a second look at a
face once, after a time; a new track for a card that was moved, and the old one reported gone
0.6 s later. `tests/contracts/test_sightings.py` holds this form to filmed sessions. The figures
were measured by ``python -m lab.bench.rates`` on ten sessions (lab note of 2026-11-24).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import cos, hypot, radians, sin
from random import Random
from typing import Final

from msgspec.structs import replace

from models.events import CardGone, CardSighted
from simulation.ideal import Timed
from vision.tracker import LIFTED_NS

FPS: Final = 15
_FRAME_NS: Final = 10**9 // FPS
_EARLIER_NS: Final = 300_000_000
"""The observer reports a card so long before a perfect camera, which waits until the hand that laid
it is gone: a corner is enough."""
SPREAD_MM: Final = 1.5
"""The error of a place that the observer states, at a pixel a millimetre."""
_OFF_MM: Final = 1.0
_FAR_OFF: Final = 0.03
"""Share of places that are off by much: a card is half covered by another."""
_FAR_OFF_MM: Final = 6.0
_OFF_DEG: Final = 1.7
_TURNED_MM: Final = 115.0
"""A card that was turned over keeps its track up to here."""
_SWEEP: Final = 3
_SWEEP_NS: Final = 400_000_000
_AGAIN_S: Final = ((0.30, 0.07, 0.07), (0.60, 0.07, 0.7), (0.88, 0.7, 5.5), (0.94, 5.5, 20.0))
"""When a face is looked at again: the share by then, and from when to when, in seconds. The rest
is not looked at again."""
_BACK_P: Final = (0.27, 0.44, 0.56, 0.72, 0.74, 0.76, 0.77, 0.79, 0.80, 0.82, 0.88)
"""How sure the finder is of a back, from one tenth of them to the next: of 513 on 15 films of
`lab.bench.backs`."""
_NEW_TRACK: Final = 1_000_000


def as_filmed(perfect: Sequence[Timed], seed: int, *, start_ns: int) -> tuple[Timed, ...]:
    """Return perfect observations with every camera's as the shipped observer would report them.

    Args:
        perfect: what :func:`simulation.ideal.ideal_observations` returned, without further looks.
        seed: decides every chance.
        start_ns: when the films start: the time of their first pictures.

    Returns:
        The observations by their arrival, numbered anew.
    """
    sources = sorted({one.source for _, one in perfect if isinstance(one, CardSighted)})
    reports = [timed for timed in perfect if not isinstance(timed[1], CardSighted | CardGone)]
    for source in sources:
        own = [
            (at, one)
            for at, one in perfect
            if isinstance(one, CardSighted | CardGone) and one.source == source
        ]
        reports += _Observer(Random(f"{seed}:{source}"), start_ns).observe(own)
    reports.sort(key=lambda timed: timed[0])
    return tuple((at, replace(one, seq=seq)) for seq, (at, one) in enumerate(reports, start=1))


@dataclass
class _Observer:
    """One camera's reports, as the observer would send them."""

    chance: Random
    start_ns: int
    begun: dict[int, int] = field(default_factory=dict)
    """By track of the perfect camera: how often it lost the card."""
    last: dict[int, CardSighted] = field(default_factory=dict)

    def observe(self, own: Sequence[tuple[int, CardSighted | CardGone]]) -> list[Timed]:
        until = _ends(own)
        swept = _swept([at for at, one in own if isinstance(one, CardGone)])
        reports: list[Timed] = []
        for number, (at, one) in enumerate(own):
            if isinstance(one, CardGone):
                reports += self._gone(at, one, alone=at not in swept)
            elif one.change != "read":
                reports += self._seen(at, one, until[number])
        return sorted(reports, key=lambda timed: timed[0])

    def _gone(self, at: int, gone: CardGone, *, alone: bool) -> Iterator[Timed]:
        self.last.pop(gone.track, None)
        reported_ns = self._frame(at + (LIFTED_NS if alone else 0))
        yield (
            reported_ns,
            replace(gone, track=self._track(gone.track), frame=self._number(reported_ns)),
        )

    def _seen(self, at: int, seen: CardSighted, until_ns: int) -> Iterator[Timed]:
        before = self.last.get(seen.track)
        reported_ns = max(self._frame(at - _EARLIER_NS), self._frame(seen.at or 0))
        if before is not None and not _kept(before, seen):
            went = CardGone(
                source=seen.source,
                at=seen.at,
                table=seen.table,
                track=self._track(seen.track),
                frame=0,
            )
            yield from self._lost(reported_ns, went)
            self.begun[seen.track] = self.begun.get(seen.track, 0) + 1
            seen = replace(seen, change="new")
        self.last[seen.track] = seen
        event = self._as_reported(seen, reported_ns)
        yield reported_ns, event
        again_ns = self._again_ns(reported_ns)
        if seen.face == "up" and again_ns is not None and again_ns < until_ns:
            frame = self._number(again_ns)
            yield again_ns, replace(event, change="read", at=again_ns, frame=frame)

    def _lost(self, reported_ns: int, went: CardGone) -> Iterator[Timed]:
        at = reported_ns + LIFTED_NS
        yield at, replace(went, frame=self._number(at))

    def _track(self, track: int) -> int:
        return track + _NEW_TRACK * self.begun.get(track, 0)

    def _again_ns(self, reported_ns: int) -> int | None:
        drawn = self.chance.random()
        for share, least_s, most_s in _AGAIN_S:
            if drawn < share:
                return self._frame(reported_ns + int(self.chance.uniform(least_s, most_s) * 10**9))
        return None

    def _as_reported(self, seen: CardSighted, reported_ns: int) -> CardSighted:
        off_mm = _FAR_OFF_MM if self.chance.random() < _FAR_OFF else _OFF_MM
        x_mm, y_mm = (mm + self.chance.gauss(0.0, off_mm) for mm in (seen.x_mm, seen.y_mm))
        angle_deg = seen.angle_deg + self.chance.gauss(0.0, _OFF_DEG)
        up = seen.face == "up"
        return replace(
            seen,
            at=self._frame(seen.at or 0),
            track=self._track(seen.track),
            confidence=seen.confidence if up else self._back_p(),
            x_mm=round(x_mm, 1),
            y_mm=round(y_mm, 1),
            spread_mm=SPREAD_MM,
            angle_deg=round((angle_deg + 180.0) % 360.0 - 180.0, 1),
            frame=self._number(reported_ns),
            crop=_crop(x_mm, y_mm, angle_deg),
        )

    def _frame(self, at_ns: int) -> int:
        """Return the time of the first picture from then on."""
        return self.start_ns - ((self.start_ns - at_ns) // _FRAME_NS) * _FRAME_NS

    def _number(self, at_ns: int) -> int:
        return (at_ns - self.start_ns) // _FRAME_NS

    def _back_p(self) -> float:
        place = self.chance.uniform(0, len(_BACK_P) - 1)
        low = min(int(place), len(_BACK_P) - 2)
        return round(_BACK_P[low] + (place - low) * (_BACK_P[low + 1] - _BACK_P[low]), 4)


def _ends(own: Sequence[tuple[int, CardSighted | CardGone]]) -> list[int]:
    """Return until when each card lay as a report has it: nobody looks at it there again later."""
    following: dict[int, int] = {}
    ends: list[int] = []
    for at, one in reversed(own):
        ends.append(following.get(one.track, at))
        following[one.track] = one.at or at
    return ends[::-1]


def _swept(went: Sequence[int]) -> set[int]:
    """Return the times of cards that were swept up together."""
    times = sorted(went)
    near = (
        (at, bisect_left(times, at - _SWEEP_NS), bisect_right(times, at + _SWEEP_NS))
        for at in times
    )
    return {at for at, first, end in near if end - first >= _SWEEP}


def _kept(before: CardSighted, seen: CardSighted) -> bool:
    """Return whether the observer knows a card again: one that was turned over in its place."""
    apart_mm = hypot(before.x_mm - seen.x_mm, before.y_mm - seen.y_mm)
    return seen.change == "turned" and seen.face == "up" and apart_mm <= _TURNED_MM


def _crop(x_mm: float, y_mm: float, angle_deg: float) -> tuple[int, int, int, int]:
    """Return the region about a card in a picture with a pixel a millimetre."""
    across, along = abs(cos(radians(angle_deg))), abs(sin(radians(angle_deg)))
    width, height = 80 * across + 105 * along, 105 * across + 80 * along
    left, top = 960.0 - x_mm - width / 2, y_mm - height / 2
    return max(0, int(left)), max(0, int(top)), int(width), int(height)
