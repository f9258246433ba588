"""How fast a 1080p session is replayed here: ``python -m lab.bench.replay_speed``.

Prints the multiple of the session's own duration and where the time goes.
"""

import argparse
import tempfile
from pathlib import Path

from lab.bench.record import NETWORKS, Claim, add_option, record
from server.process.stopwatch import Stopwatch
from server.table.comparison import tally
from server.table.replay import ReplayOptions, replay
from simulation.session import Settings, simulate
from stream.clock import elapsed_ns
from stream.journal import Journal
from vision.reader import Reader

STAGES = ("decoding", "detecting", "reading", "reconciling", "settling", "journalling")


def measure(folder: Path) -> tuple[str, list[Claim]]:
    """Replay a session; return its speed and results as text and as figures."""
    stopwatch = Stopwatch(elapsed_ns)
    began_ns = elapsed_ns()
    with Journal.in_memory() as journal:
        replayed = replay(ReplayOptions(folder), journal, Reader.load, stopwatch)
    taken_ns = elapsed_ns() - began_ns
    shares = stopwatch.shares()
    frames = replayed.recording.frames
    seconds = replayed.duration_ns / 1e9
    name = f"replayed, session of {seconds:.1f} s and {frames:,} frames"
    claims = [
        Claim(name, round(replayed.duration_ns / taken_ns, 1), "times real time"),
        Claim("time a frame", round(taken_ns / 1e6 / max(frames, 1), 1), "ms"),
        *(Claim(stage, round(shares.get(stage, 0) * 100, 1), "%") for stage in STAGES),
    ]
    lines = [
        f"session   {replayed.duration_ns / 1e9:8.1f} s, {frames} frames",
        f"replayed  {taken_ns / 1e9:8.1f} s, {replayed.duration_ns / taken_ns:.1f}x real time,"
        f" {taken_ns / 1e6 / max(frames, 1):.1f} ms a frame",
        *(f"{name:<12}{shares.get(name, 0):7.1%}" for name in STAGES),
    ]
    if replayed.comparisons is not None:
        counted = tally(replayed.comparisons)
        claims.append(Claim("rounds exact", counted.exact, of=counted.rounds))
        lines.append(
            f"rounds {counted.rounds}: {counted.exact} exact, {counted.review} for review,"
            f" {counted.wrong} wrong"
        )
    return "\n".join(lines), claims


def main() -> None:
    """Measure a given session, or one simulated for the purpose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("session", nargs="?", type=Path, help="default: two rounds, simulated")
    parser.add_argument("--seed", type=int, default=1)
    add_option(parser)
    arguments = parser.parse_args()
    summary, claims = measured(arguments.session, arguments.seed)
    print(summary)
    if arguments.record:
        record("replay_speed", claims, networks=NETWORKS)


def measured(session: Path | None, seed: int) -> tuple[str, list[Claim]]:
    """Measure this session, or one simulated for the purpose."""
    if session:
        return measure(session)
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(rounds=2, seed=seed)
        return measure(simulate(settings, Path(place) / "session"))


if __name__ == "__main__":
    main()
