"""Whether settling became slower: ``python -m lab.bench.settlement_before --commit COMMIT``.

It checks the commit out beside this tree, compiles both, and has a process of each settle the same
facts by turns: five spots by basic strategy, with the mistakes that both versions know and without
side bets, rulings and other bettors. The ratio is this tree's speed to the commit's; its interval
is that of the median, from the ranks of the starts. Both must settle every hand alike, or the bench
fails.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Final

from lab.bench.record import ROOT, Claim, add_option, record
from lab.bench.settlement_speed import RULEBOOK, dealt
from settlement.native import INTERPRETED
from simulation.house import house
from stream.recording import write_events

WORKER: Final = Path(__file__).with_name("settlement_worker.py")
PAIRS: Final = 4
"""Ratios of each start, of which the median counts."""

RULED: Final = ("misdeal_called_off", "card_offered_to_next")
"""The mistakes on which the floor rules: facts that a version before rulings does not know."""


class Side:
    """A process that settles the facts with one checkout."""

    def __init__(self, tree: Path, work: Sequence[str], *, interpreted: bool) -> None:
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        if interpreted:
            environment[INTERPRETED] = "1"
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER), *work],
            cwd=tree,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        place, compiled, rounds, self.settled = self._line().split("\t")
        assert Path(place) == tree.resolve(), f"{place} runs instead of {tree}"
        assert (compiled == "True") is not interpreted, f"{tree} is not compiled"
        self.rounds = int(rounds)

    def turn(self) -> int:
        """Settle the facts once; return the nanoseconds of a core's time."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._line())

    def end(self) -> None:
        """End the process: it gets no more lines."""
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a process that settles ended; its error is above")
        return line.rstrip("\n")


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Check a commit out into a folder of its own, for as long as it is measured."""
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def compared(
    now: Path, before: Path, work: Sequence[str], starts: int, *, interpreted: bool
) -> tuple[int, list[float]]:
    """Return how many rounds are settled, and the ratio of each start: above 1 is faster now.

    How memory happens to lie makes a process faster or slower by some per cent for as long as it
    runs, so both are started anew many times.
    """
    rounds, ratios = 0, []
    for start in range(starts):
        with ExitStack() as ends:
            sides = {}
            for tree in (now, before) if start % 2 else (before, now):
                side = sides[tree] = Side(tree, work, interpreted=interpreted)
                ends.callback(side.end)
            one, other = sides[now], sides[before]
            if one.settled != other.settled:
                raise SystemExit("the two versions do not settle the same facts alike")
            rounds = one.rounds
            ratios.append(median(_pair(one, other) for _ in range(PAIRS)))
    return rounds, ratios


def _pair(one: Side, other: Side) -> float:
    """Return the ratio over two turns of each, the first one's in the middle."""
    theirs = other.turn()
    ours = one.turn() + one.turn()
    return (theirs + other.turn()) / ours


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the median's interval of 95%, by the ranks that it lies between."""
    ranked, many = sorted(values), len(values)
    low = max(0, int(many / 2 - 0.98 * sqrt(many)))
    return ranked[low], ranked[many - 1 - low]


def main() -> None:
    """Compare the two, in memory and from JSON Lines, compiled and interpreted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commit", required=True, help="the version to compare with")
    parser.add_argument("--sessions", type=int, default=2, help="of 1,000 rounds each")
    parser.add_argument("--starts", type=int, default=16, help="of both processes")
    parser.add_argument("--before", type=Path, help="a folder that has it checked out already")
    add_option(parser)
    arguments = parser.parse_args()
    claims = []
    with ExitStack() as ends:
        before = arguments.before or ends.enter_context(checkout(arguments.commit))
        place = ends.enter_context(tempfile.TemporaryDirectory())
        for tree in (ROOT, before):
            subprocess.run([sys.executable, "scripts/compile"], cwd=tree, check=True)
        file = Path(place) / "facts.jsonl"
        write_events(file, dealt(house(RULEBOOK).rules, arguments.sessions, without=RULED))
        for way, interpreted in (("memory", False), ("file", False), ("memory", True)):
            form = "interpreted" if interpreted else "compiled"
            work = (str(file), RULEBOOK, way)
            rounds, ratios = compared(ROOT, before, work, arguments.starts, interpreted=interpreted)
            low, high = interval(ratios)
            source = "memory" if way == "memory" else "JSON Lines"
            print(
                f"from {source}, {form}: {median(ratios):.3f} of the speed at {arguments.commit},"
                f" {low:.3f} to {high:.3f}, {len(ratios)} starts with {rounds:,} rounds",
                flush=True,
            )
            claims.append(
                Claim(
                    f"from {source}, {form}, median of {len(ratios)} starts",
                    round(median(ratios), 3),
                    "times the speed before",
                    interval=(round(low, 3), round(high, 3)),
                    least=0.97,
                )
            )
    if arguments.record:
        asked = ["--commit", arguments.commit, "--starts", str(arguments.starts)]
        record("settlement_before", claims, argv=asked)


if __name__ == "__main__":
    main()
