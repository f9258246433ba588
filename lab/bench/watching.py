"""How well and how fast the felt is watched: ``python -m lab.bench.watching``.

Films sessions by seed and holds what the watcher says against what was performed.
"""

import argparse
import tempfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import mean, median
from time import perf_counter_ns

import numpy as np

from devices.cameras.file import FileCamera
from lab.bench.decks import learn
from simulation.session import Scene, Settings, prepare, simulate
from tests.vision.scoring import Event, Score, Shows, score
from tests.vision.truth_reader import TruthReader
from vision.decks.reading import DeckReader
from vision.felt import locate_felt
from vision.reader import Reader
from vision.scenes.decks import deck_ids
from vision.scenes.film import Hands, reference_points
from vision.scenes.look import Look, varied_look
from vision.sightings import CardReader
from vision.watch import Spent, Watcher

FLAWS = ("missed", "doubted", "misread", "jitter_mm", "jitter_deg")


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
