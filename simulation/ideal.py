"""A perfect camera and perfect ports: the observations of flawless sensors.

They measure the processing after the sensors without pixels and, with added noise, its tolerance.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final, TypeAlias

import msgspec

from devices.plates import Plates
from devices.shoes.angel_eye import AngelEyeShoe
from models.events import AnyObservation, CardGone, CardSighted, ConsoleEntry
from models.layout import Point, TableLayout
from simulation.places import spot_places
from simulation.staging import Staged
from simulation.wire import Read, plate_reads, shoe_reads
from vision.scenes.performance import By, CardMove, Place

Timed: TypeAlias = tuple[int, AnyObservation]
"""The arrival time of an observation (nanoseconds UTC), and the observation."""

FLOOR: Final = "console:floor"
CAMERA: Final = "camera:overhead"
_REST_NS: Final = 160_000_000
"""Nanoseconds that a card must rest before the camera reports it."""
_WITHDRAW_NS: Final = 250_000_000
"""Nanoseconds that a hand takes to reach a place, or to leave it."""
_ARM_MM: Final = 55.0
_FPS: Final = 15


@dataclass(frozen=True, slots=True)
class Eye:
    """A camera of the simulated table.

    Attributes:
        source: ``camera:NAME``.
        shadow_mm: where on the felt an arm seems to lie, against where it is: an arm is some 80 mm
            above the felt, and a camera at the side sees it before what lies behind it.
    """

    source: str = CAMERA
    shadow_mm: Point = (0.0, 0.0)


OVERHEAD: Final = Eye()
LEFT: Final = Eye("camera:left", (80.0, 0.0))
RIGHT: Final = Eye("camera:right", (-80.0, 0.0))


def ideal_observations(
    staged: Staged,
    layout: TableLayout,
    *,
    start_ns: int,
    table: str,
    seed: int = 0,
    keeps_tracks: bool = True,
    looks_ns: tuple[int, ...] = (),
    eyes: Sequence[Eye] = (OVERHEAD,),
) -> tuple[Timed, ...]:
    """Return perfect sensors' observations of a session, numbered in order of arrival.

    ``at`` of a sighting is the time at which the card came to rest; it arrives once the card has
    rested and no arm hides it. Without ``keeps_tracks`` a card that moved or was turned counts as
    gone and a new one, as for an uncertain camera. ``looks_ns`` after the first sighting the camera
    looks at a card again, where it is still visible there. Every camera of ``eyes`` reports by
    itself.
    """
    observations = [
        *(
            reported
            for eye in eyes
            for reported in _camera(
                staged, layout, eye, keeps_tracks=keeps_tracks, looks_ns=looks_ns
            )
        ),
        *_port(AngelEyeShoe(), shoe_reads(staged.shoe, "angel-eye", seed)),
        *_port(Plates(), plate_reads(staged.plates, seed)),
        *_console(staged),
    ]
    observations.sort(key=lambda timed: timed[0])
    return tuple(
        (start_ns + at_ns, _stamped(observation, number, start_ns, table))
        for number, (at_ns, observation) in enumerate(observations, start=1)
    )


def _stamped(observation: AnyObservation, seq: int, start_ns: int, table: str) -> AnyObservation:
    at = start_ns + (observation.at or 0)
    stamped = msgspec.structs.replace(observation, seq=seq, at=at, table=table)
    if isinstance(stamped, ConsoleEntry):
        fact = msgspec.structs.replace(stamped.fact, at=at, table=table)
        return msgspec.structs.replace(stamped, fact=fact)
    return stamped


def _port(driver: AngelEyeShoe | Plates, reads: list[Read]) -> Iterator[Timed]:
    for at_ns, chunk in reads:
        for reading in driver.feed(chunk, at_ns):
            yield at_ns, reading


def _console(staged: Staged) -> Iterator[Timed]:
    for fact in staged.console:
        yield fact.at or 0, ConsoleEntry(source=FLOOR, at=fact.at, fact=fact)


# --- the camera ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Arm:
    """An arm over the felt, from its owner's edge to a hand, for a while."""

    from_ns: int
    until_ns: int
    edge: Point
    hand: Point

    def hides(self, place: Place) -> bool:
        (x0, y0), (x1, y1) = self.edge, self.hand
        length = hypot(x1 - x0, y1 - y0) or 1.0
        along = ((place.x_mm - x0) * (x1 - x0) + (place.y_mm - y0) * (y1 - y0)) / length
        near = max(0.0, min(length, along)) / length
        return (
            hypot(place.x_mm - x0 - near * (x1 - x0), place.y_mm - y0 - near * (y1 - y0)) < _ARM_MM
        )


class _Arms:
    """All arms over the felt, by their start times."""

    def __init__(self, arms: Iterable[_Arm]) -> None:
        self._arms = sorted(arms, key=lambda arm: arm.from_ns)
        self._longest_ns = max((arm.until_ns - arm.from_ns for arm in self._arms), default=0)

    def first_sight(self, place: Place, rests_ns: int) -> int:
        """Return the first time at which a card has rested and is uncovered."""
        seen_ns = rests_ns + _REST_NS
        since_ns = seen_ns - self._longest_ns
        first = bisect_left(self._arms, since_ns, key=lambda arm: arm.from_ns)
        for at in range(first, len(self._arms)):
            arm = self._arms[at]
            if arm.from_ns > seen_ns:
                break
            if seen_ns < arm.until_ns and arm.hides(place):
                seen_ns = arm.until_ns + _REST_NS
        return seen_ns


