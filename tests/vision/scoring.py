"""What the watcher of a felt reports of a film, held against what was performed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.cameras.frame import Frame
from models.events import CameraFault, CardGone, CardSighted, ForeignCardSighted
from models.layout import TableLayout, inside
from simulation.session import Scene
from tests.vision.painted import Painted
from tests.vision.truth_reader import TruthReader
from vision.felt import Felt, Pose, locate_felt
from vision.scenes.film import Hands, reference_points
from vision.scenes.performance import CardMove, Performance
from vision.watch import Observed, Watcher

Event: TypeAlias = Observed

_NEAR_MM = 20.0
_NEAR_NS = 1_000_000_000
GLIMPSE_NS = 350_000_000
_PLACE_MM = 3.0
_SHOWN_NS = 5_000_000_000


@dataclass(frozen=True, slots=True)
class Rest:
    """A card lying still: from when to when."""

    move: CardMove
    from_ns: int
    until_ns: int


@dataclass
class Score:
    """What was seen of one session."""

    counts: Counter[str] = field(default_factory=Counter)
    place_mm: list[float] = field(default_factory=list)
    time_ms: list[float] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)
    shown_ms: list[float] = field(default_factory=list)
    """From the first frame that shows the card at rest to its event."""
    bare_ms: list[float] = field(default_factory=list)
    """From the first frame in which no hand covers any of it either."""
    notes: list[str] = field(default_factory=list)


def rests(performance: Performance, layout: TableLayout) -> Iterator[Rest]:
    """Every time a card lies on the felt in play for longer than a glimpse."""
    moves: dict[int, list[CardMove]] = {}
    for move in performance.cards:
        moves.setdefault(move.card_id, []).append(move)
    for path in moves.values():
        ends = [move.from_ns for move in path[1:]] + [performance.duration_ns]
        for move, until_ns in zip(path, ends, strict=True):
            if move.end is None or inside((move.end.x_mm, move.end.y_mm), layout.discard_rack):
                continue
            if abs(move.end.x_mm) < layout.width_mm / 2 and 0 < move.end.y_mm < layout.depth_mm:
                yield Rest(move, move.until_ns, until_ns)


class Shows:
    """From which frame on each card is seen at rest, and from which on no hand covers any of it.

    Attributes:
        since_ns: at rest, an index of it, of a back a corner, open.
        bare_ns: and no hand over it.
    """

    def __init__(self, performance: Performance, felt: Felt, hands: Hands) -> None:
        self._reader = TruthReader(performance, felt, jitter_mm=0.0, jitter_deg=0.0)
        self._felt, self._hands = felt, hands
        self._waiting = [m for m in performance.cards if m.end is not None]
        self.since_ns: dict[CardMove, int] = {}
        self.bare_ns: dict[CardMove, int] = {}

    def look(self, frame: Frame) -> None:
        """Take in the next frame."""
        at_ns = frame.at_ns
        ended = [m for m in self._waiting if m.until_ns <= at_ns]
        if not ended:
            return
        self._reader.now_ns = at_ns
        seen = self._reader.read(frame.image, card_width_px=None)
        places = [self._felt.pose(quad.astype(np.float64))[0] for quad in seen.corners_px]
        covered = self._hands.over(at_ns)
        for move in ended:
            assert move.end is not None
            end = Pose(move.end.x_mm, move.end.y_mm, move.end.angle_deg)
            if any(place.distance_mm(end) < _PLACE_MM for place in places):
                self.since_ns.setdefault(move, at_ns)
            if move in self.since_ns and not touches(self._felt, end, covered):
                self.bare_ns[move] = at_ns
            if move in self.bare_ns or at_ns - move.until_ns > _SHOWN_NS:
                self._waiting.remove(move)


def touches(felt: Felt, pose: Pose, mask: NDArray[np.bool_]) -> bool:
    """Return whether any pixel of a mask lies on the card."""
    card = np.zeros(mask.shape, np.uint8)
    cv2.fillConvexPoly(card, felt.to_px(pose.corners_mm).round().astype(np.int32), 1)
    return bool((mask & (card > 0)).any())


def score(
    events: Sequence[tuple[int, Event]],
    performance: Performance,
    scene: Scene,
    shows: Shows | None = None,
) -> Score:
    """Hold the events (with the time they were told) against the performance.

    ``shows`` says from when on each card was seen at rest, where that is known.
    """
    found = Score()
    sighted = [(told, e) for told, e in events if isinstance(e, CardSighted)]
    placed = [(told, e) for told, e in sighted if e.change != "read"]
    final = {e.track: e for _, e in sighted}
    matches = matched(placed, list(rests(performance, scene.layout)))
    for rest, match in matches:
        lasting = rest.until_ns - rest.from_ns > GLIMPSE_NS
        down = rest.move.face_after == "down"
        if match is None:
            if lasting:
                found.counts["missed"] += 1
                found.counts["missed down"] += down
                found.notes.append(f"missed {_description(rest)}")
            continue
        placed.remove(match)
        found.counts["seen down"] += down
        _judge(found, match, final, rest)
        if shows is not None and rest.move in shows.bare_ns:
            found.shown_ms.append((match[0] - shows.since_ns[rest.move]) / 1e6)
            found.bare_ms.append(max(0, match[0] - shows.bare_ns[rest.move]) / 1e6)
    for _, e in placed:
        found.counts["spurious"] += 1
        found.notes.append(
            f"spurious {e.change} {e.card} {e.face} track {e.track} at {(e.at or 0) / 1e9:.2f} s "
            f"({e.x_mm:.0f}, {e.y_mm:.0f}, {e.angle_deg:.0f})"
        )
    taken = sum(move.end is None or _racked(move, scene.layout) for move in performance.cards)
    found.counts["taken up"] = taken
    found.counts["gone"] = sum(isinstance(e, CardGone) for _, e in events)
    found.counts["faults"] = sum(isinstance(e, CameraFault) for _, e in events)
    found.counts["foreign"] = sum(isinstance(e, ForeignCardSighted) for _, e in events)
    return found


def _racked(move: CardMove, layout: TableLayout) -> bool:
    return move.end is not None and inside((move.end.x_mm, move.end.y_mm), layout.discard_rack)


def _judge(
    found: Score, match: tuple[int, CardSighted], final: dict[int, CardSighted], rest: Rest
) -> None:
    told_ns, event = match
    move, end = rest.move, rest.move.end
    assert end is not None
    found.counts["seen"] += 1
    found.counts[event.change] += 1
    found.place_mm.append(((event.x_mm - end.x_mm) ** 2 + (event.y_mm - end.y_mm) ** 2) ** 0.5)
    found.time_ms.append(((event.at or 0) - rest.from_ns) / 1e6)
    found.late_ms.append((told_ns - rest.from_ns) / 1e6)
    if event.face != move.face_after:
        found.counts["wrong face"] += 1
        found.notes.append(f"wrong face {_description(rest)}")
    elif move.face_after == "up":
        for which, told in (("first", event.card), ("final", final[event.track].card)):
            kind = "right" if told is move.card else "doubt" if told is None else "WRONG"
            found.counts[f"{which} {kind}"] += 1
        if event.card not in (None, move.card):
            found.notes.append(f"WRONG {event.card} for {_description(rest)}")


def apart(event: CardSighted, rest: Rest) -> float:
    """1 or less where the event may be of this rest."""
    end = rest.move.end
    assert end is not None
    far = ((event.x_mm - end.x_mm) ** 2 + (event.y_mm - end.y_mm) ** 2) ** 0.5 / _NEAR_MM
    at = event.at or 0
    off = max(rest.from_ns - at, 0, at - rest.until_ns) / _NEAR_NS
    other = 0.3 if rest.move.face_after == "up" and event.card is not rest.move.card else 0.0
    return float(max(far, off) + (other if far < 0.7 else 0.0))


def matched(
    placed: Sequence[tuple[int, CardSighted]], lying: Sequence[Rest], *, of_face: bool = False
) -> list[tuple[Rest, tuple[int, CardSighted] | None]]:
    """Return every rest, in order of time, with the event that is of it, each of one at most.

    The nearest come together first: of two cards that overlap each gets its own; of two events at
    one place the earlier one counts. ``of_face``: an event of the other side is of no rest.
    """
    pairs = [
        (round(apart(event, rest), 1), told_ns, at, one)
        for at, rest in enumerate(lying)
        for one, (told_ns, event) in enumerate(placed)
        if not of_face or event.face == rest.move.face_after
    ]
    taken: dict[int, int] = {}
    used: set[int] = set()
    for far, _, at, one in sorted(pairs):
        if far <= 1 and at not in taken and one not in used:
            taken[at] = one
            used.add(one)
    found = [(rest, placed[taken[at]] if at in taken else None) for at, rest in enumerate(lying)]
    return sorted(found, key=lambda pair: pair[0].from_ns)


def _description(rest: Rest) -> str:
    end = rest.move.end
    assert end is not None
    return (
        f"{rest.move.card} {rest.move.face_after} at ({end.x_mm:.0f}, {end.y_mm:.0f}, "
        f"{end.angle_deg:.0f}) from {rest.from_ns / 1e9:.2f} to {rest.until_ns / 1e9:.2f} s"
    )


def left_lying(scene: Scene, pictures: Sequence[NDArray[np.uint8]], start: int, fps: int) -> int:
    """Return how many cards are held to lie there at the end, watched from a picture on."""
    points = reference_points(scene.layout, scene.look)
    reader = TruthReader(scene.staged.performance, locate_felt(points, where="overhead"))
    watcher = Watcher(reader, scene.layout, points, "overhead")
    lying: set[int] = set()
    for index, image in enumerate(pictures[start:], start):
        reader.now_ns = at_ns = index * 10**9 // fps
        for event in watcher.see(Painted(index, at_ns, image)):
            lying |= {event.track} if isinstance(event, CardSighted) else set()
            lying -= {event.track} if isinstance(event, CardGone) else set()
    return len(lying)
