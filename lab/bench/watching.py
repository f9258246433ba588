"""How well and how fast the felt is watched: ``python -m lab.bench.watching``.

Films sessions by seed and holds what the watcher says against what was performed.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from statistics import mean, median
from time import perf_counter_ns
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from lab.bench.decks import learn
from models.events import CameraFault, CardGone, CardSighted, ForeignCardSighted
from models.layout import TableLayout, inside
from simulation.session import Scene, Settings, prepare, simulate
from tests.vision.truth_reader import TruthReader
from vision.decks.reading import DeckReader
from vision.felt import Felt, Pose, locate_felt
from vision.reader import Reader
from vision.scenes.decks import deck_ids
from vision.scenes.film import Hands, reference_points
from vision.scenes.look import Look, varied_look
from vision.scenes.performance import CardMove, Performance
from vision.sightings import CardReader
from vision.watch import Observed, Spent, Watcher

Event: TypeAlias = Observed

FLAWS = ("missed", "doubted", "misread", "jitter_mm", "jitter_deg")
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


def watch(
    folder: Path, scene: Scene, reader: CardReader, limit_s: float
) -> tuple[list[tuple[int, Event]], Spent, Shows]:
    """Watch a session's film from its start, which counts as 0."""
    points = reference_points(scene.layout, scene.look)
    watcher = Watcher(reader, scene.layout, points, "overhead", stopwatch_ns=perf_counter_ns)
    hands = Hands(scene.staged.performance, scene.layout, scene.look)
    shows = Shows(scene.staged.performance, watcher.felt, hands)
    events: list[tuple[int, Event]] = []
    at_ns = 0
    for frame in FileCamera(folder / "overhead.mp4", 0).frames():
        at_ns = frame.at_ns
        if at_ns > limit_s * 1e9:
            break
        if isinstance(reader, TruthReader):
            reader.now_ns = at_ns
        events += [(at_ns, event) for event in watcher.see(frame)]
        shows.look(frame)
    return events + [(at_ns, event) for event in watcher.finish()], watcher.spent, shows


def report(name: str, found: Score, spent: Spent) -> None:
    """Print one session's figures."""
    print(f"{name}: " + ", ".join(f"{kind} {n}" for kind, n in sorted(found.counts.items())))
    if found.place_mm:
        late = sorted(found.late_ms)
        latest = max(found.time_ms, key=abs)
        print(
            f"  place off {mean(found.place_mm):.1f} mm (worst {max(found.place_mm):.1f}), "
            f"time off median {median(found.time_ms):.0f} ms (worst {latest:.0f}), "
            f"told after {median(late):.0f} ms (worst {late[-1]:.0f})"
        )
    frames = max(1, spent.frames)
    print(
        f"  {spent.frames} frames, {spent.reads} reads; a frame: change "
        f"{spent.change_ns / frames / 1e6:.2f} ms, reading {spent.read_ns / frames / 1e6:.2f} ms, "
        f"tracking {spent.track_ns / frames / 1e6:.2f} ms; "
        f"a read {spent.read_ns / max(1, spent.reads) / 1e6:.1f} ms"
    )


def network_reader(deck: str, known: str | None) -> CardReader:
    """The shipped reader, where asked for with the profile of a deck, or of the one after it."""
    reader = Reader.load()
    if known is None:
        return reader
    decks = deck_ids()
    name = deck if known == "own" else decks[(decks.index(deck) + 1) % len(decks)]
    return DeckReader(reader, [learn(reader, name)])


def settings(seed: int, asked: argparse.Namespace) -> Settings:
    """Say what session a seed stands for."""
    look = Look() if asked.plain else varied_look(seed, decks=deck_ids())
    return Settings(
        seed=seed,
        rounds=asked.rounds,
        rulebook=asked.rulebook,
        include=tuple(asked.include),
        look=replace(look, width_px=asked.width, height_px=asked.width * 9 // 16),
    )


def main() -> None:
    """Film, watch, compare, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    ask.add_argument("--rounds", type=int, default=2)
    ask.add_argument("--rulebook", default="kansas-shoe")
    ask.add_argument("--plain", action="store_true", help="the default look for every seed")
    ask.add_argument("--reader", choices=["network", "truth"], default="network")
    ask.add_argument(
        "--flaws", type=float, nargs="*", default=[], help=f"of the truth reader: {FLAWS}"
    )
    ask.add_argument(
        "--known", choices=["own", "other"], help="read by the profile of the deck, or of another"
    )
    ask.add_argument("--include", nargs="*", default=[], help="situations to bring about")
    ask.add_argument("--width", type=int, default=1920)
    ask.add_argument("--keep", type=Path, help="keep the films here, and use those that are")
    ask.add_argument("--seconds", type=float, default=1e9, help="watch no longer than this")
    ask.add_argument("--notes", action="store_true", help="print every miss")
    asked = ask.parse_args()
    shown_ms, bare_ms = list[float](), list[float]()
    with tempfile.TemporaryDirectory() as scratch:
        for seed in asked.seeds:
            wanted = settings(seed, asked)
            scene = prepare(wanted)
            what = sha256(repr((scene.staged.performance, scene.look)).encode()).hexdigest()[:12]
            folder = (asked.keep or Path(scratch)) / f"{seed}-{what}"
            if not folder.exists():
                simulate(wanted, folder)
            felt = locate_felt(reference_points(scene.layout, scene.look), where="overhead")
            reader: CardReader = (
                TruthReader(
                    scene.staged.performance, felt, **dict(zip(FLAWS, asked.flaws, strict=False))
                )
                if asked.reader == "truth"
                else network_reader(scene.look.deck, asked.known)
            )
            events, spent, shows = watch(folder, scene, reader, asked.seconds)
            found = score(events, scene.staged.performance, scene, shows)
            shown_ms += found.shown_ms
            bare_ms += found.bare_ms
            report(f"seed {seed}", found, spent)
            for note in found.notes if asked.notes else ():
                print(f"    {note}")
    print(f"{len(shown_ms)} cards, to the frame of a card's event")
    for since, waits_ms in (("at rest", shown_ms), ("at rest and uncovered", bare_ms)):
        after = ", ".join(f"{q}% within {np.percentile(waits_ms, q):.0f} ms" for q in (50, 90, 99))
        print(f"  from its first frame {since}: {after}")


if __name__ == "__main__":
    main()