def _camera(
    staged: Staged,
    layout: TableLayout,
    eye: Eye,
    *,
    keeps_tracks: bool,
    looks_ns: tuple[int, ...],
) -> Iterator[Timed]:
    arms = _Arms(_seen_from(eye, arm) for arm in _reaches(staged, layout))
    histories: dict[int, list[CardMove]] = {}
    for move in staged.performance.cards:
        histories.setdefault(move.card_id, []).append(move)
    for moves in histories.values():
        for at, reported in _watched(
            moves, arms, layout, keeps_tracks=keeps_tracks, looks_ns=looks_ns
        ):
            yield (
                at,
                reported
                if eye is OVERHEAD
                else msgspec.structs.replace(reported, source=eye.source),
            )


def _seen_from(eye: Eye, arm: _Arm) -> _Arm:
    if eye.shadow_mm == (0.0, 0.0):
        return arm
    (ex, ey), (hx, hy), (dx, dy) = arm.edge, arm.hand, eye.shadow_mm
    return _Arm(arm.from_ns, arm.until_ns, (ex + dx, ey + dy), (hx + dx, hy + dy))


def _watched(
    moves: list[CardMove],
    arms: _Arms,
    layout: TableLayout,
    *,
    keeps_tracks: bool,
    looks_ns: tuple[int, ...],
) -> Iterator[Timed]:
    """Follow one card from place to place, while it is in view."""
    track, last = 0, None
    ends = [move.from_ns for move in moves[1:]]
    for number, move in enumerate(moves):
        until_ns = ends[number] if number < len(ends) else None
        visible = move.end is not None and _on_felt(move.end, layout)
        if last is not None and not (visible and keeps_tracks):
            yield _gone(track, move.until_ns)
            last = None
        if not visible or move.end is None:
            continue
        seen_ns = arms.first_sight(move.end, move.until_ns)
        if until_ns is not None and seen_ns >= until_ns:
            continue
        if last is None:
            track = move.card_id * 10 + number
        seen = _sighting(move, move.end, track, last, seen_ns)
        yield seen_ns, seen
        free = [arms.first_sight(move.end, seen_ns + ns - _REST_NS) for ns in looks_ns]
        yield from _looks(seen, [at for at in free if until_ns is None or at < until_ns])
        last = move


def _looks(seen: CardSighted, at_ns: Sequence[int]) -> Iterator[Timed]:
    """Yield further looks at a card that has not moved."""
    for at in at_ns:
        again = msgspec.structs.replace(seen, at=at, change="read", frame=at * _FPS // 10**9)
        yield at, again


def _sighting(
    move: CardMove, end: Place, track: int, last: CardMove | None, seen_ns: int
) -> CardSighted:
    up = move.face_after == "up"
    turned = last is not None and last.face_after != move.face_after
    return CardSighted(
        source=CAMERA,
        at=move.until_ns,
        confidence=0.9999,
        track=track,
        change="new" if last is None else "turned" if turned else "moved",
        face=move.face_after,
        card=move.card if up else None,
        candidates={move.card.value: 0.9999} if up else {},
        x_mm=end.x_mm,
        y_mm=end.y_mm,
        angle_deg=(end.angle_deg + 180.0) % 360.0 - 180.0,
        frame=seen_ns * _FPS // 10**9,
        crop=(0, 0, 1, 1),
        single_look=True,
    )


def _gone(track: int, at_ns: int) -> Timed:
    seen_ns = at_ns + _REST_NS
    gone = CardGone(source=CAMERA, at=seen_ns, track=track, frame=seen_ns * _FPS // 10**9)
    return seen_ns, gone


def _on_felt(place: Place, layout: TableLayout) -> bool:
    return abs(place.x_mm) <= layout.width_mm / 2 and 0 <= place.y_mm <= layout.depth_mm


def _reaches(staged: Staged, layout: TableLayout) -> Iterator[_Arm]:
    """Yield every reach: to where a thing is taken, and to where it is laid."""
    shown = staged.performance
    for move in shown.cards:
        for place, at_ns in ((move.start, move.from_ns), (move.end, move.until_ns)):
            if place is not None and move.by is not None:
                yield _reach(move.by, (place.x_mm, place.y_mm), at_ns, at_ns, layout)
    for chips in shown.chips:
        for point, at_ns in ((chips.start, chips.from_ns), (chips.end, chips.until_ns)):
            if point is not None and chips.by is not None:
                yield _reach(chips.by, point, at_ns, at_ns, layout)
    for sign in shown.gestures:
        yield _reach(sign.by, (sign.x_mm, sign.y_mm), sign.from_ns, sign.until_ns, layout)


def _reach(by: By, hand: Point, from_ns: int, until_ns: int, layout: TableLayout) -> _Arm:
    edge = (hand[0] * 0.3, 0.0)
    if by is not None and by.startswith("player:"):
        edge = spot_places(layout, int(by.partition(":")[2])).player
    return _Arm(from_ns - _WITHDRAW_NS, until_ns + _WITHDRAW_NS, edge, hand)
