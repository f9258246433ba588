"""How fast a 1080p session is replayed here: ``python -m tests.bench.replay_speed``.

Prints the multiple of the session's own duration and where the time goes.
"""

import argparse
import tempfile
from pathlib import Path

from server.comparison import tally
from server.replay import ReplayOptions, replay
from server.stopwatch import Stopwatch
from simulation.session import Settings, simulate
from stream.clock import elapsed_ns
from stream.journal import Journal
from vision.reader import Reader

STAGES = ("decoding", "detecting", "reading", "reconciling", "settling", "journalling")


def measure(folder: Path) -> str:
    """Replay a session and say how fast it went and what came of it."""
    stopwatch = Stopwatch(elapsed_ns)
    began_ns = elapsed_ns()
    with Journal.in_memory() as journal:
        replayed = replay(ReplayOptions(folder), journal, Reader.load, stopwatch)
    taken_ns = elapsed_ns() - began_ns
    shares = stopwatch.shares()
    frames = replayed.recording.frames
    lines = [
        f"session   {replayed.duration_ns / 1e9:8.1f} s, {frames} frames",
        f"replayed  {taken_ns / 1e9:8.1f} s, {replayed.duration_ns / taken_ns:.1f}x real time,"
        f" {taken_ns / 1e6 / max(frames, 1):.1f} ms a frame",
        *(f"{name:<12}{shares.get(name, 0):7.1%}" for name in STAGES),
    ]
    if replayed.comparisons is not None:
        counted = tally(replayed.comparisons)
        lines.append(
            f"rounds {counted.rounds}: {counted.exact} exact, {counted.review} for review,"
            f" {counted.wrong} wrong"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure a given session, or one simulated for the purpose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("session", nargs="?", type=Path, help="default: two rounds, simulated")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.session:
        print(measure(arguments.session))
        return
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(rounds=2, seed=arguments.seed)
        print(measure(simulate(settings, Path(place) / "session")))


if __name__ == "__main__":
    main()
