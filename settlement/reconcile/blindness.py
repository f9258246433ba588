"""When no camera saw the felt, by the faults that the cameras report of themselves."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from models.events import (
    HELD_BACK,
    AnyObservation,
    CameraFault,
    CameraRecovered,
    CardGone,
    CardSighted,
    DeviceReturned,
    PlateRead,
    ProgramStated,
    Spot,
)
from models.money import Cents
from settlement.reconcile.timing import SECOND

_LINK: Final = frozenset({"link_lost", "restarts_spent"})
"""Faults by which no picture comes, until the camera reports anything."""

_WITHOUT_END: Final = frozenset({"unwatched", "left_out", "damaged"})
"""Faults without an end: a person is asked about the first anyway, the second begins an overload,
and of the third the pictures between are sound. A face held back is none of the picture."""

_NOTICED_NS: Final = {"covered": 9 * SECOND, "link_lost": 61 * SECOND}
"""A fault is reported at most so long after it began; all others within ``_SOON_NS``. Chosen from
the watcher's own delays (`vision/health.py`: 8 s and 0.8 s) and the most that a site may set as
``stall_ms``, 60 s."""

_SOON_NS: Final = SECOND

SEES_AGAIN_NS: Final = 2 * SECOND
"""After a fault the cards are timed as they are found: at most so late. On films they were found
within 0.1 s of its end, and those that had gone were reported within 0.8 s."""

_LASTING: Final = 2**62


@dataclass(frozen=True, slots=True)
class Span:
    """A time, in nanoseconds since the Unix epoch, in which no camera saw the felt."""

    from_ns: int
    until_ns: int
    went: tuple[PlateRead, ...] = ()
    """Reports of that time that wagers went which were laid since the last round."""

    @property
    def over_ns(self) -> int:
        """When what is seen is timed by what was seen of it again."""
        return self.until_ns + SEES_AGAIN_NS


@dataclass(slots=True)
class _Eye:
    """One camera's faults: since when each lasts, and from when to when others lasted."""

    lasting: dict[str, int] = field(default_factory=dict)
    past: list[Span] = field(default_factory=list)

    def end(self, kinds: Iterable[str], at_ns: int) -> None:
        for kind in kinds:
            since_ns = self.lasting.pop(kind, None)
            if since_ns is not None:
                self.past.append(Span(since_ns, at_ns))

    def spans(self) -> list[Span]:
        """Return when it saw nothing, each time once and in order."""
        lasting = [Span(since_ns, _LASTING) for since_ns in self.lasting.values()]
        return _merged([*self.past, *lasting])


class Blindness:
    """Knows when no camera saw the felt. A camera that has reported nothing yet saw nothing."""

    def __init__(self) -> None:
        self._eyes: dict[str, _Eye] = {}
        self._chips: dict[tuple[Spot, str], tuple[Cents, int]] = {}
        """The amount on each circle, and since when chips lie there."""
        self._over_ns = 0
        """When the last round was over: chips of before are no wager, or one that stays."""
        self._went: list[PlateRead] = []
        """Reports since then that other chips went."""

    @property
    def lasts(self) -> bool:
        """Whether any camera is at fault."""
        return any(eye.lasting for eye in self._eyes.values())

    def take(self, observation: AnyObservation) -> None:
        """Take in what a camera reports."""
        at_ns = observation.at or 0
        match observation:
            case CardSighted() | CardGone():
                self._eye(observation.source).end(_LINK, at_ns)
            case CameraFault() if not _without_end(observation.kind):
                since_ns = at_ns - _NOTICED_NS.get(observation.kind, _SOON_NS)
                self._eye(observation.source).lasting.setdefault(observation.kind, since_ns)
            case CameraRecovered():
                eye = self._eye(observation.source)
                # The fault may have been reported before a table started again.
                since_ns = at_ns - observation.lasted_ns - _SOON_NS
                known_ns = eye.lasting.get(observation.kind, since_ns)
                eye.lasting[observation.kind] = min(known_ns, since_ns)
                eye.end((observation.kind,), at_ns)
            case PlateRead():
                self._plate(observation)
            case DeviceReturned() if observation.source in self._eyes:
                self._eyes[observation.source].end(_LINK, at_ns)
            case ProgramStated():
                # A table that starts again looks at its pictures anew, and reports what lasts.
                for eye in self._eyes.values():
                    eye.end(tuple(eye.lasting), at_ns)
            case _:
                pass

    def during(self, from_ns: int, until_ns: int) -> list[Span]:
        """Return when no camera saw the felt, of what bears on a round of that time.

        Wagers that went before it and since the last round bear on it, too.
        """
        if not self._eyes:
            return []
        from_ns = min([from_ns, *(one.at or 0 for one in self._went)])
        eyes = iter(self._eyes.values())
        blind = next(eyes).spans()
        for eye in eyes:
            blind = _in_both(blind, eye.spans())
        return [
            self._with_wagers(Span(span.from_ns, min(span.until_ns, until_ns)))
            for span in blind
            if span.from_ns <= until_ns and span.over_ns >= from_ns
        ]

    def round_over(self, at_ns: int) -> None:
        """Forget what bears on no round that is over after a time."""
        self._over_ns = at_ns
        self._went = [one for one in self._went if (one.at or 0) > at_ns]
        for eye in self._eyes.values():
            eye.past = [span for span in eye.past if span.over_ns >= at_ns]

    def _with_wagers(self, span: Span) -> Span:
        went = (one for one in self._went if span.from_ns <= (one.at or 0) <= span.until_ns)
        return Span(span.from_ns, span.until_ns, tuple(went))

    def _plate(self, read: PlateRead) -> None:
        at_ns = read.at or 0
        amount, since_ns = self._chips.get((read.spot, read.circle), (0, at_ns))
        if read.amount < amount and since_ns > self._over_ns:
            self._went.append(read)
        self._chips[read.spot, read.circle] = (read.amount, since_ns if amount else at_ns)

    def _eye(self, source: str) -> _Eye:
        return self._eyes.setdefault(source, _Eye())


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans that overlap as one."""
    merged: list[Span] = []
    for span in sorted(spans, key=_from_ns):
        if merged and span.from_ns <= merged[-1].until_ns:
            merged[-1] = Span(merged[-1].from_ns, max(merged[-1].until_ns, span.until_ns))
        else:
            merged.append(span)
    return merged


def _from_ns(span: Span) -> int:
    return span.from_ns


def _in_both(one: Iterable[Span], other: list[Span]) -> list[Span]:
    both = [
        Span(max(mine.from_ns, its.from_ns), min(mine.until_ns, its.until_ns))
        for mine in one
        for its in other
    ]
    return [span for span in both if span.from_ns < span.until_ns]


def _without_end(kind: str) -> bool:
    return kind in _WITHOUT_END or kind.startswith(HELD_BACK)
